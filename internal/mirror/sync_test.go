package mirror_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestSyncChanges(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	c := f.client(one)
	f.set(old(), "a.b/stays", "1.0.0", "active", "a clock that stays")
	f.set(old(), "a.b/grows", "1.9.0", "active", "a clock that grows")
	f.set(old(), "a.b/goes", "1.0.0", "active", "a clock that goes")
	f.set(old(), "a.b/shrinks", "1.0.0", "active", "a clock that shrinks")
	f.set(old(), "a.b/shrinks", "2.0.0", "active", "a clock that shrinks")
	f.set(old(), "a.b/ages", "1.0.0", "active", "a clock that ages")
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	if got, want := f.lists(), "limit=10&version=latest"; len(got) != 1 || got[0] != want {
		t.Errorf("the first sync asked %q, want %q", got, want)
	}
	if got, want := names(t, m, "clock"), "a.b/ages@1.0.0, a.b/goes@1.0.0, a.b/grows@1.9.0, a.b/shrinks@2.0.0, a.b/stays@1.0.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	now := time.Now()
	f.set(now, "a.b/grows", "1.10.0", "active", "a watch that grew")
	f.set(now, "a.b/goes", "1.0.0", "deleted", "a clock that goes")
	f.set(now, "a.b/shrinks", "2.0.0", "deleted", "a clock that shrinks")
	f.set(now, "a.b/ages", "1.0.0", "deprecated", "a clock that ages")
	f.set(now.Add(-2*time.Minute), "a.b/comes", "0.1.0", "active", "a clock that comes")
	f.set(now, "a.b/stays", "0.9.0", "active", "an older clock, published later")
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	if got := f.lists(); len(got) != 1 || !strings.HasPrefix(got[0], "limit=10&updated_since=20") {
		t.Errorf("the second sync asked %q, want changes", got)
	}
	if got, want := names(t, m, "clock"), "a.b/ages@1.0.0, a.b/comes@0.1.0, a.b/shrinks@1.0.0, a.b/stays@1.0.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := names(t, m, "watch"), "a.b/grows@1.10.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	rec, err := m.Get(t.Context(), one, "a.b/ages")
	if err != nil || rec == nil || rec.Meta.Status != registry.Deprecated {
		t.Errorf("got %+v, %v; want a deprecated record", rec, err)
	}
	if rec, err := m.Get(t.Context(), one, "a.b/goes"); rec != nil || err != nil {
		t.Errorf("a deleted record is there: %+v, %v", rec, err)
	}
}

// TestReleases: what is known of a prerelease is kept until something of the server is
// published.
func TestReleases(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	c := f.client(one)
	f.set(old(), "a.b/atlas", "2.0.0", "active", "maps")
	f.set(old(), "a.b/atlas", "3.0.0-rc.1", "active", "maps")
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	release := func() *registry.Record {
		t.Helper()
		res, err := m.Search(t.Context(), mirror.Query{Words: "atlas", Registries: []string{one}, Limit: 1})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].Record.Server.Version != "3.0.0-rc.1" {
			t.Fatalf("got %+v, %v", res, err)
		}
		return res.Hits[0].Release
	}
	if got := release(); got != nil {
		t.Errorf("got %+v before it is known", got)
	}
	latest, err := c.Get(t.Context(), "a.b/atlas", "")
	require.NoError(t, err)
	stable, err := c.Release(t.Context(), *latest)
	require.NoError(t, err)
	require.NoError(t, m.KeepRelease(t.Context(), one, latest, &stable))
	if got := release(); got == nil || got.Server.Version != "2.0.0" {
		t.Errorf("got %+v", got)
	}
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	if got := release(); got == nil {
		t.Error("forgotten without a change")
	}
	f.set(time.Now(), "a.b/atlas", "2.1.0", "active", "maps")
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	if got := release(); got != nil {
		t.Errorf("got %+v after another release", got)
	}
}

// TestSyncStatic: registries that ignore what they are asked, or that are a file.
func TestSyncStatic(t *testing.T) {
	t.Parallel()
	text := `{"servers":[{"name":"a.b/one","version":"1.0.0","description":"clock"},{"name":"a.b/one","version":"1.2.0","description":"clock"},
		{"name":"a.b/one","version":"1.1.0","description":"clock"},{"name":"a.b/two","version":"1.0.0","description":"clock"}],"metadata":{"nextCursor":"x"}}`
	less := `[{"server":{"name":"a.b/one","version":"1.3.0","description":"clock"}}]`
	for name, url := range map[string]string{"list": one, "file": "https://one.example.com/all/servers.json"} {
		t.Run(name, func(t *testing.T) {
			f, m := newFake(t), open(t)
			c := f.client(url)
			body, tag, unchanged := text, "", 0
			f.answer(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				if name == "file" && (r.URL.Path != "/all/servers.json" || r.URL.RawQuery != "") {
					t.Errorf("asked for %s", r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				if tag != "" {
					w.Header().Set("ETag", tag)
				}
				if tag != "" && r.Header.Get("If-None-Match") == tag {
					unchanged++
					w.WriteHeader(http.StatusNotModified)
					return
				}
				_, _ = w.Write([]byte(body))
			})
			sync := func(want string) {
				t.Helper()
				require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
				if got := names(t, m, "clock", c.URL()); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			sync("a.b/one@1.2.0, a.b/two@1.0.0")
			body, tag = less, `"v2"`
			sync("a.b/one@1.3.0")
			if sync("a.b/one@1.3.0"); unchanged != 1 {
				t.Errorf("got %d answers of an unchanged list, want 1", unchanged)
			}
			body, tag = text, `"v3"`
			sync("a.b/one@1.2.0, a.b/two@1.0.0")
			body, tag = strings.ReplaceAll(text, `"x"`, `""`), `"v4"`
			sync("a.b/one@1.2.0, a.b/two@1.0.0")
			body, tag = `{"servers":null}`, ""
			if err := m.Sync(t.Context(), c, mirror.Options{}); err == nil || !strings.Contains(err.Error(), "lists no servers now") {
				t.Errorf("an empty list: got %v", err)
			}
			if got := names(t, m, "clock", c.URL()); got != "a.b/one@1.2.0, a.b/two@1.0.0" {
				t.Errorf("after an empty list: got %s", got)
			}
		})
	}
}

// TestSyncWithoutChanges: a registry that refuses to tell changes is read whole, and one
// whose clock is ahead misses nothing.
func TestSyncWithoutChanges(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	c := f.client(one)
	f.set(old(), "a.b/clock", "1.0.0", "active", "tells the time")
	f.answer(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Has("updated_since") {
			http.Error(w, `{"detail":"no such parameter"}`, http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Date", "Fri, 01 Jan 2100 00:00:00 GMT")
		next.ServeHTTP(w, r)
	})
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	f.set(time.Now(), "a.b/clock", "1.1.0", "active", "tells the time")
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	if got := names(t, m, "clock"); got != "a.b/clock@1.1.0" {
		t.Errorf("got %s", got)
	}
	f.answer(nil)
	f.set(time.Now(), "a.b/clock", "1.2.0", "active", "tells the time")
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	if got := names(t, m, "clock"); got != "a.b/clock@1.2.0" {
		t.Errorf("after the clock was ahead: got %s", got)
	}
}

// TestDamagedFile: a file that is no database is put aside, and the copy made again.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "registry.db"), []byte(strings.Repeat("no database ", 1000)), 0o600))
	f, m := newFake(t), mirror.Open(dir, nil)
	defer func() { _ = m.Close() }()
	f.set(old(), "a.b/clock", "1.0.0", "active", "tells the time")
	if st, err := m.State(t.Context(), one); err != nil || st.Servers != 0 {
		t.Errorf("got %+v, %v", st, err)
	}
	require.NoError(t, m.Sync(t.Context(), f.client(one), mirror.Options{}))
	if got := names(t, m, "clock"); got != "a.b/clock@1.0.0" {
		t.Errorf("got %s", got)
	}
}

// TestSyncGoesOn: an interrupted walk continues behind its last page, and the old copy
// stays.
func TestSyncGoesOn(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	f.fill(45)
	c := f.client(one)
	ctx, cancel := context.WithCancel(t.Context())
	err := m.Sync(ctx, c, mirror.Options{Progress: func(_, pages int) {
		if pages == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the context's error", err)
	}
	st, err := m.State(t.Context(), one)
	if err != nil || st.Servers != 20 || !st.Synced.IsZero() || !st.Failed.IsZero() {
		t.Errorf("got %+v, %v; want 20 servers of an incomplete copy", st, err)
	}
	f.lists()
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	if got := f.lists(); len(got) != 3 || !strings.Contains(got[0], "cursor=a.b%2Fs00019") {
		t.Errorf("asked %q, want the last three pages", got)
	}
	if st, err = m.State(t.Context(), one); err != nil || st.Servers != 45 || st.Synced.IsZero() {
		t.Errorf("got %+v, %v", st, err)
	}
	// A cursor that the registry no longer takes: from the first page.
	ctx, cancel = context.WithCancel(t.Context())
	c2 := f.client(two)
	_ = m.Sync(ctx, c2, mirror.Options{Progress: func(int, int) { cancel() }})
	f.answer(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasPrefix(r.URL.Query().Get("cursor"), "a.b/s00009") && f.wrap != nil {
			f.answer(nil)
			http.Error(w, `{"detail":"cursor has expired"}`, http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
	require.NoError(t, m.Sync(t.Context(), c2, mirror.Options{}))
	if st, err := m.State(t.Context(), two); err != nil || st.Servers != 45 || st.Synced.IsZero() {
		t.Errorf("got %+v, %v", st, err)
	}
}

// TestSyncFails: what a registry can do wrong ends in one error of its kind, in time, and
// the copy is as it was.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	page := func(w http.ResponseWriter, next string, names ...string) {
		var items []string
		for _, n := range names {
			items = append(items, `{"name":"`+n+`","version":"2.0.0","description":"clock"}`)
		}
		_, _ = w.Write([]byte(`{"servers":[` + strings.Join(items, ",") + `],"metadata":{"nextCursor":"` + next + `"}}`))
	}
	n, m := 0, open(t)
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
		kind   any
	}{
		"endless pages": {func(w http.ResponseWriter, _ *http.Request) {
			n++
			page(w, "c"+strings.Repeat("x", n), "a.b/again")
		}, "101 pages of its list have nothing new", new(*runtime.ProtocolError)},
		"repeated cursor": {func(w http.ResponseWriter, _ *http.Request) {
			n++
			page(w, "same", "a.b/n"+strings.Repeat("x", n))
		}, "its list repeats a cursor", new(*runtime.ProtocolError)},
		"long cursor": {func(w http.ResponseWriter, _ *http.Request) {
			page(w, strings.Repeat("x", 9000), "a.b/one")
		}, "nextCursor has more than 8192 bytes", new(*runtime.ProtocolError)},
		"many at once": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("[" + strings.Repeat("{},", 100_000) + "{}]"))
		}, "one answer has more than 100000 servers", new(*runtime.ProtocolError)},
		"HTML": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>"))
		}, "an HTML page", new(*runtime.ProtocolError)},
		"429": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "it asks to wait 2m0s", new(*runtime.ConnectError)},
		"500":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "HTTP 500", new(*runtime.ConnectError)},
		"large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat(" ", 2<<20))) }, "more than 1048576 bytes", new(*runtime.ProtocolError)},
		"announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "200000000")
			_, _ = w.Write([]byte(`{"servers":[]}`))
		}, "more than 1048576 bytes", new(*runtime.ProtocolError)},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example.com/", http.StatusFound)
		}, "https", new(*runtime.ConnectError)},
		"in circles": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		}, "redirect", new(*runtime.ConnectError)},
		"half a page": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"servers":[{"name":"a.b/half"`)) }, "expected JSON", new(*runtime.ProtocolError)},
		"no list":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"error":"none"}`)) }, "no member servers", new(*runtime.ProtocolError)},
	} {
		t.Run(name, func(t *testing.T) {
			n = 0
			f := newFake(t)
			url := "https://" + strings.ReplaceAll(name, " ", "-") + ".example.com"
			c := f.client(url)
			f.fill(3)
			require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
			f.answer(func(w http.ResponseWriter, r *http.Request, _ http.Handler) { tt.answer(w, r) })
			err := m.Sync(t.Context(), c, mirror.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, tt.kind) {
				t.Errorf("got %v, want %q as a %T", err, tt.want, tt.kind)
			}
			if got := names(t, m, "thing number", url); got != "a.b/s00000@1.0.0, a.b/s00001@1.0.0, a.b/s00002@1.0.0" {
				t.Errorf("the copy has changed: %s", got)
			}
			st, err := m.State(t.Context(), url)
			if err != nil || st.Synced.IsZero() || st.Failed.IsZero() {
				t.Errorf("got %+v, %v; want a complete copy, and the failure noted", st, err)
			}
			f.answer(nil)
			require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
			if st, err = m.State(t.Context(), url); err != nil || !st.Failed.IsZero() {
				t.Errorf("afterwards: got %+v, %v", st, err)
			}
		})
	}
}

// TestSyncOneAtATime: while one sync runs, others are refused, or wait and find it done.
func TestSyncOneAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, other := mirror.Open(dir, nil), mirror.Open(dir, nil)
	defer func() { _, _ = m.Close(), other.Close() }()
	f := newFake(t)
	f.fill(25)
	inside, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- m.Sync(t.Context(), f.client(one), mirror.Options{Progress: func(_, pages int) {
			if pages == 1 {
				close(inside)
				<-release
			}
		}})
	}()
	<-inside
	if err := other.Sync(t.Context(), f.client(one), mirror.Options{}); !errors.Is(err, mirror.ErrBusy) {
		t.Errorf("got %v, want %v", err, mirror.ErrBusy)
	}
	if got := names(t, other, "number 7"); !strings.HasPrefix(got, "a.b/s00007@1.0.0") {
		t.Errorf("a search beside the sync found %q", got)
	}
	waited := make(chan error, 1)
	go func() { waited <- other.Sync(t.Context(), f.client(one), mirror.Options{Wait: time.Minute}) }()
	time.Sleep(20 * time.Millisecond) // so that it waits
	close(release)
	require.NoError(t, <-done)
	require.NoError(t, <-waited)
	if got := f.lists(); len(got) > 4 {
		t.Errorf("asked %d times, want the list once and changes at most once: %q", len(got), got)
	}
}
