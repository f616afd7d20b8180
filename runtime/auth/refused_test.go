package auth_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/require"
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
	z := auth.New(auth.Options{Server: server, Config: authconfig.Config{CallbackPort: -1}, Store: &tokenstore.Store{Path: path}, Prompter: &browser{t: t}, Logger: log, Redactor: redactor})
	if got := call(t.Context(), z, server.String()); got != "called" {
		t.Fatal(got)
	}
	stored, err := (&tokenstore.Store{Path: path}).Tokens("")
	if err != nil || len(stored) != 1 {
		t.Fatalf("%v %v", stored, err)
	}
	token := stored[0]
	log.Info("used", "token", token, "access", token.Access, "refresh", token.Refresh)
	text := logged.String() + fmt.Sprintf("%v %+v %#v %s", token, &token, token, stored)
	for _, hidden := range []string{token.Access, token.Refresh} {
		if hidden == "" || strings.Contains(text, hidden) {
			t.Errorf("%q is in %s", hidden, text)
		}
	}
}

// TestTokenOfLoginRefused: a token that has just been obtained, and is refused at its first
// use, is neither refreshed nor followed by another login: the server takes none.
func TestTokenOfLoginRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.takesNone = true })
	path := tokenFile(t)
	b := &browser{t: t}
	a, _ := w.client(path, authconfig.Config{CallbackPort: -1}, b)
	challenged := func(a *auth.Authorizer) error {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/mcp", nil)
		require.NoError(t, err)
		require.NoError(t, a.Authorize(t.Context(), req))
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		_, err = a.Challenged(t.Context(), resp)
		return err
	}
	require.NoError(t, challenged(a)) // it logs in
	stored, err := (&tokenstore.Store{Path: path}).Tokens("")
	require.NoError(t, err)
	server, err := url.Parse(w.URL + "/mcp")
	require.NoError(t, err)
	// As the command that has logged in connects again.
	another := auth.New(auth.Options{Server: server, Store: &tokenstore.Store{Path: path}, Given: stored[0].Access})
	for _, a := range []*auth.Authorizer{a, another} {
		if err := challenged(a); err == nil || !strings.Contains(err.Error(), "it refuses the token that it was just given") {
			t.Errorf("got %v", err)
		}
	}
	if n, pages := w.refreshed.Load(), b.pages.Load(); n > 0 || pages != 1 {
		t.Errorf("%d refreshes and %d pages", n, pages)
	}
}
