package registries_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/registries"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/require"
)

// place is a program with registries of its own.
type place struct {
	registries.Command
	errOut bytes.Buffer
}

func newPlace(t *testing.T, sources ...config.Entry) *place {
	t.Helper()
	p := &place{}
	p.Command = registries.Command{
		UI: ui.New(strings.NewReader(""), &bytes.Buffer{}, &p.errOut), Log: slog.New(slog.DiscardHandler), Try: 30 * time.Second, Patience: time.Minute, StateDir: t.TempDir(),
		Lookup: func(name string) (string, bool) { return "s3cret-value", name == "TOKEN" }, Sources: sources,
	}
	return p
}

// search returns NAME@VERSION of what is found, and what is said.
func (p *place) search(t *testing.T, words string) (found string, notes string) {
	t.Helper()
	res, err := p.Search(t.Context(), registries.Search{Words: words, Limit: 20})
	require.NoError(t, err)
	var names []string
	for _, h := range res.Hits {
		names = append(names, h.Record.Server.Name+"@"+h.Record.Server.Version)
	}
	return strings.Join(names, " "), strings.Join(res.Notes(), "\n")
}

// listen serves records, and counts requests other than searches.
func listen(t *testing.T, records ...string) (s *httptest.Server, requests *atomic.Int64) {
	t.Helper()
	var raw []json.RawMessage
	for _, r := range records {
		name, version, _ := strings.Cut(r, "@")
		raw = append(raw, json.RawMessage(fmt.Sprintf(`{"name":%q,"version":%q,"description":"a clock","packages":[{"registryType":"npm","identifier":"x-clock"}]}`, name, version)))
	}
	h, err := registrytest.NewServer(raw, registrytest.Options{})
	require.NoError(t, err)
	requests = &atomic.Int64{}
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("search") { // which a first search takes back, at any time
			requests.Add(1)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s, requests
}

func at(url string) config.Entry { return config.Entry{Name: "registry " + url, URL: url} }

// age makes all copies that much older.
func (p *place) age(t *testing.T, by time.Duration) {
	t.Helper()
	db := openSQL(t, filepath.Join(p.StateDir, "registry.db"))
	_, err := db.ExecContext(t.Context(), `UPDATE registries SET synced = synced - ?`, int64(by))
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// TestCopies follows a copy: made by the first search, searched without a request, updated
// after an hour, used when the registry is gone, left alone after a failure.
func TestCopies(t *testing.T) {
	t.Parallel()
	s, requests := listen(t, "a.b/clock@1.0.0", "io.github.acme/clock@1.0.0")
	p := newPlace(t, at(s.URL))
	step := func(what, wantNotes string, wantRequests int64) {
		t.Helper()
		before := requests.Load()
		found, notes := p.search(t, "clock")
		if found != "a.b/clock@1.0.0 io.github.acme/clock@1.0.0" {
			t.Errorf("%s: found %q", what, found)
		}
		if notes != wantNotes && (wantNotes == "" || !strings.Contains(notes, wantNotes)) || strings.Contains(notes, "\n") {
			t.Errorf("%s: said %q, want %q in one line", what, notes, wantNotes)
		}
		if got := requests.Load() - before; wantRequests >= 0 && got != wantRequests {
			t.Errorf("%s: %d requests, want %d", what, got, wantRequests)
		}
	}
	step("first", "", -1)
	step("second", "", 0)
	p.age(t, 59*time.Minute)
	step("in the hour", "as of 59m", 0)
	p.age(t, time.Hour)
	step("after an hour", "", 1)
	p.age(t, 2*time.Hour)
	s.Close()
	step("when it is gone", "connection refused; this is the copy as of 2h0m ago", 0)
	step("again", "as of 2h0m ago", 0)
	_, err := p.Search(t.Context(), registries.Search{Refresh: true, Words: "clock", Limit: 1})
	if err != nil {
		t.Errorf("refreshed with a copy: got %v, want the copy's servers", err)
	}
	p.StateDir = t.TempDir()
	_, err = p.Search(t.Context(), registries.Search{Words: "clock", Limit: 1})
	if _, ok := errors.AsType[*runtime.ConnectError](err); !ok {
		t.Errorf("without a copy: got %v", err)
	}
}

// TestRefreshAlone: without words, a refresh that fails is an error.
func TestRefreshAlone(t *testing.T) {
	t.Parallel()
	s, _ := listen(t, "a.b/clock@1.0.0")
	p := newPlace(t, at(s.URL))
	res, err := p.Search(t.Context(), registries.Search{Refresh: true})
	require.NoError(t, err)
	if len(res.Hits) != 0 || !strings.Contains(p.errOut.String(), "has 1 server (") {
		t.Errorf("got %+v, said %q", res, p.errOut.String())
	}
	s.Close()
	var down *runtime.ConnectError
	if _, err := p.Search(t.Context(), registries.Search{Refresh: true}); !errors.As(err, &down) {
		t.Errorf("got %v", err)
	}
}

// TestSlow: a registry that does not answer costs the patience of a search where there is a copy, and
// none after that.
func TestSlow(t *testing.T) {
	t.Parallel()
	s, _ := listen(t, "a.b/clock@1.0.0")
	p := newPlace(t, at(s.URL))
	p.search(t, "clock")
	next := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
		next.ServeHTTP(w, r)
	})
	p.age(t, 2*time.Hour)
	p.Patience = 300 * time.Millisecond
	found, notes := p.search(t, "clock")
	if found != "a.b/clock@1.0.0" || !strings.Contains(notes, "within 300ms; this is the copy as of 2h0m ago") {
		t.Errorf("found %q, said %q", found, notes)
	}
	if _, notes := p.search(t, "clock"); notes != "as of 2h0m ago" && !strings.HasPrefix(notes, "as of 2h0m ") {
		t.Errorf("said %q", notes)
	}
}

// TestLarge: nobody waits for the copy of a large registry, which grows with each search.
func TestLarge(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Has("search") {
			_, _ = w.Write([]byte(`{"servers":[{"name":"a.b/clock","version":"1.0.0"}]}`))
			return
		}
		time.Sleep(100 * time.Millisecond)
		_, _ = fmt.Fprintf(w, `{"servers":[{"name":"a.b/n%s","version":"1.0.0"}],"metadata":{"nextCursor":"x%s"}}`, q.Get("cursor"), q.Get("cursor"))
	}))
	defer s.Close()
	p := newPlace(t, at(s.URL))
	const said = "only names were searched; mcpctl search --refresh copies the registry"
	found, notes := p.search(t, "clock")
	if found != "a.b/clock@1.0.0" || !strings.HasPrefix(notes, said) || !strings.HasSuffix(notes, " so far)") {
		t.Errorf("found %q, said %q", found, notes)
	}
}

// TestBesideEachOther: two searches at once without a copy both find, and both end.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	s, _ := listen(t, "a.b/clock@1.0.0")
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		p := newPlace(t, at(s.URL))
		p.StateDir = dir
		wg.Go(func() {
			if found, _ := p.search(t, "clock"); found != "a.b/clock@1.0.0" {
				t.Errorf("found %q", found)
			}
		})
	}
	wg.Wait()
}

// TestSeveral: the first registry that has a name wins, in searches and lookups.
func TestSeveral(t *testing.T) {
	t.Parallel()
	own, _ := listen(t, "a.b/clock@9.0.0", "a.b/own-clock@1.0.0")
	public, _ := listen(t, "a.b/clock@1.0.0", "a.b/public-clock@1.0.0")
	p := newPlace(t, at(own.URL), at(public.URL), at(public.URL+"/v0.1/"))
	for _, dir := range []string{p.StateDir, ""} { // copies, and the registries' own search
		p.StateDir = dir
		if found, notes := p.search(t, "clock"); found != "a.b/clock@9.0.0 a.b/own-clock@1.0.0 a.b/public-clock@1.0.0" || notes != "" {
			t.Errorf("found %q, said %q", found, notes)
		}
	}
	find := func(name string) string {
		t.Helper()
		rec, err := p.Find(t.Context(), name, false)
		if err != nil {
			return err.Error()
		}
		return rec.Record.Server.Version + " of " + rec.Registry + strings.Join(rec.Notes, "; ")
	}
	for name, want := range map[string]string{
		"a.b/clock": "9.0.0 of " + own.URL, "public-clock": "1.0.0 of " + public.URL, "a.b/none": "registry get a.b/none: no such server",
	} {
		if got := find(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	p.StateDir = t.TempDir()
	p.search(t, "clock")
	own.Close()
	if got := find("a.b/clock"); !strings.HasPrefix(got, "9.0.0 of "+own.URL) || !strings.Contains(got, "this is its copy as of ") {
		t.Errorf("without the first registry: got %q", got)
	}
	if got := find("a.b/public-clock"); !strings.Contains(got, "connection refused") {
		t.Errorf("a name that may be in the registry that is down: got %q", got)
	}
	p.StateDir = t.TempDir()
	if found, notes := p.search(t, "clock"); found != "a.b/clock@1.0.0 a.b/public-clock@1.0.0" || !strings.Contains(notes, "warning: not searched: ") {
		t.Errorf("found %q, said %q", found, notes)
	}
}

// TestCredentials: headers with placeholders reach the registry, and nobody else.
func TestCredentials(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Team") != "" {
			leaked.Add(1)
		}
		_, _ = w.Write([]byte(`{"servers":[{"name":"a.b/clock","version":"1.0.0"}]}`))
	}))
	defer elsewhere.Close()
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret-value" || r.Header.Get("X-Team") != "clocks" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, elsewhere.URL+r.URL.RequestURI(), http.StatusFound)
	}))
	defer private.Close()
	source := at(private.URL)
	source.Headers = map[string]string{"Authorization": "Bearer ${TOKEN}", "X-Team": "clocks"}
	p := newPlace(t, source)
	if found, _ := p.search(t, "clock"); found != "a.b/clock@1.0.0" || leaked.Load() != 0 {
		t.Errorf("found %q; %d requests with credentials elsewhere", found, leaked.Load())
	}
	p.Sources[0].Headers = map[string]string{"Authorization": "Bearer wrong-${TOKEN}"}
	p.StateDir = t.TempDir()
	_, err := p.Search(t.Context(), registries.Search{Words: "clock", Limit: 1})
	var refused *runtime.AuthError
	if !errors.As(err, &refused) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	p.Sources[0].Headers = map[string]string{"Authorization": "Bearer ${NONE}"}
	if _, err = p.Search(t.Context(), registries.Search{Words: "clock", Limit: 1}); err == nil || !strings.Contains(err.Error(), "NONE") || !strings.Contains(err.Error(), "registry "+private.URL) {
		t.Errorf("got %v, want the name of the registry and the variable", err)
	}
	p.Sources[0] = config.Entry{URL: "http://mcp.corp.example", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}}
	var clear *dial.ClearTextError
	if _, err = p.Search(t.Context(), registries.Search{Words: "clock", Limit: 1}); !errors.As(err, &clear) {
		t.Errorf("credentials over http: got %v", err)
	}
}

// TestAuth: the auth object of a source obtains tokens; a refusal is no reason to try
// again, and says what to do.
func TestAuth(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("t0ken-of-a-file\n"), 0o600))
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer t0ken-of-a-file" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"servers":[{"name":"a.b/clock","version":"1.0.0"}]}`))
	}))
	defer s.Close()
	source := at(s.URL)
	source.Auth = json.RawMessage(fmt.Sprintf(`{"tokenFile":%q}`, token))
	p := newPlace(t, source)
	p.Auth = &dial.Auth{Store: &tokenstore.Store{Path: filepath.Join(t.TempDir(), "auth.json")}}
	if found, _ := p.search(t, "clock"); found != "a.b/clock@1.0.0" {
		t.Errorf("found %q", found)
	}
	require.NoError(t, os.WriteFile(token, []byte("wrong"), 0o600))
	requests.Store(0)
	_, err := p.Find(t.Context(), "a.b/clock", false)
	var refused *runtime.AuthError
	if !errors.As(err, &refused) || requests.Load() != 1 {
		t.Errorf("got %v after %d requests, want a refusal after one", err, requests.Load())
	}
	p.Sources[0].Auth = json.RawMessage(`{}`)
	p.StateDir = t.TempDir()
	if _, err = p.Search(t.Context(), registries.Search{Words: "clock", Limit: 1}); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	_, err = p.Find(t.Context(), "a.b/clock", false)
	var fix interface{ Hint() string }
	if !errors.As(err, &fix) || !strings.Contains(fix.Hint(), "mcpctl --url "+s.URL+" auth login") {
		t.Fatalf("got %v, want a hint", err)
	}
	require.NoError(t, p.Auth.Store.Put(t.Context(), tokenstore.Token{Server: s.URL, Access: "t0ken-of-a-file", Source: tokenstore.SourceManual}))
	if found, notes := p.search(t, "clock"); found != "a.b/clock@1.0.0" || notes != "" {
		t.Errorf("with the token of a login: found %q, said %q", found, notes)
	}
}

// TestNoStateDirectory: a directory that cannot be written does not stop a search.
func TestNoStateDirectory(t *testing.T) {
	t.Parallel()
	s, _ := listen(t, "a.b/clock@1.0.0")
	p := newPlace(t, at(s.URL))
	p.StateDir = filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(p.StateDir, nil, 0o600))
	if found, notes := p.search(t, "clock"); found != "a.b/clock@1.0.0" || !strings.Contains(notes, "warning: the copy of the registry cannot be used: ") {
		t.Errorf("found %q, said %q", found, notes)
	}
	p.StateDir = ""
	if _, err := p.Search(t.Context(), registries.Search{Refresh: true}); err == nil || !strings.Contains(err.Error(), "MCPCTL_HOME") {
		t.Errorf("got %v", err)
	}
}

func TestInstalled(t *testing.T) {
	t.Parallel()
	is := registries.Installed([]config.Entry{
		{Origin: &config.Origin{Name: "a.b/by-record"}},
		{Command: "npx", Args: []string{"-y", "@acme/thing-mcp@1.3.0", "run"}},
		{Command: "docker", Args: []string{"run", "-i", "ghcr.io/acme/image:2"}},
		{URL: "https://api.example.com/mcp"},
	})
	for name, tt := range map[string]struct {
		server registry.Server
		want   bool
	}{
		"record":         {registry.Server{Name: "a.b/by-record"}, true},
		"package":        {registry.Server{Packages: []registry.Package{{Identifier: "@acme/thing-mcp"}}}, true},
		"image":          {registry.Server{Packages: []registry.Package{{Identifier: "ghcr.io/acme/image:1"}}}, true},
		"remote":         {registry.Server{Remotes: []registry.Remote{{URL: "https://api.example.com/mcp"}}}, true},
		"another remote": {registry.Server{Remotes: []registry.Remote{{URL: "https://api.example.com/other"}}}, false},
		"a subcommand":   {registry.Server{Packages: []registry.Package{{Identifier: "run"}}}, false},
		"nothing":        {registry.Server{Name: "a.b/other", Packages: []registry.Package{{}}, Remotes: []registry.Remote{{}}}, false},
	} {
		if got := is(&tt.server); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
