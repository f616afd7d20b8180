package mirror_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a registry whose records a test changes.
type fake struct {
	t testing.TB

	mu      sync.Mutex // guards what follows
	records map[string]json.RawMessage
	handler http.Handler
	asked   []string // queries of the lists
	page    int      // the servers of a page
	// wrap, unless nil, answers in the place of the registry, which it gets.
	wrap func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

func newFake(t testing.TB) *fake { return &fake{t: t, page: 10, records: map[string]json.RawMessage{}} }

// set publishes a version, or changes its status, at a time.
func (f *fake) set(at time.Time, name, version, status, description string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records[name+"@"+version] = record(at, name, version, status, description)
	f.handler = nil
}

func record(at time.Time, name, version, status, description string) json.RawMessage {
	b, err := json.Marshal(map[string]any{
		"server": map[string]any{
			"name": name, "version": version, "description": description,
			"packages": []any{map[string]string{"registryType": "npm", "identifier": "x"}},
		},
		"_meta": map[string]any{"io.modelcontextprotocol.registry/official": map[string]string{"status": status, "publishedAt": at.Format(time.RFC3339Nano)}},
	})
	if err != nil {
		panic(err)
	}
	return b
}

// RoundTrip answers a request without a socket.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	if f.handler == nil {
		var all []json.RawMessage
		for _, raw := range f.records {
			all = append(all, raw)
		}
		h, err := registrytest.NewServer(all, registrytest.Options{})
		require.NoError(f.t, err)
		f.handler = h
	}
	if q := r.URL.Query(); strings.HasSuffix(r.URL.Path, "/servers") {
		if q.Has("limit") { // the pages of tests are small
			q.Set("limit", strconv.Itoa(f.page))
			r.URL.RawQuery = q.Encode()
		}
		f.asked = append(f.asked, r.URL.RawQuery)
	}
	h, wrap := f.handler, f.wrap
	f.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	if wrap != nil {
		wrap(w, r, h)
	} else {
		h.ServeHTTP(w, r)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	res := w.Result()
	res.Request = r
	return res, nil
}

// lists returns the queries of the lists since the last call.
func (f *fake) lists() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func (f *fake) answer(wrap func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrap = wrap
}

func (f *fake) client(url string) *registry.Client {
	c, err := registry.New(registry.Options{BaseURL: url, HTTPClient: &http.Client{Transport: f}, Retries: -1, MaxBody: 1 << 20, TryTimeout: 2 * time.Second})
	require.NoError(f.t, err)
	return c
}

const (
	one = "https://one.example.com"
	two = "https://two.example.com"
)

func open(t testing.TB) *mirror.Mirror {
	m := mirror.Open(t.TempDir(), nil)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// names returns NAME@VERSION of what a search finds.
func names(t testing.TB, m *mirror.Mirror, words string, urls ...string) string {
	t.Helper()
	if urls == nil {
		urls = []string{one}
	}
	res, err := m.Search(context.WithoutCancel(t.Context()), mirror.Query{Words: words, Registries: urls, Limit: 20})
	require.NoError(t, err)
	var out []string
	for _, h := range res.Hits {
		name := h.Record.Server.Name + "@" + h.Record.Server.Version
		if len(urls) > 1 {
			name += " of " + h.Registry
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// old is when the first records of a test were published.
func old() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// fill publishes so many servers: a.b/s0 on.
func (f *fake) fill(n int) {
	for i := range n {
		f.set(old(), fmt.Sprintf("a.b/s%05d", i), "1.0.0", "active", fmt.Sprintf("Keeps thing number %d", i))
	}
}

// sameSet reports whether two lists of names have the same names.
func sameSet(a, b string) bool {
	x, y := strings.Split(a, ", "), strings.Split(b, ", ")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
