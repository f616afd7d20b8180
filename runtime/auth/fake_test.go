package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/require"
)

// world is an MCP server and its authorization server, with every deviation a switch.
type world struct {
	*httptest.Server
	other *httptest.Server // the authorization server, where that is apart
	t     *testing.T

	// Switches, set before use.
	metadataAt   string // path of the protected resource metadata, "" for the path-aware place
	noHeader     bool   // the challenge names no metadata
	noMetadata   bool   // as of 2025-03-26
	issuerPath   string // of the authorization server
	issuerSays   string // in its metadata, in the place of the truth
	openID       bool   // metadata where OpenID has it
	noPKCE       bool
	documents    bool
	noRegistry   bool
	methods      []string
	issuerScopes []string
	challenge    string // scope of the challenge
	needs        string // scope without which calls are refused
	answersIss   string // iss of the redirect
	saysIss      bool
	lifetime     int // of access tokens, in seconds; 0 says none
	noRotation   bool
	denies       bool
	slow         time.Duration // of the token endpoint
	refuse       func(form url.Values) string
	devicePage   string   // offers the device flow, with this page for the code
	undecided    []string // errors that come before the token of the device flow
	byHand       string   // a token that is made by hand, "" for none
	noIssuer     bool     // the server names no authorization server
	noRegister   bool     // nobody answers at the place for registrations
	apart        bool     // the authorization server is another
	takesNone    bool     // no token is good enough for the server

	mu        sync.Mutex // guards what follows
	clients   map[string]string
	codes     map[string]url.Values
	access    map[string]string // token to its scope
	refreshes map[string]string // refresh token to its scope
	padding   string            // makes access tokens longer
	seen      []url.Values      // of the token endpoint
	asked     []url.Values      // of the authorization endpoint
	revoked   []string
	basic     string // user:password of the last request for a token

	registered, refreshed, granted atomic.Int64
}

func newWorld(t *testing.T, set func(*world)) *world {
	t.Helper()
	w := &world{t: t, clients: map[string]string{}, codes: map[string]url.Values{}, access: map[string]string{}, refreshes: map[string]string{}, lifetime: 3600}
	if set != nil {
		set(w)
	}
	w.Server = httptest.NewServer(http.HandlerFunc(w.handle))
	t.Cleanup(w.Close)
	if w.apart {
		w.other = httptest.NewServer(http.HandlerFunc(w.handle))
		t.Cleanup(w.other.Close)
	}
	return w
}

// at is where the authorization server is.
func (w *world) at() string {
	if w.apart {
		return w.other.URL
	}
	return w.URL
}

func (w *world) issuer() string { return w.at() + w.issuerPath }

func (w *world) handle(out http.ResponseWriter, r *http.Request) {
	answer := func(status int, v any) {
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(status)
		_ = json.NewEncoder(out).Encode(v)
	}
	place := "/.well-known/oauth-protected-resource/mcp"
	if w.metadataAt != "" {
		place = w.metadataAt
	}
	authorizationServer := "/.well-known/oauth-authorization-server" + w.issuerPath
	if w.openID {
		authorizationServer = w.issuerPath + "/.well-known/openid-configuration"
	}
	switch r.URL.Path {
	case "/mcp":
		w.call(out, r)
	case place:
		if w.noMetadata {
			http.NotFound(out, r)
			return
		}
		issuers := []string{w.issuer()}
		if w.noIssuer {
			issuers = nil
		}
		answer(200, map[string]any{"resource": w.URL + "/mcp", "authorization_servers": issuers, "scopes_supported": []string{"basic"}})
	case authorizationServer:
		if w.noMetadata {
			http.NotFound(out, r)
			return
		}
		says := w.issuer()
		if w.issuerSays != "" {
			says = w.issuerSays
		}
		m := map[string]any{
			"issuer": says, "authorization_endpoint": w.at() + "/authorize", "token_endpoint": w.at() + "/token", "revocation_endpoint": w.at() + "/revoke",
			"scopes_supported": w.issuerScopes, "authorization_response_iss_parameter_supported": w.saysIss,
			"client_id_metadata_document_supported": w.documents, "token_endpoint_auth_methods_supported": w.methods,
		}
		if !w.noPKCE {
			m["code_challenge_methods_supported"] = []string{"S256"}
		}
		if !w.noRegistry {
			m["registration_endpoint"] = w.at() + "/register"
		}
		if w.devicePage != "" {
			m["device_authorization_endpoint"] = w.at() + "/device"
			m["grant_types_supported"] = []string{"authorization_code", "urn:ietf:params:oauth:grant-type:device_code"}
		}
		answer(200, m)
	case "/register":
		if w.noRegister {
			http.NotFound(out, r)
			return
		}
		w.registered.Add(1)
		var in struct {
			Redirects []string `json:"redirect_uris"`
			Grants    []string `json:"grant_types"`
			Type      string   `json:"application_type"`
			Method    string   `json:"token_endpoint_auth_method"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		id := fmt.Sprintf("client-%d", w.registered.Load())
		w.mu.Lock()
		w.clients[id] = in.Redirects[0] + " " + strings.Join(in.Grants, " ")
		w.mu.Unlock()
		made := map[string]any{"client_id": id, "token_endpoint_auth_method": in.Method}
		if in.Method != "none" {
			made["client_secret"] = "secret of " + id
		}
		answer(201, made)
	case "/device":
		_ = r.ParseForm()
		w.mu.Lock()
		w.asked = append(w.asked, r.PostForm)
		w.mu.Unlock()
		answer(200, map[string]any{
			"device_code": "the device", "user_code": "WDJB-MJHT", "verification_uri": w.devicePage, "expires_in": "600", "interval": 0.001,
		})
	case "/authorize":
		w.authorize(out, r)
	case "/token":
		time.Sleep(w.slow) // the slowness is what is tested
		_ = r.ParseForm()
		status, v := w.token(r)
		answer(status, v)
	case "/revoke":
		_ = r.ParseForm()
		w.mu.Lock()
		w.revoked = append(w.revoked, r.Form.Get("token"))
		w.mu.Unlock()
	default:
		http.NotFound(out, r)
	}
}

// call is the MCP server: it answers those who may.
func (w *world) call(out http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.mu.Lock()
	scope, ok := w.access[token]
	w.mu.Unlock()
	ok = (ok || w.byHand != "" && token == w.byHand) && !w.takesNone
	header := func(rest string) {
		c := `Bearer realm="a, \"b\"", ` + rest
		if !w.noHeader && !w.noMetadata {
			place := "/.well-known/oauth-protected-resource/mcp"
			if w.metadataAt != "" {
				place = w.metadataAt
			}
			c += `, resource_metadata="` + w.URL + place + `"`
		}
		out.Header().Add("WWW-Authenticate", `Basic realm="x"`)
		out.Header().Add("WWW-Authenticate", c)
	}
	switch {
	case !ok:
		rest := `error="invalid_token"`
		if w.challenge != "" {
			rest += `, scope="` + w.challenge + `"`
		}
		header(rest)
		out.WriteHeader(http.StatusUnauthorized)
	case w.needs != "" && !slices.Contains(strings.Fields(scope), w.needs):
		header(`error="insufficient_scope", scope="` + w.needs + `"`)
		out.WriteHeader(http.StatusForbidden)
	default:
		_, _ = io.WriteString(out, "called")
	}
}

func (w *world) authorize(out http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.mu.Lock()
	w.asked = append(w.asked, q)
	code := rand.Text()
	w.codes[code] = q
	unknown := w.refuse != nil && w.refuse(q) == "invalid_client"
	w.mu.Unlock()
	if unknown {
		http.Error(out, "this client is not known", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if w.denies {
		back.Set("error", "access_denied")
		back.Set("error_description", "<b>no</b>")
	} else {
		back.Set("code", code)
	}
	if w.answersIss != "" {
		back.Set("iss", w.answersIss)
	}
	http.Redirect(out, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func refused(code string) (int, any) { return 400, map[string]any{"error": code} }

func (w *world) token(r *http.Request) (int, any) {
	form := r.PostForm
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, form)
	w.basic = ""
	if user, password, ok := r.BasicAuth(); ok {
		w.basic = user + ":" + password
	}
	if w.refuse != nil {
		if code := w.refuse(form); code != "" {
			return refused(code)
		}
	}
	scope := form.Get("scope")
	switch form.Get("grant_type") {
	case "authorization_code":
		q := w.codes[form.Get("code")]
		delete(w.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		id := form.Get("client_id")
		if user, _, ok := r.BasicAuth(); ok {
			id = user
		}
		if q == nil || q.Get("redirect_uri") != form.Get("redirect_uri") || q.Get("client_id") != id || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return refused("invalid_grant")
		}
		scope = q.Get("scope")
	case "urn:ietf:params:oauth:grant-type:device_code":
		if form.Get("device_code") != "the device" || form.Get("resource") != w.URL+"/mcp" {
			return refused("invalid_grant")
		}
		if len(w.undecided) > 0 {
			code := w.undecided[0]
			w.undecided = w.undecided[1:]
			return refused(code)
		}
	case "refresh_token":
		w.refreshed.Add(1)
		old, ok := w.refreshes[form.Get("refresh_token")]
		if !ok {
			return refused("invalid_grant")
		}
		scope = old
		if !w.noRotation {
			delete(w.refreshes, form.Get("refresh_token"))
		}
	}
	w.granted.Add(1)
	access := "access-" + rand.Text() + w.padding
	w.access[access] = scope
	out := map[string]any{"access_token": access, "token_type": "bearer", "scope": scope}
	if w.lifetime != 0 {
		out["expires_in"] = w.lifetime
	}
	if form.Get("grant_type") != "client_credentials" && !(w.noRotation && form.Get("grant_type") == "refresh_token") {
		refresh := "refresh-" + rand.Text()
		w.refreshes[refresh] = scope
		out["refresh_token"] = refresh
	}
	return 200, out
}

// expire ends all access tokens.
func (w *world) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.access)
}

// browser is a person who agrees to everything.
type browser struct {
	t     *testing.T
	pages atomic.Int64
	paste chan string // nil: the browser is on this machine
}

func (b *browser) Show(ctx context.Context, page string) (bool, error) {
	b.pages.Add(1)
	go func() { // ends with the redirect
		c := &http.Client{Timeout: 5 * time.Minute}
		if b.paste != nil {
			c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		}
		req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, page, nil)
		if err != nil {
			return
		}
		resp, err := c.Do(req)
		if err != nil {
			return
		}
		_ = resp.Body.Close()
		if b.paste != nil {
			b.paste <- "not an address"
			b.paste <- resp.Header.Get("Location")
		}
	}()
	return b.paste != nil, nil
}

func (b *browser) Paste(ctx context.Context) (string, error) {
	select {
	case text := <-b.paste:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// client returns an authorizer of the world's server and what calls through it.
func (w *world) client(path string, config authconfig.Config, person auth.Prompter) (*auth.Authorizer, func(t *testing.T) string) {
	w.t.Helper()
	server, err := url.Parse(w.URL + "/mcp")
	if err != nil {
		w.t.Fatal(err)
	}
	a := auth.New(auth.Options{Server: server, Name: "s", Config: config, Store: &tokenstore.Store{Path: path}, Prompter: person, Logger: slog.New(slog.DiscardHandler)})
	return a, func(t *testing.T) string {
		t.Helper()
		return call(t.Context(), a, server.String())
	}
}

// call does what transport does: one retry after a challenge.
func call(ctx context.Context, a *auth.Authorizer, server string) string {
	// Not the default transport: whenever a test server closes, that loses connections.
	direct := &http.Transport{DisableKeepAlives: true}
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, nil)
		if err != nil {
			return err.Error()
		}
		if err := a.Authorize(ctx, req); err != nil {
			return err.Error()
		}
		resp, err := direct.RoundTrip(req)
		if err != nil {
			return err.Error()
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode == 200 {
			return string(body)
		}
		if try == 2 {
			return resp.Status
		}
		retry, err := a.Challenged(ctx, resp)
		if err != nil {
			return err.Error()
		}
		if !retry {
			return resp.Status
		}
	}
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}

// lines are what a logger has written: warnings and errors.
type lines struct{ all []string }

func (l *lines) Write(line []byte) (int, error) {
	l.all = append(l.all, string(line))
	return len(line), nil
}

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func tokenFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state", "auth.json")
}
