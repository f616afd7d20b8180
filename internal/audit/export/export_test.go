package export

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/verify"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// written is a log, with what was written into it.
type written struct {
	*logfile.Log
	key *logfile.Key

	records     [][]byte
	checkpoints [][]byte // none twice
}

// newLog returns an empty log with the key of a folder, which is made where there is none.
func newLog(t *testing.T, keys string) *written {
	t.Helper()
	key, err := logfile.OpenKey(filepath.Join(keys, "audit.key"))
	require.NoError(t, err)
	log, err := logfile.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"), logfile.Options{Key: key})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return &written{Log: log, key: key}
}

// add appends records, and signs the log where that is said.
func (w *written) add(t *testing.T, n int, sign bool) {
	t.Helper()
	var batch audit.Batch
	for range n {
		r := audit.Record{Time: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC), Run: "run", N: uint64(len(w.records) + 1), Kind: audit.KindCall}
		r.Principal.ID, r.Target.Server, r.Target.Item, r.Decision.Verdict = "alice", "gh", fmt.Sprint("tool", len(w.records)), audit.VerdictAllow
		raw := r.Append(nil)
		w.records, batch.Records = append(w.records, raw), append(batch.Records, raw)
	}
	if n > 0 {
		_, err := w.Append(t.Context(), &batch)
		require.NoError(t, err)
	}
	if sign {
		msg, err := w.Checkpoint(t.Context())
		require.NoError(t, err)
		if len(w.checkpoints) == 0 || !bytes.Equal(msg, w.checkpoints[len(w.checkpoints)-1]) {
			w.checkpoints = append(w.checkpoints, msg)
		}
	}
}

func (w *written) options(dir string) Options {
	return Options{Log: w, Origin: w.key.Origin(), Dir: dir, Logger: quiet, Version: "1.2.3"}
}

var quiet = slog.New(slog.DiscardHandler)

// opened returns the state of a folder.
func opened(t *testing.T, dir string) *state {
	t.Helper()
	s, err := openState(filepath.Join(dir, "audit-export.json"))
	require.NoError(t, err)
	return s
}

// exported returns the records of a file and of those that were set aside, and fails where
// their numbers have a gap or a double.
func exported(t *testing.T, log *written, path string) (records [][]byte, checkpoints int) {
	t.Helper()
	files, err := filepath.Glob(path + ".*")
	require.NoError(t, err)
	slices.Sort(files)
	if _, err := os.Stat(path); err == nil {
		files = append(files, path)
	}
	next := int64(0)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		for i, line := range bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
			m, marked := ParseMark(line)
			switch {
			case i == 0 && (!marked || m.Log != log.key.Origin()):
				t.Fatalf("%s begins with %s", name, line)
			case marked:
				if m.Next != next {
					t.Fatalf("%s:%d goes on with %d, want %d", name, i+1, m.Next, next)
				}
				if m.Checkpoint != "" {
					checkpoints++
				}
			default:
				records, next = append(records, line), next+1
			}
		}
	}
	return records, checkpoints
}

// TestInterrupted: whenever a process is killed, and whatever of a write has reached the
// file then, the records in the files are those of the log, each once.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	rounds := 40
	if os.Getenv("MCPCTL_NIGHTLY") != "" {
		rounds = 600
	}
	for seed := range uint64(2) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		dir, log := t.TempDir(), newLog(t, t.TempDir())
		path := filepath.Join(dir, "sub", "audit.jsonl")
		for range rounds {
			log.add(t, rnd.IntN(30), rnd.IntN(3) == 0)
			checkpoints, _ := os.ReadFile(filepath.Join(dir, "audit-export.json"))
			before, _ := os.Stat(path)
			l := newLines(File{Path: path, Rotate: 10_000}, log.options(dir), opened(t, dir))
			require.NoError(t, l.pass(t.Context()))
			after, err := os.Stat(path)
			if before == nil || err != nil || !os.SameFile(before, after) || rnd.IntN(2) == 0 {
				continue
			}
			// It was killed in the write, or after it: before the state was written.
			require.NoError(t, os.Truncate(path, before.Size()+rnd.Int64N(after.Size()-before.Size()+1)))
			if checkpoints != nil {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "audit-export.json"), checkpoints, 0o600))
			}
			if rnd.IntN(8) == 0 { // a loss of power leaves zeros
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				require.NoError(t, err)
				_, err = f.Write(append(make([]byte, 100), '\n'))
				require.NoError(t, errors.Join(err, f.Close()))
			}
		}
		require.NoError(t, newLines(File{Path: path, Rotate: 10_000}, log.options(dir), opened(t, dir)).pass(t.Context()))
		got, checkpoints := exported(t, log, path)
		if !slices.EqualFunc(got, log.records, bytes.Equal) || checkpoints < len(log.checkpoints) {
			t.Errorf("seed %d: %d records and %d checkpoints of %d and %d", seed, len(got), checkpoints, len(log.records), len(log.checkpoints))
		}
		if aside, _ := filepath.Glob(path + ".*"); len(aside) < 3 {
			t.Errorf("seed %d: %d files were set aside", seed, len(aside))
		}
	}
}

// TestFile: what is done about a file that others have touched.
func TestFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	start := func(t *testing.T) (*written, *lines, string) {
		dir, log := t.TempDir(), newLog(t, t.TempDir())
		log.add(t, 10, true)
		path := filepath.Join(dir, "a.jsonl")
		l := newLines(File{Path: path}, log.options(dir), opened(t, dir))
		require.NoError(t, l.pass(ctx))
		return log, l, path
	}
	t.Run("moved away while it runs, and before a restart", func(t *testing.T) {
		log, l, path := start(t)
		require.NoError(t, os.Rename(path, path+".1"))
		log.add(t, 5, true)
		require.NoError(t, l.pass(ctx))
		require.NoError(t, os.Rename(path, path+".2"))
		log.add(t, 5, false)
		require.NoError(t, newLines(l.File, log.options(filepath.Dir(path)), opened(t, filepath.Dir(path))).pass(ctx))
		if got, _ := exported(t, log, path); !slices.EqualFunc(got, log.records, bytes.Equal) {
			t.Errorf("got %d records", len(got))
		}
	})
	t.Run("of another log", func(t *testing.T) {
		_, l, path := start(t)
		require.NoError(t, os.WriteFile(path, Mark{Log: "mcpctl/other"}.Append(nil), 0o600))
		if err := l.pass(ctx); err == nil || !strings.Contains(err.Error(), "another log: mcpctl/other") {
			t.Errorf("got %v", err)
		}
	})
	for name, text := range map[string]string{"something else": "hello\n", "without a line": strings.Repeat("x", 100), "a record alone": `{"v":1}` + "\n", "another's lines": `{"log":1}` + "\n", "another's line": `{"log":"hello` + "\r"} {
		t.Run(name, func(t *testing.T) {
			_, l, path := start(t)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			err := l.pass(ctx)
			if err == nil || !strings.Contains(err.Error(), "is not an export") {
				t.Errorf("got %v", err)
			}
			if raw, _ := os.ReadFile(path); string(raw) != text {
				t.Errorf("it has become %q", raw)
			}
		})
	}
	t.Run("a folder in its place", func(t *testing.T) {
		_, l, path := start(t)
		require.NoError(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		if err := l.pass(ctx); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a log that was pruned meanwhile", func(t *testing.T) {
		log, l, path := start(t)
		log.add(t, 5, false)
		log.add(t, 15, false)
		gone, err := log.Prune(ctx, time.Time{}, 1, func(int64) error { return nil })
		require.NoError(t, err)
		if gone != 15 {
			t.Fatalf("%d records are gone", gone)
		}
		require.NoError(t, l.pass(ctx))
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		if !bytes.Contains(raw, []byte(`{"log":"`+log.key.Origin()+`","next":15,"edge":[`)) || l.at.Next != 30 {
			t.Errorf("it goes on at %d\n%s", l.at.Next, raw)
		}
		// What is missing is named once, and checkpoints behind it are compared.
		log.add(t, 1, true)
		require.NoError(t, l.pass(ctx))
		raw, err = os.ReadFile(path)
		require.NoError(t, err)
		if got := findings(t, log, raw); got != "missing 10-14" {
			t.Errorf("got %q", got)
		}
		raw = bytes.Replace(raw, []byte(`"item":"tool29"`), []byte(`"item":"tool28"`), 1)
		if got := findings(t, log, raw); got != "missing 10-14, inconsistent 10-30" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a mark that is far from the end", func(t *testing.T) {
		log, l, path := start(t)
		log.add(t, 4000, false) // without a checkpoint
		require.NoError(t, l.pass(ctx))
		log.add(t, 1, false)
		require.NoError(t, newLines(l.File, log.options(t.TempDir()), opened(t, t.TempDir())).pass(ctx))
		if got, _ := exported(t, log, path); len(got) != 4011 {
			t.Errorf("got %d records", len(got))
		}
	})
}

// findings returns what verify finds in lines of an export, as "KIND FIRST-LAST, ...".
func findings(t *testing.T, log *written, text []byte) string {
	t.Helper()
	report, err := verify.JSONL(t.Context(), bytes.NewReader(text), verify.Options{Keys: log.key.Verifiers()})
	require.NoError(t, err)
	all := make([]string, 0, len(report.Findings)+len(report.Remarks))
	for _, f := range slices.Concat(report.Findings, report.Remarks) {
		all = append(all, fmt.Sprintf("%s %d-%d", f.Kind, f.First, f.Last))
	}
	return strings.Join(all, ", ")
}

// TestVerifiable: an export that begins with a later record can be verified, whichever that
// is, and so can a file that was set aside.
func TestVerifiable(t *testing.T) {
	t.Parallel()
	log := newLog(t, t.TempDir())
	for range 3 {
		log.add(t, 101, true)
	}
	for _, from := range []int64{1, 100, 101, 150, 256, 302} {
		var out bytes.Buffer
		_, err := WriteLines(t.Context(), log, log.key.Origin(), from, &out)
		require.NoError(t, err)
		if got := findings(t, log, out.Bytes()); got != "" {
			t.Errorf("from %d: got %q", from, got)
		}
		changed := bytes.Replace(out.Bytes(), []byte(`"item":"tool302"`), []byte(`"item":"tool303"`), 1)
		if got := findings(t, log, changed); !strings.HasPrefix(got, "inconsistent ") {
			t.Errorf("from %d, changed: got %q", from, got)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	l := newLines(File{Path: path, Rotate: 10_000}, log.options(dir), opened(t, dir))
	for range 3 {
		log.add(t, 50, true)
		require.NoError(t, l.pass(t.Context()))
	}
	files, err := filepath.Glob(path + ".*")
	require.NoError(t, err)
	if len(files) < 2 {
		t.Errorf("%d files were set aside", len(files))
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		if got := findings(t, log, raw); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// roundTrip answers requests in memory, so that tests with a clock of their own may send.
type roundTrip func(req *http.Request, body []byte) (status int, header http.Header, text string)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	status, header, text := f(req, body)
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

// received is what a collector understands of a request.
type received struct {
	ResourceLogs []struct {
		ScopeLogs []struct {
			LogRecords []struct {
				EventName string
				Body      struct{ StringValue string }
			}
		}
	}
}

func bodies(t *testing.T, body []byte) (texts []string) {
	t.Helper()
	var r received
	d := json.NewDecoder(bytes.NewReader(body))
	require.NoError(t, d.Decode(&r))
	for _, one := range r.ResourceLogs[0].ScopeLogs[0].LogRecords {
		texts = append(texts, one.Body.StringValue)
	}
	return texts
}

// TestCollector: a collector that is out of reach gets everything as soon as it is back, in
// order, and nothing twice that it has taken; what it refuses for good holds up nothing.
func TestCollector(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, log := t.TempDir(), newLog(t, t.TempDir())
		var got []string
		var mu sync.Mutex // guards got, down and requests
		down, requests := true, 0
		o := log.options(dir)
		o.Collectors = []Collector{{URL: "https://otel.example.com/v1/logs", Header: http.Header{"Authorization": {"Bearer s3cret"}}}}
		o.HTTP = roundTrip(func(req *http.Request, body []byte) (int, http.Header, string) {
			mu.Lock()
			defer mu.Unlock()
			requests++
			if req.Header.Get("Authorization") != "Bearer s3cret" || req.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got %v", req.Header)
			}
			switch texts := bodies(t, body); {
			case down:
				return 503, http.Header{"Retry-After": {"3600"}}, ""
			case slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, `"item":"tool7"`) }):
				return 400, nil, `{"message":"bad"}`
			default:
				got = append(got, texts...)
				return 200, nil, `{"partialSuccess":{"rejectedLogRecords":"0","errorMessage":""}}`
			}
		})
		e, err := Start(o)
		require.NoError(t, err)
		log.add(t, 700, true)
		e.Wake()
		time.Sleep(time.Hour)
		mu.Lock()
		if s, _ := e.Status(); s[0].Problem != "the collector answers HTTP 503" || s[0].Next != 0 || requests > 100 {
			t.Errorf("after %d requests: %+v", requests, s)
		}
		down = false
		mu.Unlock()
		time.Sleep(6 * time.Minute)
		log.add(t, 3, true)
		e.Wake()
		time.Sleep(time.Second)
		s, elsewhere := e.Status()
		if s[0].Problem != "" || s[0].Next != 703 || s[0].Dropped != 1 || elsewhere != "" {
			t.Errorf("got %+v %q", s, elsewhere)
		}
		mu.Lock()
		requests = 0
		mu.Unlock()
		time.Sleep(time.Hour)
		mu.Lock()
		if requests != 0 {
			t.Errorf("%d requests without anything to send", requests)
		}
		mu.Unlock()
		log.add(t, 2, true)
		e.Close(t.Context())
		var want []string
		for i, r := range log.records {
			if i != 7 {
				want = append(want, string(r))
			}
		}
		records := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return strings.HasPrefix(s, "mcpctl/") })
		if !slices.Equal(records, want) || len(got)-len(records) != 3 {
			t.Errorf("got %d records and %d checkpoints, want %d and 3", len(records), len(got)-len(records), len(want))
		}
		again := 0
		o.HTTP = roundTrip(func(*http.Request, []byte) (int, http.Header, string) { again++; return 200, nil, "" })
		e, err = Start(o)
		require.NoError(t, err)
		e.Close(t.Context())
		if again != 0 {
			t.Errorf("%d requests again after a restart", again)
		}
	})
}

// TestOneExports: of two processes with one log one exports, and the other one as soon as it
// has ended.
func TestOneExports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, log := t.TempDir(), newLog(t, t.TempDir())
		o := log.options(dir)
		o.Files = []File{{Path: filepath.Join(dir, "a.jsonl")}}
		first, err := Start(o)
		require.NoError(t, err)
		time.Sleep(time.Second)
		second, err := Start(o)
		require.NoError(t, err)
		log.add(t, 5, true)
		first.Wake()
		second.Wake()
		time.Sleep(time.Minute)
		if _, elsewhere := second.Status(); elsewhere != "another process exports this log" {
			t.Errorf("got %q", elsewhere)
		}
		first.Close(t.Context())
		log.add(t, 5, true) // nobody wakes it
		time.Sleep(time.Minute)
		if s, elsewhere := second.Status(); elsewhere != "" || s[0].Next != 10 {
			t.Errorf("got %+v %q", s, elsewhere)
		}
		second.Close(t.Context())
		if got, _ := exported(t, log, o.Files[0].Path); len(got) != 10 {
			t.Errorf("got %d records", len(got))
		}
		// One that is about to end takes its place at once.
		first, err = Start(o)
		require.NoError(t, err)
		time.Sleep(time.Second)
		second, err = Start(o)
		require.NoError(t, err)
		time.Sleep(time.Second)
		first.Close(t.Context())
		log.add(t, 5, true)
		second.Close(t.Context())
		if got, _ := exported(t, log, o.Files[0].Path); len(got) != 15 {
			t.Errorf("got %d records", len(got))
		}
	})
	var none *Exporter
	none.Wake()
	none.Close(t.Context())
	if s, _ := none.Status(); s != nil {
		t.Error("a status of none")
	}
}

// TestRecordOf: names and values are those of the conventions.
func TestRecordOf(t *testing.T) {
	t.Parallel()
	r := audit.Record{Time: time.Date(2026, 11, 23, 9, 0, 0, 123456000, time.UTC), Run: "k3", N: 7, Kind: audit.KindCall}
	r.Principal.ID, r.Principal.Name, r.Principal.Flow = "https://idp|1", "alice", "f1"
	r.Target = audit.Target{Server: "gh", Item: "create_issue", Era: "2026-07-28", Trace: "4bf92f3577b34da6a3ce929d0e0e4736"}
	r.Decision = audit.Decision{Verdict: audit.VerdictAllow, By: []string{"rule-1"}}
	r.Outcome.Out = audit.OutToolError
	for _, tt := range []struct {
		change func(*audit.Record)
		want   string
	}{
		{func(*audit.Record) {}, `INFO mcpctl.audit.call 4bf92f3577b34da6a3ce929d0e0e4736 mcpctl.audit.number=41 mcpctl.audit.record=k3-7 mcp.method.name=tools/call mcp.protocol.version=2026-07-28 gen_ai.operation.name=execute_tool gen_ai.tool.name=create_issue error.type=tool_error user.id=https://idp|1 user.name=alice gen_ai.conversation.id=f1 mcpctl.server=gh mcpctl.verdict=allow mcpctl.policies=[rule-1]`},
		{func(r *audit.Record) {
			r.Kind, r.Outcome.Out, r.Decision.Verdict = audit.KindGet, "", audit.VerdictDeny
		}, `WARN mcpctl.audit.get 4bf92f3577b34da6a3ce929d0e0e4736 mcpctl.audit.number=41 mcpctl.audit.record=k3-7 mcp.method.name=prompts/get mcp.protocol.version=2026-07-28 gen_ai.prompt.name=create_issue error.type=denied user.id=https://idp|1 user.name=alice gen_ai.conversation.id=f1 mcpctl.server=gh mcpctl.verdict=deny mcpctl.policies=[rule-1]`},
		{func(r *audit.Record) {
			*r = audit.Record{Time: r.Time, Run: "k3", N: 8, Kind: audit.KindRead, Target: audit.Target{Item: "file:///a", Trace: "no"}, Outcome: audit.Outcome{Out: audit.OutTimeout}}
		}, `INFO mcpctl.audit.read  mcpctl.audit.number=41 mcpctl.audit.record=k3-8 mcp.method.name=resources/read mcp.resource.uri=file:///a error.type=timeout`},
		{func(r *audit.Record) {
			*r = audit.Record{Time: r.Time, Run: "k3", N: 9, Of: 4, Kind: audit.KindDone, Outcome: audit.Outcome{Out: audit.OutError}}
		}, `INFO mcpctl.audit.done  mcpctl.audit.number=41 mcpctl.audit.record=k3-9 mcpctl.audit.of=k3-4 error.type=_OTHER`},
	} {
		r := r
		tt.change(&r)
		raw := r.Append(nil)
		o := logRecord(41, raw)
		got := o.Text + " " + o.EventName + " " + o.TraceID
		for _, a := range o.Attributes {
			value := a.Value.Int
			switch {
			case a.Value.String != nil:
				value = *a.Value.String
			case a.Value.Array != nil:
				value = "[" + *a.Value.Array.Values[0].String + "]"
			}
			got += " " + a.Key + "=" + value
		}
		if got != tt.want || *o.Body.String != string(raw) || o.Time != "1795424400123456000" {
			t.Errorf("got  %s at %s\nwant %s", got, o.Time, tt.want)
		}
	}
	if o := logRecord(3, []byte(`{"v":2,"kind":"new"}`)); *o.Body.String != `{"v":2,"kind":"new"}` || o.EventName != "mcpctl.audit.record" {
		t.Errorf("got %+v", o)
	}
}

// cosigner is a witness as C2SP's tlog-witness has it.
type cosigner struct {
	t        *testing.T
	verifier note.Verifier
	key      ed25519.PrivateKey
	name     string

	size int64
	root tlog.Hash
	last []byte // the signed tree that was asked for
}

func newCosigner(t *testing.T, vkey string) *cosigner {
	t.Helper()
	verifier, err := note.NewVerifier(vkey)
	require.NoError(t, err)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return &cosigner{t: t, verifier: verifier, key: key, name: "witness.example.com/w1"}
}

func (c *cosigner) answer(req *http.Request, body []byte) (int, http.Header, string) {
	if req.Method != http.MethodPost || req.URL.Path != "/sub/add-checkpoint" {
		return 404, nil, ""
	}
	head, signed, ok := strings.Cut(string(body), "\n\n")
	old, proof, _ := strings.Cut(head, "\n")
	n, err := note.Open([]byte(signed), note.VerifierList(c.verifier))
	if !ok || err != nil {
		return 403, nil, ""
	}
	fields := strings.Split(n.Text, "\n")
	size, err := strconv.ParseInt(fields[1], 10, 64)
	require.NoError(c.t, err)
	root, err := tlog.ParseHash(fields[2])
	require.NoError(c.t, err)
	if old != fmt.Sprintf("old %d", c.size) || size == c.size && root != c.root {
		return 409, http.Header{"Content-Type": {"text/x.tlog.size"}}, fmt.Sprintf("%d\n", c.size)
	}
	var path tlog.TreeProof
	for line := range strings.Lines(proof) {
		h, err := tlog.ParseHash(strings.TrimSpace(line))
		require.NoError(c.t, err)
		path = append(path, h)
	}
	if c.size > 0 && tlog.CheckTree(path, size, root, c.size, c.root) != nil || c.size == 0 && path != nil {
		return 422, nil, ""
	}
	c.size, c.root, c.last = size, root, []byte(signed)
	const at = 1795424400
	sum := append([]byte{0, 0, 0, 1}, binary.BigEndian.AppendUint64(nil, at)...)
	sig := append(sum, ed25519.Sign(c.key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, n.Text))...)
	return 200, nil, "— " + c.name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

// TestWitness: each newest checkpoint is signed, with the proof that it extends the one
// before; a log that was cut back or changed is found out.
func TestWitness(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := newLog(t, dir)
	c := newCosigner(t, log.key.Verifier())
	witnessed := func(dir string, log *written) *witness {
		o := log.options(dir)
		o.HTTP = roundTrip(c.answer)
		return newWitness("https://witness.example.com/sub", o, opened(t, dir))
	}
	w := witnessed(dir, log)
	require.NoError(t, w.pass(t.Context())) // there is none yet
	for _, n := range []int{1, 5, 0, 1000} {
		log.add(t, n, true)
		log.add(t, 2, false)
		require.NoError(t, w.pass(t.Context()))
		newest := log.checkpoints[len(log.checkpoints)-1]
		checkpoints, err := os.ReadFile(w.checkpoints)
		require.NoError(t, err)
		if c.size == 0 || !bytes.HasPrefix(checkpoints, newest) || strings.Count(string(checkpoints), "\n— ") != 2 || w.status().Next != c.size || string(c.last) != string(newest) {
			t.Errorf("it has signed %d\n%s\nof\n%s", c.size, checkpoints, newest)
		}
	}
	// What was kept is lost: the witness says what it has.
	log.add(t, 3, true)
	other := t.TempDir()
	require.NoError(t, witnessed(other, log).pass(t.Context()))
	// The one that was overtaken.
	log.add(t, 3, true)
	require.NoError(t, w.pass(t.Context()))

	for want, size := range map[string]int{"some have been removed": 10, "have been changed": int(c.size) + 5} {
		forged := newLog(t, dir)
		forged.records = make([][]byte, 1) // its first record is another one
		forged.add(t, size, true)
		err := witnessed(t.TempDir(), forged).pass(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	unknown := newLog(t, t.TempDir())
	unknown.add(t, 1, true)
	if err := witnessed(t.TempDir(), unknown).pass(t.Context()); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("got %v", err)
	}
	c.name = "bad\n"
	log.add(t, 1, true)
	if err := w.pass(t.Context()); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("got %v", err)
	}
}

// TestAnchorFile: a file has each checkpoint once, also one that comes later, and wherever
// a write was interrupted.
func TestAnchorFile(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), newLog(t, t.TempDir())
	path := filepath.Join(dir, "mnt", "checkpoints")
	pass := func() error {
		return (&anchorFile{path: path, log: log, origin: log.key.Origin(), sent: opened(t, dir)}).pass(t.Context())
	}
	for range 3 {
		log.add(t, 3, true)
		log.add(t, 3, true)
		for range 2 {
			require.NoError(t, pass())
		}
	}
	want := ""
	for _, c := range log.checkpoints {
		want += string(c) + "\n"
	}
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("got\n%s", got)
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, pass())
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("got\n%s", got)
	}
	for size := range len(want) {
		require.NoError(t, os.Truncate(path, int64(size)))
		require.NoError(t, pass())
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Fatalf("cut off at %d, got\n%s", size, got)
		}
	}
	for _, other := range []string{"notes of mine\n", strings.ReplaceAll(want, log.key.Origin(), "mcpctl/another")} {
		require.NoError(t, os.WriteFile(path, []byte(other), 0o600))
		if err := pass(); err == nil {
			t.Error("no error")
		}
		if got, _ := os.ReadFile(path); string(got) != other {
			t.Errorf("got\n%s", got)
		}
	}
}
