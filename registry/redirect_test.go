package registry_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
)

// asked is a registry that redirects, and with what it was asked.
type asked struct {
	url string
	to  func(path string) string // where a path is redirected, "" for an answer

	mu   sync.Mutex // guards seen
	seen []string   // "path user:password", or "path -"
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, ok := r.BasicAuth()
	credentials := "-"
	if ok {
		credentials = user + ":" + password
	}
	a.mu.Lock()
	a.seen = append(a.seen, r.URL.Path+" "+credentials)
	a.mu.Unlock()
	if to := a.to(r.URL.Path); to != "" {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"servers":[],"metadata":{"count":0}}`))
}

func (a *asked) got() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.seen, ", ")
}

// TestRedirects: the credentials of a registry's URL go to its own origin
// alone, and a redirect to plain HTTP is refused.
func TestRedirects(t *testing.T) {
	t.Parallel()
	const list = "/v0.1/servers"
	for name, tt := range map[string]struct {
		firstTLS, secondTLS bool
		first, second       func(first, second, path string) string // nil answers
		wantFirst           string
		wantSecond          string
		wantErr             string
	}{
		"same origin": {
			first: func(_, _, path string) string {
				return map[string]string{list: "/there"}[path]
			},
			wantFirst: list + " u:secret, /there u:secret",
		},
		"same origin over TLS": {
			firstTLS: true,
			first: func(_, _, path string) string {
				return map[string]string{list: "/there"}[path]
			},
			wantFirst: list + " u:secret, /there u:secret",
		},
		"another port": {
			first:     func(_, second, _ string) string { return second + "/there" },
			wantFirst: list + " u:secret", wantSecond: "/there -",
		},
		"another port over TLS": {
			firstTLS: true, secondTLS: true,
			first:     func(_, second, _ string) string { return second + "/there" },
			wantFirst: list + " u:secret", wantSecond: "/there -",
		},
		"another scheme": {
			secondTLS: true,
			first:     func(_, second, _ string) string { return second + "/there" },
			wantFirst: list + " u:secret", wantSecond: "/there -",
		},
		"and back": {
			first: func(_, second, path string) string {
				return map[string]string{list: second + "/there"}[path]
			},
			second:    func(first, _, _ string) string { return first + "/back" },
			wantFirst: list + " u:secret, /back -", wantSecond: "/there -",
		},
		"downgrade": {
			firstTLS:  true,
			first:     func(_, second, _ string) string { return second + "/there" },
			wantFirst: list + " u:secret",
			wantErr:   "redirects from https to http",
		},
		"downgrade later": {
			firstTLS: true, secondTLS: true,
			first: func(_, second, _ string) string { return second + "/there" },
			second: func(first, _, _ string) string {
				return strings.Replace(first, "https://", "http://", 1) + "/plain"
			},
			wantFirst: list + " u:secret", wantSecond: "/there -",
			wantErr: "redirects from https to http",
		},
		"circle": {
			first:     func(_, _, path string) string { return path },
			wantFirst: strings.TrimSuffix(strings.Repeat(list+" u:secret, ", 10), ", "),
			wantErr:   "more than 10 redirects",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var one, two asked
			for _, s := range []struct {
				a    *asked
				tls  bool
				next func(first, second, path string) string
			}{{&one, tt.firstTLS, tt.first}, {&two, tt.secondTLS, tt.second}} {
				srv := httptest.NewUnstartedServer(s.a)
				if s.tls {
					srv.StartTLS()
				} else {
					srv.Start()
				}
				t.Cleanup(srv.Close)
				s.a.url = srv.URL
				s.a.to = func(path string) string {
					if s.next == nil {
						return ""
					}
					return s.next(one.url, two.url, path)
				}
			}
			// Every test server has the same certificate.
			trusting := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(trusting.Close)
			base := strings.Replace(one.url, "://", "://u:secret@", 1)
			c := newClient(t, registry.Options{BaseURL: base, HTTPClient: trusting.Client(), RetryWait: 1})
			_, err := c.List(t.Context(), registry.Query{})
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("got %v, want %q", err, tt.wantErr)
			}
			if err != nil && (!errors.As(err, new(*runtime.ConnectError)) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("got %v", err)
			}
			if got := one.got(); got != tt.wantFirst {
				t.Errorf("the registry was asked for %s, want %s", got, tt.wantFirst)
			}
			if got := two.got(); got != tt.wantSecond {
				t.Errorf("the other one was asked for %q, want %q", got, tt.wantSecond)
			}
		})
	}
}
