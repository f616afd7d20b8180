package journal_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/audit"
	"github.com/mcpctl/mcpctl/runtime/audit/journal"
	"github.com/mcpctl/mcpctl/runtime/audit/logfile"
	"github.com/mcpctl/mcpctl/runtime/audit/verify"
)

var (
	kills     = flag.Int("kills", 10, "at how many random moments a process with 256 callers is killed, and as many of the power")
	killsSeed = flag.Uint64("kills-seed", 0, "repeats a run; 0 is a seed of its own")
)

// victimEnv has this test binary be a process that is killed: its value is the folder of the
// log, the durability, and the folder of what is on the disk, or "".
const victimEnv = "JOURNAL_TEST_VICTIM"

// victim makes calls from 256 goroutines until it is killed. A line on standard output is
// what others have seen: "b ID" that a backend got the call ID, "c ID" that its client got the
// answer.
func victim(dir, durability, disk string) {
	ctx := context.Background()
	if disk != "" {
		dropUnsynced(dir, disk)
	}
	n, err := strconv.Atoi(durability)
	check(err)
	log, key, err := openLog(ctx, dir)
	check(err)
	j, err := journal.Open(ctx, journal.Options{
		Keeper: log, Digest: key.AppendDigest, Dir: dir, Durability: journal.Durability(n),
	})
	check(err)
	say := func(kind, id string) {
		_, err := os.Stdout.WriteString(kind + " " + id + "\n") // one write, and short enough to be whole
		check(err)
	}
	for who := range 256 {
		go func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%s.%d.%d", j.Run(), who, n)
				d := call(`{"id":"` + id + `"}`)
				d.What.Trace = id
				t, err := j.Begin(d)
				for err != nil {
					if err = j.Wait(ctx, t); err == nil {
						t, err = j.Begin(d)
					}
				}
				check(j.Wait(ctx, t))
				say("b", id)
				check(j.End(t, audit.Outcome{Out: audit.OutOK}, []byte(`{"id":"`+id+`"}`)))
				check(j.Wait(ctx, t))
				say("c", id)
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			}
		}()
	}
	select {}
}

func check(err error) {
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func openLog(ctx context.Context, dir string) (*logfile.Log, *logfile.Key, error) {
	key, err := logfile.OpenKey(filepath.Join(dir, "audit.key"))
	if err != nil {
		return nil, nil, err
	}
	log, err := logfile.Open(ctx, filepath.Join(dir, "audit.db"), logfile.Options{Key: key})
	return log, key, err
}

// seen are calls that a backend has got, and those whose answer a client has got.
type seen struct{ backend, client map[string]bool }

// kill starts a victim, kills it after a while, and adds what others have seen of it.
func (s *seen) kill(t *testing.T, after time.Duration, args ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), victimEnv+"="+strings.Join(args, "\n"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break // what is cut off nobody has seen
		}
		if err != nil {
			t.Fatal(err)
		}
		switch kind, id, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "b":
			s.backend[id] = true
		case "c":
			s.client[id] = true
		}
	}
	_ = cmd.Wait() // it was killed
	if stderr.Len() > 0 {
		t.Fatalf("the process says: %s", &stderr)
	}
}

// compare appends what was left to the log, and compares what it says with what was seen. It
// returns the log's size.
func (s *seen) compare(t *testing.T, dir string, from int64) int64 {
	t.Helper()
	log, key, err := openLog(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	closed(t, open(t, journal.Options{Keeper: log, Digest: key.AppendDigest, Dir: dir}))

	var all []audit.Record
	if err := log.Segments(t.Context(), logfile.Span{From: from}, func(g logfile.Segment) error {
		for line := range strings.Lines(string(g.Records)) {
			r, err := audit.Parse([]byte(strings.TrimSuffix(line, "\n")))
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	dense(t, all)
	type name struct {
		run string
		n   uint64
	}
	ids, outs := make(map[name]string), make(map[string]string)
	for _, r := range all {
		id := r.What.Trace
		switch r.Kind { //nolint:exhaustive // others have no outcome
		case audit.KindCall:
			if _, twice := outs[id]; twice {
				t.Errorf("call %s has two decisions", id)
			}
			ids[name{r.Run, r.N}], outs[id] = id, r.Came.Out
		case audit.KindDone:
			if id = ids[name{r.Run, r.Of}]; outs[id] != "" || id == "" {
				t.Errorf("call %q, %s-%d, has two outcomes, or no decision: %s", id, r.Run, r.N, outs[id])
			}
			outs[id] = r.Came.Out
		}
	}
	for id := range s.backend {
		if _, ok := outs[id]; !ok {
			t.Errorf("a backend got call %s, whose decision is not in the log", id)
		}
	}
	for id := range s.client {
		if outs[id] != audit.OutOK {
			t.Errorf("a client got the answer of call %s, whose outcome is %q in the log", id, outs[id])
		}
	}
	for id, out := range outs {
		if out == "" {
			t.Errorf("call %s has no outcome", id)
		}
	}
	report, err := verify.Log(t.Context(), log, verify.Options{Keys: key.Verifiers()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("verify: %s: %s", f.Kind, f.Text)
	}
	return report.Size
}

func newSeen() *seen {
	return &seen{backend: make(map[string]bool), client: make(map[string]bool)}
}

// moments returns a source of random moments.
func moments(t *testing.T) *rand.Rand {
	seed := *killsSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -kills-seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// TestKilled kills processes with 256 callers at random moments, also while they append what
// those before have left: each call that a backend got has its decision in the log, and each
// answer that a client got its outcome.
func TestKilled(t *testing.T) {
	t.Parallel()
	r := moments(t)
	dir, s, from := t.TempDir(), newSeen(), int64(0)
	backend, client := 0, 0
	for n := range *kills {
		durability := r.IntN(10) / 4 // mostly Process
		s.kill(t, time.Duration(20+r.IntN(300))*time.Millisecond, dir, strconv.Itoa(durability), "")
		if r.IntN(3) > 0 && n < *kills-1 {
			continue // the next one finds it
		}
		from = s.compare(t, dir, from)
		backend, client, s = backend+len(s.backend), client+len(s.client), newSeen()
		if t.Failed() {
			return
		}
		if from > 100_000 {
			dir, from = t.TempDir(), 0
		}
	}
	t.Logf("%d processes were killed; backends got %d calls, clients %d answers", *kills, backend, client)
	if client == 0 {
		t.Error("no client got an answer")
	}
}

// TestPower is TestKilled for the durability Power, with the log on a disk that loses all
// that was not synced.
func TestPower(t *testing.T) {
	t.Parallel()
	r := moments(t)
	var all sync.WaitGroup
	defer all.Wait()
	backend, client := 0, 0
	for range *kills {
		dir, disk, s := t.TempDir(), t.TempDir(), newSeen()
		s.kill(t, time.Duration(60+r.IntN(400))*time.Millisecond, dir, strconv.Itoa(int(journal.Power)), disk)
		if key, err := os.ReadFile(filepath.Join(dir, "audit.key")); err == nil {
			if err := os.WriteFile(filepath.Join(disk, "audit.key"), key, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range rings(t, dir) { // it says that there was a run
			if err := os.WriteFile(filepath.Join(disk, filepath.Base(path)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.compare(t, disk, 0)
		if t.Failed() {
			return
		}
		backend, client = backend+len(s.backend), client+len(s.client)
	}
	t.Logf("%d times the power failed; backends got %d calls, clients %d answers", *kills, backend, client)
	if client == 0 {
		t.Error("no client got an answer")
	}
}

func rings(t *testing.T, dir string) []string {
	paths, err := filepath.Glob(filepath.Join(dir, "audit-*.ring"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
