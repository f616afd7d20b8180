package jwt_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/jwt"
	"github.com/mcpctl/mcpctl/test/idp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	keyIssuer   = "https://idp.example"
	keyResource = "https://mcp.example.com/mcp"
)

var one, two = idp.NewKey("one", "EdDSA"), idp.NewKey("two", "EdDSA")

// world is an issuer, and a provider that accepts its tokens.
type world struct {
	*jwt.Provider
	source  *jwt.KeySource
	fetches atomic.Int64
	delay   time.Duration

	mu     sync.Mutex // guards what follows
	body   []byte
	maxAge time.Duration
	err    error
}

func (w *world) set(body []byte, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.body, w.err = body, err
}

func (w *world) fetch(ctx context.Context) (jwt.KeyDocument, error) {
	w.fetches.Add(1)
	select {
	case <-time.After(w.delay):
	case <-ctx.Done():
		return jwt.KeyDocument{}, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return jwt.KeyDocument{Body: w.body, MaxAge: w.maxAge}, w.err
}

// play runs a test in time of its own, with an issuer that has a key.
func play(t *testing.T, f func(t *testing.T, w *world), change ...func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{body: idp.Set(one)}
		for _, c := range change {
			c(w)
		}
		w.source = jwt.NewKeySource(keyIssuer, w.fetch, slog.New(slog.DiscardHandler))
		w.Provider = jwt.New("jwt", jwt.NewIssuer(jwt.Rules{Kind: "jwt", Issuer: keyIssuer, Audiences: []string{keyResource}}, w.source))
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.source.Run(ctx) })
		defer running.Wait()
		defer stop()
		if w.delay == 0 {
			synctest.Wait()
		}
		f(t, w)
	})
}

var number atomic.Int64

// token returns a new token with a key.
func token(k *idp.Key, kid string) string {
	return k.Sign(idp.Claims{"iss": keyIssuer, "aud": keyResource, "sub": "a", "exp": time.Now().Add(90 * time.Hour).Unix(), "jti": number.Add(1)}, idp.Claims{"kid": kid})
}

// ask returns what is said of a new token: "" for accepted.
func (w *world) ask(k *idp.Key) string { return w.asked(k, k.ID) }

func (w *world) asked(k *idp.Key, kid string) string {
	_, no := w.Token(context.Background(), token(k, kid), nil)
	if no == nil {
		return ""
	}
	return no.Reason
}

func (w *world) want(t *testing.T, when string, fetches int64, outcomes ...string) {
	t.Helper()
	if got := w.fetches.Load(); got != fetches {
		t.Errorf("%s: %d fetches, want %d", when, got, fetches)
	}
	got := []string{w.ask(one), w.ask(two)}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", outcomes) {
		t.Errorf("%s: got %q, want %q", when, got, outcomes)
	}
}

// TestInterval: keys are fetched each ten minutes, or as the issuer says, in bounds.
func TestInterval(t *testing.T) {
	for says, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, time.Second: time.Minute, 20 * time.Minute: 20 * time.Minute, 100 * time.Hour: time.Hour} {
		t.Run(says.String(), func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				for i, after := range []time.Duration{want - time.Second, 2 * time.Second} {
					time.Sleep(after)
					synctest.Wait()
					if n := w.fetches.Load(); n != int64(i+1) {
						t.Errorf("%d fetches, want %d", n, i+1)
					}
				}
			}, func(w *world) { w.maxAge = says })
		})
	}
}

// TestRotation: a new key is accepted as soon as it is there, beside the old one, and the
// old one no longer than it is there.
func TestRotation(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		w.want(t, "at first", 1, "", "key")
		w.set(idp.Set(one, two), nil)
		w.want(t, "the new key is there, and it is too early", 1, "", "key")
		time.Sleep(30 * time.Second)
		w.want(t, "it is time", 1, "", "")
		w.set(idp.Set(two), nil)
		w.want(t, "the old key has gone", 2, "", "")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		w.want(t, "at the next fetch", 3, "key", "")
		w.set(idp.Set(), nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		w.want(t, "no key is left", 4, "key", "key")
		for range 100 {
			w.ask(one)
		}
		w.want(t, "it is too early", 4, "key", "key")
	})
}

// TestOutage: while keys cannot be fetched those that there are count for a day, and
// nobody is told that an unknown key is wrong.
func TestOutage(t *testing.T) {
	for name, body := range map[string]string{"an error": "", "no JSON": "<html>", "no keys": "{}"} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				err := errors.New("no route")
				if body != "" {
					err = nil
				}
				w.set([]byte(body), err)
				time.Sleep(30 * time.Second)
				w.want(t, "at once", 1, "", "unavailable")
				time.Sleep(24*time.Hour - time.Minute)
				synctest.Wait()
				w.want(t, "for a day", w.fetches.Load(), "", "unavailable")
				time.Sleep(time.Minute)
				synctest.Wait()
				w.want(t, "after a day", w.fetches.Load(), "unavailable", "unavailable")
				if n := w.fetches.Load(); n > 160 {
					t.Errorf("%d fetches in a day", n)
				}
				w.set(idp.Set(two), nil)
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				w.want(t, "it is back", w.fetches.Load(), "key", "")
			})
		})
	}
}

// TestNever: without any keys tokens are refused, and the issuer is asked again soon.
func TestNever(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		w.want(t, "at first", 1, "unavailable", "unavailable")
		if w.source.Failure() == nil {
			t.Error("there is no failure")
		}
		w.set(idp.Set(one), nil)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		w.want(t, "soon", 2, "", "key")
	}, func(w *world) { w.err = errors.New("no route") })
}

// TestFlood: however many unknown keys there are, the issuer is asked each 30 seconds,
// and who has a known key does not wait.
func TestFlood(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		time.Sleep(time.Minute) // the first fetch is long over
		before := w.fetches.Load()
		known, rest := token(one, "one"), strings.SplitN(token(two, "two"), ".", 2)[1]
		ctx, enough := context.WithCancel(t.Context())
		var flood sync.WaitGroup
		var outcomes sync.Map
		for range 10 { // 200 at once, 2,000 in a second
			for i := range 200 {
				flood.Go(func() {
					head := fmt.Sprintf(`{"alg":"EdDSA","kid":"kid %d"}`, i)
					_, no := w.Token(ctx, base64.RawURLEncoding.EncodeToString([]byte(head))+"."+rest, nil)
					outcomes.Store(no.Reason, true)
				})
			}
			start := time.Now()
			if _, no := w.Token(ctx, known, nil); no != nil || time.Since(start) > 0 {
				t.Errorf("a known key: %v after %v", no, time.Since(start))
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(28 * time.Second)
		if n := w.fetches.Load() - before; n != 1 {
			t.Errorf("%d fetches", n)
		}
		enough()
		flood.Wait()
		var all []string
		outcomes.Range(func(k, _ any) bool { all = append(all, k.(string)); return true })
		if got := strings.Join(all, " "); got != "key unavailable" && got != "unavailable key" { // unavailable: too many wait
			t.Errorf("got %s", got)
		}
	}, func(w *world) { w.delay = 2 * time.Second })
}

// TestPatience: who waits for keys goes when it must, and a fetch ends.
func TestPatience(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if _, no := w.Token(ctx, token(one, "one"), nil); no != access.ErrUnavailable || time.Since(start) != 3*time.Second {
			t.Errorf("got %v after %v", no, time.Since(start))
		}
		if _, no := w.Token(t.Context(), token(one, "one"), nil); no != access.ErrUnavailable || time.Since(start) != 15*time.Second {
			t.Errorf("got %v after %v", no, time.Since(start))
		}
	}, func(w *world) { w.delay = time.Hour })
}

// TestSame: keys that are fetched again are the same set.
func TestSame(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		first := w.source.Set()
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if w.source.Set() != first || w.fetches.Load() != 2 {
			t.Error("they are another set")
		}
	})
}
