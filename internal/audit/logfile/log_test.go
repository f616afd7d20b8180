package logfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
	"github.com/mcpctl/mcpctl/test/require"
)

var start = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// records returns records of a run, a second apart.
func records(run string, from, n int) [][]byte {
	var list [][]byte
	for i := from; i < from+n; i++ {
		r := audit.Record{
			Time: start.Add(time.Duration(i) * time.Second), Run: run, N: uint64(i + 1), Kind: audit.KindCall,
			Target: audit.Target{Server: "gh", Item: fmt.Sprintf("tool-%d", i)}, Decision: audit.Decision{Verdict: audit.VerdictAllow},
		}
		list = append(list, r.Append(nil))
	}
	return list
}

type world struct {
	t    *testing.T
	dir  string
	path string
	key  *logfile.Key
	log  *logfile.Log
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.path = filepath.Join(w.dir, "audit.db")
	var err error
	w.key, err = logfile.OpenKey(filepath.Join(w.dir, "audit.key"))
	require.NoError(t, err)
	w.log = w.open()
	return w
}

func (w *world) open() *logfile.Log {
	w.t.Helper()
	l, err := logfile.Open(w.t.Context(), w.path, logfile.Options{Key: w.key})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = l.Close() })
	return l
}

func (w *world) append(list [][]byte) int64 {
	w.t.Helper()
	first, err := w.log.Append(w.t.Context(), &audit.Batch{Records: list})
	require.NoError(w.t, err)
	return first
}

func (w *world) checkpoint() []byte {
	w.t.Helper()
	msg, err := w.log.Checkpoint(w.t.Context())
	require.NoError(w.t, err)
	return msg
}

func (w *world) verifier() note.Verifier {
	v, err := note.NewVerifier(w.key.Verifier())
	require.NoError(w.t, err)
	return v
}

// texts returns the records from number from on, up to to.
func texts(t *testing.T, l *logfile.Log, from, to int64) (list []string) {
	t.Helper()
	next := int64(-1)
	require.NoError(t, l.Read(t.Context(), from, to, func(n int64, r []byte) error {
		if next >= 0 && n != next {
			t.Errorf("record %d after %d", n, next-1)
		}
		next = n + 1
		list = append(list, string(r))
		return nil
	}))
	return list
}

func TestAppendAndRead(t *testing.T) {
	w := begin(t)
	all := records("a", 0, 2000)
	next := int64(0)
	for _, n := range []int{1, 2, 250, 3, 512, 513, 719} {
		if first := w.append(all[next : int(next)+n]); first != next {
			t.Errorf("first is %d, want %d", first, next)
		}
		next += int64(n)
	}
	for _, span := range [][2]int64{{0, 0}, {0, 1}, {1, 2}, {255, 257}, {1999, 0}, {2000, 0}, {700, 1500}} {
		got, to := texts(t, w.log, span[0], span[1]), span[1]
		if to == 0 {
			to = 2000
		}
		if int64(len(got)) != to-span[0] {
			t.Errorf("%d records in %v", len(got), span)
		}
		for i, r := range got {
			if r != string(all[int(span[0])+i]) {
				t.Fatalf("record %d is %s", int(span[0])+i, r)
			}
		}
	}
	var firsts []int64
	require.NoError(t, w.log.Segments(t.Context(), logfile.Span{Since: start.Add(300 * time.Second), Until: start.Add(1000 * time.Second), Backwards: true}, func(s logfile.Segment) error {
		firsts = append(firsts, s.First)
		return nil
	}))
	if got := fmt.Sprint(firsts); got != "[768 256]" {
		t.Errorf("segments of a time: %s", got)
	}
	stop := errors.New("stop")
	if err := w.log.Read(t.Context(), 0, 0, func(int64, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the function", err)
	}
	if _, err := w.log.Record(t.Context(), 2000); !errors.Is(err, logfile.ErrNoRecord) {
		t.Errorf("a record to come: %v", err)
	}
	size, err := w.log.Size(t.Context())
	require.NoError(t, err)
	if size != 2000 {
		t.Errorf("size %d", size)
	}
	for _, bad := range []string{"", "{}", string(all[0]) + "\n"} {
		if _, err := w.log.Append(t.Context(), &audit.Batch{Records: [][]byte{all[0], []byte(bad)}}); !errors.Is(err, audit.ErrNoRecord) {
			t.Errorf("%q was added: %v", bad, err)
		}
	}
	if n, _ := w.log.Size(t.Context()); n != 2000 {
		t.Errorf("a part was added: %d records", n)
	}
}

// TestCheckpoints: each is signed, and a proof of each record, and of each earlier
// checkpoint, holds.
func TestCheckpoints(t *testing.T) {
	w := begin(t)
	if c, _, err := merkle.Open(w.checkpoint(), w.verifier()); err != nil || c.Size != 0 || c.Origin != w.key.Origin() {
		t.Errorf("the first checkpoint: %+v, %v", c, err)
	}
	var notes [][]byte
	for _, n := range []int{1, 1, 253, 1, 1, 600} {
		w.append(records("a", 0, n))
		notes = append(notes, w.checkpoint())
	}
	last, _, err := merkle.Open(notes[len(notes)-1], w.verifier())
	require.NoError(t, err)
	for _, msg := range notes {
		c, _, err := merkle.Open(msg, w.verifier())
		require.NoError(t, err)
		path, err := merkle.Extends(c, last, w.log.Tiles(t.Context()))
		require.NoError(t, err)
		require.NoError(t, merkle.CheckExtends(c, last, path))
	}
	for _, n := range []int64{0, 1, 255, 256, 257, 856} {
		p, err := w.log.Prove(t.Context(), n)
		require.NoError(t, err)
		read, err := merkle.ParseProof(p.Text())
		require.NoError(t, err)
		if c, err := read.Check(w.verifier()); err != nil || c != last {
			t.Errorf("proof of record %d: %+v, %v", n, c, err)
		}
		read.Record[20]++
		if _, err := read.Check(w.verifier()); !errors.Is(err, merkle.ErrProof) {
			t.Errorf("proof of another record: %v", err)
		}
	}
	if again := w.checkpoint(); string(again) != string(notes[len(notes)-1]) {
		t.Error("signed again without a new record")
	}
	var sizes []int64
	require.NoError(t, w.log.Checkpoints(t.Context(), 1, func(size int64, msg []byte) error {
		sizes = append(sizes, size)
		return nil
	}))
	if got := fmt.Sprint(sizes); got != "[2 255 256 257 857]" {
		t.Errorf("checkpoints of sizes %s", got)
	}
}

// TestSignedBatch: a batch that asks for it is signed in its transaction. If that fails, the
// records are in the log nevertheless.
func TestSignedBatch(t *testing.T) {
	w := begin(t)
	add := func(n int) bool {
		b := &audit.Batch{Records: records("a", 0, n), Sign: true}
		_, err := w.log.Append(t.Context(), b)
		require.NoError(t, err)
		return b.Signed
	}
	if !add(3) {
		t.Error("it is not signed")
	}
	msg, err := w.log.LastCheckpoint(t.Context())
	require.NoError(t, err)
	if c, _, err := merkle.Open(msg, w.verifier()); err != nil || c.Size != 3 || string(w.checkpoint()) != string(msg) {
		t.Errorf("got %+v, %v", c, err)
	}
	require.NoError(t, os.Remove(w.key.Path()))
	_, err = logfile.OpenKey(w.key.Path())
	require.NoError(t, err) // another one
	if add(2) {
		t.Error("it is signed with the key of another log")
	}
	if size, err := w.log.Size(t.Context()); err != nil || size != 5 {
		t.Errorf("got %d records, %v", size, err)
	}
}

func TestKey(t *testing.T) {
	w := begin(t)
	again, err := logfile.OpenKey(w.key.Path())
	require.NoError(t, err)
	if again.Verifier() != w.key.Verifier() || again.Digest([]byte("x")) != w.key.Digest([]byte("x")) {
		t.Error("read back as another key")
	}
	other, err := logfile.OpenKey(filepath.Join(w.dir, "other.key"))
	require.NoError(t, err)
	if other.Verifier() == w.key.Verifier() || other.Digest([]byte("x")) == w.key.Digest([]byte("x")) {
		t.Error("two keys are one")
	}
	if d := w.key.Digest(nil); !strings.HasPrefix(d, logfile.DigestPrefix) || len(d) != 48 || d == w.key.Digest([]byte("x")) {
		t.Errorf("digest %q", d)
	}
	_, err = logfile.Open(t.Context(), w.path, logfile.Options{Key: other})
	if !errors.Is(err, logfile.ErrOtherKey) {
		t.Errorf("opened with the key of another log: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // no permission bits
	}
	info, err := os.Stat(w.key.Path())
	require.NoError(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	require.NoError(t, os.Chmod(w.key.Path(), 0o640))
	if _, err := logfile.OpenKey(w.key.Path()); err == nil || !strings.Contains(err.Error(), "chmod 600 ") {
		t.Errorf("a key that others can read: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	w := begin(t)
	w.append(records("a", 0, 10))
	r, err := logfile.OpenReadOnly(t.Context(), w.path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	w.append(records("a", 10, 10))
	if got := texts(t, r, 0, 0); len(got) != 20 {
		t.Errorf("%d records read while another writes", len(got))
	}
	if _, err := r.Append(t.Context(), &audit.Batch{Records: records("a", 20, 1)}); !errors.Is(err, logfile.ErrReadOnly) {
		t.Errorf("written: %v", err)
	}
	if _, err := logfile.OpenReadOnly(t.Context(), filepath.Join(w.dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opened what is not there: %v", err)
	}
}

// TestBeside: bodies and the state of a run are kept with a batch, and go without it.
func TestConcurrentWriters(t *testing.T) {
	w := begin(t)
	ctx := t.Context()
	add := func(from int, state string, bodies ...audit.Body) int64 {
		t.Helper()
		b := audit.Batch{Run: "a", Records: records("a", from, 2), Bodies: bodies}
		if state != "" {
			b.State = []byte(state)
		}
		first, err := w.log.Append(ctx, &b)
		require.NoError(t, err)
		return first
	}
	add(0, "one")
	add(100, "two", audit.Body{Record: 1, Digest: "hmac:a", Data: []byte("args")}, audit.Body{Record: 1, Digest: "hmac:r", Result: true, Data: []byte("res"), Cut: true})
	add(200, "three", audit.Body{Record: 0, Digest: "hmac:b", Data: []byte("more")}, audit.Body{Record: 0, Result: true})
	if state, err := w.log.State(ctx, "a"); err != nil || string(state) != "three" {
		t.Errorf("state %q, %v", state, err)
	}
	body := func(record int64, result bool) string {
		t.Helper()
		b, err := w.log.Body(ctx, record, result)
		require.NoError(t, err)
		if b == nil {
			return ""
		}
		return fmt.Sprint(b.Digest, " ", string(b.Data), " ", b.Cut)
	}
	if got := body(3, false) + ", " + body(3, true) + ", " + body(4, false) + body(2, false) + body(4, true); got != "hmac:a args false, hmac:r res true, hmac:b more false  false" {
		t.Errorf("bodies: %s", got)
	}
	if n, err := w.log.PruneBodies(ctx, start.Add(200*time.Second)); err != nil || n != 2 || body(3, false) != "" || body(4, false) == "" {
		t.Errorf("pruned %d, %v", n, err)
	}
	if found, err := w.log.DeleteBody(ctx, 4, false); err != nil || !found || body(4, false) != "" {
		t.Errorf("not deleted: %v", err)
	}
	add(300, "")
	if state, err := w.log.State(ctx, "a"); err != nil || state != nil {
		t.Errorf("state %q, %v after the end", state, err)
	}
	if state, err := w.log.State(ctx, "b"); err != nil || state != nil {
		t.Errorf("state %q, %v of no run", state, err)
	}
}

func TestPrune(t *testing.T) {
	w := begin(t)
	ctx := context.Background()
	all := records("a", 0, 5000)
	for i := 0; i < 5000; i += 100 {
		w.append(all[i : i+100])
	}
	msg := w.checkpoint()
	noted := int64(-1)
	prune := func(before time.Time, most int64) int64 {
		t.Helper()
		noted = -1
		n, err := w.log.Prune(ctx, before, most, func(first int64) error {
			noted = first
			if oldest, _ := w.log.Oldest(ctx); oldest >= first {
				t.Error("removed before it was noted")
			}
			return nil
		})
		require.NoError(t, err)
		return n
	}
	if n := prune(start, 0); n != 0 || noted != -1 {
		t.Errorf("pruned %d without need", n)
	}
	if n := prune(start.Add(1250*time.Second), 0); n != 1200 || noted != 1200 {
		t.Errorf("pruned %d, noted %d, want 1200", n, noted)
	}
	before, err := w.log.Stat(ctx)
	require.NoError(t, err)
	if before.Oldest != 1200 || before.Size != 5000 || before.Signed != 5000 || !before.Newest.Equal(start.Add(4999*time.Second)) {
		t.Errorf("stat %+v", before)
	}
	if n := prune(time.Time{}, 900<<10); n == 0 {
		t.Error("a log that is too large was not pruned")
	}
	if n := prune(start.Add(time.Hour*9), 0); n == 0 {
		t.Error("nothing was pruned")
	}
	if got := texts(t, w.log, 0, 0); len(got) != 100 || got[99] != string(all[4999]) {
		t.Errorf("%d records stay, want those of the last segment", len(got))
	}
	if _, err := w.log.Record(ctx, 4899); !errors.Is(err, logfile.ErrNoRecord) {
		t.Errorf("record 4899: %v", err)
	}
	p, err := w.log.Prove(ctx, 4900)
	require.NoError(t, err)
	if _, err := p.Check(w.verifier()); err != nil || string(p.Checkpoint) != string(msg) {
		t.Errorf("no proof after pruning: %v", err)
	}
	if w.append(records("a", 5000, 1)) != 5000 {
		t.Error("numbers begin anew after pruning")
	}
	_, err = w.log.Prune(ctx, start.Add(time.Hour*9), 0, func(int64) error { return os.ErrInvalid })
	if !errors.Is(err, os.ErrInvalid) || len(texts(t, w.log, 0, 0)) != 101 {
		t.Errorf("removed what could not be noted: %v", err)
	}
	require.NoError(t, w.log.Close())
	if info, err := os.Stat(w.path); err != nil || info.Size() > 600<<10 {
		t.Errorf("the file did not shrink: %v, %v", info.Size(), err)
	}
}

// TestRotate: the record that tells so and the checkpoint that both keys sign come first,
// and from then on the new key signs alone, in other processes, too.
func TestRotate(t *testing.T) {
	w := begin(t)
	other := w.open()
	old := w.verifier()
	text := ""
	msg, err := w.log.Rotate(t.Context(), func(s string) error {
		text = s
		w.append(records("a", 0, 1))
		return nil
	})
	require.NoError(t, err)
	if keys := w.key.Verifiers(); len(keys) != 2 || text != keys[1]+" "+keys[0] {
		t.Errorf("the record says %q, the keys are %q", text, keys)
	}
	if _, n, err := merkle.Open(msg, old, w.verifier()); err != nil || len(n.Sigs) != 2 {
		t.Errorf("the checkpoint is not signed by both: %v", err)
	}
	_, err = other.Append(t.Context(), &audit.Batch{Records: records("b", 0, 1)})
	require.NoError(t, err)
	msg, err = other.Checkpoint(t.Context())
	require.NoError(t, err)
	if _, n, err := merkle.Open(msg, w.verifier()); err != nil || len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 {
		t.Errorf("not signed by the new key alone: %v", err)
	}
}
