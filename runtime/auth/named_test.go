package auth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSecretOfTheEntry: what the entry has goes to the authorization server that the entry
// names, and to no other, whatever the server names and wherever a token might be had.
func TestSecretOfTheEntry(t *testing.T) {
	t.Parallel()
	credentials := map[string]string{
		"a client's secret":  `"grant":"client_credentials","clientId":"m","clientSecret":"hush"`,
		"a person's client":  `"clientId":"m","clientSecret":"hush"`,
		"an assertion":       `"grant":"jwt_bearer","clientId":"m","assertion":"hush"`,
		"a file":             `"grant":"jwt_bearer","clientId":"m","tokenFile":"/none"`,
		"a password":         `"grant":"password","clientId":"m","username":"u","password":"hush"`,
		"a refresh token":    `"grant":"refresh_token","clientId":"m","refreshToken":"hush"`,
		"an employer's user": `"grant":"enterprise","clientId":"m","clientSecret":"hush","idp":{"clientId":"m","idToken":"x","tokenEndpoint":"https://127.0.0.1:1/token"}`,
	}
	servers := map[string]struct {
		set  func(*world)
		hint func(*world) string
	}{
		"that names nothing":        {func(w *world) { w.noMetadata = true }, func(*world) string { return `"tokenEndpoint": "https://…"` }},
		"that names no issuer":      {func(w *world) { w.noIssuer = true }, func(*world) string { return `"tokenEndpoint": "https://…"` }},
		"that names another origin": {func(w *world) { w.apart = true }, func(w *world) string { return `"issuer": "` + w.issuer() + `"` }},
		"that names its own":        {nil, func(w *world) string { return `"issuer": "` + w.issuer() + `"` }},
	}
	for what, members := range credentials {
		for which, s := range servers {
			t.Run(what+" and a server "+which, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, s.set)
				person := &browser{t: t}
				a, do := w.client(tokenFile(t), parsed(t, "{"+members+"}"), person)
				if got := do(t); !strings.Contains(got, "only to an authorization server that the entry names") {
					t.Errorf("got %q", got)
				}
				_, err := a.Login(t.Context(), "")
				failed, ok := errors.AsType[*auth.Error](err)
				if !ok || !strings.Contains(failed.Hint(), s.hint(w)) {
					t.Errorf("got %v, want a hint with %s", err, s.hint(w))
				}
				if len(w.seen) > 0 || person.pages.Load() > 0 || w.registered.Load() > 0 {
					t.Errorf("sent %v, %d pages, %d registrations", w.seen, person.pages.Load(), w.registered.Load())
				}
			})
		}
	}
}

// TestNamedInACommand: what a server calls its issuer is in no command that a reader could
// run, unless it is plain there.
func TestNamedInACommand(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/$(touch x)", "/;id", "/`id`", "/'", "/a b", "/&id", "/" + strings.Repeat("a", 300), "/%0a|x"} {
		server := httptest.NewServer(nil)
		t.Cleanup(server.Close)
		id := server.URL + path
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			v := map[string]any{"issuer": id, "token_endpoint": server.URL + "/token"}
			if strings.HasSuffix(r.URL.Path, "oauth-protected-resource") {
				v = map[string]any{"resource": server.URL, "authorization_servers": []string{id}}
			}
			_ = json.NewEncoder(w).Encode(v)
		})
		c := parsed(t, `{"grant":"client_credentials","clientId":"m","clientSecret":"hush"}`)
		_, err := auth.New(auth.Options{Server: parse(t, server.URL), Name: "s", Config: c, Store: &tokenstore.Store{Path: tokenFile(t)}}).Login(t.Context(), "")
		failed, ok := errors.AsType[*auth.Error](err)
		if !ok || strings.Contains(failed.Hint()+err.Error(), path) {
			t.Errorf("%s: got %v, hint %s", path, err, failed.Hint())
		}
	}
}

// TestSecretOfAKeptToken: a token that was obtained before the entry named who issues it
// is not refreshed with the entry's secret.
func TestSecretOfAStoredToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	file := tokenFile(t)
	old := tokenstore.Token{
		Server: w.URL + "/mcp", Issuer: w.issuer(), Access: "ended", Refresh: "r", TokenURL: w.URL + "/token", Source: tokenstore.SourceOAuth,
		Client: tokenstore.Client{Issuer: w.issuer(), ID: "m", Secret: "hush"},
	}
	require.NoError(t, (&tokenstore.Store{Path: file}).Put(t.Context(), old))
	_, do := w.client(file, parsed(t, `{"clientId":"m","clientSecret":"hush"}`), nil)
	do(t)
	equal(t, len(w.seen), 0)
	w.refreshes["r"] = "basic"
	_, do = w.client(file, parsed(t, `{"clientId":"m","clientSecret":"hush","issuer":"`+w.issuer()+`"}`), nil)
	equal(t, do(t), "called")
}

// TestNamed: what the entry names is used whatever the server says of itself.
func TestNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string // AS is the authorization server
		server func(*world)
		issuer func(*world)
		want   map[string]string // of the last request for a token
		header string            // user:secret
	}{
		"an issuer where the server names nothing": {
			config: `{"grant":"client_credentials","clientId":"m","clientSecret":"hush","issuer":"AS"}`,
			want:   map[string]string{"grant_type": "client_credentials", "resource": "SERVER/mcp"}, header: "m:hush",
		},
		"an issuer where the server names none": {
			config: `{"grant":"client_credentials","clientId":"m","clientSecret":"hush","issuer":"AS"}`,
			server: func(w *world) { w.noMetadata, w.noIssuer = false, true },
			want:   map[string]string{"scope": "basic"}, header: "m:hush",
		},
		"a token endpoint": {
			config: `{"grant":"client_credentials","clientId":"m","clientSecret":"hush","tokenEndpoint":"AS/token"}`,
			issuer: func(w *world) { w.noMetadata = true },
			want:   map[string]string{"grant_type": "client_credentials", "resource": "", "client_id": ""}, header: "m:hush",
		},
		"a secret in the body, an audience and more": {
			config: `{"grant":"client_credentials","clientId":"m","clientSecret":"hush","tokenEndpoint":"AS/token","authStyle":"body","audience":"https://api","extraParams":{"tenant":"a b","token":"t"},"scopes":["x","y"],"resource":"urn:r"}`,
			want:   map[string]string{"client_id": "m", "client_secret": "hush", "audience": "https://api", "tenant": "a b", "token": "t", "scope": "x y", "resource": "urn:r"},
		},
		"a secret in the header, whatever the issuer takes": {
			config: `{"grant":"client_credentials","clientId":"m","clientSecret":"hush","issuer":"AS","authStyle":"header"}`,
			issuer: func(w *world) { w.methods = []string{"client_secret_post"} },
			want:   map[string]string{"client_secret": ""}, header: "m:hush",
		},
		"a password": {
			config: `{"grant":"password","clientId":"m","username":"u","password":"p","tokenEndpoint":"AS/token"}`,
			want:   map[string]string{"grant_type": "password", "username": "u", "password": "p", "client_id": "m"},
		},
		"a login, both endpoints": {
			config: `{"clientId":"m","clientSecret":"hush","tokenEndpoint":"AS/token","authorizationEndpoint":"AS/authorize","audience":"a","extraParams":{"tenant":"b"}}`,
			issuer: func(w *world) { w.noMetadata, w.answersIss = true, "https://its.own" },
			want:   map[string]string{"grant_type": "authorization_code", "tenant": "b"}, header: "m:hush",
		},
		"a login, one endpoint": {
			config: `{"clientId":"m","clientSecret":"hush","tokenEndpoint":"AS/token","issuer":"AS"}`,
			want:   map[string]string{"grant_type": "authorization_code"}, header: "m:hush",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := newWorld(t, c.issuer)
			w := newWorld(t, func(w *world) {
				w.noMetadata = true
				if c.server != nil {
					c.server(w)
				}
			})
			w.access = as.access // it takes the tokens of the other
			_, do := w.client(tokenFile(t), parsed(t, strings.ReplaceAll(c.config, "AS", as.URL)), &browser{t: t})
			equal(t, do(t), "called")
			equal(t, len(w.seen), 0)
			form := as.seen[len(as.seen)-1]
			for k, want := range c.want {
				equal(t, k+"="+form.Get(k), k+"="+strings.ReplaceAll(want, "SERVER", w.URL))
			}
			equal(t, as.basic, c.header)
			if len(as.asked) > 0 && strings.Contains(c.config, "extraParams") {
				q := as.asked[0]
				equal(t, q.Get("audience")+" "+q.Get("tenant"), "a b")
			}
			as.expire()
			equal(t, do(t), "called") // by a refresh, or the grant again
		})
	}
}

// TestIssuerElsewhere: a server that names other authorization servers than the entry is
// refused, also where it names several.
func TestIssuerElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, do := w.client(tokenFile(t), parsed(t, `{"grant":"client_credentials","clientId":"m","clientSecret":"hush","issuer":"https://mine.example"}`), nil)
	if got := do(t); !strings.Contains(got, "the entry's issuer is https://mine.example") || len(w.seen) > 0 {
		t.Errorf("got %q, sent %v", got, w.seen)
	}
	second := newWorld(t, nil)
	for _, first := range []string{w.issuer(), "https://127.0.0.1:1"} { // one that answers, and one that does not
		server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/mcp" {
				second.call(out, r)
				return
			}
			_, _ = out.Write([]byte(`{"resource":"http://` + r.Host + `/mcp","authorization_servers":["` + first + `","` + second.issuer() + `"]}`))
		}))
		t.Cleanup(server.Close)
		second.noHeader = true
		c := parsed(t, `{"grant":"client_credentials","clientId":"m","clientSecret":"hush","issuer":"`+second.issuer()+`"}`)
		a := auth.New(auth.Options{Server: parse(t, server.URL+"/mcp"), Config: c, Store: &tokenstore.Store{Path: tokenFile(t)}})
		equal(t, call(t.Context(), a, server.URL+"/mcp"), "called")
	}
}

// TestRefreshTokenGrant: the refresh token of the entry is used once where the issuer
// changes it, and the one that came is kept.
func TestRefreshTokenGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.noMetadata = true })
	w.refreshes["first"] = "basic"
	file := tokenFile(t)
	c := parsed(t, `{"grant":"refresh_token","clientId":"m","clientSecret":"hush","refreshToken":"first","tokenEndpoint":"`+w.URL+`/token","extraParams":{"tenant":"b"}}`)
	for range 3 {
		_, do := w.client(file, c, nil) // as another process
		equal(t, do(t), "called")
		w.expire()
	}
	equal(t, w.refreshed.Load(), int64(3))
	for i, form := range w.seen {
		if form.Get("tenant") != "b" || form.Has("scope") || (form.Get("refresh_token") == "first") != (i == 0) {
			t.Errorf("request %d is %v", i, form)
		}
	}
	w.mu.Lock()
	clear(w.refreshes)
	w.mu.Unlock()
	_, do := w.client(file, c, nil)
	if got := do(t); !strings.Contains(got, "invalid_grant") {
		t.Errorf("got %q", got)
	}
}

// TestSecretsOfParams: what the entry sends along is not in an error that repeats it.
func TestSecretsOfParams(t *testing.T) {
	t.Parallel()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		said := r.PostForm.Get("password") + " " + r.PostForm.Get("apiKey")
		_, _ = w.Write([]byte(`{"error":"invalid_request","error_description":"` + said + `"}`))
	}))
	t.Cleanup(echo.Close)
	w := newWorld(t, func(w *world) { w.noMetadata = true })
	c := parsed(t, `{"grant":"password","clientId":"m","username":"u","password":"hush-hush-hush","tokenEndpoint":"`+echo.URL+`","extraParams":{"apiKey":"quiet-quiet-quiet"}}`)
	_, do := w.client(tokenFile(t), c, nil)
	if got := do(t); !strings.Contains(got, "invalid_request") || strings.Contains(got, "hush-") || strings.Contains(got, "quiet-") {
		t.Errorf("got %q", got)
	}
	equal(t, len(c.Secrets()), 2)
}

func parsed(t *testing.T, object string) authconfig.Config {
	t.Helper()
	c, err := authconfig.Parse([]byte(object))
	require.NoError(t, err)
	return c
}
