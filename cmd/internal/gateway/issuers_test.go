package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/require"
)

const mcpURL = "https://mcp.example.com/mcp"

// signs is one key for all tests.
var signs = sync.OnceValue(func() *idp.Key { return idp.NewKey("one", "ES256") })

// hosted returns a gateway with settings and variables, and what it says.
func hosted(a settings.Access, http string, variables map[string]string) (*gateway, *bytes.Buffer) {
	said := &bytes.Buffer{}
	return &gateway{o: Options{Command: "serve", HTTP: http, asks: true}, h: Host{
		Log: slog.New(slog.NewTextHandler(said, nil)), UI: &ui.UI{Err: said}, Settings: settings.Settings{Serve: settings.Serve{Access: a}},
		Getenv: func(name string) string { return variables[name] },
	}}, said
}

// entered is a serve that accepts tokens of issuers, in front of a handler that answers
// with a greeting. It returns its URL and what it says.
func entered(t *testing.T, a settings.Access) (url string, said *bytes.Buffer) {
	t.Helper()
	g, said := hosted(a, "127.0.0.1:0", map[string]string{"MCPCTL_HOME": t.TempDir(), "IDP_SECRET": "idp-secret-of-the-gateway"})
	d, err := g.newAuthenticator(nil, "http://127.0.0.1:1/mcp")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range d.issuers.runs {
		running.Go(func() { run(ctx) })
	}
	web := proxy.HTTPOptions{Authenticator: d, Hosts: a.Hosts}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello\n") })
	s := httptest.NewServer(withMetadata(proxy.Guard(web, hello), web, d.issuers))
	t.Cleanup(func() {
		s.Close()
		stop()
		running.Wait()
	})
	return s.URL, said
}

// told returns an answer as it is sent, without what is the same in all.
func told(t *testing.T, method, url string, lines ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	for _, name := range []string{"Date", "Content-Length", "X-Content-Type-Options"} {
		resp.Header.Del(name)
	}
	var out strings.Builder
	fmt.Fprintln(&out, resp.Status)
	_ = resp.Header.Write(&out)
	return strings.ReplaceAll(out.String(), "\r", "") + string(body)
}

func claimsFor(issuer, audience string, change idp.Claims) idp.Claims {
	c := idp.Claims{"iss": issuer, "aud": audience, "sub": "8f3a", "exp": time.Now().Add(time.Hour).Unix(), "scope": "mcp"}
	maps.Copy(c, change)
	return c
}

// TestIssuers: tokens of two issuers are accepted, and what is said of others.
// testdata/issuers.txt has the answers; MCPCTL_UPDATE=1 writes them again.
func TestIssuers(t *testing.T) {
	t.Parallel()
	key := signs()
	s, down := idp.NewServer(key), idp.NewServer(key)
	defer s.Close()
	defer down.Close()
	down.Set(func(s *idp.Server) { s.Status = http.StatusBadGateway })
	s.Set(func(s *idp.Server) {
		s.Tokens["opaque"] = claimsFor("https://old.example.com", mcpURL, idp.Claims{"active": true})
	})
	url, said := entered(t, settings.Access{URL: mcpURL, Hosts: []string{"mcp.example.com"}, Providers: settings.Providers{
		Token: &settings.TokenProvider{},
		JWT: []*settings.JWTProvider{
			{Issuer: settings.Issuer{Issuer: s.URL, Name: "idp", Scopes: []string{"mcp"}}},
			{Issuer: settings.Issuer{Issuer: down.URL, Name: "down", Scopes: []string{"extra"}}},
		},
		Introspect: &settings.IntrospectProvider{
			Issuer: settings.Issuer{Issuer: "https://old.example.com", Name: "old"}, Endpoint: s.URL + "/introspect", ClientID: "mcpctl", ClientSecret: "${IDP_SECRET}",
		},
	}})
	signed := func(issuer string, change idp.Claims) string { return key.Sign(claimsFor(issuer, mcpURL, change), nil) }
	var got strings.Builder
	for _, c := range [][2]string{
		{"no credential", ""},
		{"a token", signed(s.URL, nil)},
		{"an expired token", signed(s.URL, idp.Claims{"exp": 1})},
		{"a token for others", signed(s.URL, idp.Claims{"aud": "https://other.example.com"})},
		{"a token without the scope", signed(s.URL, idp.Claims{"scope": "other"})},
		{"an ID token", signed(s.URL, idp.Claims{"nonce": "n"})},
		{"a signature of others", idp.NewKey("one", "ES256").Sign(claimsFor(s.URL, mcpURL, nil), nil)},
		{"an issuer that is down", signed(down.URL, nil)},
		{"an opaque token", "opaque"},
		{"an unknown opaque token", "unknown"},
		{"a token of an unknown issuer", signed("https://evil.example.com", nil)},
		{"a static token of nobody", "mcpctl_00000000_0000000000000000000000000000000000000000000000000"},
	} {
		var lines []string
		if c[1] != "" {
			lines = []string{"Authorization: Bearer " + c[1]}
		}
		fmt.Fprintf(&got, "== %s\n%s\n", c[0], told(t, http.MethodPost, url+"/mcp", lines...))
	}
	for _, c := range [][]string{
		{"GET", "/.well-known/oauth-protected-resource/mcp"},
		{"GET", "/.well-known/oauth-protected-resource", "Origin: https://inspector.example", "Sec-Fetch-Site: cross-site"},
		{"GET", "/.well-known/oauth-protected-resource/sse", "Host: mcp.example.com"},
		{"HEAD", "/.well-known/oauth-protected-resource/mcp"},
		{"OPTIONS", "/.well-known/oauth-protected-resource/mcp", "Origin: https://inspector.example"},
		{"POST", "/.well-known/oauth-protected-resource/mcp"},
		{"GET", "/.well-known/oauth-protected-resource/mcp", "Host: evil.example"},
		{"GET", "/.well-known/oauth-protected-resource/other"},
		{"GET", "/.well-known/oauth-authorization-server"},
	} {
		fmt.Fprintf(&got, "== %s\n%s\n", strings.Join(c, " "), told(t, c[0], url+c[1], c[2:]...))
	}
	answers := strings.ReplaceAll(strings.ReplaceAll(got.String(), s.URL, "http://idp"), down.URL, "http://down")
	const golden = "testdata/issuers.txt"
	if os.Getenv("MCPCTL_UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(answers), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if answers != string(want) {
		t.Errorf("got\n%s", answers)
	}
	if strings.Contains(said.String(), "eyJ") || strings.Contains(said.String(), "opaque") || !strings.Contains(said.String(), "keys of an issuer cannot be fetched") {
		t.Errorf("it says\n%s", said)
	}
}

// TestNoMetadata: where no issuer is configured there is none, so that no client looks
// for one.
func TestNoMetadata(t *testing.T) {
	t.Parallel()
	url, _ := entered(t, settings.Access{Providers: settings.Providers{Token: &settings.TokenProvider{}}})
	if got := told(t, http.MethodGet, url+"/.well-known/oauth-protected-resource/mcp"); !strings.HasPrefix(got, "404") {
		t.Errorf("got %s", got)
	}
	if got := told(t, http.MethodPost, url+"/mcp"); !strings.Contains(got, `Bearer realm="mcpctl"`) || strings.Contains(got, "resource_metadata") {
		t.Errorf("got %s", got)
	}
}

// TestResource: without serve.url the resource is the URL that serve listens at.
func TestResource(t *testing.T) {
	t.Parallel()
	s := idp.NewServer(signs())
	defer s.Close()
	url, _ := entered(t, settings.Access{Providers: settings.Providers{JWT: []*settings.JWTProvider{{Issuer: settings.Issuer{Issuer: s.URL, Name: "idp"}}}}})
	if got := told(t, http.MethodGet, url+"/.well-known/oauth-protected-resource/mcp"); !strings.Contains(got, `"resource":"http://127.0.0.1:1/mcp"`) {
		t.Errorf("got %s", got)
	}
	token := signs().Sign(claimsFor(s.URL, "http://127.0.0.1:1/mcp", nil), nil)
	if got := told(t, http.MethodPost, url+"/mcp", "Authorization: Bearer "+token); !strings.HasPrefix(got, "200") {
		t.Errorf("got %s", got)
	}
}

// TestIssuersNot has settings with which no serve starts.
func TestIssuersNot(t *testing.T) {
	t.Parallel()
	issuer := settings.Issuer{Issuer: "https://idp.example.com", Name: "idp"}
	asks := settings.Providers{Introspect: &settings.IntrospectProvider{Issuer: issuer, Endpoint: "https://idp.example.com/i", ClientID: "c", ClientSecret: "${IDP_SECRET}"}}
	for name, c := range map[string]struct {
		a         settings.Access
		variables map[string]string
		want      string
	}{
		"no URL":       {settings.Access{Providers: settings.Providers{JWT: []*settings.JWTProvider{{Issuer: issuer}}}}, nil, "serve.url is missing"},
		"no secret":    {settings.Access{URL: mcpURL, Providers: asks}, nil, "the variable IDP_SECRET is not set"},
		"known secret": {settings.Access{URL: mcpURL, Providers: asks}, map[string]string{"IDP_SECRET": "changeme"}, "IDP_SECRET can be guessed: it is a value from examples"},
		"short secret": {settings.Access{URL: mcpURL, Providers: asks}, map[string]string{"IDP_SECRET": "hunter2"}, "IDP_SECRET can be guessed: it has only 7"},
	} {
		g, _ := hosted(c.a, "0.0.0.0:8443", c.variables)
		_, err := g.newAuthenticator(nil, "http://0.0.0.0:8443/mcp")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	g, _ := hosted(settings.Access{Providers: asks}, "", nil)
	if _, err := g.newAuthenticator(nil, "/run/mcpctl.sock"); err == nil || !strings.Contains(err.Error(), "serve.url is missing") {
		t.Errorf("a socket: got %v", err)
	}
	g, said := hosted(settings.Access{URL: mcpURL, Providers: settings.Providers{JWT: []*settings.JWTProvider{{Issuer: issuer}}}}, "0.0.0.0:8443", nil)
	if _, err := g.newAuthenticator(nil, ""); err != nil || !strings.Contains(said.String(), "tokens are sent without TLS") {
		t.Errorf("got %v, %s", err, said)
	}
}

// TestProblems: the issuers whose keys are missing are named, and why.
func TestProblems(t *testing.T) {
	t.Parallel()
	i := &issuers{names: []string{"https://a.example", "https://b.example"}, failures: []func() error{func() error { return nil }, func() error { return errors.New("no route") }}}
	if got := strings.Join(i.problems(), "; "); got != "https://b.example: no route" {
		t.Errorf("got %q", got)
	}
}

func TestMetadataURL(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"https://mcp.example.com/mcp":        "https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
		"https://mcp.example.com":            "https://mcp.example.com/.well-known/oauth-protected-resource",
		"https://mcp.example.com:8443/a/mcp": "https://mcp.example.com:8443/.well-known/oauth-protected-resource/a/mcp",
	} {
		if got := metadataURL(resource); got != want {
			t.Errorf("%s: got %s, want %s", resource, got, want)
		}
	}
}

// TestMetadataOfViews: the address of a view has the metadata of the resource, byte for byte, and so
// has that of a view that there is not. Nothing deeper has any.
func TestMetadataOfViews(t *testing.T) {
	t.Parallel()
	s := idp.NewServer(signs())
	defer s.Close()
	url, _ := entered(t, settings.Access{URL: mcpURL, Hosts: []string{"mcp.example.com"}, Providers: settings.Providers{JWT: []*settings.JWTProvider{{Issuer: settings.Issuer{Issuer: s.URL, Name: "idp"}}}}})
	get := func(path string) string {
		return told(t, http.MethodGet, url+"/.well-known/oauth-protected-resource"+path)
	}
	want := get("/mcp")
	if !strings.Contains(want, `"resource":"`+mcpURL+`"`) {
		t.Errorf("got %s", want)
	}
	for _, path := range []string{"/mcp/coding", "/mcp/none"} {
		if got := get(path); got != want {
			t.Errorf("%s: got %s\nwant %s", path, got, want)
		}
	}
	for _, path := range []string{"/mcp/", "/mcp/a/b", "/mcpx"} {
		if got := get(path); !strings.HasPrefix(got, "401") {
			t.Errorf("%s: got %s", path, got)
		}
	}
	for path, want := range map[string]bool{"": true, "/a/mcp": true, "/a/mcp/coding": true, "/coding": false, "/a/coding": false} {
		if isMetadata(metadataPath+path, []string{"", "/mcp", "/a/mcp"}) != want {
			t.Errorf("%s: not %t", path, want)
		}
	}
}
