package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/issuer"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// lines are what a logger has written.
type lines struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// shared is a gateway that principals share, before a server that each of them has an
// account with.
type shared struct {
	g       *gateway
	url     string
	dir     string
	tokens  map[string]string // of principals, by their names
	backend *issuer.Server
	log     *lines

	mu    sync.Mutex          // guards seen
	seen  map[string][]string // the bearers of calls, by what they say
	users map[string]string   // the header X-User of calls, by what they say
}

// openShared serves the entry of a server "gh" at {{gh}}, with more settings.
func openShared(t *testing.T, entry string, more ...func(*settings.Settings)) *shared {
	t.Helper()
	s := &shared{tokens: map[string]string{}, seen: map[string][]string{}, users: map[string]string{}, dir: t.TempDir(), log: &lines{}}
	mcp := runtimetest.New().Handler(runtimetest.HTTPOptions{})
	s.backend = issuer.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var call struct {
			Params struct {
				Arguments struct{ Message string }
			}
		}
		_ = json.Unmarshal(body, &call)
		s.mu.Lock()
		who := call.Params.Arguments.Message
		s.seen[who], s.users[who] = append(s.seen[who], r.Header.Get("Authorization")), r.Header.Get("X-User")
		s.mu.Unlock()
		mcp.ServeHTTP(w, r)
	}))
	t.Cleanup(s.backend.Close)
	file, err := config.Parse("servers.json", []byte(`{"mcpServers":{"gh":`+strings.ReplaceAll(entry, "{{gh}}", s.backend.URL+"/mcp")+`}}`))
	require.NoError(t, err)
	for _, e := range file.Entries() {
		require.NoError(t, e.Err())
	}
	h := Host{
		UI: ui.New(strings.NewReader(""), io.Discard, io.Discard), Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Getenv: func(name string) string { return map[string]string{"MCPCTL_HOME": s.dir}[name] }, Tokens: &tokenstore.Store{Path: filepath.Join(s.dir, "auth.json")},
	}
	h.Settings.Serve = settings.Serve{Prefix: true, Separator: "__", Access: settings.Access{Providers: settings.Providers{Token: &settings.TokenProvider{}}}}
	for _, set := range more {
		set(&h.Settings)
	}
	h.Dial = func(config.Entry) dial.Options { return dial.Options{Logger: h.Log, Auth: &dial.Auth{Store: h.Tokens}} }
	// What this machine's user has is nobody's who calls.
	require.NoError(t, h.Tokens.Put(t.Context(), tokenstore.Token{Server: s.backend.URL + "/mcp", Issuer: s.backend.URL, Access: "canary-of-this-user", Source: tokenstore.SourceOAuth}))
	s.backend.Admit("canary-of-this-user")
	require.NoError(t, authn.NewTokenFile(filepath.Join(s.dir, authn.TokenFileName)).Change(t.Context(), func([]access.Token) (all []access.Token, _ error) {
		for _, name := range []string{"alice", "bob"} {
			one, text := access.NewToken(name, nil, time.Now(), time.Time{})
			all, s.tokens[name] = append(all, one), text
		}
		return all, nil
	}))
	s.g = &gateway{h: h, o: Options{Command: "serve", HTTP: "127.0.0.1:0", asks: true}, logins: auth.NewLogins()}
	t.Cleanup(s.g.logins.Close)
	require.NoError(t, openAudit(t.Context(), s.g))
	t.Cleanup(func() { s.g.audit.Close(context.Background()) })
	require.NoError(t, s.g.open(file.Entries(), proxy.Search{}))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.g.serveHTTP(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		require.NoError(t, s.g.proxy.Close())
	})
	wait.Until(t, "it listens", func() bool { return s.g.shown.addrs.Load() != nil })
	s.url = (*s.g.shown.addrs.Load())[0]
	return s
}

// client returns a client of a principal.
func (s *shared) client(t *testing.T, name string) (*wire.Client, http.Header) {
	t.Helper()
	c := wire.NewClient(s.url)
	t.Cleanup(c.Close)
	return c, http.Header{"Authorization": {"Bearer " + s.tokens[name]}}
}

// stateless calls as a client of 2026-07-28 that declares some capabilities; more are
// members of the params.
func (s *shared) stateless(t *testing.T, name, capabilities, more string) string {
	t.Helper()
	return s.say(t, name, name, capabilities, more)
}

// say is stateless with another message.
func (s *shared) say(t *testing.T, name, message, capabilities, more string) string {
	t.Helper()
	c, h := s.client(t, name)
	h.Set("Mcp-Protocol-Version", "2026-07-28")
	h.Set("Mcp-Method", "tools/call")
	h.Set("Mcp-Name", "gh__echo")
	resp, err := c.Do(t.Context(), http.MethodPost, []byte(wire.Request("1", "tools/call", `{"name":"gh__echo","arguments":{"message":`+wire.Quote(message)+`},"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":`+capabilities+`}`+more+`}`)), h)
	require.NoError(t, err)
	answer, err := wire.Read(resp)
	require.NoError(t, err)
	return answer.Message()
}

// call is a call of a client that cannot be asked to open a page.
func (s *shared) call(t *testing.T, name string) string {
	t.Helper()
	return s.stateless(t, name, "{}", "")
}

const opensPages = `{"elicitation":{"url":{}}}`

// pageIn returns the page that a text leads to, and what is sealed in it.
func (s *shared) pageIn(t *testing.T, text string) (page string, l link.Link) {
	t.Helper()
	at := strings.Index(text, strings.TrimSuffix(s.url, "/mcp")+"/connect/gh?s=")
	if at < 0 {
		t.Fatalf("there is no page in %s", text)
	}
	page = text[at:]
	if end := strings.IndexAny(page, "\"\\ "); end > 0 {
		page = page[:end]
	}
	u, err := url.Parse(page)
	require.NoError(t, err)
	l, err = link.Open(s.g.ring, u.Query().Get("s"))
	require.NoError(t, err)
	return page, l
}

// link links an account of a principal, as a browser does.
func (s *shared) link(t *testing.T, name string) {
	t.Helper()
	query := s.begin(t, name)
	require.NoError(t, s.g.accounts.Finish(t.Context(), "token|"+name, "gh", query))
}

// begin begins to link an account, and returns what the browser comes back with.
func (s *shared) begin(t *testing.T, name string) url.Values {
	t.Helper()
	page, state, err := s.g.accounts.Start(t.Context(), "token|"+name, "gh", strings.TrimSuffix(s.url, "/mcp")+"/connect/gh/callback")
	require.NoError(t, err)
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Timeout: wire.Limit}
	resp, err := c.Get(page)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	to, err := resp.Location()
	require.NoError(t, err)
	if to.Query().Get("state") != state || to.Path != "/connect/gh/callback" {
		t.Errorf("the browser comes back to %s", to)
	}
	return to.Query()
}

// bearers returns the credentials that calls of a principal came to the server with.
func (s *shared) bearers(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.seen[name])))
}

// user returns who the server was told that a principal is.
func (s *shared) user(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[name]
}

const linked = `{"url":"{{gh}}","auth":{"as":"principal"}}`

// TestLinkedAccounts: each principal calls with the account that they have linked, and
// is led to the page for it where they have none. No credential of anybody else is used.
func TestLinkedAccounts(t *testing.T) {
	t.Parallel()
	s := openShared(t, linked)
	for _, name := range []string{"alice", "bob"} {
		answer := s.call(t, name)
		_, l := s.pageIn(t, answer)
		if l.Server != "gh" || l.Principal != "token|"+name || !strings.Contains(answer, "Link your account at") {
			t.Errorf("%s: got %s, %+v", name, answer, l)
		}
		if s.g.accounts.Linked("token|"+name, "gh") {
			t.Errorf("%s has an account before", name)
		}
	}
	if got := s.bearers("alice"); len(got) > 0 {
		t.Errorf("calls without an account reached the server: %q", got)
	}
	if c, err := s.g.dial(t.Context(), proxy.Key{Server: "gh"}, runtime.NopHandler{}); err == nil || !strings.Contains(err.Error(), "its credentials are those of who calls") {
		t.Errorf("connected for nobody: %v, %v", c, err)
	}
	query := s.begin(t, "alice")
	for _, other := range [][2]string{{"token|bob", "gh"}, {"token|alice", "other"}, {"", "gh"}} {
		if err := s.g.accounts.Finish(t.Context(), other[0], other[1], query); !errors.Is(err, link.ErrState) {
			t.Errorf("%q takes alice's answer: %v", other, err)
		}
	}
	require.NoError(t, s.g.accounts.Finish(t.Context(), "token|alice", "gh", query))
	if err := s.g.accounts.Finish(t.Context(), "token|alice", "gh", query); !errors.Is(err, link.ErrState) {
		t.Errorf("an answer was taken twice: %v", err)
	}
	if got := s.call(t, "alice"); !strings.Contains(got, `"text":"alice"`) {
		t.Fatalf("alice: got %s", got)
	}
	for range 10 { // and none of his failures is alice's
		if got := s.call(t, "bob"); !strings.Contains(got, "/connect/gh?s=") {
			t.Errorf("bob has no account, and got %s", got)
		}
	}
	if got := s.call(t, "alice"); !strings.Contains(got, `"text":"alice"`) {
		t.Errorf("alice, after bob has failed: got %s", got)
	}
	s.link(t, "bob")
	if got := s.call(t, "bob"); !strings.Contains(got, `"text":"bob"`) {
		t.Fatalf("bob: got %s", got)
	}
	alice, bob := s.bearers("alice"), s.bearers("bob")
	if len(alice) != 1 || len(bob) != 1 || alice[0] == bob[0] || !strings.HasPrefix(alice[0], "Bearer canary-access") {
		t.Errorf("alice called with %q, bob with %q", alice, bob)
	}
	require.NoError(t, s.g.accounts.Unlink(t.Context(), "token|alice", "gh"))
	wait.Until(t, "alice's account is not used", func() bool { return strings.Contains(s.call(t, "alice"), "/connect/gh?s=") })
	if got := s.call(t, "bob"); !strings.Contains(got, `"text":"bob"`) {
		t.Errorf("bob: got %s", got)
	}
	s.clean(t)
}

// clean checks that no secret shows where it must not.
func (s *shared) clean(t *testing.T) {
	t.Helper()
	secrets := s.backend.Secrets()
	for name, token := range s.tokens {
		secrets[token] = "token of " + name
	}
	secrets["canary-of-this-user"] = "token of this machine's user"
	s.mu.Lock()
	for _, all := range s.seen {
		for _, bearer := range all {
			if what := secrets[strings.TrimPrefix(bearer, "Bearer ")]; !strings.HasPrefix(what, "access") {
				t.Errorf("the server got the %s", what)
			}
		}
	}
	s.mu.Unlock()
	texts := map[string]string{"the log": s.log.String()}
	require.NoError(t, filepath.WalkDir(filepath.Join(s.dir, "accounts"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		texts[path] = string(raw)
		return err
	}))
	if len(texts) < 4 { // the key, and the accounts of two
		t.Errorf("only %d files of accounts", len(texts))
	}
	for where, text := range texts {
		for secret, what := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows the %s", where, what)
			}
		}
	}
}

// TestLinkInTheCall: a client that can open pages is asked to in the middle of its call,
// which goes on when the account is linked, in both eras.
func TestLinkInTheCall(t *testing.T) {
	t.Parallel()
	s := openShared(t, linked)
	// 2026-07-28: the client comes back with the answer.
	answer := s.stateless(t, "alice", opensPages, "")
	var m struct {
		Result struct {
			Type   string                                      `json:"resultType"`
			Inputs map[string]struct{ Params json.RawMessage } `json:"inputRequests"`
			State  json.RawMessage                             `json:"requestState"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &m))
	if m.Result.Type != "input_required" || len(m.Result.Inputs) != 1 {
		t.Fatalf("got %s", answer)
	}
	for key, in := range m.Result.Inputs {
		if _, l := s.pageIn(t, string(in.Params)); l.Principal != "token|alice" {
			t.Errorf("the page is for %+v", l)
		}
		more := `,"inputResponses":{` + wire.Quote(key) + `:{"action":"accept"}},"requestState":` + string(m.Result.State)
		if got := s.stateless(t, "bob", opensPages, more); strings.Contains(got, `"text":"bob"`) {
			t.Errorf("bob goes on with the call of alice: %s", got)
		}
		s.link(t, "alice")
		if got := s.stateless(t, "alice", opensPages, more); !strings.Contains(got, `"text":"alice"`) {
			t.Errorf("after the link: %s", got)
		}
	}
	// 2025-11-25: the question comes on the stream of the call.
	c, h := s.client(t, "bob")
	resp, err := c.Do(t.Context(), http.MethodPost, []byte(wire.Request("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+opensPages+`,"clientInfo":{"name":"c","version":"1"}}`)), h)
	require.NoError(t, err)
	_, err = wire.Read(resp)
	require.NoError(t, err)
	c.Session, c.Version = resp.Header.Get("Mcp-Session-Id"), "2025-11-25"
	resp, err = c.Do(t.Context(), http.MethodPost, []byte(wire.Request("1", "tools/call", `{"name":"gh__echo","arguments":{"message":"bob"}}`)), h)
	require.NoError(t, err)
	defer resp.Body.Close()
	last := ""
	_, err = wire.Events(resp.Body, func(e wire.Event) {
		var m wire.Message
		if json.Unmarshal([]byte(e.Data), &m) != nil || m.Method != "elicitation/create" {
			last = e.Data
			return
		}
		if _, l := s.pageIn(t, string(m.Params)); l.Principal != "token|bob" {
			t.Errorf("the page is for %+v", l)
		}
		resp, err := c.Do(t.Context(), http.MethodPost, []byte(wire.Result(m.ID, `{"action":"accept"}`)), h)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		s.link(t, "bob")
	})
	require.NoError(t, err)
	if !strings.Contains(last, `"text":"bob"`) {
		t.Errorf("after the link: %s", last)
	}
	s.clean(t)
}

// TestRefusedAccount: an account whose token the server refuses is refreshed, and linked
// again where that does not help; the client never gets the status.
func TestRefusedAccount(t *testing.T) {
	t.Parallel()
	s := openShared(t, linked)
	s.link(t, "alice")
	for range 2 {
		if got := s.call(t, "alice"); !strings.Contains(got, `"text":"alice"`) {
			t.Fatalf("got %s", got)
		}
		s.backend.Expire()
	}
	s.backend.Set(func(b *issuer.Server) { b.Refuses = true })
	if got := s.call(t, "alice"); !strings.Contains(got, "/connect/gh?s=") {
		t.Errorf("got %s", got)
	}
	s.backend.Set(func(b *issuer.Server) { b.Refuses, b.Barred = false, true })
	s.link(t, "alice")
	if got := s.call(t, "alice"); !strings.Contains(got, "/connect/gh?s=") {
		t.Errorf("got %s", got)
	}
	s.clean(t)
}

// TestExchangedTokens: the token of each principal is exchanged for one of theirs, and
// the server gets no other. A failure of the exchange is an answer to the call.
func TestExchangedTokens(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards what follows
	handed := map[string]int{}
	fails := false
	var s *shared
	exchange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = r.ParseForm()
		subject := r.PostForm.Get("subject_token")
		handed[subject]++
		w.Header().Set("Content-Type", "application/json")
		if fails {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_target","error_description":"not with `+subject+`"}`)
			return
		}
		access := "exchanged-" + strings.TrimPrefix(subject, "inbound-")
		s.backend.Admit(access)
		_, _ = io.WriteString(w, `{"access_token":"`+access+`","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer","expires_in":3600}`)
	}))
	t.Cleanup(exchange.Close)
	s = openShared(t, `{"url":"{{gh}}","headers":{"X-User":"${principal.name}"},"auth":{"as":"principal","grant":"token_exchange","tokenEndpoint":"`+exchange.URL+`","subjectIssuer":"token","clientId":"mcpctl"}}`)
	var another atomic.Bool
	s.g.accounts.principals.Subject = func(id string) secret.Text {
		text := "inbound-" + strings.TrimPrefix(id, "token|")
		if another.Load() {
			text += "-anew"
		}
		return secret.New(text)
	}
	for range 2 {
		for _, name := range []string{"alice", "bob"} {
			if got := s.call(t, name); !strings.Contains(got, `"text":"`+name+`"`) {
				t.Errorf("%s: got %s", name, got)
			}
			if got := s.bearers(name); len(got) != 1 || got[0] != "Bearer exchanged-"+name || s.user(name) != name {
				t.Errorf("%s called with %q as %q", name, got, s.user(name))
			}
		}
	}
	mu.Lock()
	if handed["inbound-alice"] != 1 || handed["inbound-bob"] != 1 || len(handed) != 2 {
		t.Errorf("handed in %v", handed)
	}
	fails = true
	mu.Unlock()
	s.backend.Expire() // the server refuses the exchanged tokens from now on
	got := s.call(t, "alice")
	if !strings.Contains(got, "the token of token|alice cannot be exchanged") || !strings.Contains(got, "invalid_target") || strings.Contains(got, "inbound") || strings.Contains(got, "/connect/") {
		t.Errorf("got %s", got)
	}
	mu.Lock()
	fails = false
	mu.Unlock()
	another.Store(true) // she comes with another token, which is tried at once
	wait.Until(t, "alice calls again", func() bool { return strings.Contains(s.call(t, "alice"), `"text":"alice"`) })
	if log := s.log.String(); strings.Contains(log, "inbound-") || strings.Contains(log, "exchanged-alice") {
		t.Errorf("the log shows a token: %s", log)
	}
}
