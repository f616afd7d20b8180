//go:build integration

package login_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// admitting is a serve that lets in who has a token of a pair's authorization server.
type admitting struct {
	*wire.Daemon
	*pair
}

// admit starts one. Its authorization server issues tokens for it; opaque ones it asks
// about. rules are settings of the provider, more are others of serve.
func admit(t *testing.T, s settings, more string, rules ...string) *admitting {
	t.Helper()
	a := &admitting{pair: newPair(t, s)}
	home, env := t.TempDir(), []string{"BROWSER="}
	common := strings.Join(append(rules, "name: op", "issuer: "+a.Issuer, "scopes: [notes]"), ", ")
	provider := "jwt: {" + common + "}"
	if !s.JWT {
		provider = "introspect: {" + common + ", endpoint: " + a.Issuer + "/token/introspection, clientId: " + a.ClientID + `, clientSecret: "${OP_SECRET}"}`
		env = append(env, "OP_SECRET="+a.ClientSecret)
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte("serve:\n  auth:\n    - "+provider+"\n"+more), 0o600))
	if strings.Contains(more, "tls:") {
		root := pki.New(t, "root")
		root.Localhost(t, home)
		require.NoError(t, os.WriteFile(filepath.Join(home, "ca.pem"), root.PEM(), 0o600))
		authorities.Store(home, root)
	}
	a.Daemon = wire.Serve(t, wire.Setup{
		Program: binary, Home: home, Config: filepath.Join(home, "servers.json"), Env: env,
		Servers: wire.Servers{"demo": {"command": binary, "args": []string{"demo-server"}}},
	})
	post(t, a.Control+"/resource", map[string]string{"resource": a.URL})
	return a
}

// authorities are those of serves with TLS, by their folders.
var authorities sync.Map

// who returns the principals that have come.
func (a *admitting) who(t *testing.T) string {
	t.Helper()
	u := &user{config: a.Config, home: a.Home}
	return u.ok(t, nobody, "status", "--json")
}

const (
	tool     = "demo__echo"
	greeting = "hello from far away"
)

// errand is what a client is told: where to go, and which tool to call.
type errand struct {
	url, tool string
	// outside is a tool that is called, too, and is not in the list. Empty for none.
	outside string
	// blind has the client not see the header that names the metadata, so that it asks for
	// those of the URL's path.
	blind bool
}

// TestAdmits: clients of others that know the URL of a serve and nothing else find its
// authorization server, register, log in by a browser, and call a tool.
func TestAdmits(t *testing.T) {
	t.Parallel()
	for _, s := range []settings{{JWT: true}, {}} {
		name := "opaque"
		if s.JWT {
			name = "JWT"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := admit(t, s, "")
			t.Run("clients", func(t *testing.T) {
				for name, call := range admitted(s.JWT) {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						if got := call(t, errand{url: a.URL, tool: tool}); !strings.Contains(got, greeting) {
							t.Errorf("got %q", got)
						}
					})
				}
			})
			if got := a.who(t); !strings.Contains(got, `"id":"`+a.Issuer+"|"+person+`"`) {
				t.Errorf("it is not %s who has come: %s", person, got)
			}
			if s := a.seen(t); s.Registrations == 0 || s.Grants["authorization_code"] == 0 {
				t.Errorf("the authorization server has seen %+v", s)
			}
		})
	}
}

// admitted are the clients. Without make nightly opaque tokens have mcpctl's alone.
func admitted(all bool) map[string]func(t *testing.T, e errand) string {
	out := map[string]func(*testing.T, errand) string{"mcpctl": func(t *testing.T, e errand) string {
		t.Helper()
		return newUser(t, notes(e.url, nil)).ok(t, approve, "call", "notes", e.tool, "message="+greeting)
	}}
	if !all && !wire.Nightly() {
		return out
	}
	out["Go SDK, legacy"] = func(t *testing.T, e errand) string { t.Helper(); return goLogin(t, e, "2025-11-25") }
	out["TypeScript SDK 2, modern"] = func(t *testing.T, e errand) string { t.Helper(); return scriptLogin(t, e, "v2", "modern") }
	if wire.Nightly() {
		out["Go SDK, modern"] = func(t *testing.T, e errand) string { t.Helper(); return goLogin(t, e, "") }
		out["TypeScript SDK 1, legacy"] = func(t *testing.T, e errand) string { t.Helper(); return scriptLogin(t, e, "v1", "legacy") }
		out["TypeScript SDK 2, legacy"] = func(t *testing.T, e errand) string { t.Helper(); return scriptLogin(t, e, "v2", "legacy") }
		out["Python SDK, modern"] = func(t *testing.T, e errand) string { t.Helper(); return scriptLogin(t, e, "python", "modern") }
		out["Python SDK, legacy"] = func(t *testing.T, e errand) string { t.Helper(); return scriptLogin(t, e, "python", "legacy") }
	}
	return out
}

// landing is where the browser ends: it keeps the query.
func landing(t *testing.T) (redirect string, query <-chan string) {
	t.Helper()
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.URL.RawQuery
		_, _ = io.WriteString(w, "<title>done</title>") // the browser may be gone
	}))
	t.Cleanup(s.Close)
	return s.URL + "/callback", got
}

// scriptLogin runs the client of an SDK for scripts.
func scriptLogin(t *testing.T, e errand, sdk, era string) string {
	t.Helper()
	redirect, query := landing(t)
	document := ""
	if sdk == "v2, document" {
		sdk, document = "v2", documentOf(redirect)
	}
	options, err := json.Marshal(map[string]any{"sdk": sdk, "era": era, "url": e.url, "redirect": redirect, "document": document, "tool": e.tool, "arguments": map[string]string{"message": greeting}, "outside": e.outside, "blind": e.blind})
	require.NoError(t, err)
	var words []string
	if sdk == "python" {
		dir, err := filepath.Abs(filepath.Join("..", "python"))
		require.NoError(t, err)
		if _, err := os.Stat(filepath.Join(dir, "venv", ".stamp")); err != nil {
			t.Skip("the Python SDK is not installed: make python says why")
		}
		words = []string{filepath.Join(dir, "venv", "bin", "python"), filepath.Join(dir, "login.py"), string(options)}
	} else {
		words = npmtest.Peer(t, "login.mjs", string(options))
	}
	ctx := wait.Context(t)
	p, err := wire.Start(exec.CommandContext(ctx, words[0], words[1:]...))
	require.NoError(t, err)
	defer p.End(time.Second)
	last := ""
	for out := bufio.NewScanner(p.Out); out.Scan(); {
		last = out.Text()
		if page, ok := strings.CutPrefix(last, "AUTHORIZE "); ok {
			_, err := browse(page, approve)
			require.NoError(t, err)
			_, err = io.WriteString(p.In, <-query+"\n")
			require.NoError(t, err)
		}
	}
	if !strings.Contains(last, greeting) {
		t.Logf("%s: %s", sdk, p.Stderr)
	}
	return last
}

// documentOf returns the id of a client that redirects to a place.
func documentOf(redirect string) string {
	return "https://client.example/document?redirect=" + url.QueryEscape(redirect)
}

// goLogin is the client of the Go SDK, which registers.
func goLogin(t *testing.T, e errand, revision string) string {
	t.Helper()
	s, err := goConnect(t, &mcp.StreamableClientTransport{Endpoint: e.url}, revision, registers)
	require.NoError(t, err)
	return goCall(t, s, e.tool)
}

// registers has a client of the Go SDK register.
func registers(c *auth.AuthorizationCodeHandlerConfig) {
	c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "login", RedirectURIs: []string{c.RedirectURL}, TokenEndpointAuthMethod: "none"}}
}

// goConnect logs in with the Go SDK, which is known to the authorization server as identify says.
func goConnect(t *testing.T, transport *mcp.StreamableClientTransport, revision string, identify func(*auth.AuthorizationCodeHandlerConfig)) (*mcp.ClientSession, error) {
	t.Helper()
	redirect, query := landing(t)
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if _, err := browse(args.URL, approve); err != nil {
				return nil, err
			}
			q, err := url.ParseQuery(<-query)
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, err
		},
	}
	identify(c)
	h, err := auth.NewAuthorizationCodeHandler(c)
	require.NoError(t, err)
	transport.OAuthHandler = h
	ctx, cancel := context.WithTimeout(t.Context(), wire.Limit)
	t.Cleanup(cancel)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "login", Version: "1"}, nil).Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// goCall calls a tool that says the greeting back.
func goCall(t *testing.T, s *mcp.ClientSession, tool string) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]string{"message": greeting}})
	require.NoError(t, err)
	text, _ := r.Content[0].(*mcp.TextContent)
	return text.Text
}

// TestAdmitsDocuments: clients whose id is the URL of their metadata need no registration.
func TestAdmitsDocuments(t *testing.T) {
	t.Parallel()
	a := admit(t, settings{JWT: true, Documents: true}, "")
	s, err := goConnect(t, &mcp.StreamableClientTransport{Endpoint: a.URL}, "", func(c *auth.AuthorizationCodeHandlerConfig) {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: documentOf(c.RedirectURL)}
	})
	require.NoError(t, err)
	for name, got := range map[string]string{
		"Go SDK":         goCall(t, s, tool),
		"TypeScript SDK": scriptLogin(t, errand{url: a.URL, tool: tool}, "v2, document", "legacy"),
	} {
		if !strings.Contains(got, greeting) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if s := a.seen(t); s.Registrations > 0 || s.Documents == 0 {
		t.Errorf("the authorization server has seen %+v", s)
	}
}

// machine returns a token of a client that needs no person. der is of the certificate that
// it is to be bound to, nil for none.
func (p *pair) machine(t *testing.T, resource string, der []byte) string {
	t.Helper()
	id := "machine"
	if der != nil {
		id = "bound"
	}
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}, "scope": {"notes"}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Issuer+"/token", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(id, p.ClientSecret)
	if der != nil {
		req.Header.Set("X-Test-Certificate", base64.StdEncoding.EncodeToString(der))
	}
	status, body := send(t, req)
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Token == "" {
		t.Fatalf("HTTP %d: %s", status, body)
	}
	return got.Token
}

// ask sends a ping with a token, and returns the status.
func ask(t *testing.T, at, token string, config *tls.Config) int {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: config}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(wire.Request("1", "ping", "{}")))
	require.NoError(t, err)
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token} {
		req.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: tr, Timeout: time.Until(wait.Deadline(t))}).Do(req)
	require.NoError(t, err)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestAdmitsMachines: tokens that clients get without a person, JWTs and opaque ones; those
// for another resource are refused, and those of an authorization server that has been
// replaced, under load, once its keys are.
func TestAdmitsMachines(t *testing.T) {
	t.Parallel()
	for _, jwt := range []bool{true, false} {
		t.Run(fmt.Sprint("JWT ", jwt), func(t *testing.T) {
			t.Parallel()
			a := admit(t, settings{JWT: jwt}, "", "subjectClaim: client_id")
			good := a.machine(t, a.URL, nil)
			post(t, a.Control+"/resource", map[string]string{"resource": a.Server})
			other := a.machine(t, a.Server, nil)
			for name, c := range map[string]struct {
				token string
				want  int
			}{"good": {good, 200}, "another resource's": {other, 401}, "changed": {good[:len(good)-5] + "AAAAA", 401}} {
				if got := ask(t, a.URL, c.token, nil); got != c.want {
					t.Errorf("%s: HTTP %d, want %d", name, got, c.want)
				}
			}
			if got := a.who(t); !strings.Contains(got, a.Issuer+"|machine") {
				t.Errorf("who has come: %s", got)
			}
		})
	}
}

// TestAdmitsRotation: the keys of an authorization server are replaced under load. Who has
// the old token is let in until the new keys are there, and the new one's from then on.
func TestAdmitsRotation(t *testing.T) {
	t.Parallel()
	if !wire.Nightly() {
		t.Skip("waits half a minute: make nightly")
	}
	a := admit(t, settings{JWT: true}, "")
	old := a.machine(t, a.URL, nil)
	stop, served := make(chan struct{}), atomic.Int64{}
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if ask(t, a.URL, old, nil) == http.StatusOK {
					served.Add(1)
				}
			}
		})
	}
	a.forget(t)
	post(t, a.Control+"/resource", map[string]string{"resource": a.URL})
	renewed := a.machine(t, a.URL, nil)
	wait.Until(t, "the new key counts", func() bool { return ask(t, a.URL, renewed, nil) == http.StatusOK })
	if got := ask(t, a.URL, old, nil); got != http.StatusUnauthorized {
		t.Errorf("the old key: HTTP %d", got)
	}
	close(stop)
	load.Wait()
	if served.Load() == 0 {
		t.Error("nobody was let in meanwhile")
	}
}

// TestAdmitsBound: a token that is bound to a certificate counts with that alone.
func TestAdmitsBound(t *testing.T) {
	t.Parallel()
	a := admit(t, settings{JWT: true}, "  tls: {cert: cert.pem, key: key.pem, clientCA: ca.pem}\n")
	got, _ := authorities.Load(a.Home)
	root, _ := got.(*pki.Authority)
	mine, other := root.Issue(t, pki.Leaf{DNS: []string{"machine.example"}}), root.Issue(t, pki.Leaf{DNS: []string{"other.example"}})
	token := a.machine(t, a.URL, mine.Certificate[0])
	for name, c := range map[string]struct {
		config *tls.Config
		want   int
	}{"its own": {root.Client(mine), 200}, "another": {root.Client(other), 401}, "none": {root.Client(), 401}} {
		if got := ask(t, a.URL, token, c.config); got != c.want {
			t.Errorf("%s: HTTP %d, want %d", name, got, c.want)
		}
	}
}

// TestAdmitsInspector: the command line of the Inspector does not log in, and is given a
// token.
func TestAdmitsInspector(t *testing.T) {
	t.Parallel()
	if !wire.Nightly() {
		t.Skip("starts slowly: make nightly")
	}
	a := admit(t, settings{JWT: true}, "")
	header := "Authorization: Bearer " + a.machine(t, a.URL, nil)
	for _, era := range []string{"legacy", "modern"} {
		for _, given := range []bool{true, false} {
			words := []string{"--protocol-era", era, "--transport", "http", "--server-url", a.URL, "--method", "tools/call", "--tool-name", tool, "--tool-arg", "message=" + greeting, "--format", "json", "-q"}
			if given {
				words = append(words, "--header", header)
			}
			words = npmtest.Inspector(t, words...)
			ctx, cancel := context.WithTimeout(t.Context(), wire.Limit)
			cmd := exec.CommandContext(ctx, words[0], words[1:]...)
			home := t.TempDir()
			cmd.Env = append(cmd.Environ(), "HOME="+home, "MCP_STORAGE_DIR="+home, "MCP_CATALOG_PATH="+filepath.Join(home, "catalog.json"), "BROWSER=true")
			out, err := cmd.CombinedOutput()
			cancel()
			if got := strings.Contains(string(out), greeting); got != given {
				t.Errorf("%s, with a token %v: %v\n%.800s", era, given, err, out)
			}
		}
	}
}
