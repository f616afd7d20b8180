package auditing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(dir string, a *settings.Audit) (auditing.Options, *wire.Output) {
	logged := wire.NewOutput()
	return auditing.Options{Audit: a, Dir: dir, Version: "1.2.3", Getenv: func(string) string { return "" }, Log: slog.New(slog.NewTextHandler(logged, nil))}, logged
}

// kinds returns what the log of a folder has, and whether each run's records are all there.
func kinds(t *testing.T, dir string) (all []audit.Kind) {
	t.Helper()
	l, err := logfile.OpenReadOnly(t.Context(), filepath.Join(dir, auditing.LogName))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	last := map[string]uint64{}
	require.NoError(t, l.Read(t.Context(), 0, 0, func(_ int64, raw []byte) error {
		r, err := audit.Parse(raw)
		require.NoError(t, err)
		if before := last[r.Run]; before != 0 && r.N != before+1 {
			t.Errorf("%d comes after %d", r.N, before)
		}
		last[r.Run] = r.N
		all = append(all, r.Kind)
		return nil
	}))
	return all
}

// recordedCall records a request.
func recordedCall(t *testing.T, r *auditing.Recorder) {
	t.Helper()
	ticket, err := r.Journal.Begin(&journal.Request{Kind: audit.KindCall, Target: audit.Target{Server: "gh", Item: "a"}, Arguments: []byte("{}")})
	require.NoError(t, err)
	require.NoError(t, r.Journal.Wait(t.Context(), ticket))
	require.NoError(t, r.Journal.End(ticket, audit.Outcome{Out: audit.OutOK}, []byte("{}")))
}

// TestRequired: a log that cannot be written ends a start, with what mends it; one that is not
// required is told, and written as soon as it can be.
func TestRequired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, auditing.LogName)
		require.NoError(t, os.Mkdir(path, 0o700))
		o, _ := options(dir, &settings.Audit{})
		_, err := auditing.Open(t.Context(), o)
		kind, ok := errors.AsType[interface {
			error
			ExitKind() string
			Hint() string
		}](err)
		if !ok || kind.ExitKind() != "config" || kind.Hint() == "" || !strings.Contains(err.Error(), "the audit log cannot be written: ") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("got %v", err)
		}
		o, logged := options(dir, &settings.Audit{Optional: true})
		r, err := auditing.Open(t.Context(), o)
		require.NoError(t, err)
		recordedCall(t, r)
		time.Sleep(10 * time.Second)
		if word, refuses := r.Unready(); word != "unrecorded" || refuses || r.Status(t.Context()).Problem == "" || !strings.Contains(logged.String(), "requests are NOT recorded") {
			t.Errorf("got %q %v, %+v, %s", word, refuses, r.Status(t.Context()), logged)
		}
		require.NoError(t, os.Remove(path))
		time.Sleep(10 * time.Second)
		if word, _ := r.Unready(); word != "" || !strings.Contains(logged.String(), "written again") {
			t.Errorf("got %q, %s", word, logged)
		}
		r.Close(t.Context())
		if got := fmt.Sprint(kinds(t, dir)); got != "[start call stop]" {
			t.Errorf("got %s", got)
		}
	})
}

// TestKey: a key that others may read is not used.
func TestKey(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes there")
	}
	dir := t.TempDir()
	o, _ := options(dir, &settings.Audit{})
	r, err := auditing.Open(t.Context(), o)
	require.NoError(t, err)
	r.Close(t.Context())
	require.NoError(t, os.Chmod(filepath.Join(dir, auditing.KeyName), 0o644))
	if _, err := auditing.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v", err)
	}
	o.Audit.Optional = true
	r, err = auditing.Open(t.Context(), o)
	require.NoError(t, err)
	if word, refuses := r.Unready(); word == "" || refuses || r.Takes() != nil {
		t.Errorf("got %q %v", word, refuses)
	}
	r.Record(&audit.Record{Kind: audit.KindPin})
	r.Close(t.Context())
}

// TestKept: what is too old goes within an hour, after a record that tells so; bodies go
// before.
func TestMaxRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		o, _ := options(dir, &settings.Audit{Keep: 24 * time.Hour, Bodies: &settings.Bodies{To: []string{"gh/*"}, Max: 100, Keep: 2 * time.Hour}})
		r, err := auditing.Open(t.Context(), o)
		require.NoError(t, err)
		recordedCall(t, r)
		time.Sleep(time.Minute)
		read, err := logfile.OpenReadOnly(t.Context(), filepath.Join(dir, auditing.LogName))
		require.NoError(t, err)
		found := func() bool {
			b, err := read.Body(t.Context(), 1, false)
			require.NoError(t, err)
			return b != nil
		}
		if !found() {
			t.Error("no body is kept")
		}
		time.Sleep(4 * time.Hour)
		if found() || r.Status(t.Context()).Oldest != 0 {
			t.Errorf("the body is left, or records from %d on", r.Status(t.Context()).Oldest)
		}
		time.Sleep(15 * time.Hour)
		recordedCall(t, r)
		time.Sleep(10 * time.Hour)
		if s := r.Status(t.Context()); s.Oldest != 2 || s.Problem != "" {
			t.Errorf("got %+v", s)
		}
		require.NoError(t, read.Close())
		r.Close(t.Context())
		if got := fmt.Sprint(kinds(t, dir)); got != "[call prune stop]" {
			t.Errorf("got %s", got)
		}
	})
}

// TestTwo: two processes write one log, and one of them exports what both have written;
// the export has checkpoints, and the end of the last run.
func TestTwo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "out", "a.jsonl")
		a := &settings.Audit{Exports: []settings.Export{{JSONL: path}}, Anchors: []settings.Anchor{{File: filepath.Join(dir, "out", "checkpoints")}}}
		o, _ := options(dir, a)
		one, err := auditing.Open(t.Context(), o)
		require.NoError(t, err)
		synctest.Wait() // it is the one that exports
		two, err := auditing.Open(t.Context(), o)
		require.NoError(t, err)
		for range 20 {
			recordedCall(t, one)
			recordedCall(t, two)
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(2 * time.Minute)
		if s := one.Status(t.Context()); s.Records != 42 || s.Signed != 42 || s.Problem != "" || s.Checkpoint.IsZero() || len(s.Exports) != 2 || s.Exports[0].Next != 42 || s.Exports[1].Next != 42 {
			t.Errorf("got %+v", s)
		}
		one.Close(t.Context())
		time.Sleep(time.Minute)
		two.Close(t.Context())
		all := kinds(t, dir)
		if len(all) != 44 {
			t.Errorf("got %v", all)
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		records, checkpoints := 0, 0
		for line := range bytes.Lines(raw) {
			switch m, marked := export.ParseMark(bytes.TrimSpace(line)); {
			case !marked:
				records++
			case m.Checkpoint != "":
				checkpoints++
			}
		}
		anchored, err := os.ReadFile(filepath.Join(dir, "out", "checkpoints"))
		require.NoError(t, err)
		if records != 44 || checkpoints == 0 || !bytes.Contains(anchored, []byte("\n44\n")) {
			t.Errorf("exported %d records and %d checkpoints, anchored\n%s", records, checkpoints, anchored)
		}
	})
}

// TestCommand: a command's requests are in the log when they pass, and nothing else is left.
func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, _ := options(dir, &settings.Audit{Exports: []settings.Export{{JSONL: filepath.Join(dir, "a.jsonl")}}})
	o.Command = true
	r, err := auditing.Open(t.Context(), o)
	require.NoError(t, err)
	if !r.Journal.Waits() {
		t.Error("it does not wait")
	}
	recordedCall(t, r)
	r.Close(t.Context())
	if got := fmt.Sprint(kinds(t, dir)); got != "[start call stop]" && got != "[start call done stop]" {
		t.Errorf("got %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.ring")); left != nil {
		t.Errorf("%s are left", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.jsonl")); err == nil {
		t.Error("a command exports")
	}
}

// TestCommandKeeps: without a serve, a command a day removes what is too old.
func TestCommandKeeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for range 4 { // each 20 hours after the one before
			o, _ := options(dir, &settings.Audit{Keep: 30 * time.Hour})
			o.Command = true
			r, err := auditing.Open(t.Context(), o)
			require.NoError(t, err)
			recordedCall(t, r)
			r.Close(t.Context())
			time.Sleep(20 * time.Hour)
		}
		all := kinds(t, dir)
		if got := fmt.Sprint(all); strings.Count(got, "prune") != 1 || strings.Count(got, "stop") >= 4 {
			t.Errorf("got %s", got)
		}
	})
}

// TestSettings: what is missing is said, and nothing is recorded without a section.
func TestSettings(t *testing.T) {
	t.Parallel()
	o, _ := options(t.TempDir(), &settings.Audit{Exports: []settings.Export{{OTLP: "https://otel.example.com/v1/logs", Headers: map[string]string{"Authorization": "Bearer ${OTEL}"}}}})
	if _, err := auditing.Open(t.Context(), o); err == nil || err.Error() != "audit.export.headers: the variable OTEL of Authorization is not set" {
		t.Errorf("got %v", err)
	}
	o.Dir = ""
	if _, err := auditing.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no directory") {
		t.Errorf("got %v", err)
	}
	r, err := auditing.Open(t.Context(), auditing.Options{})
	if r != nil || err != nil || r.Takes() != nil || r.Status(context.Background()) != nil {
		t.Errorf("got %v, %v", r, err)
	}
	r.Record(nil)
	r.Close(t.Context())
}
