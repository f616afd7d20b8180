package journal_test

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
)

// killed returns a folder and a log as they would be if the process were killed now.
func killed(t testing.TB, dir string, m *memory) (string, *memory) {
	t.Helper()
	to := t.TempDir()
	m.mu.Lock()
	defer m.mu.Unlock()
	files, err := filepath.Glob(filepath.Join(dir, "audit-*.ring"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, filepath.Base(files[0])), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return to, &memory{records: slices.Clone(m.records), states: maps.Clone(m.states)}
}

// TestRecovery checks that the next run appends what one that was cut off has left: nothing
// twice, and of each decision without an outcome that it is lost.
func TestRecovery(t *testing.T) {
	for _, durability := range []journal.Durability{journal.Process, journal.Power} {
		dir, m := t.TempDir(), new(memory)
		j := open(t, journal.Options{Log: m, Dir: dir, Durability: durability, Optional: true})
		begin := func(args string) journal.Ticket {
			ticket, err := j.Begin(call(args))
			if err != nil {
				t.Fatal(err)
			}
			return ticket
		}
		end := func(ticket journal.Ticket) {
			if err := j.End(ticket, audit.Outcome{Out: audit.OutOK}, []byte("result")); err != nil {
				t.Fatal(err)
			}
		}
		first := begin("{}")
		end(first)
		early, open1 := begin("{}"), begin("")
		written(t, j)
		end(early)
		want := map[uint64]string{first.N: audit.OutOK, early.N: audit.OutOK, open1.N: audit.OutLost}
		gone := uint64(1000)
		if durability == journal.Power {
			written(t, j)
		} else {
			// From here on nothing reaches the log.
			m.fail(errDisk)
			quick, open2 := begin("{}"), begin("{}")
			end(quick)
			want[quick.N], want[open2.N], gone = audit.OutOK, audit.OutLost, quick.N
		}
		to, log := killed(t, dir, m)
		m.fail(nil)
		closed(t, j)

		next := open(t, journal.Options{Log: log, Dir: to, Durability: durability})
		closed(t, next)
		all := log.all(t)
		dense(t, all)
		outs := make(map[uint64]string)
		for _, r := range all {
			if r.Run != j.Run() {
				continue
			}
			switch {
			case r.Kind == audit.KindDone:
				outs[r.Of] = r.Outcome.Out
			case r.Kind == audit.KindCall:
				outs[r.N] = r.Outcome.Out
			case r.Kind != audit.KindStart:
				t.Errorf("%+v", r)
			}
			if r.N >= gone && (r.Arguments.Size > 0 && r.Arguments.Digest != audit.Lost || r.Outcome.ResultSize > 0 && r.Outcome.ResultDigest != audit.Lost) {
				t.Errorf("digests of bytes that are gone: %+v", r)
			}
		}
		if !maps.Equal(outs, want) {
			t.Errorf("outcomes %v, want %v", outs, want)
		}
		before := len(all)
		closed(t, open(t, journal.Options{Log: log, Dir: to, Durability: durability}))
		if all = log.all(t); len(all) != before+2 {
			t.Errorf("%d records are appended again", len(all)-before-2)
		}
		if files, _ := filepath.Glob(filepath.Join(to, "*.ring")); len(files) != 0 {
			t.Errorf("left: %q", files)
		}
		if len(log.states) != 0 {
			t.Errorf("left: %q", log.states)
		}
	}
}

// TestRecoveryAgain cuts recovery off after each of its batches.
func TestRecoveryAgain(t *testing.T) {
	dir, m := t.TempDir(), new(memory)
	j := open(t, journal.Options{Log: m, Dir: dir, Optional: true})
	written(t, j)
	m.fail(errDisk)
	for range 2000 {
		if _, err := j.Begin(call("{}")); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(100 * time.Millisecond) // a batch of them is taken, and waits
	to, log := killed(t, dir, m)
	m.fail(nil)
	closed(t, j)
	for tries := 1; ; tries++ {
		few := &fewer{memory: log, left: 1}
		next, err := journal.Open(t.Context(), journal.Options{Log: few, Digest: digest, Dir: to})
		if errors.Is(err, errDisk) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		few.left = 100
		closed(t, next)
		if tries < 8 {
			t.Errorf("it took %d tries", tries)
		}
		break
	}
	all := log.all(t)
	dense(t, all)
	ended := make(map[uint64]int)
	for _, r := range all {
		if r.Kind == audit.KindDone {
			ended[r.Of]++
		}
	}
	if len(all) != 1+2*2000+2 || len(ended) != 2000 {
		t.Errorf("%d records, %d outcomes", len(all), len(ended))
	}
}

// fewer is a memory that takes so many batches with records.
type fewer struct {
	*memory
	left int
}

func (f *fewer) Append(ctx context.Context, b *audit.Batch) (int64, error) {
	if len(b.Records) > 0 {
		if f.left == 0 {
			return 0, errDisk
		}
		f.left--
	}
	return f.memory.Append(ctx, b)
}

// TestUncertain checks that a batch is not added twice if its commit fails after it has
// happened.
func TestUncertain(t *testing.T) {
	m := &memory{timeout: errDisk}
	j := open(t, journal.Options{Log: m, Dir: t.TempDir()})
	for range 5 {
		if _, err := j.Begin(call("{}")); err != nil {
			t.Fatal(err)
		}
		written(t, j)
	}
	closed(t, j)
	dense(t, m.all(t))
	if h := j.Health(); h.Err != nil {
		t.Error(h.Err)
	}
}

// TestOpen checks what is said when a run cannot begin.
func TestOpen(t *testing.T) {
	m := &memory{err: errDisk}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "audit-abc.ring"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := journal.Open(t.Context(), journal.Options{Log: m, Digest: digest, Dir: dir})
	if want := "audit log: records of runs that have ended: disk full"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "audit-abc.ring")); err != nil {
		t.Error("the ring is gone, and what it had is in no log")
	}
	if _, err := journal.Open(t.Context(), journal.Options{Log: m, Digest: digest, Dir: filepath.Join(dir, "none")}); err == nil {
		t.Error("a folder that is not there")
	}
	m.err = nil
	closed(t, open(t, journal.Options{Log: m, Dir: dir})) // an empty run
}

// FuzzRecovered recovers entries of any bytes: each is a record.
func FuzzRecovered(f *testing.F) {
	dir, m := f.TempDir(), &memory{}
	j := open(f, journal.Options{Log: m, Dir: dir, Optional: true})
	written(f, j)
	m.fail(errDisk)
	if err := both(j, call(`{"a":1}`), []byte("result")); err != nil {
		f.Fatal(err)
	}
	to, _ := killed(f, dir, m)
	m.fail(nil)
	closed(f, j)
	if err := journal.Ended(f.Context(), to, func(l *journal.Left) error {
		for _, it := range l.Items {
			f.Add(it.Data, it.Note[:])
		}
		return nil
	}); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, data, note []byte) {
		text := journal.Recovered(data, note)
		if _, err := audit.Parse(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}

// TestEntryOfEarlierBuild: an entry ends with its address in builds that know no views, and
// with the view in those that know no tools through which a call is made. Each is read, and a
// build that knows less than the entry has reads what it knows.
func TestEntryOfEarlierBuild(t *testing.T) {
	entry := binary.AppendUvarint(nil, 1)          // time
	entry = append(entry, 0, 0, 0)                 // numbers
	entry = append(append(entry, 4), "call"...)    // texts, of which the first is the kind
	entry = append(entry, make([]byte, 15)...)     // the others
	entry = append(append(entry, 1, 1), "g"...)    // a list, of groups
	entry = append(entry, make([]byte, 5)...)      // other lists
	entry = append(append(entry, 4), 192, 0, 2, 7) // address
	note := make([]byte, journal.NoteSize)
	for tail, want := range map[string][2]string{"": {}, "coding": {"coding", ""}, "coding\x00call_tool": {"coding", "call_tool"}, "\x00call_tool": {"", "call_tool"}} {
		r, err := audit.Parse(journal.Recovered(append(slices.Clip(entry), tail...), note))
		if err != nil || r.Kind != audit.KindCall || !slices.Equal(r.Principal.Groups, []string{"g"}) || r.Principal.Addr.String() != "192.0.2.7" || r.Target.View != want[0] || r.Target.Through != want[1] {
			t.Errorf("%q: got %+v, %v", tail, r, err)
		}
	}
	// What this build writes is the same.
	m := &memory{}
	j := open(t, journal.Options{Log: m, Dir: t.TempDir()})
	for _, through := range []string{"", "call_tool"} {
		d := call("{}")
		d.Target.View, d.Target.Through = "coding", through
		if _, err := j.Begin(d); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, j)
	var got []string
	for _, r := range m.all(t) {
		if r.Kind == audit.KindCall {
			got = append(got, r.Target.View+" "+r.Target.Through)
		}
	}
	if !slices.Equal(got, []string{"coding ", "coding call_tool"}) {
		t.Errorf("got %q", got)
	}
}
