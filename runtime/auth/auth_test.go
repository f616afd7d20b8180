package auth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestLogin: every way in which servers say who authorizes access, and what must be
// refused.
func TestLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    func(*world)
		config authconfig.Config
		want   string // of the call
		check  func(t *testing.T, w *world)
	}{
		"by the header":            {},
		"by the path":              {set: func(w *world) { w.noHeader = true }},
		"by the root":              {set: func(w *world) { w.noHeader, w.metadataAt = true, "/.well-known/oauth-protected-resource" }},
		"at an odd place":          {set: func(w *world) { w.metadataAt = "/odd/place.json" }},
		"an issuer with a path":    {set: func(w *world) { w.issuerPath = "/tenant" }},
		"OpenID":                   {set: func(w *world) { w.openID = true }},
		"OpenID with a path":       {set: func(w *world) { w.openID, w.issuerPath = true, "/tenant" }},
		"2025-03-26":               {set: func(w *world) { w.noMetadata = true }},
		"another issuer in it":     {set: func(w *world) { w.issuerSays = "https://other.example" }, want: `says that it is "https://other.example"`},
		"without PKCE":             {set: func(w *world) { w.noPKCE = true }, want: "does not say that it supports PKCE"},
		"denied":                   {set: func(w *world) { w.denies = true }, want: "access_denied: <b>no</b>"},
		"another iss":              {set: func(w *world) { w.answersIss = "https://other.example" }, want: "of another issuer"},
		"no iss where it is said":  {set: func(w *world) { w.saysIss = true }, want: "does not say that it is of"},
		"no registration":          {set: func(w *world) { w.noRegistry = true }, want: "takes no registrations"},
		"an issuer that is not it": {config: authconfig.Config{Issuer: "https://mine.example"}, want: "the entry's issuer is https://mine.example"},
		"a document": {
			set: func(w *world) { w.documents = true }, config: authconfig.Config{ClientMetadataURL: "https://me.example/client.json"},
			check: func(t *testing.T, w *world) {
				if w.registered.Load() != 0 || w.asked[0].Get("client_id") != "https://me.example/client.json" {
					t.Errorf("%d registrations, asked %v", w.registered.Load(), w.asked)
				}
			},
		},
		"pre-registered": {
			set: func(w *world) { w.noRegistry, w.methods = true, []string{"client_secret_post"} }, config: authconfig.Config{ClientID: "mine", ClientSecret: secret.New("hush")},
			check: func(t *testing.T, w *world) {
				if f := w.seen[0]; f.Get("client_id") != "mine" || f.Get("client_secret") != "hush" {
					t.Errorf("the token was asked for with %v", f)
				}
			},
		},
		"scopes of the challenge": {
			set: func(w *world) { w.challenge, w.issuerScopes = "a b", []string{"offline_access"} },
			check: func(t *testing.T, w *world) {
				if q := w.asked[0]; q.Get("scope") != "a b offline_access" || q.Get("prompt") != "consent" {
					t.Errorf("asked for %q", q)
				}
			},
		},
		"scopes of the metadata": {check: func(t *testing.T, w *world) {
			if q, f := w.asked[0], w.seen[0]; q.Get("scope") != "basic" || q.Get("resource") != w.URL+"/mcp" || f.Get("resource") != w.URL+"/mcp" || q.Get("code_challenge_method") != "S256" || q.Has("prompt") {
				t.Errorf("asked for %v, then %v", q, f)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.set)
			if !c.config.ClientSecret.IsZero() {
				c.config.Issuer = w.issuer()
			}
			_, do := w.client(tokenFile(t), c.config, &browser{t: t})
			want := c.want
			if want == "" {
				want = "called"
			}
			if got := do(t); !strings.Contains(got, want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			if c.check != nil {
				c.check(t, w)
			}
		})
	}
}

// TestTokenIsKept: the next process needs nobody, refreshes what ends, and logs in
// again when the refresh token is refused. It is not parallel: another test could take
// the port that is registered.
func TestTokenIsStored(t *testing.T) {
	w := newWorld(t, nil)
	path := tokenFile(t)
	person := &browser{t: t}
	next := func(want string, pages int64) {
		t.Helper()
		_, do := w.client(path, authconfig.Config{}, person)
		if got := do(t); got != want || person.pages.Load() != pages {
			t.Errorf("got %q, %d logins, want %q, %d", got, person.pages.Load(), want, pages)
		}
	}
	next("called", 1)
	next("called", 1)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	w.expire()
	next("called", 1)
	if w.refreshed.Load() != 1 {
		t.Errorf("%d refreshes", w.refreshed.Load())
	}
	w.expire()
	w.mu.Lock()
	clear(w.refreshes)
	w.mu.Unlock()
	next("called", 2)
	if w.registered.Load() != 1 {
		t.Errorf("%d registrations", w.registered.Load())
	}
}

// TestRefreshAhead: 30 seconds before its end a token is refreshed, and the refresh
// token that the answer leaves out goes on holding.
func TestRefreshAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.noRotation = true })
	path := tokenFile(t)
	for n := range int64(3) {
		_, do := w.client(path, authconfig.Config{}, &browser{t: t})
		if got := do(t) + do(t); got != "calledcalled" || w.refreshed.Load() != n {
			t.Fatalf("%s, %d refreshes, want %d", got, w.refreshed.Load(), n)
		}
		endSoon(t, path)
	}
}

// TestOneRefresh: 100 goroutines of each of 5 authorizers, which are as processes, ask
// for one refresh together.
func TestOneRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.slow = 50 * time.Millisecond })
	path := tokenFile(t)
	_, do := w.client(path, authconfig.Config{}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Fatal(got)
	}
	var all []func(*testing.T) string
	for range 5 {
		_, do := w.client(path, authconfig.Config{}, nil)
		all = append(all, do)
	}
	w.expire()
	var wg sync.WaitGroup
	for _, do := range all {
		for range 100 {
			wg.Go(func() {
				if got := do(t); got != "called" {
					t.Errorf("got %q", got)
				}
			})
		}
	}
	wg.Wait()
	if n := w.refreshed.Load(); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
}

// TestRefreshGivenUp: who does not want to wait any longer for another process that
// refreshes asks for nothing.
func TestRefreshGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := tokenFile(t)
	a, do := w.client(path, authconfig.Config{CallbackPort: -1}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Fatal(got)
	}
	unlock, err := atomicfile.Lock(t.Context(), path+".refresh.lock", time.Second)
	require.NoError(t, err)
	w.expire()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := call(ctx, a, w.URL+"/mcp"); got == "called" || w.refreshed.Load() != 0 {
		t.Errorf("got %q, %d refreshes", got, w.refreshed.Load())
	}
	unlock()
	// This call also waits for the end of what the first one has left behind.
	if got := do(t); got != "called" || w.refreshed.Load() != 1 {
		t.Errorf("then %q, %d refreshes", got, w.refreshed.Load())
	}
}

// TestRefreshedElsewhere: what another process has got is refreshed where it is about to
// end itself. The refresh token of this process has ended, and is not tried.
func TestRefreshedElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := tokenFile(t)
	_, login := w.client(path, authconfig.Config{CallbackPort: -1}, &browser{t: t})
	if got := login(t); got != "called" {
		t.Fatal(got)
	}
	_, do := w.client(path, authconfig.Config{}, nil)
	_, other := w.client(path, authconfig.Config{}, nil)
	if got := do(t) + other(t); got != "calledcalled" {
		t.Fatal(got)
	}
	w.expire()
	if got := other(t); got != "called" {
		t.Fatal(got)
	}
	w.expire()
	endSoon(t, path)
	_, last := w.client(path, authconfig.Config{}, nil)
	if got := do(t) + last(t); got != "calledcalled" || w.refreshed.Load() != 2 || w.granted.Load() != 3 {
		t.Errorf("got %q, %d refreshes, %d tokens", got, w.refreshed.Load(), w.granted.Load())
	}
}

// TestStepUp: more scopes are asked for together with those there are, and not for
// ever.
func TestStepUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.challenge, w.needs = "read", "write" })
	person := &browser{t: t}
	_, do := w.client(tokenFile(t), authconfig.Config{}, person)
	if got := do(t); !strings.HasPrefix(got, "403") { // one retry a request
		t.Errorf("got %q", got)
	}
	if got := do(t); got != "called" || w.asked[1].Get("scope") != "read write" {
		t.Errorf("got %q, asked %v", got, w.asked)
	}
	w.mu.Lock()
	w.needs = "never"
	for token := range w.access {
		w.access[token] = "read"
	}
	w.mu.Unlock()
	for range 10 {
		do(t)
	}
	if n := person.pages.Load(); n > 5 {
		t.Errorf("%d logins", n)
	}
}

// age has registrations be of long ago.
func age(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`"registeredAt": "2`).ReplaceAll(raw, []byte(`"registeredAt": "1`))
	if bytes.Equal(old, raw) {
		t.Fatalf("%s has no time of registration", path)
	}
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestForgottenClient: an issuer that does not know us any more is registered with
// again, once, whether it says so in the browser or only to us.
func TestForgottenClient(t *testing.T) {
	for name, where := range map[string]func(url.Values) bool{
		"in the browser": func(f url.Values) bool { return f.Get("grant_type") != "refresh_token" },
		"by the answer":  func(f url.Values) bool { return f.Get("grant_type") == "authorization_code" },
		"by a refresh":   func(f url.Values) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			var forgotten bool
			w := newWorld(t, func(w *world) {
				w.refuse = func(form url.Values) string {
					if forgotten && form.Get("client_id") == "client-1" && where(form) {
						return "invalid_client"
					}
					return ""
				}
			})
			path := tokenFile(t)
			person := &browser{t: t}
			_, do := w.client(path, authconfig.Config{}, person)
			if got := do(t); got != "called" {
				t.Fatal(got)
			}
			w.mu.Lock()
			forgotten = true
			clear(w.access)
			clear(w.refreshes)
			w.mu.Unlock()
			age(t, path)
			if got := do(t); got != "called" || w.registered.Load() != 2 {
				t.Errorf("got %q, %d registrations", got, w.registered.Load())
			}
		})
	}
}

// TestNobody: without anybody to log in the call fails, with the challenge.
func TestNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, do := w.client(tokenFile(t), authconfig.Config{}, nil)
	if got := do(t); !strings.Contains(got, "it wants a person to log in") {
		t.Errorf("got %q", got)
	}
}

// TestPaste: the browser is on another machine, and its last address is pasted.
func TestPaste(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, do := w.client(tokenFile(t), authconfig.Config{}, &browser{t: t, paste: make(chan string)})
	if got := do(t); got != "called" {
		t.Errorf("got %q", got)
	}
}

// TestUnwritable: a token that cannot be kept serves the call.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	file := tokenFile(t)
	if err := os.WriteFile(strings.TrimSuffix(file, "/state/auth.json")+"/state", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, do := w.client(file, authconfig.Config{}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Errorf("got %q", got)
	}
}

// TestGrants: what machines are authorized with.
func TestGrants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		want   map[string]string
	}{
		"client credentials": {`{"grant":"client_credentials","clientId":"m","clientSecret":"x y"}`, map[string]string{"grant_type": "client_credentials", "scope": "basic"}},
		"a workload's":       {`{"grant":"jwt_bearer","clientId":"m","assertion":"a.b.c"}`, map[string]string{"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "a.b.c", "client_id": "m"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := authconfig.Parse([]byte(c.config))
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, func(w *world) { w.issuerScopes = []string{"offline_access"} }) // for refresh tokens, which these have not
			config.Issuer = w.issuer()
			_, do := w.client(tokenFile(t), config, nil)
			if got := do(t); got != "called" {
				t.Fatal(got)
			}
			for k, want := range c.want {
				if got := w.seen[0].Get(k); got != want {
					t.Errorf("%s is %q, want %q", k, got, want)
				}
			}
			w.expire()
			if got := do(t); got != "called" {
				t.Errorf("after its end: %q", got)
			}
		})
	}
}

// TestRevoke: both tokens.
func TestRevoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := tokenFile(t)
	_, do := w.client(path, authconfig.Config{}, &browser{t: t})
	do(t)
	s := &tokenstore.Store{Path: path}
	gone, err := s.Remove(t.Context(), w.URL+"/mcp")
	if err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	if did, err := auth.Revoke(context.Background(), gone[0]); !did || err != nil || len(w.revoked) != 2 {
		t.Errorf("%v %v %v", did, err, w.revoked)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "access-") || !json.Valid(raw) {
		t.Errorf("%s %v", raw, err)
	}
}

// TestLeftovers: what a killed write has left is removed by the next.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	path := tokenFile(t)
	s := &tokenstore.Store{Path: path}
	if _, err := s.Remove(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(filepath.Dir(path), ".auth.json.123.tmp")
	if err := os.WriteFile(left, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}
