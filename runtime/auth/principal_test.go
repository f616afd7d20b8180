package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// exchange is an authorization server that exchanges tokens, and a server that takes
// what it issues.
type exchange struct {
	*httptest.Server
	mu       sync.Mutex // guards what follows
	seen     []url.Values
	basic    []string
	asked    []string // paths besides the endpoint
	issued   map[string]any
	status   int
	accepted string // the token that the server takes
	tokens   []string
}

func newExchange(t *testing.T) *exchange {
	t.Helper()
	x := &exchange{status: 200, issued: map[string]any{
		"issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "token_type": "Bearer", "expires_in": 3600,
	}}
	x.Server = httptest.NewServer(http.HandlerFunc(x.handle))
	t.Cleanup(x.Close)
	return x
}

func (x *exchange) handle(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch r.URL.Path {
	case "/token":
		_ = r.ParseForm()
		user, password, _ := r.BasicAuth()
		x.seen, x.basic = append(x.seen, r.PostForm), append(x.basic, user+":"+password)
		out := map[string]any{"access_token": "exchanged-" + strings.Repeat("i", len(x.seen)) + r.PostForm.Get("subject_token")[len("inbound-"):]}
		maps.Copy(out, x.issued)
		w.WriteHeader(x.status)
		_ = json.NewEncoder(w).Encode(out)
	case "/mcp":
		got := r.Header.Get("Authorization")
		x.tokens = append(x.tokens, got)
		if x.accepted != "" && got != "Bearer "+x.accepted || got == "" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+x.URL+`/trap"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "called")
	default:
		x.asked = append(x.asked, r.URL.Path)
		http.NotFound(w, r)
	}
}

// client returns what calls the server for a principal.
func (x *exchange) client(t *testing.T, who, inbound string, c authconfig.Config, memory *tokenstore.Memory) func() string {
	t.Helper()
	c.Grant, c.Each.On = authconfig.GrantTokenExchange, true
	if c.TokenEndpoint == "" {
		c.TokenEndpoint = x.URL + "/token"
	}
	c.ClientID, c.ClientSecret = "mcpctl", secret.New("hush-client")
	a := auth.New(auth.Options{
		Server: parse(t, x.URL+"/mcp"), Name: "api", Config: c, Store: &tokenstore.Store{Path: filepath.Join(t.TempDir(), "none", "auth.json")}, Principal: who,
		Subject: func() secret.Text { return secret.New(inbound) }, Exchanged: memory,
	})
	return func() string { return call(t.Context(), a, x.URL+"/mcp") }
}

const idp = "https://idp.example"

func equal[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// claimsOf returns what a token says, unverified.
func claimsOf(t *testing.T, token string) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no JWT", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &claims))
	return claims
}

// TestExchange: the token of a principal is handed to the configured endpoint for one of
// the server, once; the server never sees it.
func TestExchange(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	memory := &tokenstore.Memory{}
	c := authconfig.Config{Issuer: idp, Scopes: []string{"a", "b"}, Audience: "api", Each: authconfig.Each{ActorToken: secret.New("hush-actor")}}
	alice := x.client(t, idp+"|alice", "inbound-alice", c, memory)
	for range 3 {
		equal(t, alice(), "called")
	}
	want := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {"inbound-alice"}, "subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"}, "resource": {x.URL + "/mcp"}, "audience": {"api"}, "scope": {"a b"},
		"actor_token": {"hush-actor"}, "actor_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
	}
	if len(x.seen) != 1 || x.seen[0].Encode() != want.Encode() || x.basic[0] != "mcpctl:hush-client" {
		t.Errorf("got %v as %v", x.seen, x.basic)
	}
	// Another connection of hers uses it, too; another principal has their own.
	equal(t, x.client(t, idp+"|alice", "inbound-alice", c, memory)(), "called")
	equal(t, x.client(t, idp+"|bob", "inbound-bob", c, memory)(), "called")
	if len(x.seen) != 2 || x.seen[1].Get("subject_token") != "inbound-bob" {
		t.Errorf("got %d exchanges", len(x.seen))
	}
	for _, header := range x.tokens {
		if strings.Contains(header, "inbound") {
			t.Errorf("the server got %q", header)
		}
	}
	// What the server says of who authorizes is not asked.
	if len(x.asked) > 0 {
		t.Errorf("asked %q", x.asked)
	}
	memory.Forget(idp + "|alice")
	equal(t, x.client(t, idp+"|alice", "inbound-alice", c, memory)(), "called")
	equal(t, len(x.seen), 3)
}

// TestExchangeAnew: a token that ends, or that the server refuses, is exchanged again;
// one that is refused again is an error.
func TestExchangeAgain(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	x.issued["expires_in"] = 1
	alice := x.client(t, idp+"|alice", "inbound-alice", authconfig.Config{Issuer: idp}, nil)
	equal(t, alice(), "called")
	time.Sleep(600 * time.Millisecond) // within half of its time it is about to end
	equal(t, alice(), "called")
	before := len(x.seen)
	if before < 2 { // more on a busy machine, where one has ended before it is used
		t.Errorf("%d exchanges", before)
	}
	x.issued["expires_in"] = 3600
	x.accepted = "exchanged-iiii-alice"
	x.accepted = strings.Replace(x.accepted, "-alice", "alice", 1)
	time.Sleep(600 * time.Millisecond)
	equal(t, alice(), "called") // the third, and the fourth after its refusal
	equal(t, len(x.seen), before+2)
	x.accepted = "no token"
	if got := alice(); got != "401 Unauthorized" {
		t.Errorf("got %q", got)
	}
	equal(t, len(x.seen), before+3)
}

// TestExchangeRefused: what is handed in to whom, and what is taken for an answer.
func TestExchangeRefused(t *testing.T) {
	t.Parallel()
	access := "urn:ietf:params:oauth:token-type:access_token"
	for name, c := range map[string]struct {
		who, inbound string
		config       authconfig.Config
		issued       map[string]any
		status       int
		want         string
		asks         int
	}{
		"a refresh token":        {issued: map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:refresh_token"}, want: "the answer is no access token", asks: 1},
		"an ID token":            {issued: map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:id_token"}, want: "the answer is no access token", asks: 1},
		"no kind":                {issued: map[string]any{"token_type": "Bearer"}, want: "the answer is no access token", asks: 1},
		"no scheme":              {issued: map[string]any{"issued_token_type": access, "token_type": "N_A"}, want: "token_type is N_A", asks: 1},
		"an odd scheme":          {issued: map[string]any{"issued_token_type": access, "token_type": "mac"}, want: `"mac", which is not supported`, asks: 1},
		"an error":               {issued: map[string]any{"error": "invalid_target", "error_description": "not for inbound-alice"}, status: 400, want: "refuses: invalid_target", asks: 1},
		"a static token":         {who: "token|alice", want: "it takes tokens of https://idp.example, and token|alice has come with a credential of token"},
		"another issuer's":       {who: "https://idp.example.evil|alice", want: "has come with a credential of https://idp.example.evil"},
		"no token":               {inbound: "none", want: "has come without a token of https://idp.example"},
		"an endpoint over http":  {config: authconfig.Config{TokenEndpoint: "http://192.0.2.1/token"}, want: "neither https nor on this machine"},
		"an issuer that differs": {config: authconfig.Config{Each: authconfig.Each{SubjectFrom: "https://other.example"}}, want: "it takes tokens of https://other.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			if c.issued != nil {
				x.issued = c.issued
			}
			if c.status != 0 {
				x.status = c.status
			}
			if c.who == "" {
				c.who = idp + "|alice"
			}
			switch c.inbound {
			case "":
				c.inbound = "inbound-alice"
			case "none":
				c.inbound = ""
			}
			c.config.Issuer = idp
			got := x.client(t, c.who, c.inbound, c.config, nil)()
			if !strings.Contains(got, c.want) || strings.Contains(got, "inbound") || strings.Contains(got, "hush") || len(x.tokens) > 0 || len(x.seen) != c.asks {
				t.Errorf("got %q after %d exchanges and %d calls, want %q", got, len(x.seen), len(x.tokens), c.want)
			}
		})
	}
}

// TestExchangeFails: what is refused is not asked for again at once, unless the principal
// comes with another token.
func TestExchangeFails(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	x.status, x.issued = 400, map[string]any{"error": "invalid_grant"}
	inbound := "inbound-old"
	c := authconfig.Config{Grant: authconfig.GrantTokenExchange, ClientID: "c", Issuer: idp, TokenEndpoint: x.URL + "/token", Each: authconfig.Each{On: true}}
	a := auth.New(auth.Options{
		Server: parse(t, x.URL+"/mcp"), Name: "api", Config: c, Store: &tokenstore.Store{Path: tokenFile(t)}, Principal: idp + "|alice",
		Subject: func() secret.Text { return secret.New(inbound) },
	})
	for range 5 {
		if got := call(t.Context(), a, x.URL+"/mcp"); !strings.Contains(got, "invalid_grant") {
			t.Errorf("got %q", got)
		}
	}
	equal(t, len(x.seen), 1)
	x.mu.Lock()
	x.status, x.issued = 200, map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
	x.mu.Unlock()
	inbound = "inbound-new"
	equal(t, call(t.Context(), a, x.URL+"/mcp"), "called")
	equal(t, len(x.seen), 2)
}

// TestNobodyToExchange: without serve.auth there is no token to hand in.
func TestNobodyToExchange(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	c := authconfig.Config{Grant: authconfig.GrantTokenExchange, ClientID: "c", Issuer: idp, TokenEndpoint: x.URL + "/token", Each: authconfig.Each{On: true}}
	a := auth.New(auth.Options{Server: parse(t, x.URL+"/mcp"), Name: "api", Config: c, Store: &tokenstore.Store{Path: tokenFile(t)}})
	if got := call(t.Context(), a, x.URL+"/mcp"); !strings.Contains(got, "only mcpctl serve with serve.auth") || len(x.seen)+len(x.tokens) > 0 {
		t.Errorf("got %q", got)
	}
}

// linker returns what links accounts of principals with the world's server, and where
// their tokens are.
func (w *world) linker(t *testing.T, folder *tokenstore.Folder, who string, c authconfig.Config) *auth.Authorizer {
	t.Helper()
	c.Each.On = true
	return auth.New(auth.Options{Server: parse(t, w.URL+"/mcp"), Name: "s", Config: c, Store: folder.Of(who), Clients: folder.Clients("s"), Principal: who})
}

// back follows a page to the redirect, and returns its query.
func back(t *testing.T, page string) url.Values {
	t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Timeout: time.Until(wait.Deadline(t))}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
	require.NoError(t, err)
	resp, err := c.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return parse(t, resp.Header.Get("Location")).Query()
}

const callback = "https://mcp.example.com/connect/s/callback"

// TestLink: a principal links an account, and it is theirs alone; nobody registers
// twice; taking it back has effect on connections that are there.
func TestLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.challenge = "a b" })
	folder := &tokenstore.Folder{Dir: t.TempDir()}
	do := func(z *auth.Authorizer) string { return call(t.Context(), z, w.URL+"/mcp") }
	alice, bob := w.linker(t, folder, "token|alice", authconfig.Config{}), w.linker(t, folder, "token|bob", authconfig.Config{})
	if got := do(alice); !strings.Contains(got, "wants a person to log in") {
		t.Fatalf("got %q", got)
	}
	// Somebody who logs in on this machine is nobody's principal.
	require.NoError(t, folder.Of("token|alice").Put(t.Context(), tokenstore.Token{Server: w.URL + "/mcp", Issuer: w.issuer(), Access: "local"}))
	w.mu.Lock()
	w.access["local"] = "a b"
	w.mu.Unlock()
	if got := do(w.linker(t, folder, "token|alice", authconfig.Config{})); !strings.Contains(got, "wants a person to log in") {
		t.Errorf("with the token of another: %q", got)
	}
	what, err := auth.NewLinker(alice).Account(t.Context(), "")
	if err != nil || what.Issuer != w.issuer() || strings.Join(what.Scopes, " ") != "a b" {
		t.Errorf("got %+v, %v", what, err)
	}
	for i, z := range []*auth.Authorizer{alice, bob} {
		l, err := auth.NewLinker(z).Start(t.Context(), "", callback)
		require.NoError(t, err)
		q := back(t, l.Page)
		if asked := w.asked[i]; asked.Get("redirect_uri") != callback || asked.Get("scope") != "a b" || q.Get("state") != l.State || asked.Get("code_challenge") == "" {
			t.Errorf("asked %v", asked)
		}
		if i == 1 {
			if got := do(bob); !strings.Contains(got, "wants a person") {
				t.Errorf("with another's account: %q", got)
			}
		}
		if err := auth.NewLinker(z).Finish(t.Context(), l, url.Values{"code": {q.Get("code")}, "state": {"another"}}); err == nil {
			t.Error("another state was taken")
		}
		require.NoError(t, auth.NewLinker(z).Finish(t.Context(), l, q))
		equal(t, do(z), "called")
	}
	if w.registered.Load() != 1 || !strings.HasPrefix(w.clients["client-1"], callback) {
		t.Errorf("%d registrations: %v", w.registered.Load(), w.clients)
	}
	// Another process finds it; its client is refreshed at the issuer.
	w.expire()
	again := w.linker(t, &tokenstore.Folder{Dir: folder.Dir}, "token|alice", authconfig.Config{})
	equal(t, do(again), "called")
	equal(t, w.refreshed.Load(), int64(1))
	// Taken back.
	gone, err := folder.Of("token|alice").Remove(t.Context(), w.URL+"/mcp")
	if err != nil || len(gone) == 0 {
		t.Fatalf("got %v, %v", gone, err)
	}
	wait.Until(t, "the account that was taken back is not used", func() bool { return strings.Contains(do(again), "wants a person") })
	equal(t, do(bob), "called")
}

// TestLinkForMore: an account whose scopes do not suffice is linked again, with those that
// the server asks for and those before.
func TestLinkForMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.challenge = "a" })
	folder := &tokenstore.Folder{Dir: t.TempDir()}
	z := w.linker(t, folder, "token|alice", authconfig.Config{})
	challenge := ""
	for _, want := range []string{"a", "a b"} {
		l, err := auth.NewLinker(z).Start(t.Context(), challenge, callback)
		require.NoError(t, err)
		require.NoError(t, auth.NewLinker(z).Finish(t.Context(), l, back(t, l.Page)))
		equal(t, w.asked[len(w.asked)-1].Get("scope"), want)
		equal(t, call(t.Context(), z, w.URL+"/mcp"), "called")
		w.needs, challenge = "b", `Bearer error="insufficient_scope", scope="b"`
		if want == "a" {
			if got := call(t.Context(), z, w.URL+"/mcp"); !strings.Contains(got, "wants a person to log in") {
				t.Errorf("without the scope: %q", got)
			}
		}
	}
}

// TestLinkRefused: what an authorization server must not do.
func TestLinkRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    func(*world)
		config authconfig.Config
		query  func(url.Values)
		begin  string // fails so
		want   string
	}{
		"no PKCE":            {set: func(w *world) { w.noPKCE = true }, begin: "does not say that it supports PKCE"},
		"another issuer":     {config: authconfig.Config{Issuer: "https://mine.example"}, begin: "the entry's issuer is https://mine.example"},
		"no registrations":   {set: func(w *world) { w.noRegistry = true }, begin: "takes no registrations"},
		"denied":             {set: func(w *world) { w.denies = true }, want: "access_denied"},
		"another iss":        {set: func(w *world) { w.answersIss = "https://other.example" }, want: "of another issuer"},
		"no iss":             {set: func(w *world) { w.saysIss = true }, want: "does not say that it is of"},
		"no code":            {query: func(q url.Values) { q.Del("code") }, want: "neither a code nor an error"},
		"another's code":     {query: func(q url.Values) { q.Set("code", "stolen") }, want: "invalid_grant"},
		"a forgotten client": {set: func(w *world) { w.refuse = func(url.Values) string { return "invalid_client" } }, want: "invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.set)
			folder := &tokenstore.Folder{Dir: t.TempDir()}
			z := w.linker(t, folder, "token|alice", c.config)
			l, err := auth.NewLinker(z).Start(t.Context(), "", callback)
			if c.begin != "" {
				if err == nil || !strings.Contains(err.Error(), c.begin) {
					t.Errorf("got %v, want %q", err, c.begin)
				}
				return
			}
			require.NoError(t, err)
			q := url.Values{"state": {l.State}, "code": {"c"}}
			if w.refuse == nil {
				q = back(t, l.Page)
			}
			if c.query != nil {
				c.query(q)
			}
			if err := auth.NewLinker(z).Finish(t.Context(), l, q); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if all, err := folder.Tokens(); err != nil || len(all) > 0 {
				t.Errorf("kept %v, %v", all, err)
			}
		})
	}
}

// TestAssertionFor: what we sign for a principal is about them.
func TestAssertionFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	config := authconfig.Config{Grant: authconfig.GrantJWTBearer, ClientID: "mcpctl", ClientKey: authconfig.Key{Text: secret.New(key)}, Each: authconfig.Each{Subject: "alice@example.com"}}
	folder := &tokenstore.Folder{Dir: t.TempDir()}
	z := w.linker(t, folder, "token|alice", config)
	equal(t, call(t.Context(), z, w.URL+"/mcp"), "called")
	claims := claimsOf(t, w.seen[0].Get("assertion"))
	if claims["sub"] != "alice@example.com" || claims["iss"] != "mcpctl" || claims["aud"] != w.issuer() {
		t.Errorf("got %v", claims)
	}
	if claims := claimsOf(t, w.seen[0].Get("client_assertion")); claims["sub"] != "mcpctl" {
		t.Errorf("got %v", claims)
	}
}

// TestEnterpriseFor: the token of the principal is handed to the identity provider, and
// not to the issuer of the server.
func TestEnterpriseFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	x := newExchange(t)
	x.issued = map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A"}
	config := authconfig.Config{
		Grant: authconfig.GrantEnterprise, ClientID: "mcpctl", Each: authconfig.Each{On: true},
		IDP: authconfig.IDP{Issuer: idp, TokenEndpoint: x.URL + "/token", ClientID: "at-idp", ClientSecret: secret.New("hush-idp")},
	}
	z := auth.New(auth.Options{
		Server: parse(t, w.URL+"/mcp"), Name: "s", Config: config, Store: &tokenstore.Store{Path: tokenFile(t)}, Principal: idp + "|alice",
		Subject: func() secret.Text { return secret.New("inbound-alice") },
	})
	equal(t, call(t.Context(), z, w.URL+"/mcp"), "called")
	if got := x.seen[0]; got.Get("subject_token") != "inbound-alice" || got.Get("subject_token_type") != "urn:ietf:params:oauth:token-type:access_token" || got.Get("audience") != w.issuer() {
		t.Errorf("handed in %v", got)
	}
	if got := w.seen[0]; got.Get("assertion") != "exchanged-ialice" || strings.Contains(got.Encode(), "inbound") {
		t.Errorf("got %v", got)
	}
}
