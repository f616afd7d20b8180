package authn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/jwt"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/test/idp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	issuer   = "https://idp.example"
	resource = "https://mcp.example.com/mcp"
)

// world is an issuer, and a provider that asks it.
type world struct {
	*authn.Introspection
	delay time.Duration

	mu     sync.Mutex // guards what follows
	asked  int
	said   map[string]idp.Claims
	status int
	err    error
	body   string
}

func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *world) questions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

func (w *world) ask(ctx context.Context, token string) (int, []byte, error) {
	w.set(func() { w.asked++ })
	select {
	case <-time.After(w.delay):
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.body != "" {
		return 200, []byte(w.body), nil
	}
	claims := w.said[token]
	if claims == nil {
		claims = idp.Claims{"active": false}
	}
	b, err := json.Marshal(claims)
	return w.status, b, errors.Join(err, w.err)
}

// play runs a test in time of its own.
func play(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{status: 200, said: map[string]idp.Claims{}}
		r := jwt.Rules{Kind: "introspect", Issuer: issuer, Audiences: []string{resource}, Scopes: []string{"mcp"}}
		w.Introspection = authn.NewIntrospection(r, w.ask, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.Run(ctx) })
		defer running.Wait()
		defer stop()
		f(t, w)
	})
}

func claims(change idp.Claims) idp.Claims {
	c := idp.Claims{"active": true, "iss": issuer, "aud": resource, "sub": "a", "scope": "mcp", "exp": time.Now().Add(time.Hour).Unix(), "token_type": "Bearer"}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func (w *world) who(token string) (*access.Principal, *access.Refusal) {
	who, no := w.Principal(context.Background(), access.Credential{Bearer: token})
	if who == nil && no == nil {
		return nil, access.ErrUnknownToken
	}
	return who, no
}

// want checks what is said of a token, "" for accepted, and how often the issuer was
// asked up to then.
func (w *world) want(t *testing.T, when, token, reason string, asked int) {
	t.Helper()
	_, no := w.who(token)
	got := ""
	if no != nil {
		got = no.Reason
	}
	if got != reason || w.questions() != asked {
		t.Errorf("%s: got %q after %d questions, want %q after %d", when, got, w.questions(), reason, asked)
	}
}

// TestRemembered: the issuer is asked again after a minute about a token that it knows,
// and after ten seconds about one that it does not know.
func TestRemembered(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		w.said["good"] = claims(nil)
		w.said["short"] = claims(idp.Claims{"exp": time.Now().Add(20 * time.Second).Unix()})
		w.want(t, "first", "good", "", 1)
		w.want(t, "again", "good", "", 1)
		w.want(t, "unknown", "bad", "unknown", 2)
		w.want(t, "unknown again", "bad", "unknown", 2)
		w.want(t, "short", "short", "", 3)
		time.Sleep(10 * time.Second)
		w.want(t, "unknown later", "bad", "unknown", 4)
		time.Sleep(10 * time.Second)
		w.want(t, "short at its end", "short", "expired", 4)
		time.Sleep(39 * time.Second)
		w.want(t, "before a minute", "good", "", 4)
		w.set(func() { delete(w.said, "good") })
		time.Sleep(time.Second)
		w.want(t, "revoked", "good", "unknown", 5)
	})
}

// TestRefused has answers that let nobody in.
func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change idp.Claims
		want   string
	}{
		"not active":            {idp.Claims{"active": false}, "unknown"},
		"no active":             {idp.Claims{"active": nil}, "unknown"},
		"a refresh token":       {idp.Claims{"token_type": "refresh_token"}, "typ"},
		"bound to a key":        {idp.Claims{"token_type": "DPoP"}, "typ"},
		"bound to a key, quiet": {idp.Claims{"cnf": idp.Claims{"jkt": "x"}}, "cnf"},
		"no issuer":             {idp.Claims{"iss": nil}, "iss"},
		"another issuer":        {idp.Claims{"iss": issuer + "/"}, "iss"},
		"no audience":           {idp.Claims{"aud": nil}, "aud"},
		"another audience":      {idp.Claims{"aud": resource + "/"}, "aud"},
		"no end":                {idp.Claims{"exp": nil}, "times"},
		"expired":               {idp.Claims{"exp": 1}, "expired"},
		"no subject":            {idp.Claims{"sub": nil}, "sub"},
		"no scope":              {idp.Claims{"scope": nil}, "scope missing"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				w.said["token"] = claims(tc.change)
				w.want(t, "it", "token", tc.want, 1)
				w.want(t, "again", "token", tc.want, 1)
			})
		})
	}
}

// TestForms: what cannot be a token is not sent anywhere.
func TestForms(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		_, static := access.NewToken("a", nil, time.Now(), time.Time{})
		for _, token := range []string{"", "a b", "a\x00", "ä", "a,b", strings.Repeat("a", 16<<10+1), static} {
			w.want(t, token, token, "unknown", 0)
		}
		w.want(t, "the longest", strings.Repeat("a", 16<<10), "unknown", 1)
	})
}

// TestOutage: without an answer tokens cannot be checked, and those that are known go on.
func TestOutage(t *testing.T) {
	for name, fail := range map[string]func(w *world){
		"no route": func(w *world) { w.err = errors.New("no route") }, "HTTP 500": func(w *world) { w.status = 500 }, "HTTP 401": func(w *world) { w.status = 401 },
		"no JSON": func(w *world) { w.body = "<html>" }, "a text": func(w *world) { w.body = `{"active":"true"}` }, "twice": func(w *world) { w.body = `{"active":false,"active":true}` },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				w.said["good"] = claims(nil)
				w.want(t, "first", "good", "", 1)
				w.set(func() { fail(w) })
				w.want(t, "new", "new", "unavailable", 2)
				w.want(t, "known", "good", "", 2)
				if w.Failure() == nil {
					t.Error("there is no failure")
				}
				time.Sleep(time.Minute)
				w.want(t, "a minute later", "good", "unavailable", 3)
				w.set(func() { w.err, w.status, w.body = nil, 200, "" })
				w.want(t, "it is back", "good", "", 4)
				if err := w.Failure(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestOneQuestion: who has the same token waits for one question, and no longer than it
// must.
func TestOneQuestion(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		w.delay = 2 * time.Second
		w.said["good"] = claims(nil)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if _, no := w.who("good"); no != nil {
					t.Error(no)
				}
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, no := w.Principal(ctx, access.Credential{Bearer: "good"}); no != access.ErrUnavailable {
			t.Errorf("got %v", no)
		}
		all.Wait()
		if n := w.questions(); n != 1 {
			t.Errorf("%d questions", n)
		}
		w.delay = time.Hour
		start := time.Now()
		if _, no := w.who("slow"); no != access.ErrUnavailable || time.Since(start) != 5*time.Second {
			t.Errorf("got %v after %v", no, time.Since(start))
		}
	})
}

// TestFlood: whoever sends tokens does not decide how much the issuer is asked.
func TestFlood(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		w.delay = time.Second
		w.said["good"] = claims(nil)
		w.want(t, "first", "good", "", 1)
		var all sync.WaitGroup
		for round := range 20 {
			for i := range 100 {
				all.Go(func() { w.who(fmt.Sprint("x", round, "-", i)) })
			}
			time.Sleep(time.Second)
		}
		all.Wait()
		if n := w.questions(); n > 250 {
			t.Errorf("%d questions in 20 s", n)
		}
		n := w.questions()
		w.want(t, "a known one", "good", "", n)
		time.Sleep(10 * time.Second)
		w.said["late"] = claims(nil)
		w.want(t, "afterwards", "late", "", n+1)
	})
}

// TestValid: about those whose streams last the issuer is asked again.
func TestValid(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		w.said["good"], w.said["idle"], w.said["other"] = claims(nil), claims(nil), claims(idp.Claims{"sub": "b"})
		good, _ := w.who("good")
		other, _ := w.who("other")
		w.who("idle")
		for range 30 {
			if !w.Valid(good) || !w.Valid(other) {
				t.Fatal("a token is not valid any more")
			}
			time.Sleep(5 * time.Second)
		}
		if n := w.questions(); n != 7 { // each after one minute, and after two
			t.Errorf("%d questions", n)
		}
		w.set(func() { w.status = 500 })
		time.Sleep(time.Second)
		for range 30 {
			if !w.Valid(good) {
				t.Fatal("it is put out for an outage")
			}
			time.Sleep(5 * time.Second)
		}
		w.set(func() { w.status = 200; delete(w.said, "good") })
		for range 15 {
			w.Valid(good)
			w.Valid(other)
			time.Sleep(5 * time.Second)
		}
		if w.Valid(good) || !w.Valid(other) {
			t.Errorf("a revoked token is valid: %v, another: %v", w.Valid(good), w.Valid(other))
		}
		time.Sleep(time.Hour)
		if w.Valid(other) || w.Valid(&access.Principal{}) {
			t.Error("it is valid after its end")
		}
	})
}

// TestAllocates nothing for a token that is remembered.
func TestAllocates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{status: 200, said: map[string]idp.Claims{"good": claims(idp.Claims{"scope": nil})}}
		p := authn.NewIntrospection(jwt.Rules{Kind: "introspect", Issuer: issuer, Audiences: []string{resource}}, w.ask, slog.New(slog.DiscardHandler))
		c := access.Credential{Bearer: "good"}
		ctx := t.Context()
		if _, no := p.Principal(ctx, c); no != nil {
			t.Fatal(no)
		}
		if n := testing.AllocsPerRun(100, func() { p.Principal(ctx, c) }); n > 0 {
			t.Errorf("got %v allocations", n)
		}
	})
}
