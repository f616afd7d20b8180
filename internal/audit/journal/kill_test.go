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

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/verify"
	"github.com/mcpctl/mcpctl/test/wire"
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
		Log: log, Digest: key.AppendDigest, Dir: dir, Durability: journal.Durability(n),
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
				d.Target.Trace = id
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

// kill starts a victim, kills it a while after its start, or at work: after the first call that a
// backend got, and adds what others have seen of it.
func kill(t *testing.T, s *wire.Seen, atWork bool, after time.Duration, args ...string) {
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
	begins := sync.OnceFunc(func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) })
	if !atWork {
		begins()
	}
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		begins()
		if err == io.EOF {
			break // what is cut off nobody has seen
		}
		if err != nil {
			t.Fatal(err)
		}
		switch kind, id, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "b":
			s.Backend(id)
		case "c":
			s.Client(id)
		}
	}
	_ = cmd.Wait() // it was killed
	if stderr.Len() > 0 {
		t.Fatalf("the process says: %s", &stderr)
	}
}

// compare appends what was left to the log, and compares what it says with what was seen. It
// returns the log's size.
func compare(t *testing.T, s *wire.Seen, dir string, from int64) int64 {
	t.Helper()
	log, key, err := openLog(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	closed(t, open(t, journal.Options{Log: log, Digest: key.AppendDigest, Dir: dir}))

	s.Compare(t, log, from)
	report, err := verify.Log(t.Context(), log, verify.Options{Keys: key.Verifiers()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("verify: %s: %s", f.Kind, f.Text)
	}
	return report.Size
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
	dir, s, from := t.TempDir(), new(wire.Seen), int64(0)
	backend, client := 0, 0
	for n := range *kills {
		durability := r.IntN(10) / 4 // mostly Process
		kill(t, s, n%2 == 0, time.Duration(20+r.IntN(300))*time.Millisecond, dir, strconv.Itoa(durability), "")
		if r.IntN(3) > 0 && n < *kills-1 {
			continue // the next one finds it
		}
		from = compare(t, s, dir, from)
		b, c := s.Count()
		backend, client, s = backend+b, client+c, new(wire.Seen)
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
	for n := range *kills {
		dir, disk, s := t.TempDir(), t.TempDir(), new(wire.Seen)
		kill(t, s, n%2 == 0, time.Duration(60+r.IntN(400))*time.Millisecond, dir, strconv.Itoa(int(journal.Power)), disk)
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
		compare(t, s, disk, 0)
		if t.Failed() {
			return
		}
		b, c := s.Count()
		backend, client = backend+b, client+c
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
