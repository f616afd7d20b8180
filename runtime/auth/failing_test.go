package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/require"
)

// failing is a token endpoint that gives nothing.
type failing struct {
	*httptest.Server
	asked      atomic.Int64
	retryAfter atomic.Value // of its answers, "" for none
}

func newFailing(t *testing.T, status int, after time.Duration) *failing {
	t.Helper()
	f := &failing{}
	f.retryAfter.Store("")
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked.Add(1)
		_ = r.ParseForm() // else the end of the connection is not seen
		select {
		case <-time.After(after):
		case <-r.Context().Done():
		}
		if wait := f.retryAfter.Load().(string); wait != "" {
			w.Header().Set("Retry-After", wait)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(f.Close)
	return f
}

// clients are the ways in which a call gets a token that asks an endpoint.
func (f *failing) clients(t *testing.T, w *world) map[string]*auth.Authorizer {
	t.Helper()
	of := func(config string, stored *tokenstore.Token) *auth.Authorizer {
		c := authconfig.Config{}
		if config != "" {
			c = parsed(t, strings.ReplaceAll(config, "AS", f.URL))
		}
		s := &tokenstore.Store{Path: tokenFile(t)}
		if stored != nil {
			stored.Server = w.URL + "/mcp"
			require.NoError(t, s.Put(t.Context(), *stored))
		}
		return auth.New(auth.Options{Server: parse(t, w.URL+"/mcp"), Config: c, Store: s})
	}
	return map[string]*auth.Authorizer{
		"a machine": of(`{"grant":"client_credentials","clientId":"m","clientSecret":"s","tokenEndpoint":"AS/token"}`, nil),
		"a refresh": of("", &tokenstore.Token{Issuer: f.URL, Access: "ended", Refresh: "r", TokenURL: f.URL + "/token", Source: tokenstore.SourceOAuth, Client: tokenstore.Client{ID: "m"}}),
	}
}

// TestFailingTokenEndpoint: a token that cannot be had is asked for once for all calls that
// wait for it and those of the next moment, or until the endpoint wants to be asked again.
func TestFailingTokenEndpoint(t *testing.T) {
	t.Parallel()
	for _, status := range []int{500, 429, 400} {
		w := newWorld(t, nil)
		f := newFailing(t, status, 50*time.Millisecond)
		for name, a := range f.clients(t, w) {
			t.Run(name, func(t *testing.T) {
				f.asked.Store(0)
				var calls sync.WaitGroup
				for range 30 {
					calls.Go(func() {
						if got := call(t.Context(), a, w.URL+"/mcp"); !strings.Contains(got, "the server wants authorisation") {
							t.Errorf("got %q", got)
						}
					})
				}
				calls.Wait()
				if n := f.asked.Load(); n != 1 {
					t.Errorf("status %d: %d requests, want 1", status, n)
				}
			})
		}
	}
}

// TestRetryAfter: an endpoint that says when to ask again is not asked before.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	f := newFailing(t, 503, 0)
	for wait, again := range map[string]bool{"3600": false, "1": true, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): false} {
		f.retryAfter.Store(wait)
		f.asked.Store(0)
		a := f.clients(t, w)["a machine"]
		call(t.Context(), a, w.URL+"/mcp")
		time.Sleep(1200 * time.Millisecond) // the header has whole seconds
		call(t.Context(), a, w.URL+"/mcp")
		if n := f.asked.Load(); n != 1 && !again || n != 2 && again {
			t.Errorf("Retry-After %s: %d requests", wait, n)
		}
	}
}

// TestWaitForToken: a call waits for a token no longer than it may take, whether it asks
// itself or another does.
func TestWaitForToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	f := newFailing(t, 503, 2*time.Second)
	for name, a := range f.clients(t, w) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
					defer cancel()
					begun := time.Now()
					call(ctx, a, w.URL+"/mcp")
					if took := time.Since(begun); took > 1500*time.Millisecond {
						t.Errorf("a call of 200 ms took %v", took)
					}
				})
			}
			calls.Wait()
			call(t.Context(), a, w.URL+"/mcp") // waits for the end of what the others have left behind
		})
	}
}

// TestFailingCommand: a command that prints no token is run once for all that wait.
func TestFailingCommand(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	w := newWorld(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	a := auth.New(auth.Options{
		Server: parse(t, w.URL+"/mcp"), Store: &tokenstore.Store{Path: tokenFile(t)},
		Config: authconfig.Config{Command: []string{"sh", "-c", "echo >>'" + log + "'; sleep 0.05; exit 1"}},
	})
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() { call(t.Context(), a, w.URL+"/mcp") })
	}
	calls.Wait()
	if raw, err := os.ReadFile(log); err != nil || len(raw) != 1 {
		t.Errorf("run %d times, %v", len(raw), err)
	}
}
