package verify_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/audit"
	"github.com/mcpctl/mcpctl/runtime/audit/logfile"
	"github.com/mcpctl/mcpctl/runtime/audit/verify"
	"github.com/mcpctl/mcpctl/test/require"
)

var (
	whole   = flag.Bool("whole", false, "every mutation of a log of 10,000 records, not a sample")
	million = flag.Int("records", 20_000, "records of the log that is measured")
)

var start = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// record returns the record number n of a log: of two runs in turn.
func record(n int) audit.Record {
	return audit.Record{
		Time: start.Add(time.Duration(n) * time.Second), Run: [2]string{"run-a", "run-b"}[n%2], N: uint64(n/2 + 1), Kind: audit.KindCall,
		Who:  audit.Asker{ID: "https://idp.example|8f3a", Name: "alice@example.com", Client: "claude", Via: "jwt", Flow: "5f1c09"},
		What: audit.Subject{Server: "gh", Item: fmt.Sprintf("create_issue_%d", n), Era: "2026-07-28", Definition: "sha256:0123456789abcdef0123456789abcdef"},
		Said: audit.Said{Verdict: audit.VerdictAllow, By: []string{"rule-1"}, Generation: "sha256:0123456789abcdef0123456789abcdef"},
		Sent: audit.Sent{Digest: "hmac:0123456789abcdef0123456789abcdef0123456789a", Size: 412},
		Came: audit.Outcome{Out: audit.OutOK, Took: 128 * time.Millisecond, ResultSize: 2210, ResultDigest: "hmac:0123456789abcdef0123456789abcdef0123456789a"},
	}
}

func lines(from, to int) (list [][]byte) {
	for n := from; n < to; n++ {
		r := record(n)
		list = append(list, r.Append(nil))
	}
	return list
}

// world is a log.
type world struct {
	t    testing.TB
	path string
	key  *logfile.Key
	log  *logfile.Log
	size int
}

func begin(t testing.TB) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, path: filepath.Join(dir, "audit.db")}
	var err error
	w.key, err = logfile.OpenKey(filepath.Join(dir, "audit.key"))
	require.NoError(t, err)
	w.log = w.open(w.path)
	return w
}

func (w *world) open(path string) *logfile.Log {
	w.t.Helper()
	l, err := logfile.Open(context.Background(), path, logfile.Options{Key: w.key})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = l.Close() })
	return l
}

// grow adds records, n in a segment, and a checkpoint after each so many segments.
func (w *world) grow(to, n, each int) {
	w.t.Helper()
	for i := 1; w.size < to; i++ {
		next := min(w.size+n, to)
		w.add(lines(w.size, next))
		if i%each == 0 {
			w.checkpoint()
		}
	}
}

func (w *world) add(list [][]byte) {
	w.t.Helper()
	_, err := w.log.Append(context.Background(), &audit.Batch{Run: "r", Records: list})
	require.NoError(w.t, err)
	w.size += len(list)
}

func (w *world) checkpoint() []byte {
	w.t.Helper()
	msg, err := w.log.Checkpoint(context.Background())
	require.NoError(w.t, err)
	return msg
}

func (w *world) verify(o verify.Options) *verify.Report {
	w.t.Helper()
	if o.Keys == nil {
		o.Keys = []string{w.key.Verifier()}
	}
	return verifyFile(w.t, w.path, o)
}

func verifyFile(t testing.TB, path string, o verify.Options) *verify.Report {
	t.Helper()
	l, err := logfile.OpenReadOnly(context.Background(), path)
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	r, err := verify.Log(context.Background(), l, o)
	require.NoError(t, err)
	return r
}

// close closes the log, so that its file has all of it.
func (w *world) close() { require.NoError(w.t, w.log.Close()) }

// change runs statements on the file.
func change(t testing.TB, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.Background(), statement, args...)
	require.NoError(t, err)
}

func TestSound(t *testing.T) {
	w := begin(t)
	r := w.verify(verify.Options{})
	if len(r.Findings) != 0 || r.Size != 0 || r.Checkpoints != 1 {
		t.Errorf("an empty log: %+v", r)
	}
	w.grow(3000, 100, 10)
	early := w.checkpoint()
	w.grow(3100, 7, 100)
	r = w.verify(verify.Options{Since: [][]byte{early}})
	if len(r.Findings) != 0 || r.Size != 3100 || r.Oldest != 0 || r.Signed != 3000 || r.Checkpoints != 4 || r.Runs != 2 || r.Origin != w.key.Origin() {
		t.Errorf("a log while it is written: %+v", r)
	}
	if len(r.Remarks) != 1 || r.Remarks[0].Kind != verify.Unsigned {
		t.Errorf("remarks %+v", r.Remarks)
	}
}

func BenchmarkVerify(b *testing.B) {
	w := begin(b)
	began := time.Now()
	w.grow(*million, 512, 2)
	w.checkpoint()
	w.close()
	info, err := os.Stat(w.path)
	require.NoError(b, err)
	b.ReportMetric(float64(time.Since(began).Microseconds())/float64(*million), "append-µs/record")
	b.ReportMetric(float64(info.Size())/float64(*million), "bytes/record")
	b.ResetTimer()
	for b.Loop() {
		r := w.verify(verify.Options{})
		if len(r.Findings) > 0 || r.Size != int64(*million) {
			b.Fatalf("%+v", r)
		}
	}
	b.StopTimer()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "sys-MB")
}
