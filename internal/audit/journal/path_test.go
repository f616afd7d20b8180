package journal_test

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestAllocations checks that decisions and outcomes allocate nothing: of a usual call, of one
// that takes several slots, and of one whose outcome comes late.
func TestAllocations(t *testing.T) {
	gate := new(sync.Mutex)
	taken := make(chan struct{}, 1)
	j := open(t, journal.Options{Log: none{gate, taken}, Dir: t.TempDir()})
	written(t, j)
	gate.Lock()
	defer gate.Unlock()
	select {
	case <-taken: // a batch of before
	default:
	}
	args := strings.Repeat("a", 300)
	long := call(args)
	long.Target.Item = strings.Repeat("i", 2000)
	denied := call(args)
	denied.Decision.Verdict = audit.VerdictDeny
	result := bytes.Repeat([]byte("r"), 2000)
	var waiting []journal.Ticket
	for range 600 {
		ticket, err := j.Begin(call(args))
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, ticket)
	}
	wait.For(t, "a batch of them, with which the writer waits", taken)
	for name, do := range map[string]func() error{
		"usual": func() error { return both(j, call0, result) },
		"long":  func() error { return both(j, long, result) },
		"denied": func() error {
			_, err := j.Begin(denied)
			return err
		},
		"late": func() error {
			ticket := waiting[0]
			waiting = waiting[1:]
			return j.End(ticket, audit.Outcome{Out: audit.OutOK}, result)
		},
	} {
		if n := testing.AllocsPerRun(300, func() {
			if err := do(); err != nil {
				t.Error(name, err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

var call0 = call(`{"title":"a","body":"b"}`)

func both(j *journal.Journal, d *journal.Request, result []byte) error {
	ticket, err := j.Begin(d)
	if err != nil {
		return err
	}
	return j.End(ticket, audit.Outcome{Out: audit.OutOK}, result)
}

// TestNoLocks checks that no caller of 256 has waited for a lock of the journal's.
func TestNoLocks(t *testing.T) {
	before := runtime.SetMutexProfileFraction(1)
	defer runtime.SetMutexProfileFraction(before)
	j := open(t, journal.Options{Log: new(memory), Dir: t.TempDir()})
	var all sync.WaitGroup
	for range 256 {
		all.Go(func() {
			for range 24 {
				if err := both(j, call0, []byte("result")); err != nil {
					t.Error(err)
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
	written(t, j)
	var text strings.Builder
	if err := pprof.Lookup("mutex").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(text.String(), "\n\n") {
		if !strings.Contains(stack, "Mutex).") { // a lock of the scheduler or the heap
			continue
		}
		for _, f := range []string{").Begin", ").End", "ring.(*"} {
			if strings.Contains(stack, "internal/audit/") && strings.Contains(stack, f) {
				t.Errorf("a lock is waited for:\n%s", stack)
				break
			}
		}
	}
}

// TestIdle checks that a journal with nothing to do does nothing.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		j := open(t, journal.Options{Log: m, Dir: t.TempDir()})
		if err := both(j, call0, nil); err != nil {
			t.Fatal(err)
		}
		written(t, j)
		synctest.Wait()
		turns := j.Turns()
		time.Sleep(time.Second)
		if n := j.Turns() - turns; n > 0 {
			t.Errorf("the writer was woken %d times", n)
		}
		if err := both(j, call0, nil); err != nil {
			t.Fatal(err)
		}
		written(t, j)
		if n := j.Turns() - turns; n < 1 || n > 2 { // two, if the machine was slow between decision and outcome
			t.Errorf("the writer was woken %d times by one call", n)
		}
	})
}

// TestBodies checks which bodies are kept, and how.
func TestBodies(t *testing.T) {
	m := new(memory)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	j := open(t, journal.Options{Log: m, Bodies: journal.Bodies{
		Of:     func(server, item string) bool { return server == "gh" && item == "create_issue" },
		Max:    64,
		Redact: true,
	}})
	if err := both(j, call(`{"token":"`+secret+`"}`), []byte(`{"text":"`+strings.Repeat("é", 100)+`"}`)); err != nil {
		t.Fatal(err)
	}
	other := call(`{"other":1}`)
	other.Target.Item = "list_issues"
	if err := both(j, other, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := both(j, call(`not JSON `+secret), []byte(strings.Repeat("x", 2<<20))); err != nil {
		t.Fatal(err)
	}
	ticket, err := j.Begin(call(""))
	if err != nil {
		t.Fatal(err)
	}
	written(t, j)
	if err := j.End(ticket, audit.Outcome{Out: audit.OutOK}, []byte(`{"late":true}`)); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	all := m.all(t)
	var withBodies []string
	for _, b := range m.bodies {
		r := all[b.Record]
		digest, what := r.Arguments.Digest, string(r.Kind)+" args "
		if b.Result {
			digest, what = r.Outcome.ResultDigest, string(r.Kind)+" result "
		}
		if digest != b.Digest || digest == "" {
			t.Errorf("%s: digest %s, record %s", b.Data, b.Digest, digest)
		}
		if b.Cut {
			what += "cut "
		}
		withBodies = append(withBodies, what+string(b.Data))
	}
	want := []string{
		`call args {"token":"[GitHub token removed]"}`,
		`call result cut {"text":"` + strings.Repeat("é", 27),
		`done result {"late":true}`,
	}
	if strings.Join(withBodies, "\n") != strings.Join(want, "\n") {
		t.Errorf("kept\n%s\nwant\n%s", strings.Join(withBodies, "\n"), strings.Join(want, "\n"))
	}
}

// TestClean: what is kept is cleaned with the secrets of the server and the principal, also
// when it comes after its decision. Digests are of what was sent.
func TestClean(t *testing.T) {
	m := new(memory)
	j := open(t, journal.Options{Log: m, Bodies: journal.Bodies{
		Of:     func(string, string) bool { return true },
		Redact: true,
		Clean: func(server, principal string, body []byte) ([]byte, bool) {
			return bytes.ReplaceAll(body, []byte("hush"), []byte(server+" "+principal)), !bytes.Contains(body, []byte("unknown"))
		},
	}})
	if err := both(j, call(`{"a":"hush"}`), []byte(`{"b":"hush"}`)); err != nil {
		t.Fatal(err)
	}
	if err := both(j, call(`{"a":"hush unknown"}`), []byte(`{"b":"hush unknown"}`)); err != nil {
		t.Fatal(err)
	}
	ticket, err := j.Begin(call(""))
	if err != nil {
		t.Fatal(err)
	}
	written(t, j)
	if err := j.End(ticket, audit.Outcome{Out: audit.OutOK}, []byte(`{"late":"hush"}`)); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	var withBodies, digests []string
	for _, b := range m.bodies {
		withBodies, digests = append(withBodies, string(b.Data)), append(digests, b.Digest)
	}
	const who = "gh https://idp.example|8f3a"
	if want := []string{`{"a":"` + who + `"}`, `{"b":"` + who + `"}`, `{"late":"` + who + `"}`}; !slices.Equal(withBodies, want) {
		t.Errorf("kept %q, want %q", withBodies, want)
	}
	if want := []string{string(digest(nil, []byte(`{"a":"hush"}`))), string(digest(nil, []byte(`{"b":"hush"}`))), string(digest(nil, []byte(`{"late":"hush"}`)))}; !slices.Equal(digests, want) {
		t.Errorf("digests %q, want %q", digests, want)
	}
}
