package journal_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/test/wait"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(victimEnv); text != "" {
		args := strings.Split(text, "\n")
		victim(args[0], args[1], args[2])
	}
	goleak.VerifyTestMain(m)
}

// TestRecords compares what is logged with what was said.
func TestRecords(t *testing.T) {
	for name, dir := range map[string]string{"file": t.TempDir(), "memory": ""} {
		t.Run(name, func(t *testing.T) {
			m := new(memory)
			j := open(t, journal.Options{Log: m, Dir: dir, Version: "v9"})
			d := call(`{"a":1}`)
			d.Principal.Addr = netip.MustParseAddr("192.0.2.7")
			d.Decision.Would, d.Decision.Scopes, d.Decision.Found = []string{"w1", "w2"}, []string{"s"}, []string{"secret"}
			d.Target.Trace, d.Target.Through = "4bf9", "call_tool"
			fast, err := j.Begin(d)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.End(fast, audit.Outcome{Out: audit.OutOK}, []byte("result")); err != nil {
				t.Fatal(err)
			}
			denied := call("")
			denied.Decision.Verdict = audit.VerdictDeny
			no, err := j.Begin(denied)
			if err != nil {
				t.Fatal(err)
			}
			long := call(strings.Repeat("x", 100_000)) // digested by the caller, and more than a slot
			long.Target.Item = strings.Repeat("i", 2000)
			slow, err := j.Begin(long)
			if err != nil {
				t.Fatal(err)
			}
			written(t, j)
			if err := j.End(slow, audit.Outcome{Out: audit.OutToolError}, []byte(strings.Repeat("y", 70_000))); err != nil {
				t.Fatal(err)
			}
			if err := j.Append(&audit.Record{Kind: audit.KindAuth, Text: "expired", Count: 3, Principal: audit.Principal{Via: "jwt"}}); err != nil {
				t.Fatal(err)
			}
			if got := j.Ref(no); got != j.Run()+"-3" {
				t.Errorf("Ref is %q", got)
			}
			closed(t, j)
			all := m.all(t)
			dense(t, all)
			for i := range all {
				if age := time.Since(all[i].Time); age < 0 || age > time.Minute || all[i].Run != j.Run() {
					t.Errorf("%+v: time or run", all[i])
				}
				all[i].Time, all[i].Run, all[i].Outcome.Took = time.Time{}, "", 0
			}
			want := []audit.Record{
				{N: 1, Kind: audit.KindStart, Text: "v9"},
				{
					N: 2, Kind: d.Kind, Principal: d.Principal, Target: d.Target, Decision: d.Decision,
					Arguments: audit.Arguments{Digest: string(digest(nil, d.Arguments)), Size: 7},
					Outcome:   audit.Outcome{Out: audit.OutOK, ResultDigest: string(digest(nil, []byte("result"))), ResultSize: 6},
				},
				{N: 3, Kind: d.Kind, Principal: denied.Principal, Target: denied.Target, Decision: denied.Decision},
				{
					N: 4, Kind: d.Kind, Principal: long.Principal, Target: long.Target, Decision: long.Decision,
					Arguments: audit.Arguments{Digest: string(digest(nil, long.Arguments)), Size: 100_000},
				},
				{N: 5, Kind: audit.KindDone, Of: 4, Outcome: audit.Outcome{
					Out: audit.OutToolError, ResultSize: 70_000, ResultDigest: string(digest(nil, []byte(strings.Repeat("y", 70_000)))),
				}},
				{N: 6, Kind: audit.KindAuth, Text: "expired", Count: 3, Principal: audit.Principal{Via: "jwt"}},
				{N: 7, Kind: audit.KindStop},
			}
			if diff := cmp.Diff(want, all, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
			if len(m.states) != 0 {
				t.Errorf("states are left: %q", m.states)
			}
		})
	}
}

// written waits until all records are in the log.
func written(t testing.TB, j *journal.Journal) {
	t.Helper()
	wait.Until(t, "all records in the log", func() bool { return j.Health().Waiting == 0 })
}

// TestNil checks that no journal takes no records, and is in nobody's way.
func TestNil(t *testing.T) {
	var j *journal.Journal
	ticket, err := j.Begin(call("{}"))
	if err != nil || ticket != (journal.Ticket{}) || j.Waits() || j.Ref(ticket) != "" || j.Run() != "" {
		t.Error("a nil journal does something")
	}
	if err := errors.Join(j.Wait(t.Context(), ticket), j.End(ticket, audit.Outcome{}, nil), j.Append(&audit.Record{}), j.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if h := j.Health(); h != (journal.Health{}) {
		t.Errorf("%+v", h)
	}
}

var errDisk = errors.New("disk full")

// TestFailing checks what happens while the log cannot be written, and afterwards.
func TestFailing(t *testing.T) {
	for _, optional := range []bool{false, true} {
		name := map[bool]string{false: "required", true: "optional"}[optional]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := new(memory)
				var reports []error
				j := open(t, journal.Options{Log: m, Optional: optional, Report: func(err error) { reports = append(reports, err) }})
				during, err := j.Begin(call("{}"))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				m.fail(errDisk)
				seen, err := j.Begin(call("{}"))
				if err != nil {
					t.Fatal("it is not known yet", err)
				}
				time.Sleep(time.Second)
				if err := j.Health().Err; !errors.Is(err, errDisk) {
					t.Errorf("Health says %v", err)
				}
				refused := 0
				for range 5000 {
					switch _, err := j.Begin(call("{}")); {
					case errors.Is(err, journal.ErrUnwritten):
						refused++
					case err != nil:
						t.Fatal(err)
					}
				}
				if want := map[bool]int{false: 5000, true: 0}[optional]; refused != want {
					t.Errorf("%d requests are refused, want %d", refused, want)
				}
				start := time.Now()
				err = j.Wait(t.Context(), journal.Ticket{})
				if optional != (err == nil) || time.Since(start) > 50*time.Millisecond {
					t.Errorf("Wait: %v after %v", err, time.Since(start))
				}
				// What goes on is recorded.
				for _, ticket := range []journal.Ticket{during, seen} {
					if err := j.End(ticket, audit.Outcome{Out: audit.OutOK}, nil); err != nil {
						t.Error(err)
					}
				}
				m.fail(nil)
				time.Sleep(6 * time.Second)
				if h := j.Health(); h.Err != nil || h.Waiting != 0 {
					t.Errorf("afterwards: %+v", h)
				}
				if _, err := j.Begin(call("{}")); err != nil {
					t.Error(err)
				}
				unwritten := j.Health().Unwritten
				closed(t, j)
				all := m.all(t)
				dense(t, all)
				ended, told := 0, int64(0)
				for _, r := range all {
					if r.Outcome.Out == audit.OutOK {
						ended++
					}
					if r.Kind == audit.KindGap {
						told += r.Count
					}
				}
				if ended != 2 || told == 0 || told != int64(unwritten) {
					t.Errorf("%d outcomes, want 2; %d of %d in gaps", ended, told, unwritten)
				}
				if len(reports) != 2 || !errors.Is(reports[0], errDisk) || reports[1] != nil {
					t.Errorf("reports: %v", reports)
				}
			})
		})
	}
}

// TestFull checks that decisions are refused when the ring is nearly full, and outcomes are
// not.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		m.delay.Store(int64(time.Hour))
		j := open(t, journal.Options{Log: m})
		var tickets []journal.Ticket
		for {
			ticket, err := j.Begin(call("{}"))
			if err != nil {
				break
			}
			tickets = append(tickets, ticket)
		}
		time.Sleep(time.Minute) // the first batch is taken
		for _, ticket := range tickets {
			if err := j.End(ticket, audit.Outcome{Out: audit.OutOK}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Wait(t.Context(), journal.Ticket{}); !errors.Is(err, journal.ErrUnwritten) {
			t.Errorf("Wait for room: %v", err)
		}
		m.delay.Store(0)
		time.Sleep(2 * time.Hour)
		if err := j.Wait(t.Context(), journal.Ticket{}); err != nil {
			t.Errorf("Wait for room: %v", err)
		}
		closed(t, j)
		ended := 0
		for _, r := range m.all(t) {
			if r.Outcome.Out == audit.OutOK {
				ended++
			}
		}
		if ended != len(tickets) {
			t.Errorf("%d outcomes of %d", ended, len(tickets))
		}
	})
}

// TestWait checks that requests of the durabilities Logged and Power wait for the log.
func TestWait(t *testing.T) {
	for _, d := range []journal.Durability{journal.Logged, journal.Power} {
		synctest.Test(t, func(t *testing.T) {
			m := new(memory)
			m.delay.Store(int64(2 * time.Millisecond))
			j := open(t, journal.Options{Log: m, Durability: d})
			if !j.Waits() {
				t.Error("it does not wait")
			}
			ticket, err := j.Begin(call("{}"))
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Wait(t.Context(), ticket); err != nil {
				t.Fatal(err)
			}
			if n := len(m.all(t)); n != 2 {
				t.Errorf("%d records after Begin", n)
			}
			if err := j.End(ticket, audit.Outcome{Out: audit.OutOK}, nil); err != nil {
				t.Fatal(err)
			}
			if err := j.Wait(t.Context(), ticket); err != nil {
				t.Fatal(err)
			}
			if n := len(m.all(t)); n != 3 {
				t.Errorf("%d records after End", n)
			}
			if synced := m.syncs == m.batches; synced != (d == journal.Power) {
				t.Errorf("%d of %d batches are synced", m.syncs, m.batches)
			}
			m.fail(errDisk)
			ticket, err = j.Begin(call("{}"))
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Wait(t.Context(), ticket); !errors.Is(err, journal.ErrUnwritten) {
				t.Errorf("Wait: %v", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := j.Close(ctx); !errors.Is(err, errDisk) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// TestCommand: a run whose requests wait for the log and that has one of them is three
// batches: the start goes with the decision, and the last one is signed with the stop.
func TestCommand(t *testing.T) {
	t.Parallel()
	for _, unsigned := range []error{nil, errors.New("no key")} {
		synctest.Test(t, func(t *testing.T) { command(t, unsigned) })
	}
}

func command(t *testing.T, unsigned error) {
	t.Helper()
	m := &memory{unsigned: unsigned}
	j := open(t, journal.Options{Log: m, Durability: journal.Logged})
	synctest.Wait() // the writer waits for the first request
	ticket, err := j.Begin(call("{}"))
	if err == nil {
		err = j.Wait(t.Context(), ticket)
	}
	if all := m.all(t); err != nil || len(all) != 2 || m.batches != 1 {
		t.Errorf("%v: %d records in %d batches", err, len(all), m.batches)
	}
	if err := errors.Join(j.End(ticket, audit.Outcome{Out: audit.OutOK}, []byte("{}")), j.Wait(t.Context(), ticket)); err != nil {
		t.Error(err)
	}
	closed(t, j)
	want := []int{4}
	if unsigned != nil {
		want = nil
	}
	if all := m.all(t); len(all) != 4 || m.batches != 3 || !slices.Equal(m.checkpoints, want) || len(m.states) != 0 {
		t.Errorf("%d records in %d batches, checkpoints %v, states %v", len(all), m.batches, m.checkpoints, m.states)
	}
}

// TestCheckpoints checks when the log is signed.
func TestCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		j := open(t, journal.Options{Log: m})
		count := func(want int, when string) {
			t.Helper()
			m.mu.Lock()
			defer m.mu.Unlock()
			if len(m.checkpoints) != want {
				t.Errorf("%d checkpoints %s, want %d", len(m.checkpoints), when, want)
			}
		}
		time.Sleep(time.Second)
		count(1, "after the start")
		time.Sleep(time.Hour)
		count(1, "after an hour without records")
		begin := func() {
			if _, err := j.Begin(call("{}")); err != nil {
				t.Fatal(err)
			}
		}
		begin()
		time.Sleep(59 * time.Second)
		count(1, "after 59 seconds")
		time.Sleep(2 * time.Second)
		count(2, "after a minute")
		for range 1000 {
			begin()
		}
		time.Sleep(time.Second)
		count(3, "after 1,000 records")
		begin()
		closed(t, j)
		count(4, "at the end")
		if last := m.checkpoints[3]; last != len(m.records) {
			t.Errorf("the last one has %d of %d records", last, len(m.records))
		}
	})
}

// TestUnsigned checks that a log which cannot be signed is one that cannot be written.
func TestUnsigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{unsigned: errDisk}
		j := open(t, journal.Options{Log: m})
		early, err := j.Begin(call("{}"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := j.End(early, audit.Outcome{Out: audit.OutOK}, nil); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if _, err := j.Begin(call("{}")); !errors.Is(err, journal.ErrUnwritten) {
			t.Errorf("Begin: %v", err)
		}
		if h := j.Health(); !errors.Is(h.Err, errDisk) || h.Waiting > 0 {
			t.Errorf("%+v", h)
		}
		m.mu.Lock()
		m.unsigned = nil
		m.mu.Unlock()
		time.Sleep(6 * time.Second)
		if _, err := j.Begin(call("{}")); err != nil {
			t.Errorf("Begin: %v", err)
		}
		closed(t, j)
	})
}
