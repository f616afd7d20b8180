package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

// roundTrip answers requests without a socket.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through returns a client whose requests go straight to a handler.
func through(t *testing.T, h http.Handler, o registry.Options) *registry.Client {
	t.Helper()
	o.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		res := w.Result()
		res.Request = r
		return res, nil
	})}
	return newClient(t, o)
}

func newClient(t *testing.T, o registry.Options) *registry.Client {
	t.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "https://registry.example.com"
	}
	c, err := registry.New(o)
	require.NoError(t, err)
	return c
}

func samples(t *testing.T) http.Handler {
	t.Helper()
	recs, err := registrytest.Records()
	require.NoError(t, err)
	h, err := registrytest.NewServer(recs, registrytest.Options{})
	require.NoError(t, err)
	return h
}

func names(recs []registry.Record) []string {
	out := []string{}
	for _, r := range recs {
		out = append(out, r.Server.Name+"@"+r.Server.Version)
	}
	return out
}

// body answers every request with one text.
func body(status int, contentType, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}

func TestBaseURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://r.example.com":               "https://r.example.com/v0.1/servers/a.b%2Fc/versions/latest",
		"https://r.example.com/":              "https://r.example.com/v0.1/servers/a.b%2Fc/versions/latest",
		"https://r.example.com/v0.1":          "https://r.example.com/v0.1/servers/a.b%2Fc/versions/latest",
		"https://r.example.com/v0.1/":         "https://r.example.com/v0.1/servers/a.b%2Fc/versions/latest",
		"https://r.example.com/v0":            "https://r.example.com/v0/servers/a.b%2Fc/versions/latest",
		"https://r.example.com/v0.1/servers":  "https://r.example.com/v0.1/servers/a.b%2Fc/versions/latest",
		"http://127.0.0.1:8080/some/path?x=1": "http://127.0.0.1:8080/some/path/v0.1/servers/a.b%2Fc/versions/latest",
		"":                                    "https://registry.modelcontextprotocol.io/v0.1/servers/a.b%2Fc/versions/latest",
	} {
		var got string
		c, err := registry.New(registry.Options{BaseURL: base, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return nil, context.Canceled
		})}, Retries: -1})
		require.NoError(t, err)
		_, _ = c.Get(t.Context(), "a.b/c", "")
		if got != want {
			t.Errorf("base %q: asked %s, want %s", base, got, want)
		}
	}
	for _, bad := range []string{"registry.example.com", "ftp://x", "https://", "file:///etc", "://"} {
		_, err := registry.New(registry.Options{BaseURL: bad})
		if _, ok := errors.AsType[*registry.UsageError](err); !ok {
			t.Errorf("base %q: got %v, want a usage error", bad, err)
		}
	}
}

func TestCredentialsInTheBaseURLStayOutOfSight(t *testing.T) {
	var user, pw string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pw, _ = r.BasicAuth()
		w.WriteHeader(http.StatusBadGateway)
	})
	c := through(t, h, registry.Options{BaseURL: "https://me:hush@r.example.com", Retries: -1})
	_, err := c.Get(t.Context(), "a.b/c", "")
	if user != "me" || pw != "hush" {
		t.Errorf("got credentials %q %q, want those of the URL", user, pw)
	}
	if strings.Contains(err.Error()+c.URL(), "hush") {
		t.Errorf("the password shows in %q or %q", err, c.URL())
	}
}

func TestListFollowsPages(t *testing.T) {
	recs := make([]json.RawMessage, 0, 250)
	for i := range 200 {
		recs = append(recs, json.RawMessage(`{"name":"a.b/s`+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10))+`","version":"1.0.0"}`))
	}
	h, err := registrytest.NewServer(recs, registrytest.Options{})
	require.NoError(t, err)
	requests := 0
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { requests++; h.ServeHTTP(w, r) })
	l, err := through(t, counted, registry.Options{}).List(t.Context(), registry.Query{Version: "latest"})
	require.NoError(t, err)
	// Two full pages, and the empty one behind a last page of exactly 100.
	if len(l.Records) != 200 || requests != 3 || l.Truncated {
		t.Errorf("got %d records in %d requests, truncated %v; want 200 in 3, false", len(l.Records), requests, l.Truncated)
	}
	l, err = through(t, counted, registry.Options{MaxPages: 1}).List(t.Context(), registry.Query{})
	require.NoError(t, err)
	if len(l.Records) != 100 || !l.Truncated {
		t.Errorf("one page only: got %d records, truncated %v; want 100, true", len(l.Records), l.Truncated)
	}
}

func TestListStopsAtARepeatedCursor(t *testing.T) {
	requests := 0
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = io.WriteString(w, `{"servers":[{"name":"a.b/c","version":"1.0.0"}],"metadata":{"nextCursor":"again"}}`)
	})
	l, err := through(t, h, registry.Options{}).List(t.Context(), registry.Query{})
	if err != nil || requests != 2 || l.Truncated {
		t.Errorf("got %v after %d requests, want an end after 2", err, requests)
	}
}

func TestTolerantForms(t *testing.T) {
	one := `{"name":"a.b/c","description":"d","version":"1.0.0"}`
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"envelope":       {`{"servers":[{"server":` + one + `}]}`, []string{"a.b/c@1.0.0"}},
		"flat items":     {`{"servers":[` + one + `]}`, []string{"a.b/c@1.0.0"}},
		"bare array":     {`[` + one + `]`, []string{"a.b/c@1.0.0"}},
		"null":           {`{"servers":null}`, []string{}},
		"one bad of two": {`{"servers":[7,` + one + `]}`, []string{"a.b/c@1.0.0"}},
		"no slash":       {`[{"name":"atlassian-confluence","version":"2"}]`, []string{"atlassian-confluence@2"}},
		"snake case":     {`[{"name":"a.b/c","version_detail":{"version":"3.0.0"}}]`, []string{"a.b/c@3.0.0"}},
	} {
		l, err := through(t, body(200, "application/json", tt.text), registry.Options{}).List(t.Context(), registry.Query{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, names(l.Records)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestStaticRegistry: one file at /v0.1/servers and nothing else, which neither
// filters nor pages.
func TestStaticRegistry(t *testing.T) {
	file := `{"servers":[{"name":"a.b/tools","version":"1.9.0"},{"name":"a.b/tools","version":"1.10.0"},{"name":"c.d/other","version":"1.0.0","description":"Not tools"}]}`
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v0.1/servers" {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<html>404</html>")
			return
		}
		_, _ = io.WriteString(w, file)
	})
	c := through(t, h, registry.Options{})
	rec, err := c.Get(t.Context(), "a.b/tools", "")
	if err != nil || rec.Server.Version != "1.10.0" {
		t.Errorf("latest: got %+v %v, want 1.10.0", rec, err)
	}
	rec, err = c.Get(t.Context(), "a.b/tools", "1.9.0")
	if err != nil || rec.Server.Version != "1.9.0" {
		t.Errorf("exact: got %+v %v, want 1.9.0", rec, err)
	}
	_, err = c.Get(t.Context(), "a.b/none", "")
	if _, ok := errors.AsType[*registry.NotFoundError](err); !ok {
		t.Errorf("missing: got %v, want a NotFoundError", err)
	}
	l, err := c.Search(t.Context(), "tools")
	require.NoError(t, err)
	if diff := cmp.Diff([]string{"a.b/tools@1.10.0", "c.d/other@1.0.0"}, names(l.Records)); diff != "" {
		t.Error(diff)
	}
}

func TestErrorKinds(t *testing.T) {
	html := "<!doctype html><html><body>Welcome</body></html>"
	refused := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	})
	type kinds struct{ protocol, connect, auth bool }
	for name, tt := range map[string]struct {
		h    http.Handler
		rt   http.RoundTripper
		want kinds
		text string
	}{
		"page for a list":   {h: body(200, "text/html", html), want: kinds{protocol: true}, text: "an HTML page"},
		"page not found":    {h: body(404, "text/html", html), want: kinds{protocol: true}, text: "no MCP registry at https://registry.example.com"},
		"JSON not found":    {h: body(404, "application/json", `{"detail":"nothing here"}`), want: kinds{protocol: true}, text: "nothing here"},
		"other JSON":        {h: body(200, "application/json", `{"hello":1}`), want: kinds{protocol: true}, text: "no member servers"},
		"a number":          {h: body(200, "application/json", `7`), want: kinds{protocol: true}},
		"half an answer":    {h: body(200, "application/json", `{"servers":[{"na`), want: kinds{protocol: true}},
		"nothing":           {h: body(200, "application/json", ``), want: kinds{protocol: true}, text: "got nothing"},
		"documents of junk": {h: body(200, "application/json", `{"servers":[1,2]}`), want: kinds{protocol: true}},
		"broken gateway":    {h: body(502, "text/html", html), want: kinds{connect: true}, text: "Bad Gateway (HTTP 502)"},
		"wants a login":     {h: body(401, "text/html", html), want: kinds{auth: true}},
		"refused":           {rt: refused, want: kinds{connect: true}, text: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c *registry.Client
				if tt.h != nil {
					c = through(t, tt.h, registry.Options{})
				} else {
					c = newClient(t, registry.Options{HTTPClient: &http.Client{Transport: tt.rt}})
				}
				_, err := c.Search(t.Context(), "word")
				var (
					protocol *runtime.ProtocolError
					connect  *runtime.ConnectError
					auth     *runtime.AuthError
				)
				got := kinds{errors.As(err, &protocol), errors.As(err, &connect), errors.As(err, &auth)}
				if got != tt.want || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %+v %v, want %+v with %q", got, err, tt.want, tt.text)
				}
			})
		})
	}
}

func TestRetries(t *testing.T) {
	answers := func(codes ...int) (http.Handler, *int) {
		n := 0
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			code := codes[min(n, len(codes)-1)]
			n++
			if code == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "7")
			}
			if code == 999 {
				w.Header().Set("Retry-After", "3600")
				code = http.StatusServiceUnavailable
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, `{"servers":[]}`)
		}), &n
	}
	for name, tt := range map[string]struct {
		codes  []int
		tries  int
		ok     bool
		waited time.Duration
	}{
		"recovers":                  {[]int{500, 503, 200}, 3, true, 900 * time.Millisecond},
		"gives up":                  {[]int{500}, 3, false, 900 * time.Millisecond},
		"honours Retry-After":       {[]int{429, 200}, 2, true, 7 * time.Second},
		"but not an hour of it":     {[]int{999, 200}, 1, false, 0},
		"not for other refusals":    {[]int{400}, 1, false, 0},
		"not for what it cannot do": {[]int{501}, 1, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, n := answers(tt.codes...)
				start := time.Now()
				_, err := through(t, h, registry.Options{}).List(t.Context(), registry.Query{})
				if *n != tt.tries || (err == nil) != tt.ok || time.Since(start) != tt.waited {
					t.Errorf("got %d tries in %s, %v; want %d in %s, ok %v", *n, time.Since(start), err, tt.tries, tt.waited, tt.ok)
				}
			})
		})
	}
}

// stalled is a body that never comes.
type stalled struct{ ctx context.Context } //nolint:containedctx // stands for a connection

func (s stalled) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }
func (s stalled) Close() error             { return nil }

func TestSlowBodyTimesOutOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := newClient(t, registry.Options{HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			tries++
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: stalled{r.Context()}, Request: r}, nil
		})}})
		start := time.Now()
		_, err := c.Get(t.Context(), "a.b/c", "")
		var timeout *runtime.TimeoutError
		if !errors.As(err, &timeout) || time.Since(start) != 30*time.Second || tries != 1 {
			t.Errorf("got %v after %s and %d tries, want a timeout after 30s and 1", err, time.Since(start), tries)
		}
	})
}

func TestSilentServerTimesOutOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := newClient(t, registry.Options{TryTimeout: 2 * time.Second, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			tries++
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}})
		_, err := c.Get(t.Context(), "a.b/c", "")
		var timeout *runtime.TimeoutError
		if !errors.As(err, &timeout) || tries != 1 {
			t.Errorf("got %v after %d tries, want a timeout after 1", err, tries)
		}
	})
}

func TestCancelEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.AfterFunc(time.Millisecond, cancel) // in the pause before the next try
			w.WriteHeader(http.StatusInternalServerError)
		})
		start := time.Now()
		_, err := through(t, h, registry.Options{}).Search(ctx, "word")
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Millisecond {
			t.Errorf("got %v after %s, want a cancel after 1ms", err, time.Since(start))
		}
	})
}

func TestBodyIsCapped(t *testing.T) {
	big := `{"servers":[],"x":"` + strings.Repeat("a", 5000) + `"}`
	_, err := through(t, body(200, "application/json", big), registry.Options{MaxBody: 1000}).List(t.Context(), registry.Query{})
	var protocol *runtime.ProtocolError
	if !errors.As(err, &protocol) || !strings.Contains(err.Error(), "1000 bytes") {
		t.Errorf("got %v, want a protocol error that names the limit", err)
	}
}

func TestUnreachablePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	c, err := registry.New(registry.Options{BaseURL: "http://" + addr, RetryWait: time.Millisecond})
	require.NoError(t, err)
	_, err = c.Get(t.Context(), "a.b/c", "")
	var connect *runtime.ConnectError
	var hinter interface{ Hint() string }
	if !errors.As(err, &connect) || !errors.As(err, &hinter) || !strings.Contains(hinter.Hint(), "--registry") {
		t.Errorf("got %v, want a connect error with a hint", err)
	}
}

// TestGetAnother: a record of another server or version is not taken for the one
// that was asked for.
func TestGetAnother(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"another version": `{"server":{"name":"a.b/thing","version":"6.6.6","description":"d"},"_meta":{}}`,
		"another server":  `{"server":{"name":"a.b/other","version":"1.0.0","description":"d"},"_meta":{}}`,
	} {
		c := through(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer) // a recorder
		}), registry.Options{})
		_, err := c.Get(t.Context(), "a.b/thing", "1.0.0")
		if _, ok := errors.AsType[*runtime.ProtocolError](err); !ok {
			t.Errorf("%s: got %v, want a protocol error", name, err)
		}
	}
}
