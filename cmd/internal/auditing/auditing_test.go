package auditing_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// noon is when records begin.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// world is a state directory with a log.
type world struct {
	t   testing.TB
	dir string
	log *logfile.Log
	n   uint64
	out bytes.Buffer
	err bytes.Buffer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	key, err := logfile.OpenKey(filepath.Join(w.dir, "audit.key"))
	require.NoError(t, err)
	w.log, err = logfile.Open(t.Context(), filepath.Join(w.dir, "audit.db"), logfile.Options{Key: key})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.log.Close()) })
	return w
}

// add adds records, each a second after the one before.
func (w *world) add(all ...audit.Record) {
	w.t.Helper()
	b := &audit.Batch{Run: "r1"}
	for _, r := range all {
		if r.Run == "" {
			r.Run = "r1"
		}
		w.n++
		r.N, r.Time = w.n, noon.Add(time.Duration(w.n)*time.Second)
		b.Records = append(b.Records, r.Append(nil))
	}
	_, err := w.log.Append(context.WithoutCancel(w.t.Context()), b)
	require.NoError(w.t, err)
}

// program returns the commands, with what they print in w.out.
func (w *world) program(json bool) *auditing.Command {
	w.out.Reset()
	w.err.Reset()
	u := ui.New(strings.NewReader(""), &w.out, &w.err)
	u.JSON, u.Text = json, !json
	return &auditing.Command{UI: u, StateDir: w.dir, Settings: settings.Settings{}, Now: func() time.Time { return noon.Add(time.Hour) }}
}

// shown returns the numbers of the records that a query shows.
func (w *world) shown(q auditing.Query, limit int) string {
	w.t.Helper()
	require.NoError(w.t, w.program(false).Show(w.t.Context(), q, limit))
	var all []string
	for i, line := range strings.Split(strings.TrimSpace(w.out.String()), "\n") {
		if number, _, _ := strings.Cut(line, " "); i > 0 {
			all = append(all, number)
		}
	}
	return strings.Join(all, " ")
}

func call(who, server, tool, verdict, out string) audit.Record {
	r := audit.Record{Kind: audit.KindCall, Principal: audit.Principal{ID: who, Flow: "f-" + who}, Target: audit.Target{Server: server, Item: tool}, Decision: audit.Decision{Verdict: verdict}}
	r.Outcome = audit.Outcome{Out: out, Took: 128 * time.Millisecond}
	if verdict == audit.VerdictLimit {
		r.Outcome = audit.Outcome{}
	}
	if verdict == audit.VerdictDeny {
		r.Decision.By, r.Outcome = []string{"rule-3.2"}, audit.Outcome{}
	}
	return r
}

// some is a small log: number 0 is the start, and so on.
func (w *world) some() {
	alice := call("https://idp.example|8f3a", "gh", "merge", "allow", "ok")
	alice.Principal.Name = "alice@example.com"
	slow := call("token|ci", "fs", "read", "allow", "")
	slow.Outcome = audit.Outcome{}
	w.add(
		audit.Record{Kind: audit.KindStart, Text: "1.0"}, // 0
		alice, // 1
		slow,  // 2
		call("token|ci", "gh", "delete_repo", "deny", ""),                                                           // 3
		call("local", "fs", "read", "allow", "toolerror"),                                                           // 4
		audit.Record{Kind: audit.KindAuth, Text: "expired", Count: 3},                                               // 5
		audit.Record{Kind: audit.KindDone, Of: 3, Outcome: audit.Outcome{Out: audit.OutTimeout, Took: time.Minute}}, // 6, of number 2
		call("token|ci", "gh", "get_issue", "limit", ""),                                                            // 7
	)
}

func TestFilters(t *testing.T) {
	w := newWorld(t)
	w.some()
	for _, tt := range []struct {
		q     auditing.Query
		limit int
		want  string
	}{
		{auditing.Query{}, 0, "0 1 2 3 4 5 6 7"},
		{auditing.Query{}, 2, "6 7"},
		{auditing.Query{Who: "alice@example.com"}, 0, "1"},
		{auditing.Query{Who: "8f3a"}, 0, "1"},
		{auditing.Query{Who: "ci"}, 0, "2 3 6 7"},
		{auditing.Query{Who: "token|*"}, 2, "6 7"},
		{auditing.Query{Who: "alice"}, 0, ""},
		{auditing.Query{Server: "fs"}, 0, "2 4 6"},
		{auditing.Query{Server: "f*"}, 0, "2 4 6"},
		{auditing.Query{Tool: "*_*"}, 0, "3 7"},
		{auditing.Query{Tool: "read", Errors: true}, 0, "4 6"},
		{auditing.Query{Kinds: []string{"call"}}, 0, "1 2 3 4 6 7"},
		{auditing.Query{Kinds: []string{"auth", "start"}}, 0, "0 5"},
		{auditing.Query{Kinds: []string{"done"}}, 0, "6"},
		{auditing.Query{Verdicts: []string{"deny", "limit"}}, 0, "3 7"},
		{auditing.Query{Verdicts: []string{"allow"}}, 0, "1 2 4 6"},
		{auditing.Query{By: "rule-3"}, 0, "3"},
		{auditing.Query{By: "rule-3.2"}, 0, "3"},
		{auditing.Query{By: "rule"}, 0, ""},
		{auditing.Query{Flow: "f-local"}, 0, "4"},
		{auditing.Query{Errors: true}, 0, "3 4 5 6 7"},
		{auditing.Query{Errors: true}, 2, "6 7"},
		{auditing.Query{Since: "2026-11-22T12:00:06Z"}, 0, "5 6 7"},
		{auditing.Query{Since: "2026-11-22 12:00:06", Server: "fs"}, 0, "6"},
		{auditing.Query{Until: "2026-11-22T12:00:03Z"}, 0, "0 1"},
		{auditing.Query{Since: "59m55s"}, 0, "4 5 6 7"},
		{auditing.Query{Since: "1d", Who: "ci", Server: "gh", Verdicts: []string{"deny"}, Errors: true}, 0, "3"},
	} {
		if got := w.shown(tt.q, tt.limit); got != tt.want {
			t.Errorf("%+v, %d: got %q, want %q", tt.q, tt.limit, got, tt.want)
		}
	}
	for want, q := range map[string]auditing.Query{
		`--kind "cal": there are call`:        {Kinds: []string{"cal"}},
		`--verdict "denied": there are allow`: {Verdicts: []string{"denied"}},
		`--since "yesterday" is not a time`:   {Since: "yesterday"},
		`--until "2026-13-01" is not a time`:  {Until: "2026-13-01"},
	} {
		if err := w.program(false).Show(t.Context(), q, 0); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s", q, err, want)
		}
	}
}

// TestTable: what a person sees.
func TestTable(t *testing.T) {
	w := newWorld(t)
	w.some()
	require.NoError(t, w.program(false).Show(t.Context(), auditing.Query{}, 0))
	for i, want := range []string{
		"NUMBER  TIME (UTC)           WHO                WHAT                 VERDICT           OUTCOME",
		"0       2026-11-22 12:00:01                     start 1.0",
		"1       2026-11-22 12:00:02  alice@example.com  call gh/merge        allow             ok 128ms",
		"2       2026-11-22 12:00:03  token|ci           call fs/read         allow",
		"3       2026-11-22 12:00:04  token|ci           call gh/delete_repo  deny by rule-3.2",
		"4       2026-11-22 12:00:05  local              call fs/read         allow             toolerror 128ms",
		"5       2026-11-22 12:00:06                     auth expired (3)",
		"6       2026-11-22 12:00:07  token|ci           call fs/read                           timeout 1m0s",
		"7       2026-11-22 12:00:08  token|ci           call gh/get_issue    limit",
	} {
		if got := strings.Split(w.out.String(), "\n")[i]; got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	require.NoError(t, w.program(true).Show(t.Context(), auditing.Query{Tool: "merge"}, 0))
	if got := w.out.String(); !strings.HasPrefix(got, `{"v":1,"t":"2026-11-22T12:00:02.000000Z","run":"r1","n":2,"kind":"call","who":"https://idp.example|8f3a","name":`) || strings.Count(got, "\n") != 1 {
		t.Errorf("got %s", got)
	}
	for _, name := range []string{"r1-2", "1"} {
		require.NoError(t, w.program(false).One(t.Context(), name))
		if got := w.out.String(); !strings.Contains(got, "record   r1-2\n") || !strings.Contains(got, "who      https://idp.example|8f3a\n") {
			t.Errorf("%s: got %s", name, got)
		}
	}
	require.NoError(t, w.program(true).One(t.Context(), "r1-7"))
	for name, want := range map[string]string{"r1-9": "the log has no record r1-9", "8": "the log has no record 8", "r2-1": "the log has no record r2-1", "x": `"x" names no record`} {
		if err := w.program(false).One(t.Context(), name); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// TestTail: records are followed by their number beyond the first hundred, while others
// write and prune; none is missing and none comes twice.
func TestTail(t *testing.T) {
	w := newWorld(t)
	for range 150 {
		w.add(call("local", "fs", "read", "allow", "ok"))
	}
	p := w.program(true)
	out := wire.NewOutput()
	p.UI.Out = out
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Tail(ctx, auditing.Query{}, 5, true) }()
	until := func(n int) {
		t.Helper()
		wait.Until(t, fmt.Sprint(n, " lines"), func() bool { return strings.Count(out.String(), "\n") >= n })
	}
	until(5)
	const more = 700
	for i := range more {
		w.add(call("local", "fs", "read", "allow", "ok"))
		if i == more/2 {
			until(5 + more/2)
			_, err := w.log.Prune(t.Context(), noon.Add(400*time.Second), 0, func(int64) error { return nil })
			require.NoError(t, err)
		}
	}
	until(5 + more)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if want := fmt.Sprintf(`"n":%d,`, 146+i); !strings.Contains(line, want) {
			t.Fatalf("line %d is %s, want %s", i, line, want)
		}
	}
}

// TestTailMoved: where a log is moved away while it is followed, its last records are still
// shown, and those of the log in its place follow.
func TestTailMoved(t *testing.T) {
	w := newWorld(t)
	w.add(call("local", "fs", "first", "allow", "ok"))
	p := w.program(true)
	out, notes := wire.NewOutput(), wire.NewOutput()
	p.UI.Out, p.UI.Err = out, notes
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Tail(ctx, auditing.Query{}, 5, true) }()
	until := func(text string) {
		t.Helper()
		wait.Until(t, text, func() bool { return strings.Contains(out.String()+notes.String(), text) })
	}
	until(`"item":"first"`)
	w.add(call("local", "fs", "last", "allow", "ok"))
	path := filepath.Join(w.dir, "audit.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Rename(path+end, path+".old"+end))
	}
	until("note: the log was moved away")
	require.NoError(t, os.WriteFile(path, nil, 0o600)) // whoever makes it has begun
	old := w.log
	defer func() { require.NoError(t, old.Close()) }()
	key, err := logfile.OpenKey(filepath.Join(w.dir, "audit.key"))
	require.NoError(t, err)
	w.log, err = logfile.Open(t.Context(), path, logfile.Options{Key: key})
	require.NoError(t, err)
	w.add(call("local", "fs", "of the next", "allow", "ok"))
	until(`"item":"of the next"`)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := strings.Count(out.String(), "\n"); got != 3 || !strings.Contains(out.String(), `"item":"last"`) || strings.Count(notes.String(), "\n") != 1 {
		t.Errorf("got %s%s", out, notes)
	}
}

// TestMissing: one line and the command, where there is no log, or none that can be read.
func TestMissing(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	said := func(p *auditing.Command) string {
		err := p.Show(t.Context(), auditing.Query{}, 0)
		if err == nil {
			return "nothing"
		}
		kind, hint := "", ""
		if k, ok := err.(interface{ ExitKind() string }); ok {
			kind = k.ExitKind()
		}
		if h, ok := err.(interface{ Hint() string }); ok {
			hint = h.Hint()
		}
		return kind + ": " + strings.ReplaceAll(err.Error()+" / "+hint, w.dir, "DIR")
	}
	if got := said(w.program(false)); !strings.HasPrefix(got, "config: there is no audit log: config.yaml has no section audit / write audit: ") {
		t.Error(got)
	}
	p := w.program(false)
	p.Settings.Audit = &settings.Audit{}
	if got := said(p); !strings.HasPrefix(got, "other: there is no audit log yet / ") {
		t.Error(got)
	}
	path := filepath.Join(w.dir, "audit.db")
	for content, want := range map[string]string{
		"garbage, and no database of anybody, but long enough to be read as the first page of one": "config: DIR/audit.db: the audit log is damaged",
		"": "config: DIR/audit.db: the audit log is damaged",
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		if got := said(w.program(false)); !strings.HasPrefix(got, want) || !strings.Contains(got, "mcpctl audit verify") || strings.Contains(got, "\n") {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		require.NoError(t, os.Chmod(path, 0))
		if got := said(w.program(false)); !strings.HasPrefix(got, "config: ") || !strings.Contains(got, "permission denied") {
			t.Error(got)
		}
	}
}

// TestExportContinues: an export into a file that was cut off anywhere is continued without a
// gap and without a double, in each form.
func TestExportContinues(t *testing.T) {
	w := newWorld(t)
	add := func(n int) {
		all := make([]audit.Record, n)
		for i := range all {
			all[i] = call("token|ci", "fs", "read,\"\n=x", "allow", "ok")
		}
		w.add(all...)
	}
	add(300)
	_, err := w.log.Checkpoint(t.Context())
	require.NoError(t, err)
	for form, o := range map[string]auditing.ExportOptions{"jsonl": {JSONL: true}, "csv": {CSV: true}, "otlp": {OTLP: true}} {
		t.Run(form, func(t *testing.T) {
			o.File = filepath.Join(t.TempDir(), "out."+form)
			for range 12 {
				require.NoError(t, w.program(false).Export(t.Context(), o))
				whole, err := os.ReadFile(o.File)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(o.File, whole[:rand.IntN(len(whole)+1)], 0o600))
				add(rand.IntN(20))
			}
			// In the first two lines: a table begins with its head.
			require.NoError(t, w.program(false).Export(t.Context(), o))
			whole, err := os.ReadFile(o.File)
			require.NoError(t, err)
			first := bytes.IndexByte(whole, '\n') + 1
			for _, end := range []int{0, 1, first - 1, first, first + 5} {
				require.NoError(t, os.WriteFile(o.File, whole[:min(end, len(whole))], 0o600))
				require.NoError(t, w.program(false).Export(t.Context(), o))
				if got := numbers(t, o); len(got) < 300 || got[0] != 0 {
					t.Fatalf("cut at %d: %d records from %d on", end, len(got), got[0])
				}
			}
			require.NoError(t, w.program(false).Export(t.Context(), o))
			size, err := w.log.Size(t.Context())
			require.NoError(t, err)
			got := numbers(t, o)
			if int64(len(got)) != size {
				t.Errorf("%d records, want %d", len(got), size)
			}
			for i, n := range got {
				if n != int64(i) {
					t.Fatalf("record %d is at %d", n, i)
				}
			}
		})
	}
	p := w.program(false)
	require.NoError(t, p.Export(t.Context(), auditing.ExportOptions{CSV: true, Since: 290}))
	if got := strings.Count(w.out.String(), "\n"); got < 10 || !strings.HasPrefix(strings.Split(w.out.String(), "\n")[1], "290,r1-291,") || !strings.Contains(w.err.String(), "--since ") {
		t.Errorf("%d lines: %s; %s", got, w.out.String(), w.err.String())
	}
	for _, o := range []auditing.ExportOptions{{}, {JSONL: true, CSV: true}} {
		if err := w.program(false).Export(t.Context(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestExportForeign: a file that is no export of the form stays as it is, whatever it ends
// with.
func TestExportForeign(t *testing.T) {
	w := newWorld(t)
	w.some()
	_, err := w.log.Checkpoint(t.Context())
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "other")
	exports := map[string]string{}
	for form, o := range map[string]auditing.ExportOptions{"jsonl": {JSONL: true}, "csv": {CSV: true}, "otlp": {OTLP: true}} {
		p := w.program(false)
		require.NoError(t, p.Export(t.Context(), o))
		exports[form] = w.out.String()
	}
	for form, o := range map[string]auditing.ExportOptions{"jsonl": {JSONL: true}, "csv": {CSV: true}, "otlp": {OTLP: true}} {
		foreign := []string{
			"mine\n", "all my notes, one line without an end", "two lines\r\nwithout an end", "1,2\n", "1,2", "7", "{", `{"log":"a"}` + "\n", `{"log":"a`, `{"resourceLogs":[]}` + "\n",
			"number,mine\n1,2\n", strings.Repeat("x", 300<<10),
		}
		for another, text := range exports {
			if another != form {
				foreign = append(foreign, text, text[:len(text)-1], text[:strings.IndexByte(text, '\n')])
			}
		}
		o.File = other
		for _, text := range foreign {
			if form == "jsonl" && text == "{" || form == "otlp" && text == "{" {
				continue // as every JSON file begins
			}
			require.NoError(t, os.WriteFile(other, []byte(text), 0o600))
			if err := w.program(false).Export(t.Context(), o); err == nil {
				t.Errorf("%s: %.60q is taken for an export", form, text)
			}
			if raw, err := os.ReadFile(other); err != nil || string(raw) != text {
				t.Errorf("%s: %.60q has become %.60q, %v", form, text, raw, err)
			}
		}
	}
}

// TestExportCRLF: a table that a spreadsheet has written with CR LF is continued.
func TestExportCRLF(t *testing.T) {
	w := newWorld(t)
	w.some()
	_, err := w.log.Checkpoint(t.Context())
	require.NoError(t, err)
	o := auditing.ExportOptions{CSV: true, File: filepath.Join(t.TempDir(), "out.csv")}
	require.NoError(t, w.program(false).Export(t.Context(), o))
	raw, err := os.ReadFile(o.File)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.File, bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n")), 0o600))
	w.add(call("local", "fs", "read", "allow", "ok"))
	require.NoError(t, w.program(false).Export(t.Context(), o))
	size, err := w.log.Size(t.Context())
	require.NoError(t, err)
	if got := numbers(t, o); int64(len(got)) != size {
		t.Errorf("%d records, want %d", len(got), size)
	}
}

// TestExportClean: what a client has written changes no terminal that the table is shown on.
func TestExportClean(t *testing.T) {
	w := newWorld(t)
	w.add(call("token|ci", "fs", "echo\x1b[2J\x1b]0;title\a\u202e\x00\x7f\u009b31mred", "allow", "ok"))
	_, err := w.log.Checkpoint(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.program(false).Export(t.Context(), auditing.ExportOptions{CSV: true}))
	if out := w.out.String(); strings.ContainsAny(out, "\x1b\a\u202e\x00\x7f\u009b") || !strings.Contains(out, ",echo") {
		t.Errorf("%q", out)
	}
}

// numbers returns the numbers of the records of an export, in order.
func numbers(t *testing.T, o auditing.ExportOptions) (all []int64) {
	t.Helper()
	raw, err := os.ReadFile(o.File)
	require.NoError(t, err)
	if o.CSV {
		rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
		require.NoError(t, err)
		for _, row := range rows[1:] {
			n, err := strconv.ParseInt(row[0], 10, 64)
			require.NoError(t, err)
			all = append(all, n)
		}
		return all
	}
	for line := range strings.Lines(string(raw)) {
		switch {
		case o.OTLP:
			for _, part := range strings.Split(line, `"mcpctl.audit.number","value":{"intValue":"`)[1:] {
				digits, _, _ := strings.Cut(part, `"`)
				n, err := strconv.ParseInt(digits, 10, 64)
				require.NoError(t, err)
				all = append(all, n)
			}
		case strings.HasPrefix(line, `{"v":1`):
			r, err := audit.Parse([]byte(strings.TrimSuffix(line, "\n")))
			require.NoError(t, err)
			all = append(all, int64(r.N)-1)
		}
	}
	return all
}

// verified returns how mcpctl audit verify ends, and what it prints.
func (w *world) verified(o auditing.VerifyOptions) string {
	w.t.Helper()
	err := w.program(false).Verify(w.t.Context(), o)
	switch {
	case errors.Is(err, auditing.ErrFindings):
		return "findings\n" + w.out.String()
	case err != nil:
		return err.Error()
	}
	return w.out.String()
}

// TestVerify: a log, its exports and proofs are verified with the public key alone; what was
// changed is named, and so is a log that was cut off after a checkpoint had left it.
func TestVerify(t *testing.T) {
	w := newWorld(t)
	w.some()
	checkpoint, err := w.log.Checkpoint(t.Context())
	require.NoError(t, err)
	file := func(name string, content []byte) string {
		path := filepath.Join(w.dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	require.NoError(t, w.program(false).Key(false))
	vkey := strings.TrimSpace(w.out.String())
	pub, since := file("audit.pub", []byte(vkey+"\n")), file("since", append(slices.Clone(checkpoint), '\n'))
	w.add(call("local", "fs", "read", "allow", "ok"))
	_, err = w.log.Checkpoint(t.Context())
	require.NoError(t, err)
	lines := filepath.Join(w.dir, "out.jsonl")
	require.NoError(t, w.program(false).Export(t.Context(), auditing.ExportOptions{JSONL: true, File: lines}))
	require.NoError(t, w.program(false).Prove(t.Context(), "r1-4"))
	proof := file("proof", w.out.Bytes())
	require.NoError(t, os.Rename(filepath.Join(w.dir, "audit.key"), filepath.Join(w.dir, "hidden.key")))
	path := filepath.Join(w.dir, "audit.db")

	sound := func(o auditing.VerifyOptions, want string) {
		t.Helper()
		if got := w.verified(o); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: got %s", o, got)
		}
	}
	sound(auditing.VerifyOptions{}, "there is no key to verify with")
	sound(auditing.VerifyOptions{Key: pub}, "ok: 9 records of mcpctl/")
	sound(auditing.VerifyOptions{Key: vkey, DB: path, Since: since}, "ok: 9 records of mcpctl/")
	sound(auditing.VerifyOptions{Key: vkey, Since: lines}, "ok: 9 records of mcpctl/")
	sound(auditing.VerifyOptions{Key: vkey, JSONL: lines}, "ok: 9 records of mcpctl/")
	sound(auditing.VerifyOptions{Key: vkey, Proof: proof}, "proven: record 3 is among the 9 records of mcpctl/")
	sound(auditing.VerifyOptions{Key: vkey, Proof: proof, JSONL: lines}, "choose one of")
	sound(auditing.VerifyOptions{Key: "x+y"}, "the key cannot be read")
	sound(auditing.VerifyOptions{Key: filepath.Join(w.dir, "hidden.key")}, filepath.Join(w.dir, "hidden.key")+" has no public key")
	sound(auditing.VerifyOptions{Key: vkey, Since: pub}, pub+" has no checkpoint")
	sound(auditing.VerifyOptions{Key: vkey, DB: pub}, "findings\ndamaged: ")
	sound(auditing.VerifyOptions{Key: vkey, DB: filepath.Join(w.dir, "none")}, "no such file: ")

	raw, err := os.ReadFile(proof)
	require.NoError(t, err)
	sound(auditing.VerifyOptions{Key: vkey, Proof: file("bad", bytes.Replace(raw, []byte("index 3"), []byte("index 4"), 1))}, "findings\nnot proven: ")
	raw, err = os.ReadFile(lines)
	require.NoError(t, err)
	sound(auditing.VerifyOptions{Key: vkey, JSONL: file("bad.jsonl", bytes.Replace(raw, []byte("delete_repo"), []byte("delete_rep0"), 1))}, "findings\n")

	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.ExecContext(t.Context(), `UPDATE segment SET records = CAST(replace(CAST(records AS TEXT), 'delete_repo', 'delete_rep0') AS BLOB)`)
	require.NoError(t, err)
	sound(auditing.VerifyOptions{Key: vkey}, "findings\nchanged: record 3 was changed\nfindings: 1 in 9 records of mcpctl/")
	_, err = db.ExecContext(t.Context(), `UPDATE segment SET records = CAST(replace(CAST(records AS TEXT), 'delete_rep0', 'delete_repo') AS BLOB)`)
	require.NoError(t, err)
	sound(auditing.VerifyOptions{Key: vkey}, "ok: ")
	_, err = db.ExecContext(t.Context(), `DELETE FROM segment WHERE first > 0; DELETE FROM checkpoint WHERE size > 0`)
	require.NoError(t, err)
	sound(auditing.VerifyOptions{Key: vkey, Since: since}, "findings\n")
}

// TestRotate: who has the old key verifies the log on, and the new key is printed.
func TestRotate(t *testing.T) {
	w := newWorld(t)
	w.some()
	require.NoError(t, w.program(false).Key(false))
	before := strings.TrimSpace(w.out.String())
	require.NoError(t, w.program(false).Rotate(t.Context()))
	after := strings.TrimSpace(w.out.String())
	if before == after || !strings.HasPrefix(after, "mcpctl/") {
		t.Errorf("%s has become %s", before, after)
	}
	for _, key := range []string{before, after} {
		if got := w.verified(auditing.VerifyOptions{Key: key}); !strings.HasPrefix(got, "ok: 9 records") {
			t.Error(got)
		}
	}
	require.NoError(t, w.program(false).Key(true))
	if got := w.out.String(); got != after+"\n"+before+"\n" {
		t.Error(got)
	}
	if got := w.shown(auditing.Query{Kinds: []string{"rotate"}}, 0); got != "8" {
		t.Error(got)
	}
}

// TestBodies: what is kept of a call is printed, and its digest is what digest prints.
func TestBodies(t *testing.T) {
	w := newWorld(t)
	key, err := logfile.OpenKey(filepath.Join(w.dir, "audit.key"))
	require.NoError(t, err)
	const args, result = `{"path": "/a"}`, `{"content":[]}`
	r := call("local", "fs", "read", "allow", "")
	r.Run, r.N, r.Time, r.Arguments.Digest, r.Outcome = "r1", 1, noon, key.Digest([]byte(args)), audit.Outcome{}
	done := audit.Record{Run: "r1", N: 2, Kind: audit.KindDone, Of: 1, Time: noon, Outcome: audit.Outcome{Out: audit.OutOK, ResultDigest: key.Digest([]byte(result))}}
	for i, raw := range [][]byte{r.Append(nil), done.Append(nil)} {
		body := audit.Body{Digest: r.Arguments.Digest, Data: []byte(args)}
		if i == 1 {
			body = audit.Body{Digest: done.Outcome.ResultDigest, Result: true, Data: []byte(result)}
		}
		_, err := w.log.Append(t.Context(), &audit.Batch{Run: "r1", Records: [][]byte{raw}, Bodies: []audit.Body{body}})
		require.NoError(t, err)
	}
	for _, tt := range []struct {
		name   string
		result bool
		want   string
	}{{"r1-1", false, args}, {"0", false, args}, {"r1-2", false, args}, {"r1-1", true, result}, {"r1-2", true, result}} {
		require.NoError(t, w.program(false).Body(t.Context(), tt.name, tt.result))
		if got := w.out.String(); got != tt.want+"\n" {
			t.Errorf("%+v: got %s", tt, got)
		}
	}
	p := w.program(false)
	p.UI.In = strings.NewReader(args)
	require.NoError(t, p.Digest("-"))
	if got := strings.TrimSpace(w.out.String()); got != r.Arguments.Digest {
		t.Errorf("got %s, want %s", got, r.Arguments.Digest)
	}
	found, err := w.log.DeleteBody(t.Context(), 0, false)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if err := w.program(false).Body(t.Context(), "r1-1", false); err == nil || err.Error() != "the arguments of record r1-1 are not kept" {
		t.Error(err)
	}
}

// BenchmarkShow reads a log with all filters; B/op stays the same for any length.
func BenchmarkShow(b *testing.B) {
	w := newWorld(b)
	const batch = 500
	for range records / batch {
		all := make([]audit.Record, batch)
		for i := range all {
			all[i] = call("https://idp.example|8f3a", "gh", "create_issue", "allow", "ok")
			all[i].Principal.Name, all[i].Decision.Generation, all[i].Arguments.Digest = "alice@example.com", strings.Repeat("a", 71), strings.Repeat("b", 48)
			if i%7 == 0 {
				all[i].Target.Server = "fs"
			}
		}
		w.add(all...)
	}
	q := auditing.Query{
		Who: "alice*", Server: "g*", Tool: "*issue", Kinds: []string{"call"}, Verdicts: []string{"allow"}, By: "*", Flow: "f-*", Since: "2026-01-01", Until: "2030-01-01", Errors: true,
	}
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, w.program(false).Show(b.Context(), q, 0))
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// records is how long the log of the benchmark is.
const records = 20_000
