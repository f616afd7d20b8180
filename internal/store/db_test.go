package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

func id(name string) store.ID { return store.ID{Name: name, Digest: "digest of " + name} }

// full returns a change with every part.
func full(name string) store.Change {
	when := time.Unix(1_700_000_000, 123)
	return store.Change{
		ID:      id(name),
		Catalog: &store.Catalog{Data: []byte("what " + name + " offers\x00\xff"), Verified: when},
		Usage: &store.Usage{
			Results: "\x05\xff\x01",
			Count:   7, First: when.Add(-time.Hour), Last: when, Interval: 90 * time.Second, Asks: true, Untold: true,
		},
	}
}

func record(c store.Change) store.Record { return store.Record{Catalog: *c.Catalog, Usage: *c.Usage} }

// open returns a database and what it logs.
func open(t *testing.T, path, scope string) (*store.DB, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	db := store.Open(path, store.Options{Scope: scope, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, &log
}

// turn does a change while others change the same file. A call waits half a second for them;
// one whose turn has not come by then is made again.
func turn(t *testing.T, change func() error) {
	t.Helper()
	wait.Until(t, "its turn", func() bool {
		err := change()
		if err != nil && !strings.Contains(err.Error(), "SQLITE_BUSY") {
			t.Error(err)
			return true
		}
		return err == nil
	})
}

func keep(t *testing.T, db *store.DB, changes ...store.Change) {
	t.Helper()
	require.NoError(t, db.Keep(t.Context(), changes))
}

func load(t *testing.T, db *store.DB, names ...string) map[string]store.Record {
	t.Helper()
	var ids []store.ID
	for _, name := range names {
		ids = append(ids, id(name))
	}
	found, err := db.Load(t.Context(), ids)
	require.NoError(t, err)
	return found
}

func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "mcp?c#t%l.db")
	db, log := open(t, path, "/c")
	a, b := full("a"), full("b")
	keep(t, db, a, b)
	want := map[string]store.Record{"a": record(a), "b": record(b)}
	other, _ := open(t, path, "/c")
	for _, db := range []*store.DB{db, other} {
		if diff := cmp.Diff(want, load(t, db, "a", "b", "c")); diff != "" {
			t.Error(diff)
		}
	}
	// Parts that are nil stay.
	usage := store.Usage{Count: 8}
	seen := time.Unix(1_800_000_000, 0)
	keep(t, other, store.Change{ID: a.ID, Usage: &usage}, store.Change{ID: b.ID, Verified: seen}, store.Change{ID: id("c"), Usage: &usage})
	ra, rb := record(a), record(b)
	ra.Usage, rb.Catalog.Verified = usage, seen
	if diff := cmp.Diff(map[string]store.Record{"a": ra, "b": rb, "c": {Usage: usage}}, load(t, db, "a", "b", "c")); diff != "" {
		t.Error(diff)
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log)
	}
	if goruntime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want %v", filepath.Base(name), info.Mode(), err, want)
		}
	}
}

// TestDigest: a record under another digest is not returned, and is deleted when one
// is stored under the new digest; other servers keep theirs.
func TestDigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	db, _ := open(t, path, "/c")
	a, b := full("a"), full("b")
	keep(t, db, a, b)
	changed := store.ID{Name: "a", Digest: "new"}
	both := []store.ID{changed, b.ID}
	want := map[string]store.Record{"b": record(b)}
	if got, err := db.Load(t.Context(), both); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("got %v, %v", got, err)
	}
	keep(t, db, store.Change{ID: changed, Usage: &store.Usage{Count: 1}})
	want["a"] = store.Record{Usage: store.Usage{Count: 1}}
	if got, err := db.Load(t.Context(), both); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("got %v, %v", got, err)
	}
	if got := load(t, db, "a"); len(got) > 0 {
		t.Errorf("what was kept under the old digest is still there: %v", got)
	}
}

// TestForget: servers that are no longer configured are deleted, those of another
// configuration stay unless unused for long.
func TestForget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	db, _ := open(t, path, "/c")
	other, _ := open(t, path, "/other")
	old, _ := open(t, path, "/old")
	for _, db := range []*store.DB{db, other, old} {
		keep(t, db, full("a"), full("b"))
	}
	age(t, path, `UPDATE servers SET kept = 1 WHERE scope = '/old' OR scope = '/c'`)
	db.Known([]string{"b", "x"})
	keep(t, db, full("b"))
	keep(t, db, full("b"))
	if got := count(t, path, `SELECT count(*) FROM servers`); got != 3 {
		t.Errorf("got %d servers, want b, and both of the other configuration", got)
	}
	if got := count(t, path, `SELECT count(*) FROM catalogs`); got != 3 {
		t.Errorf("got %d catalogues", got)
	}
	if got := load(t, other, "a", "b"); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

func age(t *testing.T, path, statement string) {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer func() { _ = raw.Close() }()
	if _, err := raw.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, path, query string) (n int) {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer func() { _ = raw.Close() }()
	require.NoError(t, raw.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

// TestDamage: a damaged file is renamed, which is logged once, and a new one
// created.
func TestDamage(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("not a database\n", 1000))) },
		"overwritten": func(t *testing.T, path string) {
			raw := read(t, path)
			for i := 100; i < len(raw); i++ {
				raw[i] = 0xa5
			}
			write(t, path, raw)
		},
		"cut": func(t *testing.T, path string) {
			raw := read(t, path)
			write(t, path, raw[:len(raw)/2])
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcpctl.db")
			first := store.Open(path, store.Options{})
			big := full("a")
			big.Catalog.Data = bytes.Repeat([]byte("x"), 1<<17)
			keep(t, first, big)
			require.NoError(t, first.Close())
			spoil(t, path)
			db, log := open(t, path, "")
			if got := load(t, db, "a"); len(got) > 0 {
				t.Errorf("got %v", got)
			}
			b := full("b")
			keep(t, db, b)
			if diff := cmp.Diff(map[string]store.Record{"b": record(b)}, load(t, db, "a", "b")); diff != "" {
				t.Error(diff)
			}
			if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "put aside") || !strings.Contains(got, path+".damaged") {
				t.Errorf("logged: %s", got)
			}
			if _, err := os.Stat(path + ".damaged"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDamageSeenByTwo: of two that find the damage, the second uses the file that
// the first has created.
func TestDamageSeenByTwo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	first := store.Open(path, store.Options{})
	keep(t, first, full("a"))
	second, _ := open(t, path, "")
	load(t, second, "a")
	require.NoError(t, first.Close())
	// The second holds the file open while a third creates a new one.
	require.NoError(t, os.Rename(path, path+".damaged"))
	for _, end := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + end)
	}
	third, _ := open(t, path, "")
	keep(t, third, full("b"))
	store.Spoil(second)
	if got := load(t, second, "a", "b"); len(got) != 1 || got["b"].Catalog.Data == nil {
		t.Errorf("got %v", got)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return raw
}

func write(t *testing.T, path string, raw []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, raw, 0o600))
}

// TestNewer: the file of a newer mcpctl is not changed.
func TestNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	age(t, path, `PRAGMA user_version = 99`)
	db, _ := open(t, path, "")
	for range 2 {
		if err := db.Keep(t.Context(), []store.Change{full("a")}); err == nil || !strings.Contains(err.Error(), "schema 99 is of a newer mcpctl") {
			t.Errorf("got %v", err)
		}
	}
	if got := count(t, path, `SELECT count(*) FROM sqlite_schema`); got != 0 {
		t.Errorf("got %d tables", got)
	}
}

// TestUnusable: without a usable file each use is an error.
func TestUnusable(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), nil)
	locked := filepath.Join(dir, "locked")
	require.NoError(t, os.Mkdir(locked, 0o500))
	paths := map[string]string{"a directory": dir, "below a file": filepath.Join(dir, "file", "mcpctl.db")}
	if os.Geteuid() > 0 {
		paths["a directory that cannot be written"] = filepath.Join(locked, "mcpctl.db")
	}
	for name, path := range paths {
		db, _ := open(t, path, "")
		if _, err := db.Load(t.Context(), []store.ID{id("a")}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", name, err)
		}
		if err := db.Keep(t.Context(), []store.Change{full("a")}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFull: what does not fit is not stored, not even in part, and the rest stays.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	db, log := open(t, path, "")
	keep(t, db, full("a"))
	store.Limit(t.Context(), db, 20)
	b, c := full("b"), full("c")
	c.Catalog.Data = bytes.Repeat([]byte("x"), 1<<20)
	if err := db.Keep(t.Context(), []store.Change{b, c}); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("got %v", err)
	}
	if got := load(t, db, "a", "b", "c"); len(got) != 1 {
		t.Errorf("got %d records, want that of a", len(got))
	}
	keep(t, db, full("b"))
	if log.Len() > 0 {
		t.Errorf("logged: %s", log)
	}
}

// TestClosed: nothing happens to a database that was closed.
func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	db := store.Open(path, store.Options{})
	for range 2 {
		require.NoError(t, db.Close())
	}
	if _, err := db.Load(t.Context(), nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a database that was never used has made its file")
	}
}

// TestBusy: a cancelled caller does not wait for its turn.
func TestBusy(t *testing.T) {
	db, _ := open(t, filepath.Join(t.TempDir(), "mcpctl.db"), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	release := store.Hold(db)
	defer release()
	if _, err := db.Load(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestBusyFile: a file that another process has to itself says that.
func TestBusyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	db, _ := open(t, path, "")
	keep(t, db, full("a"))
	require.NoError(t, db.Close())
	other, err := sql.Open("sqlite", "file:"+path+"?_pragma=locking_mode(exclusive)&_txlock=immediate")
	require.NoError(t, err)
	defer other.Close()
	other.SetMaxOpenConns(1)
	tx, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	db, _ = open(t, path, "")
	if _, err := db.Load(t.Context(), []store.ID{full("a").ID}); !errors.Is(err, store.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// TestProcesses: several processes may write at once.
func TestProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	if path := os.Getenv("STORE_TEST_PATH"); path != "" {
		db, _ := open(t, path, "")
		for i := range 20 {
			c := full(fmt.Sprintf("%s-%d", os.Getenv("STORE_TEST_NAME"), i))
			turn(t, func() error { return db.Keep(t.Context(), []store.Change{c}) })
		}
		return
	}
	const processes = 3
	failed := make(chan error, processes)
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$")
		cmd.Env = append(os.Environ(), "STORE_TEST_PATH="+path, fmt.Sprintf("STORE_TEST_NAME=p%d", i), "GORACE=atexit_sleep_ms=0")
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			failed <- err
		}()
	}
	for range processes {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if got := count(t, path, `SELECT count(*) FROM servers JOIN catalogs ON server = id`); got != 20*processes {
		t.Errorf("got %d servers", got)
	}
}
