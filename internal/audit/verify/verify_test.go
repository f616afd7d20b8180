package verify_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
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
	"github.com/mcpctl/mcpctl/internal/audit/verify"
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
		Principal: audit.Principal{ID: "https://idp.example|8f3a", Name: "alice@example.com", Client: "claude", Via: "jwt", Flow: "5f1c09"},
		Target:    audit.Target{Server: "gh", Item: fmt.Sprintf("create_issue_%d", n), Era: "2026-07-28", Definition: "sha256:0123456789abcdef0123456789abcdef"},
		Decision:  audit.Decision{Verdict: audit.VerdictAllow, By: []string{"rule-1"}, Generation: "sha256:0123456789abcdef0123456789abcdef"},
		Arguments: audit.Arguments{Digest: "hmac:0123456789abcdef0123456789abcdef0123456789a", Size: 412},
		Outcome:   audit.Outcome{Out: audit.OutOK, Took: 128 * time.Millisecond, ResultSize: 2210, ResultDigest: "hmac:0123456789abcdef0123456789abcdef0123456789a"},
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
	took := time.Since(began)
	info, err := os.Stat(w.path)
	require.NoError(b, err)
	for b.Loop() {
		r := w.verify(verify.Options{})
		if len(r.Findings) > 0 || r.Size != int64(*million) {
			b.Fatalf("%+v", r)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "sys-MB")
	b.ReportMetric(float64(took.Microseconds())/float64(*million), "append-µs/record")
	b.ReportMetric(float64(info.Size())/float64(*million), "bytes/record")
}

// BenchmarkRead reads every record, as a query does that leaves nothing out.
func BenchmarkRead(b *testing.B) {
	w := begin(b)
	w.grow(*million, 512, 2)
	for b.Loop() {
		n := 0
		require.NoError(b, w.log.Read(b.Context(), 0, 0, func(_ int64, record []byte) error {
			r, err := audit.Parse(record)
			if r.Target.Server == "gh" && r.Principal.Name == "alice@example.com" && r.Outcome.Out == audit.OutOK {
				n++
			}
			return err
		}))
		if n != *million {
			b.Fatalf("%d records", n)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "sys-MB")
}

// kinds returns the kinds of findings, each once, in their order.
func kinds(list []verify.Finding) string {
	var names []string
	for _, f := range list {
		if !slices.Contains(names, string(f.Kind)) {
			names = append(names, string(f.Kind))
		}
	}
	return strings.Join(names, " ")
}

func expect(t *testing.T, r *verify.Report, findings, remarks string) {
	t.Helper()
	if kinds(r.Findings) != findings || kinds(r.Remarks) != remarks {
		t.Errorf("findings %v, want %q; remarks %v, want %q", r.Findings, findings, r.Remarks, remarks)
	}
}

// TestRuns: numbers of runs that are missing, or there twice, and clocks.
func TestRuns(t *testing.T) {
	at := func(run string, n int, s time.Duration) []byte {
		r := audit.Record{Time: start.Add(s), Run: run, N: uint64(n), Kind: audit.KindCall}
		return r.Append(nil)
	}
	for name, c := range map[string]struct {
		records           [][]byte
		findings, remarks string
	}{
		"sound":        {[][]byte{at("a", 1, 0), at("b", 1, 0), at("a", 2, time.Second), at("b", 2, 0)}, "", ""},
		"begun late":   {[][]byte{at("a", 1, 0), at("b", 2, 0)}, "hole", ""},
		"a hole":       {[][]byte{at("a", 1, 0), at("a", 3, 0)}, "hole", ""},
		"twice":        {[][]byte{at("a", 1, 0), at("a", 1, 0)}, "twice", ""},
		"back":         {[][]byte{at("a", 1, 0), at("a", 2, 0), at("a", 1, 0)}, "reordered", ""},
		"a clock":      {[][]byte{at("a", 1, time.Hour), at("a", 2, 0), at("a", 3, -time.Hour)}, "", "clock"},
		"a bit early":  {[][]byte{at("a", 1, time.Second), at("a", 2, 0)}, "", ""},
		"other clocks": {[][]byte{at("a", 1, time.Hour), at("b", 1, 0)}, "", ""},
		"not ours":     {[][]byte{append(at("a", 1, 0), ' ')}, "unreadable", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t)
			w.add(c.records)
			w.checkpoint()
			expect(t, w.verify(verify.Options{}), c.findings, c.remarks)
		})
	}
}

// TestPruned: what retention has removed is a remark, and the rest is verified; without the
// record of it, it is missing.
func TestPruned(t *testing.T) {
	w := begin(t)
	w.grow(2000, 100, 5)
	old := w.checkpoint()
	r := audit.Record{Time: start, Run: "cli", N: 1, Kind: audit.KindPrune}
	n, err := w.log.Prune(t.Context(), start.Add(1050*time.Second), 0, func(first int64) error {
		r.Count = first
		w.add([][]byte{r.Append(nil)})
		return nil
	})
	require.NoError(t, err)
	w.checkpoint()
	rep := w.verify(verify.Options{Since: [][]byte{old}})
	expect(t, rep, "", "pruned")
	if n != 1000 || rep.Oldest != 1000 || rep.Size != 2001 || rep.Signed != 2001 {
		t.Errorf("%d pruned: %+v", n, rep)
	}
	w.close()
	change(t, w.path, "DELETE FROM segment WHERE first = 1000")
	expect(t, w.verify(verify.Options{}), "missing", "")
	change(t, w.path, "UPDATE tile SET hashes = CAST(substr(hashes, 1, 10) || 'x' || substr(hashes, 12) AS BLOB) WHERE level = 0 AND n = 0")
	if r := w.verify(verify.Options{}); !slices.ContainsFunc(r.Findings, func(f verify.Finding) bool { return f.Kind == verify.Inconsistent }) {
		t.Errorf("a hash of a pruned record was changed: %v", r.Findings)
	}
}

// TestRotated: the old key, the new one, and each between verify the log, and the old key
// signs no more.
func TestRotated(t *testing.T) {
	w := begin(t)
	keys := []string{w.key.Verifier()}
	first, err := os.ReadFile(w.key.Path())
	require.NoError(t, err)
	w.grow(100, 10, 3)
	for n := 1; n <= 2; n++ {
		_, err := w.log.Rotate(t.Context(), func(text string) error {
			r := audit.Record{Time: start, Run: "cli" + text[len(text)-5:], N: 1, Kind: audit.KindRotate, Text: text}
			w.add([][]byte{r.Append(nil)})
			return nil
		})
		require.NoError(t, err)
		keys = append(keys, w.key.Verifier())
		w.add([][]byte{(&audit.Record{Time: start, Run: fmt.Sprint("x", n), N: 1, Kind: audit.KindCall}).Append(nil)})
		w.checkpoint()
	}
	for i, key := range keys {
		r := w.verify(verify.Options{Keys: []string{key}})
		expect(t, r, "", "")
		if r.Signed != int64(w.size) {
			t.Errorf("with key %d, %d of %d records are signed", i, r.Signed, w.size)
		}
	}
	expect(t, w.verify(verify.Options{Keys: w.key.Verifiers()}), "", "")
	// Who has stolen an old key cannot go on with the log.
	require.NoError(t, os.WriteFile(w.key.Path(), first, 0o600))
	w.add([][]byte{(&audit.Record{Time: start, Run: "y", N: 1, Kind: audit.KindCall}).Append(nil)})
	w.checkpoint()
	for i, key := range keys {
		if r := w.verify(verify.Options{Keys: []string{key}}); !slices.ContainsFunc(r.Findings, func(f verify.Finding) bool { return f.Kind == verify.Unsigned }) {
			t.Errorf("with key %d: signed by a key that was replaced, and nothing is named", i)
		}
	}
	w.close()
	change(t, w.path, fmt.Sprintf("DELETE FROM checkpoint WHERE size = %d", w.size))
	change(t, w.path, "UPDATE checkpoint SET note = replace(note, 'mcpctl', 'mcpctI') WHERE size = 30")
	for _, key := range keys {
		expect(t, w.verify(verify.Options{Keys: []string{key}}), "unsigned", "unsigned")
	}
}

// TestSince: checkpoints that left the disk.
func TestSince(t *testing.T) {
	w := begin(t)
	w.grow(300, 30, 1)
	known := w.checkpoint()
	other := begin(t)
	other.grow(300, 30, 1)
	for name, c := range map[string]struct {
		msg      []byte
		findings string
	}{
		"ours": {known, ""}, "of another log": {other.checkpoint(), "unsigned"},
		"with another root": {bytes.Replace(known, known[bytes.Index(known, []byte("300\n"))+4:][:4], []byte("AAAA"), 1), "unsigned"},
	} {
		if got := kinds(w.verify(verify.Options{Since: [][]byte{c.msg}}).Findings); got != c.findings {
			t.Errorf("%s: %q, want %q", name, got, c.findings)
		}
	}
	// The owner of the key and the disk writes the log again.
	w.close()
	require.NoError(t, os.Remove(w.path))
	w.log, w.size = w.open(w.path), 0
	w.add(lines(1, 300))
	w.add(lines(300, 400))
	w.checkpoint()
	if got := w.verify(verify.Options{Since: [][]byte{known}}); !named(got, 0, verify.Inconsistent) || !strings.Contains(got.Findings[0].Text, "given checkpoint") {
		t.Errorf("written anew by the owner: %v", got.Findings)
	}
	for _, keys := range [][]string{{}, {"nonsense"}} {
		l, err := logfile.OpenReadOnly(t.Context(), w.path)
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		if _, err := verify.Log(t.Context(), l, verify.Options{Keys: keys}); !errors.Is(err, verify.ErrKey) {
			t.Errorf("with the keys %q: %v", keys, err)
		}
	}
}

// export returns the log as lines, as it is exported: checkpoints stand up to some records
// behind their place.
func (w *world) export(from int64, edge bool) []byte {
	w.t.Helper()
	ctx := context.Background()
	head := map[string]any{"log": w.key.Origin(), "next": from}
	if edge {
		e, err := merkle.EdgeAt(from, w.log.Tiles(ctx))
		require.NoError(w.t, err)
		head["edge"] = e.Hashes()
	}
	var b bytes.Buffer
	line := func(v any) {
		raw, err := json.Marshal(v)
		require.NoError(w.t, err)
		b.Write(append(raw, '\n'))
	}
	line(head)
	after := from
	require.NoError(w.t, w.log.Read(ctx, from, 0, func(n int64, record []byte) error {
		b.Write(append(record, '\n'))
		if n%70 != 69 {
			return nil
		}
		return w.log.Checkpoints(ctx, after, func(size int64, msg []byte) error {
			if size <= n+1 {
				line(map[string]any{"checkpoint": string(msg), "next": n + 1})
				after = size
			}
			return nil
		})
	}))
	return b.Bytes()
}

func TestJSONL(t *testing.T) {
	w := begin(t)
	w.grow(1000, 25, 4)
	check := func(text []byte, since ...[]byte) *verify.Report {
		t.Helper()
		r, err := verify.JSONL(t.Context(), bytes.NewReader(text), verify.Options{Keys: []string{w.key.Verifier()}, Since: since})
		require.NoError(t, err)
		return r
	}
	whole := w.export(0, false)
	if r := check(whole); len(r.Findings) != 0 || r.Size != 1000 || r.Signed != 900 || r.Checkpoints != 9 {
		t.Errorf("%+v", r)
	}
	if r := check(w.export(333, true)); len(r.Findings) != 0 || r.Oldest != 333 || r.Signed != 900 {
		t.Errorf("a part with the hashes before it: %+v", r)
	}
	if r := check(w.export(333, false)); len(r.Findings) != 0 || len(r.Remarks) == 0 || r.Size != 1000 {
		t.Errorf("a part without the hashes before it: %+v", r)
	}
	expect(t, check(whole, w.checkpoint()), "", "")
	list := bytes.SplitAfter(whole, []byte("\n"))
	for name, c := range map[string]struct {
		edit func(l [][]byte) [][]byte
		want verify.Kind
	}{
		"changed": {func(l [][]byte) [][]byte {
			l[300] = bytes.Replace(l[300], []byte("alice"), []byte("mally"), 1)
			return l
		}, verify.Inconsistent},
		"missing": {func(l [][]byte) [][]byte { return slices.Delete(l, 300, 301) }, verify.Missing},
		"doubled": {func(l [][]byte) [][]byte { return slices.Insert(l, 300, l[300]) }, verify.Inserted},
		"swapped": {func(l [][]byte) [][]byte { l[300], l[301] = l[301], l[300]; return l }, verify.Inconsistent},
		"foreign": {func(l [][]byte) [][]byte { return slices.Insert(l, 300, []byte("{}\n")) }, verify.Unreadable},
		"a checkpoint": {func(l [][]byte) [][]byte {
			for i := range l {
				l[i] = bytes.Replace(l[i], []byte(`300\n`), []byte(`299\n`), 1)
			}
			return l
		}, verify.Unsigned},
		"an end":    {func(l [][]byte) [][]byte { l[300] = l[300][:50]; return l[:301] }, verify.Unreadable},
		"long line": {func(l [][]byte) [][]byte { return append(l, bytes.Repeat([]byte("x"), 2<<20)) }, verify.Unreadable},
	} {
		r := check(bytes.Join(c.edit(slices.Clone(list)), nil))
		if !slices.ContainsFunc(r.Findings, func(f verify.Finding) bool { return f.Kind == c.want }) {
			t.Errorf("%s: %v", name, r.Findings)
		}
	}
}

func TestProof(t *testing.T) {
	w := begin(t)
	w.grow(500, 30, 3)
	msg := w.checkpoint()
	p, err := w.log.Prove(t.Context(), 321)
	require.NoError(t, err)
	text := p.Text()
	keys := []string{w.key.Verifier()}
	got, c, err := verify.Proof(text, keys)
	require.NoError(t, err)
	if want := lines(321, 322)[0]; !bytes.Equal(got.Record, want) || got.Index != 321 || c.Size != 500 || !bytes.Equal(got.Checkpoint, msg) {
		t.Errorf("proof of %q at %d", got.Record, got.Index)
	}
	// Each byte counts.
	for at := range text {
		bad := bytes.Clone(text)
		bad[at] ^= 1
		if _, _, err := verify.Proof(bad, keys); err == nil {
			t.Errorf("byte %d of the proof was changed, and it holds: %q", at, bad)
		}
	}
	if _, _, err := verify.Proof(text, []string{begin(t).key.Verifier()}); err == nil {
		t.Error("a proof holds with the key of another log")
	}
}

// TestWhileWritten: the log is appended to, signed and pruned while it is verified.
func TestWhileWritten(t *testing.T) {
	w := begin(t)
	w.grow(1000, 50, 5)
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan error, 1)
	go func() {
		written <- func() error {
			l := w.log
			for n := 1000; ctx.Err() == nil; n += 50 {
				if _, err := l.Append(t.Context(), &audit.Batch{Records: lines(n, n+50)}); err != nil {
					return err
				}
				if _, err := l.Checkpoint(t.Context()); err != nil {
					return err
				}
				_, err := l.Prune(t.Context(), start.Add(time.Duration(n-900)*time.Second), 0, func(first int64) error {
					r := audit.Record{Time: start.Add(time.Duration(n) * time.Second), Run: fmt.Sprint("prune-", first), N: 1, Kind: audit.KindPrune, Count: first}
					n++
					_, err := l.Append(t.Context(), &audit.Batch{Records: [][]byte{r.Append(nil)}})
					n--
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	var sizes []int64
	for range 10 {
		r := w.verify(verify.Options{})
		if len(r.Findings) > 0 {
			t.Errorf("%v", r.Findings)
		}
		sizes = append(sizes, r.Size)
	}
	cancel()
	require.NoError(t, <-written)
	if sizes[0] == sizes[9] {
		t.Errorf("nothing was written meanwhile: %v", sizes)
	}
}

// TestOtherProcess: a process that has a copy of the file and the public key, in a folder
// that it cannot write.
func TestOtherProcess(t *testing.T) {
	if path := os.Getenv("AUDIT_TEST_VERIFY"); path != "" {
		r := verifyFile(t, path, verify.Options{Keys: []string{os.Getenv("AUDIT_TEST_KEY")}})
		fmt.Printf("size %d signed %d findings %q\n", r.Size, r.Signed, kinds(r.Findings))
		return
	}
	w := begin(t)
	w.grow(500, 30, 3)
	w.checkpoint()
	run := func(path string) string {
		t.Helper()
		program, err := os.Executable()
		require.NoError(t, err)
		c := exec.CommandContext(t.Context(), program, "-test.run=^TestOtherProcess$")
		c.Env = append(os.Environ(), "AUDIT_TEST_VERIFY="+path, "AUDIT_TEST_KEY="+w.key.Verifier())
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
	const sound = `size 500 signed 500 findings ""`
	if got := run(w.path); !strings.Contains(got, sound) {
		t.Errorf("while it is open: %s", got)
	}
	w.close()
	dir := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.Mkdir(dir, 0o700))
	raw, err := os.ReadFile(w.path)
	require.NoError(t, err)
	path := filepath.Join(dir, "audit.db")
	require.NoError(t, os.WriteFile(path, raw, 0o400))
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if got := run(path); !strings.Contains(got, sound) {
		t.Errorf("a copy: %s", got)
	}
}
