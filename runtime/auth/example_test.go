package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/mcpctl/mcpctl/runtime/auth"
)

// Example adds the stored token of a server to a request, and says what is missing where there
// is none.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server := &url.URL{Scheme: "https", Host: "api.example.com", Path: "/mcp"}
	a := auth.New(auth.Options{Server: server, Name: "gh", Store: &auth.Store{Path: filepath.Join(dir, "tokens.json")}})

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.String(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The server answers a request without a token with 401.
	fmt.Println(a.Authorize(ctx, req), req.Header.Get("Authorization") == "")

	if _, err := a.Take(ctx, "the-access-token"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Authorize(ctx, req), req.Header.Get("Authorization"))

	var missing *auth.Error
	_, err = auth.New(auth.Options{Server: server, Name: "other", Store: &auth.Store{Path: filepath.Join(dir, "none.json")}}).Login(ctx, "")
	fmt.Println(errors.As(err, &missing))
	// Output:
	// <nil> true
	// <nil> Bearer the-access-token
	// true
}
