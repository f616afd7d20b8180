package auth_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/auth/authconfig"
	"github.com/mcpctl/mcpctl/runtime/auth/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/secret"
)

// TestOtherServer: the token that a server got is sent to no other, not even to another
// path of the same host, nor where the entry wants another issuer.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := tokenFile(t)
	_, do := w.client(path, authconfig.Config{CallbackPort: -1}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Fatal(got)
	}
	for name, c := range map[string]struct {
		server, issuer string
		sent           bool
	}{
		"itself":               {server: w.URL + "/mcp", sent: true},
		"itself, with a slash": {server: w.URL + "/mcp/", sent: true},
		"itself, its issuer":   {server: w.URL + "/mcp", issuer: w.issuer(), sent: true},
		"another path":         {server: w.URL + "/mcp2"},
		"below it":             {server: w.URL + "/mcp/a"},
		"another host":         {server: strings.Replace(w.URL, "127.0.0.1", "localhost", 1) + "/mcp"},
		"another issuer":       {server: w.URL + "/mcp", issuer: "https://other.example"},
	} {
		server, err := url.Parse(c.server)
		if err != nil {
			t.Fatal(err)
		}
		z := auth.New(auth.Options{Server: server, Config: authconfig.Config{Issuer: c.issuer}, Store: &tokenstore.Store{Path: path}})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.server, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := z.Authorize(t.Context(), req); err != nil || (req.Header.Get("Authorization") != "") != c.sent {
			t.Errorf("%s: %v, sent %v", name, err, req.Header)
		}
	}
}

// TestTokensAreHidden: what is used is known to the redactor before it is sent, and a
// token prints as none.
func TestTokensAreHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := tokenFile(t)
	server, err := url.Parse(w.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	redactor := secret.NewRedactor()
	log := slog.New(redactor.Handler(slog.NewTextHandler(&logged, nil)))
	z := auth.New(auth.Options{Server: server, Config: authconfig.Config{CallbackPort: -1}, Store: &tokenstore.Store{Path: path}, Person: &browser{t: t}, Logger: log, Redactor: redactor})
	if got := call(t.Context(), z, server.String()); got != "called" {
		t.Fatal(got)
	}
	kept, err := (&tokenstore.Store{Path: path}).Tokens("")
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v %v", kept, err)
	}
	token := kept[0]
	log.Info("used", "token", token, "access", token.Access, "refresh", token.Refresh)
	text := logged.String() + fmt.Sprintf("%v %+v %#v %s", token, &token, token, kept)
	for _, hidden := range []string{token.Access, token.Refresh} {
		if hidden == "" || strings.Contains(text, hidden) {
			t.Errorf("%q is in %s", hidden, text)
		}
	}
}
