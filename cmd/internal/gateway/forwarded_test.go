package gateway

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/test/idp"
)

// TestForwarded: what is said of the user counts from the proxy alone, whatever a request
// says of its way; status has who came, and what was refused.
func TestForwarded(t *testing.T) {
	t.Parallel()
	from := func(network string) settings.Access {
		return settings.Access{Providers: settings.Providers{
			Token: &settings.TokenProvider{},
			Proxy: &settings.ProxyProvider{Networks: []netip.Prefix{netip.MustParsePrefix(network)}, User: "X-Forwarded-User", Groups: "X-Forwarded-Groups"},
		}}
	}
	d, knock := protected(t, from("127.0.0.1/32"))
	elsewhere, knockElsewhere := protected(t, from("10.0.0.5/32"))
	c := client(t)
	for name, got := range map[string]struct{ got, want string }{
		"alice":            {knock(c, "X-Forwarded-User: alice", "X-Forwarded-Groups: a, b"), "200 hello"},
		"nobody":           {knock(c), "401 "},
		"two":              {knock(c, "X-Forwarded-User: alice", "X-Forwarded-User: bob"), `400 {"error":"invalid_request"`},
		"joined":           {knock(c, "X-Forwarded-User: alice,bob"), "400 "},
		"smuggled":         {knock(c, "X-Forwarded-User: alice", "X-Forwarded_User: root"), "400 "},
		"with a token":     {knock(c, "X-Forwarded-User: alice", "Authorization: Bearer x"), "400 "},
		"a token":          {knock(c, "Authorization: Bearer x"), "401 "},
		"of another peer":  {knockElsewhere(c, "X-Forwarded-User: alice"), "401 "},
		"forged way":       {knockElsewhere(c, "X-Forwarded-User: alice", "X-Forwarded-For: 10.0.0.5", "X-Real-Ip: 10.0.0.5", "Forwarded: for=10.0.0.5;by=10.0.0.5"), "401 "},
		"smuggled as well": {knockElsewhere(c, "X-Forwarded_User: alice"), "401 "},
	} {
		if !strings.HasPrefix(got.got, got.want) {
			t.Errorf("%s: got %s, want %s", name, got.got, got.want)
		}
	}
	s := d.status()
	if got, want := fmt.Sprint(s.Providers, s.Refused, s.IgnoredHeaders), "[proxy token] map[identity header:4 none:1 unknown:1] 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(s.Recent) != 1 || s.Recent[0].ID != "proxy|alice" || fmt.Sprint(s.Recent[0].Groups) != "[a b]" || s.Recent[0].Requests != 1 {
		t.Errorf("got %+v", s.Recent)
	}
	if s := elsewhere.status(); s.IgnoredHeaders != 3 || s.Refused["none"] != 3 || s.Principals != 0 {
		t.Errorf("got %+v", s)
	}
}

// TestAssertion: what a proxy has signed counts from wherever it comes, and nothing that
// another has signed, or that is for another.
func TestAssertion(t *testing.T) {
	t.Parallel()
	s := idp.NewServer(signs())
	defer s.Close()
	a := settings.Access{Providers: settings.Providers{
		Token: &settings.TokenProvider{},
		Proxy: &settings.ProxyProvider{JWT: &settings.Assertion{Header: "X-Assertion", Issuer: s.URL, Audience: "mcp.example.com", GroupsClaim: "groups", Name: "corp"}},
	}}
	d, knock := protected(t, a)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range d.issuers.runs {
		running.Go(func() { run(ctx) })
	}
	defer running.Wait()
	defer stop()
	claims := func(change idp.Claims) idp.Claims {
		c := idp.Claims{"iss": s.URL, "aud": "mcp.example.com", "sub": "8f3a", "exp": time.Now().Add(time.Hour).Unix(), "groups": []string{"staff"}}
		maps.Copy(c, change)
		return c
	}
	sign := func(change idp.Claims) string { return signs().Sign(claims(change), nil) }
	good := sign(nil)
	c := client(t)
	for name, one := range map[string]struct {
		want  string
		lines []string
	}{
		"good":                   {"200 hello", []string{"X-Assertion: " + good}},
		"as a bearer":            {"401 ", []string{"Authorization: Bearer " + good}},
		"with a bearer":          {"400 ", []string{"X-Assertion: " + good, "Authorization: Bearer " + good}},
		"with Bearer":            {"400 ", []string{"X-Assertion: Bearer " + good}},
		"twice":                  {"400 ", []string{"X-Assertion: " + good, "X-Assertion: " + good}},
		"by underscore":          {"400 ", []string{"X_Assertion: " + good}},
		"for another":            {"401 ", []string{"X-Assertion: " + sign(idp.Claims{"aud": "other.example.com"})}},
		"expired":                {"401 ", []string{"X-Assertion: " + sign(idp.Claims{"exp": time.Now().Add(-time.Hour).Unix()})}},
		"of another":             {"401 ", []string{"X-Assertion: " + sign(idp.Claims{"iss": "https://evil.example"})}},
		"signed by another":      {"401 ", []string{"X-Assertion: " + idp.NewKey("one", "ES256").Sign(claims(nil), nil)}},
		"an ID token":            {"401 ", []string{"X-Assertion: " + sign(idp.Claims{"nonce": "x"})}},
		"no token":               {"401 ", []string{"X-Assertion: alice"}},
		"a header with the user": {"401 ", []string{"X-Forwarded-User: alice"}},
	} {
		if got := knock(c, one.lines...); !strings.HasPrefix(got, one.want) {
			t.Errorf("%s: got %s, want %s", name, got, one.want)
		}
	}
	who, no := d.Who(t.Context(), access.Credential{Header: map[string][]string{"X-Assertion": {good}}})
	if no != nil || who.ID != s.URL+"|8f3a" || fmt.Sprint(who.Groups) != "[corp:staff]" || who.Provider != "proxy" || !d.Valid(who) {
		t.Errorf("got %+v, %v", who, no)
	}
	if len(d.issuers.names) > 0 {
		t.Error("clients are led to the issuer of the proxy")
	}
}

// TestAsks: a socket asks only if a proxy connects to it.
func TestAsks(t *testing.T) {
	t.Parallel()
	token := settings.Access{Providers: settings.Providers{Token: &settings.TokenProvider{}}}
	proxied := settings.Access{Providers: settings.Providers{Proxy: &settings.ProxyProvider{Unix: true}}}
	for name, c := range map[string]struct {
		o    Options
		a    settings.Access
		want bool
	}{
		"address":             {Options{Command: "serve", HTTP: "0"}, token, true},
		"socket":              {Options{Command: "serve", Socket: "s"}, token, false},
		"socket of a proxy":   {Options{Command: "serve", Socket: "s"}, proxied, true},
		"nothing in settings": {Options{Command: "serve", HTTP: "0"}, settings.Access{}, false},
		"standard input":      {Options{Command: "serve"}, token, false},
		"bridge":              {Options{Command: "bridge", HTTP: "0"}, token, false},
	} {
		if got := c.o.asksFor(c.a); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestRefusedLog: the log at debug has the reason, and nothing of the credential.
func TestRefusedLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	g := &gateway{h: Host{Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}}
	d := &authenticator{book: NewVisitorBook()}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp?access_token=canary", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer canary")
	d.refused(g.h.Log)(r, access.ErrInURL)
	if got := out.String(); !strings.Contains(got, "reason=url") || !strings.Contains(got, "path=/mcp") || strings.Contains(got, "canary") {
		t.Errorf("got %s", got)
	}
}
