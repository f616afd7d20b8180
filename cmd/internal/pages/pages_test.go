package pages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/pages"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/secret"
	fake "github.com/mcpctl/mcpctl/test/openid"
	"github.com/mcpctl/mcpctl/test/require"
)

// accounts is a linker whose authorization server says yes to everybody.
type accounts struct {
	mu      sync.Mutex // guards all
	linked  map[string]bool
	states  map[string]string // principal and server, by state
	broken  error
	issuer  string
	servers []string
	begun   int
}

func (a *accounts) Describe(_ context.Context, server string) (link.Description, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.servers, server) {
		return link.Description{}, link.ErrUnknown
	}
	return link.Description{Server: "<b>api.example", Issuer: a.issuer, Scopes: []string{"read", "<script>"}}, a.broken
}

func (a *accounts) Start(_ context.Context, principal, server, redirectURI string) (page, state string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun++
	state = fmt.Sprintf("state-%d", a.begun)
	a.states[state] = principal + " " + server
	return "https://as.example/authorize?" + url.Values{"state": {state}, "redirect_uri": {redirectURI}}.Encode(), state, a.broken
}

func (a *accounts) Finish(_ context.Context, principal, server string, q url.Values) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if key := principal + " " + server; a.states[q.Get("state")] == key && q.Get("code") == "good" {
		a.linked[key] = true
		return nil
	}
	return errors.New(`the server said "<script>alert(1)</script>"`)
}

func (a *accounts) Linked(principal, server string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.linked[principal+" "+server]
}

func (a *accounts) Linkable() []string { return a.servers }

func (a *accounts) Unlink(_ context.Context, principal, server string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.linked, principal+" "+server)
	return a.broken
}

// fakeAuthenticator is a door that knows tokens, and a proxy that names people.
type fakeAuthenticator struct {
	tokens *access.Tokens
	gone   map[string]bool
	proxy  bool
}

func (g *fakeAuthenticator) Who(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if len(c.Header["Authorization"]) > 0 {
		return nil, access.ErrMalformed // these pages take none
	}
	if user := c.Header["X-User"]; g.proxy && len(user) > 0 {
		if len(user) > 1 {
			return nil, access.ErrMalformed
		}
		return &access.Principal{ID: "proxy|" + user[0], Name: user[0], Provider: "proxy"}, nil
	}
	if c.Bearer == "" {
		return nil, access.ErrNoCredential
	}
	return g.tokens.Principal(c.Bearer, time.Now())
}

func (g *fakeAuthenticator) Valid(p *access.Principal) bool { return !g.gone[p.ID] }

// site is the pages of a serve.
type site struct {
	*httptest.Server
	ring       *seal.Keyring
	accounts   *accounts
	gate       *fakeAuthenticator
	alice, bob string // their tokens
	refused    map[string]int
	log        *bytes.Buffer
}

// newSite returns pages at an address below prefix.
func newSite(t *testing.T, prefix string, change func(*pages.Options)) *site {
	t.Helper()
	now := time.Now()
	one, alice := access.NewToken("alice", nil, now, time.Time{})
	two, bob := access.NewToken("bob", nil, now, time.Time{})
	tokens, err := access.NewTokens([]access.Token{one, two})
	require.NoError(t, err)
	s := &site{
		ring: seal.NewKeyring(), alice: alice, bob: bob, log: &bytes.Buffer{}, gate: &fakeAuthenticator{tokens: tokens, gone: map[string]bool{}},
		accounts: &accounts{linked: map[string]bool{}, states: map[string]string{}, issuer: "https://as.example/<i>", servers: []string{"gh", "notes"}},
	}
	s.refused = map[string]int{}
	var handler http.Handler
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	endpoint, err := url.Parse(s.URL + prefix + "/mcp")
	require.NoError(t, err)
	o := pages.Options{Endpoint: endpoint, Authenticator: s.gate, Static: true, Linker: s.accounts, Ring: s.ring, Refused: func(_ *http.Request, no *access.Refusal) { s.refused[no.Reason]++ }, Log: slog.New(slog.NewTextHandler(s.log, nil))}
	if change != nil {
		change(&o)
	}
	handler = http.StripPrefix(prefix, pages.New(o))
	return s
}

// browser is one, with its cookies. It follows no redirects.
type browser struct {
	t    *testing.T
	site *site
	c    *http.Client
}

func (s *site) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &browser{t, s, &http.Client{Jar: jar, Transport: s.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// shown is what a browser gets.
type shown struct {
	status   int
	header   http.Header
	location string // of a redirect
	text     string
}

func (b *browser) send(method, path string, form url.Values, headers ...string) shown {
	b.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	if !strings.HasPrefix(path, "http") {
		path = b.site.URL + path
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, path, body)
	require.NoError(b.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", "null")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("Sec-Fetch-Dest", "document")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.c.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return shown{resp.StatusCode, resp.Header, resp.Header.Get("Location"), string(text)}
}

func (b *browser) get(path string, headers ...string) shown {
	b.t.Helper()
	return b.send(http.MethodGet, path, nil, headers...)
}

var (
	formTag  = regexp.MustCompile(`(?s)<form method="post" action="([^"]*)">(.*?)</form>`)
	fieldTag = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	onward   = regexp.MustCompile(`http-equiv="refresh" content="0; url=([^"]*)"`)
)

// form returns the fields of the form of a page that goes to an address.
func (p shown) form(t *testing.T, action string) url.Values {
	t.Helper()
	for _, f := range formTag.FindAllStringSubmatch(p.text, -1) {
		if html.UnescapeString(f[1]) == action {
			fields := url.Values{}
			for _, field := range fieldTag.FindAllStringSubmatch(f[2], -1) {
				fields.Set(field[1], html.UnescapeString(field[2]))
			}
			return fields
		}
	}
	t.Fatalf("no form goes to %s: HTTP %d\n%s", action, p.status, p.text)
	return nil
}

// to returns where a page leads by itself.
func (p shown) to(t *testing.T) *url.URL {
	t.Helper()
	at := onward.FindStringSubmatch(p.text)
	if at == nil {
		t.Fatalf("the page leads nowhere: HTTP %d\n%s", p.status, p.text)
	}
	u, err := url.Parse(html.UnescapeString(at[1]))
	require.NoError(t, err)
	return u
}

func (p shown) title() string {
	_, rest, _ := strings.Cut(p.text, "<h1>")
	title, _, _ := strings.Cut(rest, "</h1>")
	return html.UnescapeString(title)
}

const tokenPath = "/connect/-/token"

// login logs in with a token, at a page, and returns where the browser is sent.
func (b *browser) login(page, token string) string {
	b.t.Helper()
	f := b.get(page).form(b.t, tokenPath)
	f.Set("token", token)
	p := b.send(http.MethodPost, tokenPath, f)
	if p.status != http.StatusSeeOther {
		b.t.Fatalf("HTTP %d\n%s", p.status, p.text)
	}
	return strings.TrimPrefix(p.location, b.site.URL)
}

func (b *browser) expect(p shown, status int, title string) {
	b.t.Helper()
	if p.status != status || p.title() != title {
		b.t.Errorf("got HTTP %d, %q, want %d, %q", p.status, p.title(), status, title)
	}
}

// TestPageLinks: a person follows a link of a client, logs in, links an account, and unlinks it.
func TestPageLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", nil)
	b := s.browser(t)
	page := "/connect/gh?s=" + link.Link{Server: "gh", Principal: "token|alice"}.Seal(s.ring)
	b.expect(b.get(page), 200, "Log in to mcpctl")
	if got := b.login(page, " "+s.alice+"\n"); got != page {
		t.Fatalf("after the login: %s", got)
	}
	p := b.get(page)
	b.expect(p, 200, "Link gh with your account")
	for _, text := range []string{"alice", "https://as.example/&lt;i&gt;", "&lt;b&gt;api.example", "read, &lt;script&gt;"} {
		if !strings.Contains(p.text, text) {
			t.Errorf("the page lacks %q:\n%s", text, p.text)
		}
	}
	p = b.send(http.MethodPost, "/connect/gh", p.form(t, "/connect/gh"))
	to := p.to(t)
	if to.Host != "as.example" || to.Query().Get("redirect_uri") != s.URL+"/connect/gh/callback" {
		t.Errorf("the browser goes to %s", to)
	}
	back := "/connect/gh/callback?code=good&state=" + to.Query().Get("state")
	if got := b.get(back, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "document"); got.status != 303 || got.location != s.URL+"/connect/gh" {
		t.Errorf("got HTTP %d to %s\n%s", got.status, got.location, got.text)
	}
	b.expect(b.get("/connect/gh"), 200, "gh is linked")
	b.expect(b.get(back), 400, "This is not an answer to a login") // replayed
	if p := b.get(page); p.title() != "Link gh with your account" || !strings.Contains(p.text, "This replaces it.") {
		t.Errorf("a client that was refused leads to %q", p.title())
	}
	if !s.accounts.Linked("token|alice", "gh") || s.accounts.Linked("token|bob", "gh") {
		t.Errorf("linked: %v", s.accounts.linked)
	}
	p = b.get("/connect")
	b.expect(p, 200, "Your linked accounts")
	if !strings.Contains(p.text, "Unlink gh") || !strings.Contains(p.text, "Link notes") {
		t.Errorf("the list is\n%s", p.text)
	}
	if got := b.send(http.MethodPost, "/connect/gh/unlink", p.form(t, "/connect/gh/unlink")); got.status != 303 || s.accounts.Linked("token|alice", "gh") {
		t.Errorf("unlinked: HTTP %d, %v", got.status, s.accounts.linked)
	}
	b.expect(b.send(http.MethodPost, "/connect/-/logout", p.form(t, "/connect/-/logout")), 200, "You are logged out")
	b.expect(b.get("/connect"), 200, "Log in to mcpctl")
}

// TestPagePrefix: behind a proxy that serves it below a path, all addresses have it.
func TestPagePrefix(t *testing.T) {
	t.Parallel()
	s := newSite(t, "/tools", nil)
	b := s.browser(t)
	p := b.get("/tools/connect/gh")
	f := p.form(t, "/tools"+tokenPath)
	f.Set("token", s.alice)
	p = b.send(http.MethodPost, "/tools"+tokenPath, f)
	if p.location != s.URL+"/tools/connect/gh" || !strings.Contains(b.get("/tools/connect").text, `href="/tools/connect/-/style.css"`) {
		t.Errorf("got HTTP %d to %s", p.status, p.location)
	}
	p = b.send(http.MethodPost, "/tools/connect/gh", b.get("/tools/connect/gh").form(t, "/tools/connect/gh"))
	if got := p.to(t).Query().Get("redirect_uri"); got != s.URL+"/tools/connect/gh/callback" {
		t.Errorf("comes back to %s", got)
	}
}

// TestPageOfAnother: a person links no account of their own for somebody else, and nobody
// follows what was not given out for them.
func TestPageOfAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", nil)
	b := s.browser(t)
	b.login("/connect", s.bob)
	sealed := func(l link.Link) string { return "/connect/gh?s=" + l.Seal(s.ring) }
	alices := sealed(link.Link{Server: "gh", Principal: "token|alice"})
	b.expect(b.get(alices), 403, "This link is for somebody else")
	if log := s.log.String(); !strings.Contains(log, "principal=token|bob for=token|alice server=gh") {
		t.Errorf("logged %s", log)
	}
	const ended = "This link is not valid any more"
	for name, c := range map[string]struct {
		path  string
		want  int
		title string
	}{
		"for another server":  {sealed(link.Link{Server: "notes", Principal: "token|bob"}), 400, ended},
		"of another ring":     {"/connect/gh?s=" + link.Link{Server: "gh", Principal: "token|bob"}.Seal(seal.NewKeyring()), 400, ended},
		"an old one":          {sealed(link.Link{Server: "gh", Principal: "token|bob", Expires: time.Now().Add(-time.Second)}), 400, ended},
		"of another issuer":   {sealed(link.Link{Server: "gh", Principal: "token|bob", Issuer: "https://before.example"}), 400, ended},
		"two":                 {alices + "&s=x", 400, ended},
		"two, the first ours": {sealed(link.Link{Server: "gh", Principal: "token|bob"}) + "&s=x", 400, ended},
		"nonsense":            {"/connect/gh?s=x", 400, ended},
		"empty":               {"/connect/gh?s=", 400, ended},
		"for nobody":          {sealed(link.Link{Server: "gh"}), 403, "This link is for somebody else"},
		"an unknown server":   {"/connect/other", 404, "There is no such page"},
		"markup":              {"/connect/%3Cscript%3Ealert(1)%3C/script%3E", 404, "There is no such page"},
		"a path below":        {"/connect/gh/other", 404, "There is no such page"},
		"ours without a name": {"/connect//callback", 400, "This is not an answer to a login"},
		"ours":                {"/connect/-/", 404, "There is no such page"},
	} {
		if p := b.get(c.path); p.status != c.want || p.title() != c.title || strings.Contains(p.text, "<script") {
			t.Errorf("%s: got HTTP %d, %q", name, p.status, p.title())
		}
	}
	if s.accounts.begun != 0 {
		t.Error("a link was begun")
	}
}

// TestPageForms: a form is sent by the browser and the person that it was shown to, once it
// was shown, and is for one page.
func TestPageForms(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", nil)
	alice, bob, nobody := s.browser(t), s.browser(t), s.browser(t)
	alice.login("/connect", s.alice)
	bob.login("/connect", s.bob)
	gh := alice.get("/connect/gh").form(t, "/connect/gh")
	const old = "This form is not valid any more"
	for name, p := range map[string]shown{
		"no token":            alice.send("POST", "/connect/gh", url.Values{}),
		"an empty one":        alice.send("POST", "/connect/gh", url.Values{"form": {""}}),
		"two":                 alice.send("POST", "/connect/gh", url.Values{"form": {gh.Get("form"), gh.Get("form")}}),
		"in the URL":          alice.send("POST", "/connect/gh?"+gh.Encode(), url.Values{}),
		"of another server":   alice.send("POST", "/connect/notes", gh),
		"of another action":   alice.send("POST", "/connect/gh/unlink", gh),
		"of another person":   bob.send("POST", "/connect/gh", gh),
		"logout":              alice.send("POST", "/connect/-/logout", gh),
		"login, without":      nobody.send("POST", tokenPath, url.Values{"token": {s.bob}}),
		"login, of others":    nobody.send("POST", tokenPath, url.Values{"token": {s.bob}, "form": bob.get("/connect").form(t, "/connect/-/logout")["form"]}),
		"as a file":           alice.send("POST", "/connect/gh", gh, "Content-Type", "text/plain"),
		"in several parts":    alice.send("POST", "/connect/gh", gh, "Content-Type", "multipart/form-data; boundary=x"),
		"login of a stranger": nobody.send("POST", tokenPath, withToken(s.browser(t).get("/connect").form(t, tokenPath), s.bob)),
	} {
		alice.expect(p, 403, old)
		if p.title() != old {
			t.Errorf("%s: got %q", name, p.title())
		}
	}
	nobody.expect(nobody.send("POST", "/connect/gh", gh), 403, "You are not logged in")
	alice.expect(alice.send("POST", "/connect/gh", url.Values{"form": {strings.Repeat("x", 20<<10)}}), 400, "This form cannot be read")
	for _, token := range []string{"", "x", s.alice[:len(s.alice)-1], s.alice + "x", "eyJhbGciOiJub25lIn0.e30."} {
		p := nobody.send("POST", tokenPath, withToken(nobody.get("/connect").form(t, tokenPath), token))
		if (p.status != 403 && p.status != 401) || p.title() != "You are not logged in" || token != "" && strings.Contains(p.text, token+"<") {
			t.Errorf("%q: got HTTP %d, %q", token, p.status, p.title())
		}
	}
	if s.accounts.begun != 0 {
		t.Error("a link was begun")
	}
	// A session ends with the right of its principal.
	s.gate.gone["token|alice"] = true
	alice.expect(alice.send("POST", "/connect/gh", gh), 403, "You are not logged in")
	alice.expect(alice.get("/connect"), 200, "Log in to mcpctl")
}

func withToken(form url.Values, token string) url.Values {
	form.Set("token", token)
	return form
}

// TestPageForeign: what a page of another site sends is refused, and no page is part of
// another.
func TestPageForeign(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", nil)
	b := s.browser(t)
	b.login("/connect", s.alice)
	form := b.get("/connect/gh").form(t, "/connect/gh")
	for name, c := range map[string]struct {
		method  string
		headers []string
		want    int
	}{
		"another host":            {"GET", []string{"Host", "evil.example"}, 403},
		"another port":            {"GET", []string{"Host", "127.0.0.1:1"}, 403},
		"another name of it":      {"GET", []string{"Host", strings.Replace(s.URL[len("https://"):], "127.0.0.1", "localhost", 1)}, 403},
		"a link":                  {"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		"a frame":                 {"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "iframe"}, 403},
		"a frame of ours":         {"GET", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "iframe"}, 403},
		"an image":                {"GET", []string{"Sec-Fetch-Dest", "image"}, 403},
		"a script":                {"GET", []string{"Sec-Fetch-Dest", "script"}, 403},
		"fetch":                   {"GET", []string{"Sec-Fetch-Dest", "empty"}, 403},
		"a style":                 {"GET", []string{"Sec-Fetch-Dest", "style", "Sec-Fetch-Site", "same-origin"}, 403},
		"post, another site":      {"POST", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"post, a sister":          {"POST", []string{"Sec-Fetch-Site", "same-site"}, 403},
		"post, another origin":    {"POST", []string{"Origin", "https://evil.example"}, 403},
		"post, http":              {"POST", []string{"Origin", strings.Replace(s.URL, "https", "http", 1)}, 403},
		"post, another port":      {"POST", []string{"Origin", "https://127.0.0.1:1"}, 403},
		"post, our origin":        {"POST", []string{"Origin", s.URL}, 200},
		"post, another host":      {"POST", []string{"Host", "evil.example"}, 403},
		"put":                     {"PUT", nil, 405},
		"delete":                  {"DELETE", nil, 405},
		"options":                 {"OPTIONS", []string{"Origin", "https://evil.example"}, 405},
		"an Authorization header": {"GET", []string{"Authorization", "Bearer " + s.bob}, 200},
	} {
		var body url.Values
		if c.method == "POST" {
			body = form
		}
		p := b.send(c.method, "/connect/gh", body, c.headers...)
		if p.status != c.want || strings.Contains(p.text, ">bob<") { // the name alone can be a part of a sealed text
			t.Errorf("%s: got HTTP %d, want %d\n%s", name, p.status, c.want, p.text)
		}
		if got := p.header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s: others may read it: %s", name, got)
		}
	}
	if len(s.refused) != 1 || s.refused["origin"] == 0 {
		t.Errorf("counted %v", s.refused)
	}
	if p := b.get("/connect/-/style.css", "Sec-Fetch-Dest", "style", "Sec-Fetch-Site", "same-origin"); p.status != 200 || p.header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the style sheet: HTTP %d, %s", p.status, p.header)
	}
}

// TestPageHeaders: each answer has what protects it, and the cookies are for this host.
func TestPageHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", nil)
	b := s.browser(t)
	login := b.get("/connect")
	arrived := b.send("POST", tokenPath, withToken(login.form(t, tokenPath), s.alice))
	for name, p := range map[string]shown{
		"login": login, "arrived": arrived, "list": b.get("/connect"), "server": b.get("/connect/gh"), "none": b.get("/connect/x"), "style": b.get("/connect/-/style.css"),
		"callback": b.get("/connect/gh/callback"), "put": b.send("PUT", "/connect", nil), "foreign": b.get("/connect", "Host", "x"), "no form": b.send("POST", "/connect/gh", url.Values{}),
	} {
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"Referrer-Policy":         "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := p.header.Values(header); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if got := p.header.Get("Cache-Control"); got != "no-store" && name != "style" {
			t.Errorf("%s: Cache-Control is %q", name, got)
		}
		if strings.Contains(p.text, "<script") || strings.Contains(p.text, "style=") || strings.Contains(p.text, "{{") {
			t.Errorf("%s: the page has scripts, styles or names of its own:\n%s", name, p.text)
		}
	}
	shape := regexp.MustCompile(`^__Host-(mcpctl|mcpctl-visit)=[\w-]*; Path=/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$`)
	for _, c := range slices.Concat(login.header.Values("Set-Cookie"), arrived.header.Values("Set-Cookie")) {
		if !shape.MatchString(c) {
			t.Errorf("the cookie is %s", c)
		}
	}
	if strings.Contains(s.log.String(), s.alice) || strings.Contains(fmt.Sprint(arrived.header), s.alice) {
		t.Error("the token is shown")
	}
}

// TestPageProvider: a person logs in at an OpenID provider.
func TestPageProvider(t *testing.T) {
	t.Parallel()
	p := fake.New(t)
	party := authn.NewOpenID(authn.OpenIDConfig{Issuer: p.URL, ClientID: fake.ClientID, ClientSecret: secret.New(fake.ClientSecret)})
	s := newSite(t, "", func(o *pages.Options) {
		o.Static, o.Party = false, party
		o.Principal = func(claims []byte) (*access.Principal, error) {
			for _, name := range []string{"8f3a", "bob"} {
				if strings.Contains(string(claims), `"sub":"`+name+`"`) {
					return &access.Principal{ID: p.URL + "|" + name, Name: name, Provider: "jwt"}, nil
				}
			}
			return nil, errors.New("not one of ours")
		}
	})
	const path = "/connect/-/login"
	// begin returns where a browser comes back to from the provider.
	begin := func(b *browser, page string) string {
		t.Helper()
		to := b.send("POST", path, b.get(page).form(t, path)).to(t)
		got := b.get(to.String())
		if got.status != http.StatusFound {
			t.Fatalf("the provider says HTTP %d: %s", got.status, got.text)
		}
		return strings.TrimPrefix(got.location, s.URL)
	}
	b := s.browser(t)
	back := begin(b, "/connect/gh?s=x")
	other := s.browser(t)
	other.expect(other.get(back), 400, "You are not logged in") // another browser's, and it is not used up
	if got := b.get(back, "Sec-Fetch-Site", "cross-site"); got.status != 303 || got.location != s.URL+"/connect/gh?s=x" {
		t.Fatalf("got HTTP %d to %s\n%s", got.status, got.location, got.text)
	}
	b.expect(b.get("/connect"), 200, "Your linked accounts")
	b.expect(b.get(back), 400, "You are not logged in") // replayed
	b.expect(b.get("/connect"), 200, "Your linked accounts")

	// Each login is a new session: what was there before is not.
	p.Set(func(p *fake.Provider) { p.Person = "bob" })
	visitor := s.browser(t)
	back = begin(visitor, "/connect")
	if got := visitor.get(back); got.status != 303 || !strings.Contains(visitor.get("/connect").text, "<b>bob</b>") {
		t.Errorf("got HTTP %d", got.status)
	}
	for name, c := range map[string]struct {
		change func(*fake.Provider)
		want   int
		title  string
	}{
		"a person of others": {func(p *fake.Provider) { p.Person = "eve" }, 403, "You are not let in"},
		"mixed up issuers":   {func(p *fake.Provider) { p.Answer = func(q url.Values) { q.Set("iss", "https://evil.example") } }, 400, "You are not logged in"},
		"refused":            {func(p *fake.Provider) { p.Answer = func(q url.Values) { q.Set("error", "<script>") } }, 403, "You are not logged in"},
		"out of reach":       {func(p *fake.Provider) { p.Answer, p.Status = nil, 502 }, 503, "You are not logged in"},
	} {
		b := s.browser(t)
		back := func() string {
			p.Set(c.change)
			defer p.Set(func(p *fake.Provider) { p.Answer = nil })
			return begin(b, "/connect")
		}()
		got := b.get(back)
		b.expect(got, c.want, c.title)
		if strings.Contains(got.text, "<script>") || got.title() != c.title {
			t.Errorf("%s: %s", name, got.text)
		}
		b.expect(b.get("/connect"), 200, "Log in to mcpctl")
		p.Set(func(p *fake.Provider) { p.Person, p.Status = "bob", 0 })
	}
	if strings.Contains(s.log.String(), fake.ClientSecret) {
		t.Error("the client's secret is logged")
	}
}

// TestPageBack: a login leads back to a page of ours, whatever was asked for.
func TestPageBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", nil)
	for _, page := range []string{
		"/connect//evil.example", "/connect/%2f%2fevil.example", "/connect/..%2f..%2fmcp", "/connect/%0d%0aLocation:%20https://evil.example", "/connect/\\evil.example",
		"/connect?back=https://evil.example", "/connect/gh?s=" + strings.Repeat("x", 8000), "/connect/" + strings.Repeat("x", 3000), "/connect/@evil.example",
	} {
		b := s.browser(t)
		p := b.send("POST", tokenPath, withToken(b.get(page).form(t, tokenPath), s.alice))
		to, err := url.Parse(p.location)
		if err != nil || p.status != 303 || "https://"+to.Host != s.URL || !strings.HasPrefix(to.EscapedPath(), "/connect") || len(p.location) > 2000 || strings.ContainsAny(p.location, "\r\n") {
			t.Errorf("%.60s leads to %.200s, %v", page, p.location, err)
		}
	}
}

// TestPageProxied: a person whom a proxy in front names needs no login.
func TestPageProxied(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", func(o *pages.Options) { o.Static = false })
	s.gate.proxy = true
	b := s.browser(t)
	b.expect(b.get("/connect"), 403, "You are not let in")
	p := b.get("/connect/gh", "X-User", "carol")
	b.expect(p, 200, "Link gh with your account")
	f := p.form(t, "/connect/gh")
	b.expect(b.send("POST", "/connect/gh", f, "X-User", "dave"), 403, "This form is not valid any more")
	if s.accounts.begun != 0 {
		t.Error("a form of another was taken")
	}
	p = b.get("/connect/gh", "X-User", "carol")
	b.send("POST", "/connect/gh", p.form(t, "/connect/gh"), "X-User", "carol").to(t)
	for _, owner := range s.accounts.states {
		if owner != "proxy|carol gh" {
			t.Errorf("linked for %s", owner)
		}
	}
}

// TestPageBroken: what a server says of a failure is shown as text.
func TestPageBroken(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", nil)
	b := s.browser(t)
	b.login("/connect", s.alice)
	form := b.get("/connect/gh").form(t, "/connect/gh")
	state := b.send("POST", "/connect/gh", form).to(t).Query().Get("state")
	for _, p := range []shown{
		b.get("/connect/notes/callback?code=good&state=" + state), // another server's
		b.get("/connect/gh/callback?code=good&state=" + state + "&state=x"),
		b.get("/connect/gh/callback?code=good"),
	} {
		b.expect(p, 400, "This is not an answer to a login")
	}
	p := b.get("/connect/gh/callback?code=bad&state=" + state)
	b.expect(p, 403, "gh is not linked")
	if strings.Contains(p.text, "<script>") || !strings.Contains(p.text, "&lt;script&gt;") {
		t.Errorf("got %s", p.text)
	}
	s.accounts.broken = errors.New("https://as.example: connection refused")
	b.expect(b.get("/connect/gh"), 502, "gh is not linked")
	b.expect(b.send("POST", "/connect/gh", form), 502, "gh is not linked")
}
