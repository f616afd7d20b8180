package authn_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/secret"
	fake "github.com/mcpctl/mcpctl/test/openid"
	"github.com/mcpctl/mcpctl/test/require"
)

const redirect = "https://mcp.example.com/connect/-/login"

func party(p *fake.Provider) *authn.OpenID {
	return authn.NewOpenID(authn.OpenIDConfig{Issuer: p.URL, ClientID: fake.ClientID, ClientSecret: secret.New(fake.ClientSecret), Scopes: []string{"email", "openid"}})
}

// visit opens a page of the provider, and returns the query that the browser comes back
// with.
func visit(t *testing.T, page string) url.Values {
	t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Get(page)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	to, err := resp.Location()
	require.NoError(t, err)
	if got := to.Scheme + "://" + to.Host + to.Path; got != redirect {
		t.Errorf("the browser comes back to %s", got)
	}
	return to.Query()
}

func TestLogin(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fake.Provider){
		"with a secret": func(*fake.Provider) {},
		"no iss": func(p *fake.Provider) {
			p.Metadata = func(d map[string]any) { delete(d, "authorization_response_iss_parameter_supported") }
			p.Answer = func(q url.Values) { q.Del("iss") }
		},
		"for two, with us": func(p *fake.Provider) {
			p.Claims = func(c map[string]any) { c["aud"], c["azp"] = []string{"other", fake.ClientID}, fake.ClientID }
		},
		"without a secret": func(p *fake.Provider) { p.Public = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fake.New(t)
			p.Set(change)
			c := authn.OpenIDConfig{Issuer: p.URL, ClientID: fake.ClientID, ClientSecret: secret.New(fake.ClientSecret), Scopes: []string{"email", "openid"}}
			if p.Public {
				c.ClientSecret = secret.Text{}
			}
			party := authn.NewOpenID(c)
			page, a, err := party.Start(t.Context(), redirect)
			require.NoError(t, err)
			u, err := url.Parse(page)
			require.NoError(t, err)
			if q := u.Query(); q.Get("scope") != "openid email" || q.Get("state") != a.State || strings.Contains(page, a.Verifier) {
				t.Errorf("the page is %s", page)
			}
			claims, err := party.Finish(t.Context(), a, visit(t, page))
			require.NoError(t, err)
			var got struct{ Iss, Sub string }
			require.NoError(t, json.Unmarshal(claims, &got))
			if got.Iss != p.URL || got.Sub != p.Person {
				t.Errorf("got %s", claims)
			}
		})
	}
}

// TestLoginRefused: an answer that does not prove who has logged in is refused, with the right
// reason, and nothing of it is in the error.
func TestLoginRefused(t *testing.T) {
	t.Parallel()
	claims := func(change func(c map[string]any)) func(*fake.Provider) {
		return func(p *fake.Provider) { p.Claims = change }
	}
	answer := func(change func(q url.Values)) func(*fake.Provider) {
		return func(p *fake.Provider) { p.Answer = change }
	}
	type sign = func(header, claims map[string]any) string
	signs := func(change func(header, claims map[string]any, sign sign) string) func(*fake.Provider) {
		return func(p *fake.Provider) { p.Signs = change }
	}
	for name, c := range map[string]struct {
		change func(*fake.Provider)
		want   error
	}{
		"another's state":            {answer(func(q url.Values) { q.Set("state", "x") }), authn.ErrState},
		"no state":                   {answer(func(q url.Values) { q.Del("state") }), authn.ErrState},
		"two states":                 {answer(func(q url.Values) { q.Add("state", "x") }), authn.ErrState},
		"no code":                    {answer(func(q url.Values) { q.Del("code") }), authn.ErrState},
		"two codes":                  {answer(func(q url.Values) { q.Add("code", "x") }), authn.ErrState},
		"another's code":             {answer(func(q url.Values) { q.Set("code", "canary") }), authn.ErrRefused},
		"another issuer":             {answer(func(q url.Values) { q.Set("iss", "https://evil.example") }), authn.ErrIssuer},
		"its issuer and another":     {answer(func(q url.Values) { q.Add("iss", "https://evil.example") }), authn.ErrIssuer},
		"issuer with a slash":        {answer(func(q url.Values) { q.Set("iss", q.Get("iss")+"/") }), authn.ErrIssuer},
		"no issuer, though it says":  {answer(func(q url.Values) { q.Del("iss") }), authn.ErrIssuer},
		"an error":                   {answer(func(q url.Values) { q.Set("error", "access_denied") }), authn.ErrRefused},
		"an error of another issuer": {answer(func(q url.Values) { q.Set("error", "access_denied"); q.Set("iss", "https://evil.example") }), authn.ErrIssuer},
		"an ID token of another":     {claims(func(c map[string]any) { c["iss"] = "https://evil.example" }), authn.ErrToken},
		"for another client":         {claims(func(c map[string]any) { c["aud"] = "other" }), authn.ErrToken},
		"for nobody":                 {claims(func(c map[string]any) { delete(c, "aud") }), authn.ErrToken},
		"for two, and nobody's":      {claims(func(c map[string]any) { c["aud"] = []string{fake.ClientID, "other"} }), authn.ErrToken},
		"for two, and another's":     {claims(func(c map[string]any) { c["aud"], c["azp"] = []string{fake.ClientID, "other"}, "other" }), authn.ErrToken},
		"another's party":            {claims(func(c map[string]any) { c["azp"] = "other" }), authn.ErrToken},
		"an empty party":             {claims(func(c map[string]any) { c["azp"] = "" }), authn.ErrToken},
		"an old one":                 {claims(func(c map[string]any) { c["exp"] = 1 }), authn.ErrToken},
		"without an end":             {claims(func(c map[string]any) { delete(c, "exp") }), authn.ErrToken},
		"another nonce":              {claims(func(c map[string]any) { c["nonce"] = "x" }), authn.ErrToken},
		"no nonce":                   {claims(func(c map[string]any) { delete(c, "nonce") }), authn.ErrToken},
		"no subject":                 {claims(func(c map[string]any) { delete(c, "sub") }), authn.ErrToken},
		"an empty subject":           {claims(func(c map[string]any) { c["sub"] = "" }), authn.ErrToken},
		"another access token's":     {claims(func(c map[string]any) { c["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" }), authn.ErrToken},
		"not signed": {signs(func(h, c map[string]any, sign sign) string {
			h["alg"] = "none"
			text := sign(h, c)
			return text[:strings.LastIndexByte(text, '.')+1]
		}), authn.ErrToken},
		"signed by HMAC": {signs(func(h, c map[string]any, sign sign) string { h["alg"] = "HS256"; return sign(h, c) }), authn.ErrToken},
		"signed by another": {signs(func(h, c map[string]any, sign sign) string {
			text := []byte(sign(h, c))
			text[len(text)-3] ^= 1
			return string(text)
		}), authn.ErrToken},
		"a key in its header": {signs(func(h, c map[string]any, sign sign) string {
			h["kid"], h["jwk"] = "2", map[string]any{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
			text := []byte(sign(h, c))
			text[len(text)-3] ^= 1
			return string(text)
		}), authn.ErrToken},
		"no JWT":                  {signs(func(_, _ map[string]any, _ sign) string { return "canary" }), authn.ErrToken},
		"nothing":                 {signs(func(_, _ map[string]any, _ sign) string { return "" }), authn.ErrToken},
		"the provider refuses":    {func(p *fake.Provider) { p.Status = 400 }, authn.ErrRefused},
		"the provider has failed": {func(p *fake.Provider) { p.Status = 502 }, authn.ErrUnavailable},
		"it wants no such client": {func(p *fake.Provider) {
			p.Metadata = func(d map[string]any) { d["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} }
		}, authn.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fake.New(t)
			p.Set(c.change)
			party := party(p)
			page, a, err := party.Start(t.Context(), redirect)
			require.NoError(t, err)
			q := visit(t, page)
			claims, err := party.Finish(t.Context(), a, q)
			if !errors.Is(err, c.want) || claims != nil {
				t.Errorf("got %s, %v, want %v", claims, err, c.want)
			}
			for _, secret := range []string{q.Get("code"), a.Verifier, a.Nonce, fake.ClientSecret} {
				if secret != "" && err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the error has %q: %v", secret, err)
				}
			}
		})
	}
}

// TestReplay: an answer is of one login, and a code is taken once.
func TestReplay(t *testing.T) {
	t.Parallel()
	p := fake.New(t)
	party := party(p)
	page, first, err := party.Start(t.Context(), redirect)
	require.NoError(t, err)
	_, second, err := party.Start(t.Context(), redirect)
	require.NoError(t, err)
	q := visit(t, page)
	for name, c := range map[string]struct {
		a    authn.LoginAttempt
		want error
	}{"of another login": {second, authn.ErrState}, "of none": {authn.LoginAttempt{}, authn.ErrState}} {
		if _, err := party.Finish(t.Context(), c.a, q); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := party.Finish(t.Context(), authn.LoginAttempt{}, url.Values{"state": {""}, "code": {"x"}, "iss": {p.URL}}); !errors.Is(err, authn.ErrState) {
		t.Errorf("of none, without a state: got %v", err)
	}
	if p.Fetched("/token") != 0 {
		t.Error("the provider was asked about another's answer")
	}
	_, err = party.Finish(t.Context(), first, q)
	require.NoError(t, err)
	if _, err := party.Finish(t.Context(), first, q); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("again: got %v", err)
	}
	// A code that was stolen is worth nothing without the verifier.
	page, mine, err := party.Start(t.Context(), redirect)
	require.NoError(t, err)
	q = visit(t, page)
	thief := mine
	thief.Verifier = second.Verifier
	if _, err := party.Finish(t.Context(), thief, q); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("with another verifier: got %v", err)
	}
}

// TestDiscovery: a provider that cannot be used is not, and is not asked again at once;
// one document serves all.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	const path = "/.well-known/openid-configuration"
	for name, change := range map[string]func(d map[string]any){
		"another issuer":              func(d map[string]any) { d["issuer"] = "https://evil.example" },
		"with a slash":                func(d map[string]any) { d["issuer"] = d["issuer"].(string) + "/" },
		"http elsewhere":              func(d map[string]any) { d["token_endpoint"] = "http://idp.example/token" },
		"no token endpoint":           func(d map[string]any) { delete(d, "token_endpoint") },
		"script to log in with":       func(d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" },
		"keys with a name in the URL": func(d map[string]any) { d["jwks_uri"] = "https://a:b@idp.example/" },
		"too large":                   func(d map[string]any) { d["x"] = strings.Repeat("x", 2<<20) },
	} {
		p := fake.New(t)
		p.Set(func(p *fake.Provider) { p.Metadata = change })
		party := party(p)
		for range 3 {
			if _, _, err := party.Start(t.Context(), redirect); !errors.Is(err, authn.ErrUnavailable) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if n := p.Fetched(path); n != 1 {
			t.Errorf("%s: the provider was asked %d times", name, n)
		}
	}
	p := fake.New(t)
	shared := party(p)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, _, err := shared.Start(t.Context(), redirect); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.Fetched(path); n != 1 {
		t.Errorf("twenty at once: asked %d times", n)
	}
	// Whoever leaves does not take the answer with them.
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := party(p).Start(gone, redirect); err != nil {
		t.Errorf("got %v", err)
	}
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "\x1b[31m"+strings.Repeat("no ", 10_000), http.StatusBadGateway)
	}))
	defer wrong.Close()
	if _, _, err := authn.NewOpenID(authn.OpenIDConfig{Issuer: wrong.URL, ClientID: "x"}).Start(t.Context(), redirect); !errors.Is(err, authn.ErrUnavailable) || len(err.Error()) > 400 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("an answer that is no document: got %q", err)
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	if _, _, err := authn.NewOpenID(authn.OpenIDConfig{Issuer: closed.URL, ClientID: "x"}).Start(t.Context(), redirect); !errors.Is(err, authn.ErrUnavailable) {
		t.Errorf("nobody there: got %v", err)
	}
}

// TestRedirected: what the client knows goes to the provider alone.
func TestRedirected(t *testing.T) {
	t.Parallel()
	var reached bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	p := fake.New(t)
	leads := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer leads.Close()
	p.Set(func(p *fake.Provider) { p.Metadata = func(d map[string]any) { d["token_endpoint"] = leads.URL } })
	party := party(p)
	page, a, err := party.Start(t.Context(), redirect)
	require.NoError(t, err)
	if _, err := party.Finish(t.Context(), a, visit(t, page)); !errors.Is(err, authn.ErrUnavailable) || reached {
		t.Errorf("got %v; followed: %v", err, reached)
	}
}
