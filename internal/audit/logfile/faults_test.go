package logfile_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestProcesses: three processes append and sign at once. Nothing is lost, the records of
// each are in their order, and each checkpoint is one of the log.
func TestProcesses(t *testing.T) {
	const each, batches = 3, 60
	if run := os.Getenv("AUDIT_TEST_RUN"); run != "" {
		key, err := logfile.OpenKey(os.Getenv("AUDIT_TEST_KEY"))
		require.NoError(t, err)
		l, err := logfile.Open(t.Context(), os.Getenv("AUDIT_TEST_LOG"), logfile.Options{Key: key, Busy: time.Until(wait.Deadline(t))})
		require.NoError(t, err)
		for i := range batches {
			_, err := l.Append(t.Context(), &audit.Batch{Run: run, Records: records(run, i*7, 7), State: []byte(run), Sync: i%20 == 0})
			require.NoError(t, err)
			if i%10 == 9 {
				_, err := l.Checkpoint(t.Context())
				require.NoError(t, err)
			}
		}
		require.NoError(t, l.Close())
		return
	}
	dir := t.TempDir()
	path, keyPath := filepath.Join(dir, "audit.db"), filepath.Join(dir, "audit.key")
	program, err := os.Executable()
	require.NoError(t, err)
	var commands []*exec.Cmd
	var out [each]bytes.Buffer
	for i := range each { // they make the key and the log, too
		c := exec.CommandContext(t.Context(), program, "-test.run=^TestProcesses$")
		c.Env = append(os.Environ(), fmt.Sprintf("AUDIT_TEST_RUN=run-%d", i), "AUDIT_TEST_LOG="+path, "AUDIT_TEST_KEY="+keyPath)
		c.Stdout, c.Stderr = &out[i], &out[i]
		require.NoError(t, c.Start())
		commands = append(commands, c)
	}
	for i, c := range commands {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, out[i].String())
		}
	}
	key, err := logfile.OpenKey(keyPath)
	require.NoError(t, err)
	l, err := logfile.Open(t.Context(), path, logfile.Options{Key: key})
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	next := map[string]uint64{}
	for _, text := range texts(t, l, 0, 0) {
		r, err := audit.Parse([]byte(text))
		require.NoError(t, err)
		if next[r.Run]++; r.N != next[r.Run] {
			t.Fatalf("%s has %d after %d", r.Run, r.N, next[r.Run]-1)
		}
	}
	for run, n := range next {
		if n != 7*batches {
			t.Errorf("%s has %d records", run, n)
		}
		if state, err := l.State(t.Context(), run); err != nil || string(state) != run {
			t.Errorf("state %q, %v", state, err)
		}
	}
	if len(next) != each {
		t.Errorf("%d runs", len(next))
	}
	last, err := l.Checkpoint(t.Context())
	require.NoError(t, err)
	whole, err := merkle.Unsigned(last)
	require.NoError(t, err)
	n := 0
	require.NoError(t, l.Checkpoints(t.Context(), -1, func(_ int64, msg []byte) error {
		c, err := merkle.Unsigned(msg)
		require.NoError(t, err)
		_, err = merkle.Extends(c, whole, l.Tiles(t.Context()))
		n++
		return err
	}))
	if n < batches/10 {
		t.Errorf("%d checkpoints", n)
	}
}

// TestFull: on a full disk all of a batch is refused, what is there can be read, and when
// there is room again the log goes on.
func TestFull(t *testing.T) {
	w := begin(t)
	w.append(records("a", 0, 50))
	msg := w.checkpoint()
	require.NoError(t, w.log.Limit(t.Context(), 1))
	var err error
	added := 50
	for range 100 {
		if _, err = w.log.Append(t.Context(), &audit.Batch{Run: "a", Records: records("a", added, 20), State: []byte("x")}); err != nil {
			break
		}
		added += 20
	}
	if e := new(logfile.Error); !errors.As(err, &e) || !strings.Contains(e.Hint(), "make room") {
		t.Errorf("on a full disk: %v", err)
	}
	if got := len(texts(t, w.log, 0, 0)); got != added {
		t.Errorf("%d records, want %d", got, added)
	}
	require.NoError(t, w.log.Limit(t.Context(), 0))
	if first := w.append(records("a", added, 20)); first != int64(added) {
		t.Errorf("the log goes on with %d, not %d", first, added)
	}
	before, err := merkle.Unsigned(msg)
	require.NoError(t, err)
	after, err := merkle.Unsigned(w.checkpoint())
	require.NoError(t, err)
	_, err = merkle.Extends(before, after, w.log.Tiles(t.Context()))
	require.NoError(t, err)
}

// TestCancelled: what was cancelled before it began is not added; what has begun is.
func TestCancelled(t *testing.T) {
	w := begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.log.Append(ctx, &audit.Batch{Records: records("a", 0, 1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if first := w.append(records("a", 0, 1)); first != 0 {
		t.Errorf("the log goes on with %d", first)
	}
}

// TestDamaged: a damaged file is never set aside, replaced or deleted, and the error says
// what it is and which command helps.
func TestDamaged(t *testing.T) {
	sound := begin(t)
	sound.append(records("a", 0, 400))
	sound.checkpoint()
	require.NoError(t, sound.log.Close())
	whole, err := os.ReadFile(sound.path)
	require.NoError(t, err)
	broken := slices.Clone(whole)
	for at := 16384; at < len(broken); at += 64 {
		broken[at] ^= 0xff
	}
	for name, file := range map[string][]byte{
		"no database": []byte(strings.Repeat("this is no database ", 1000)),
		"broken":      broken,
		"cut off":     whole[:32768],
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.db")
			require.NoError(t, os.WriteFile(path, file, 0o600))
			l, err := logfile.Open(t.Context(), path, logfile.Options{Key: sound.key})
			if err == nil {
				_, err = l.Append(t.Context(), &audit.Batch{Records: records("a", 400, 1)})
				require.NoError(t, l.Close())
			}
			if !errors.Is(err, logfile.ErrDamaged) || !strings.Contains(err.Error(), "mcpctl audit verify --db "+path) || !strings.Contains(err.Error(), "mv "+path) {
				t.Errorf("got %v", err)
			}
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			if len(now) < len(file) || !bytes.Equal(now[4096:16384], file[4096:16384]) {
				t.Error("the file was changed")
			}
			if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*damaged*")); len(found) > 0 {
				t.Errorf("set aside: %v", found)
			}
		})
	}
}

// TestTampered: a log whose hashes do not fit is not signed, and is written on.
func TestTampered(t *testing.T) {
	w := begin(t)
	w.append(records("a", 0, 300))
	w.checkpoint()
	require.NoError(t, w.log.Close())
	db, err := sql.Open("sqlite", "file:"+w.path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE tile SET hashes = zeroblob(length(hashes)) WHERE level = 1")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	w.log = w.open()
	if first := w.append(records("a", 300, 10)); first != 300 {
		t.Errorf("the log goes on with %d", first)
	}
	_, err = w.log.Checkpoint(t.Context())
	if !errors.Is(err, logfile.ErrInconsistent) || !strings.Contains(err.Error(), "mcpctl audit verify") {
		t.Errorf("signed: %v", err)
	}
}

// TestMoved: a log that was moved away is not written on where nobody finds it.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // a file that is open cannot be moved
	}
	w := begin(t)
	w.append(records("a", 0, 10))
	require.NoError(t, os.Rename(w.path, w.path+".old"))
	for range 2 {
		if _, err := w.log.Append(t.Context(), &audit.Batch{Records: records("a", 10, 1)}); !errors.Is(err, logfile.ErrMoved) {
			t.Errorf("written: %v", err)
		}
		require.NoError(t, os.WriteFile(w.path, nil, 0o600)) // another one in its place
	}
	require.NoError(t, os.Rename(w.path+".old", w.path))
	if first := w.append(records("a", 10, 1)); first != 10 {
		t.Errorf("the log goes on with %d", first)
	}
}

// TestUnwritable: a file that may not be written is not written, and can be read.
func TestUnwritable(t *testing.T) {
	w := begin(t)
	w.append(records("a", 0, 10))
	require.NoError(t, w.log.Close())
	require.NoError(t, os.Chmod(w.path, 0o400))
	require.NoError(t, os.Chmod(w.dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(w.dir, 0o700) })
	if os.Geteuid() > 0 { // the root user writes anywhere
		if _, err := logfile.Open(t.Context(), w.path, logfile.Options{Key: w.key}); err == nil || !strings.Contains(err.Error(), w.path) {
			t.Errorf("opened for writing: %v", err)
		}
	}
	r, err := logfile.OpenReadOnly(t.Context(), w.path)
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	if got := len(texts(t, r, 0, 0)); got != 10 {
		t.Errorf("%d records", got)
	}
}

// TestNewer: a log of a newer mcpctl is left alone.
func TestNewer(t *testing.T) {
	w := begin(t)
	require.NoError(t, w.log.Close())
	db, err := sql.Open("sqlite", "file:"+w.path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "PRAGMA user_version = 99")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	if _, err := logfile.Open(t.Context(), w.path, logfile.Options{Key: w.key}); !errors.Is(err, logfile.ErrNewer) {
		t.Errorf("for writing: %v", err)
	}
	if _, err := logfile.OpenReadOnly(t.Context(), w.path); !errors.Is(err, logfile.ErrNewer) {
		t.Errorf("for reading: %v", err)
	}
}
