package auth_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// keyboard is a person at a terminal, who types tokens one after another.
type keyboard struct {
	browser
	types         []string
	offered, only bool

	hints []auth.TokenHint
	codes []auth.DeviceCode
}

func (k *keyboard) Token(_ context.Context, hint auth.TokenHint) (string, error) {
	k.hints = append(k.hints, hint)
	if len(k.types) == 0 {
		return "", nil
	}
	text := k.types[0]
	k.types = k.types[1:]
	if text == "ctrl+c" {
		return "", context.Canceled
	}
	return text, nil
}

func (k *keyboard) OtherDevice() (offered, only bool) { return k.offered, k.only }

func (k *keyboard) ShowCode(_ context.Context, code auth.DeviceCode) error {
	k.codes = append(k.codes, code)
	return nil
}

// TestTypedToken: where OAuth cannot be used, a token that is made by hand is asked for,
// and in no other case.
func TestTypedToken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    func(*world)
		config authconfig.Config
		types  []string
		want   string
		asked  int
	}{
		"no registration":       {set: func(w *world) { w.noRegistry = true }, types: []string{" hand \n"}, want: "called", asked: 1},
		"no metadata at all":    {set: func(w *world) { w.noMetadata, w.noRegister = true, true }, types: []string{"hand"}, want: "called", asked: 1},
		"no PKCE":               {set: func(w *world) { w.noPKCE = true }, types: []string{"hand"}, want: "called", asked: 1},
		"wrong, then right":     {set: func(w *world) { w.noRegistry = true }, types: []string{"wrong", "hand"}, want: "called", asked: 2},
		"wrong twice":           {set: func(w *world) { w.noRegistry = true }, types: []string{"wrong", "again", "hand"}, want: "it refuses the token", asked: 2},
		"two words":             {set: func(w *world) { w.noRegistry = true }, types: []string{"Bearer hand"}, want: "want one word", asked: 1},
		"broken off":            {set: func(w *world) { w.noRegistry = true }, types: []string{"ctrl+c"}, want: "canceled", asked: 1},
		"nobody can be asked":   {set: func(w *world) { w.noRegistry = true }, want: "takes no registrations", asked: 1},
		"a login is possible":   {types: []string{"hand"}, want: "called"},
		"a login is denied":     {set: func(w *world) { w.denies = true }, types: []string{"hand"}, want: "access_denied"},
		"another issuer":        {set: func(w *world) { w.issuerSays = "https://other.example" }, types: []string{"hand"}, want: "other.example"},
		"no issuer":             {set: func(w *world) { w.noIssuer = true }, types: []string{"hand"}, want: "called", asked: 1},
		"a machine has no hand": {set: func(w *world) { w.noIssuer = true }, config: machine(t), types: []string{"hand"}, want: "and it names none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world) {
				w.byHand = "hand"
				if c.set != nil {
					c.set(w)
				}
			})
			path := tokenFile(t)
			k := &keyboard{browser: browser{t: t}, types: c.types}
			_, do := w.client(path, c.config, k)
			if got := do(t); !strings.Contains(got, c.want) || len(k.hints) != c.asked {
				t.Fatalf("got %q, asked %d times, want %q, %d", got, len(k.hints), c.want, c.asked)
			}
			stored, err := (&tokenstore.Store{Path: path}).Tokens("")
			if err != nil {
				t.Fatal(err)
			}
			typed := c.want == "called" && c.asked > 0
			if len(stored) > 0 && (stored[0].Source == tokenstore.SourceManual) != typed || typed && (len(stored) != 1 || stored[0].Access != "hand" || stored[0].Refresh != "" || !stored[0].Expires.IsZero()) {
				t.Errorf("kept %#v", stored)
			}
			for i, h := range k.hints {
				if h.Refused != (i > 0) || h.Why == nil || h.Server != strings.TrimPrefix(w.URL, "http://") {
					t.Errorf("hint %d is %+v", i, h)
				}
			}
		})
	}
}

func machine(t *testing.T) authconfig.Config {
	t.Helper()
	c, err := authconfig.Parse([]byte(`{"grant":"client_credentials","clientId":"m","clientSecret":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTypedTokenEnds: a token that the server refuses later is dropped, and asked for
// once more; without anybody to ask the error says so.
func TestTypedTokenEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.noRegistry, w.byHand = true, "old" })
	path := tokenFile(t)
	_, do := w.client(path, authconfig.Config{}, &keyboard{browser: browser{t: t}, types: []string{"old"}})
	if got := do(t); got != "called" {
		t.Fatal(got)
	}
	_, do = w.client(path, authconfig.Config{}, nil)
	if got := do(t); got != "called" {
		t.Fatalf("kept: %s", got)
	}
	w.byHand = "new"
	k := &keyboard{browser: browser{t: t}, types: []string{"wrong", "new"}}
	_, do = w.client(path, authconfig.Config{}, k)
	if got := do(t); !strings.Contains(got, "it refuses the token") || len(k.hints) != 1 || !k.hints[0].Refused {
		t.Errorf("got %q, asked %+v", got, k.hints)
	}
	if stored, err := (&tokenstore.Store{Path: path}).Tokens(""); err != nil || len(stored) != 0 {
		t.Errorf("kept %v %v", stored, err)
	}
	_, do = w.client(path, authconfig.Config{}, &keyboard{browser: browser{t: t}, types: []string{"new"}})
	if got := do(t); got != "called" {
		t.Error(got)
	}
	w.byHand = "newer"
	z, do := w.client(path, authconfig.Config{}, nil)
	if got := do(t); !strings.Contains(got, "it refuses the token: ") {
		t.Error(got)
	}
	z.Attend(&keyboard{browser: browser{t: t}})
	_, err := z.Take(t.Context(), "wrong")
	var refused *auth.Error
	if !errors.As(err, &refused) || refused.Hint() != "mcpctl auth login s" || refused.Status != 401 {
		t.Errorf("%v", err)
	}
	if _, err := z.Take(t.Context(), "newer"); err != nil {
		t.Error(err)
	}
	if got := do(t); got != "called" {
		t.Error(got)
	}
}

// TestDevice: a code is shown and entered elsewhere, with the registration that the
// browser would use, too.
func TestDevice(t *testing.T) {
	t.Parallel()
	const page = "https://as.example/device"
	for name, c := range map[string]struct {
		set           func(*world)
		offered, only bool
		want          string
		codes         int
	}{
		"offered": {set: func(w *world) { w.devicePage = page }, offered: true, codes: 1},
		"wanted":  {set: func(w *world) { w.devicePage = page }, only: true, codes: 1},
		"undecided for a while": {set: func(w *world) {
			w.devicePage, w.undecided = page, []string{"authorization_pending", "authorization_pending"}
		}, only: true, codes: 1},
		"a browser":               {set: func(w *world) { w.devicePage = page }},
		"not offered":             {offered: true},
		"not offered, but wanted": {only: true, want: "offers no login with a code"},
		"denied":                  {set: func(w *world) { w.devicePage, w.undecided = page, []string{"access_denied"} }, only: true, want: "access_denied", codes: 1},
		"expired":                 {set: func(w *world) { w.devicePage, w.undecided = page, []string{"authorization_pending", "expired_token"} }, only: true, want: "the code has expired", codes: 1},
		"a page that is none":     {set: func(w *world) { w.devicePage = "javascript:alert(1)" }, only: true, want: "not an address"},
		"a page in clear":         {set: func(w *world) { w.devicePage = "http://as.example/device" }, only: true, want: "neither https"},
		"a forgotten client": {set: func(w *world) {
			w.devicePage = page
			w.refuse = func(form url.Values) string {
				if form.Get("client_id") == "client-1" {
					return "invalid_client"
				}
				return ""
			}
		}, only: true, codes: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.set)
			k := &keyboard{browser: browser{t: t}, offered: c.offered, only: c.only}
			_, do := w.client(tokenFile(t), authconfig.Config{CallbackPort: -1}, k)
			want := c.want
			if want == "" {
				want = "called"
			}
			if got := do(t); !strings.Contains(got, want) || len(k.codes) != c.codes || (k.pages.Load() > 0) == (c.codes > 0) && c.want == "" {
				t.Fatalf("got %q, %d codes, %d pages, want %q, %d", got, len(k.codes), k.pages.Load(), want, c.codes)
			}
			if c.codes == 0 {
				return
			}
			if code := k.codes[0]; code.Code != "WDJB-MJHT" || code.Page != page {
				t.Errorf("shown %+v", code)
			}
			q := w.asked[0]
			if q.Get("resource") != w.URL+"/mcp" || q.Get("scope") != "basic" || q.Get("client_id") != "client-1" {
				t.Errorf("asked with %v", q)
			}
			if made := w.clients["client-1"]; !strings.Contains(made, "http://127.0.0.1:8085/callback ") || !strings.Contains(made, "device_code") {
				t.Errorf("registered as %q", made)
			}
		})
	}
}

// TestClearText: credentials go over http to another machine only where that is allowed.
func TestClearText(t *testing.T) {
	t.Parallel()
	path := tokenFile(t)
	if err := os.MkdirAll(strings.TrimSuffix(path, "/auth.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"version":1,"tokens":[{"server":"http://mcp.example/mcp","accessToken":"kept","source":"oauth"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse("HTTP://mcp.example/mcp")
	if err != nil {
		t.Fatal(err)
	}
	for allowed, want := range map[bool]string{true: "Bearer kept", false: ""} {
		z := auth.New(auth.Options{Server: server, Store: &tokenstore.Store{Path: path}, AllowHTTP: allowed})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := z.Authorize(t.Context(), req); err != nil || req.Header.Get("Authorization") != want {
			t.Errorf("allowed %t: %v %v", allowed, req.Header, err)
		}
		if !allowed {
			_, err := z.Login(t.Context(), "")
			var e *auth.Error
			if !errors.As(err, &e) || !strings.Contains(e.Error(), "over http") || !strings.Contains(e.Hint(), "--allow-insecure-http") {
				t.Errorf("login: %v", err)
			}
		}
	}
}

// TestLifetimes: what an issuer says of a token's end is not relied on: a token is used
// until it is refused, and refreshed once then.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	for name, seconds := range map[string]int{"ten years": 10 * 365 * 86400, "it has not said": 0, "in the past": -3600} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world) { w.lifetime = seconds })
			path := tokenFile(t)
			_, do := w.client(path, authconfig.Config{CallbackPort: -1}, &browser{t: t})
			if got := do(t) + do(t); got != "calledcalled" || w.refreshed.Load() != 0 {
				t.Fatalf("got %q, %d refreshes", got, w.refreshed.Load())
			}
			w.expire()
			_, do = w.client(path, authconfig.Config{}, nil)
			if got := do(t) + do(t); got != "calledcalled" || w.refreshed.Load() != 1 {
				t.Errorf("got %q, %d refreshes", got, w.refreshed.Load())
			}
		})
	}
}

// TestStoppedIssuer: where nobody answers, the error names the issuer.
func TestStoppedIssuer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.apart = true })
	path := tokenFile(t)
	_, do := w.client(path, authconfig.Config{CallbackPort: -1}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Fatal(got)
	}
	w.other.Close()
	w.expire()
	k := &keyboard{browser: browser{t: t}, types: []string{"hand"}}
	_, do = w.client(path, authconfig.Config{}, k)
	if got := do(t); !strings.Contains(got, w.other.URL) || !strings.Contains(got, "refused") || len(k.hints) != 0 {
		t.Errorf("got %q, asked %d times", got, len(k.hints))
	}
}

// TestBusyPorts: with all of our ports taken a login comes back to another; a port that
// was asked for is that or none. It is not parallel: other tests use these ports, too.
func TestBusyPorts(t *testing.T) {
	var lc net.ListenConfig
	for port := 8085; port <= 8099; port++ {
		if l, err := lc.Listen(t.Context(), "tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			defer l.Close()
		}
	}
	w := newWorld(t, nil)
	_, do := w.client(tokenFile(t), authconfig.Config{}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Fatal(got)
	}
	back, err := url.Parse(w.asked[0].Get("redirect_uri"))
	if err != nil || len(back.Port()) != 5 {
		t.Errorf("it came back to %v, %v", back, err)
	}
	_, do = w.client(tokenFile(t), authconfig.Config{CallbackPort: 8085}, &browser{t: t})
	if got := do(t); !strings.Contains(got, "the callback port 8085 cannot be listened on") || !strings.Contains(got, "choose another with --callback-port, 0 for any") {
		t.Error(got)
	}
}
