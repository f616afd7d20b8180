package proc_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// token is a word that only the processes of one test have on their command
// lines.
func token() string { return fmt.Sprintf("#%016x", rand.Uint64()) }

// living lists the processes that live and have a token.
func living(token string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		text, err := os.ReadFile(name) // a zombie has none
		if err != nil || !strings.Contains(string(text), token) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		pids = append(pids, pid)
	}
	return pids
}

// none fails where a process with the token lives, and ends it.
func none(t *testing.T, token string) {
	t.Helper()
	for _, pid := range living(token) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		t.Errorf("process %d lives: %s", pid, strings.ReplaceAll(string(text), "\x00", " "))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// stops stops a process, which may not take all the time that it is given.
func stops(t *testing.T, p *proc.Process, grace, term time.Duration) {
	t.Helper()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		p.Stop(grace, term)
	}()
	wait.For(t, "the end of the process", stopped)
}

// TestStop: whatever a tree of processes looks like, nothing of it is left, and
// what ends by itself is not waited for.
func TestStop(t *testing.T) {
	t.Parallel()
	const short, long = 50 * time.Millisecond, time.Hour
	for name, c := range map[string]struct {
		words       string // X stands for the token
		grace, term time.Duration
		gone        bool // the leader ends before Stop
	}{
		"ends with its input":                  {"err=up eof X", long, long, false},
		"has ended":                            {"err=up X", long, long, true},
		"ends at SIGTERM":                      {"err=up sleep X", short, long, false},
		"ignores SIGTERM":                      {"ignore-term err=up sleep X", short, short, false},
		"a child that ends at SIGTERM":         {"child=err=up+sleep+X err=up sleep X", short, long, false},
		"a child without its leader":           {"child=err=up+sleep+X err=up X", long, long, true},
		"a child that ignores SIGTERM":         {"child=ignore-term+err=up+sleep+X err=up eof X", long, short, false},
		"one that ignores, without its leader": {"child=ignore-term+err=up+sleep+X err=up X", long, short, true},
		"a grandchild":                         {"child=child=err=up++sleep++X+err=up+X err=up eof X", long, long, false},
		"a grandchild that ignores SIGTERM":    {"child=child=ignore-term++err=up++sleep++X+err=up+X err=up X", long, short, true},
		"a leader killed":                      {"child=err=up+sleep+X err=up abort X", long, long, true},
		"many":                                 {"child=err=up+sleep+X child=err=up+sleep+X child=ignore-term+err=up+sleep+X err=up X", long, short, true},
		"closes its streams and stays":         {"in out err=up ignore-term sleep X", short, short, false},
		"a child that holds on to the streams": {"child=ignore-term+err=up+sleep+X err=up in out X", short, short, true},
		"asked to hurry":                       {"child=ignore-term+err=up+sleep+X err=up ignore-term sleep X hurry", long, long, false},
		"asked to hurry, without its leader":   {"child=ignore-term+err=up+sleep+X err=up X hurry", long, long, true},
		"stopped, so that it takes no SIGTERM": {"err=up sleep X stop", short, short, false},
		"a child stopped, without its leader":  {"child=err=up+sleep+X err=up X stop", short, short, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := token()
			words := strings.Fields(strings.ReplaceAll(c.words, "X", x))
			hurry := make(chan struct{})
			p := started(t, proc.Options{Hurry: hurry}, words...)
			line(t, p.Stderr)
			if c.gone {
				<-p.Done()
			}
			switch words[len(words)-1] {
			case "hurry":
				close(hurry)
			case "stop":
				for _, pid := range living(x) {
					_ = syscall.Kill(pid, syscall.SIGSTOP)
				}
			}
			stops(t, p, c.grace, c.term)
			none(t, x)
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.PID())); err == nil {
				t.Error("the child has not been waited for")
			}
			if _, err := p.Stdout.Read(make([]byte, 1)); err == nil {
				t.Error("its output is open")
			}
		})
	}
}

// TestStopBesideZombies: a member of the group that has ended, and that nobody
// waits for, is not waited for. Its parent has left the group.
func TestStopBesideZombies(t *testing.T) {
	t.Parallel()
	x := token()
	p := started(t, proc.Options{}, "apart=group=LEADER++err=up+err=up+sleep+"+x, "err=up")
	line(t, p.Stderr)
	<-p.Done()
	wait.Until(t, "two zombies: the leader is one, too", func() bool { return inGroup(p.PID(), 'Z') == 2 })
	stops(t, p, time.Hour, time.Hour)
	for _, pid := range living(x) { // it is no business of Stop's
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// inGroup counts the processes of a group in a state.
func inGroup(group int, state byte) (n int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, _ := os.ReadFile(name)
		_, rest, _ := strings.Cut(string(text), ") ")
		var s byte
		var parent, g int
		if _, err := fmt.Sscanf(rest, "%c %d %d", &s, &parent, &g); err == nil && g == group && s == state {
			n++
		}
	}
	return n
}

// TestNumberStaysOurs: a child that has ended keeps its number, and that of its
// group, until Stop: nothing else can get a signal that is meant for it.
func TestNumberStaysOurs(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{"exit=0": "exit status 0", "exit=7": "exit status 7", "abort": "signal: killed"} {
		p := started(t, proc.Options{}, words)
		<-p.Done()
		if got := p.Status(); got != want {
			t.Errorf("%s: got %q", words, got)
		}
		if inGroup(p.PID(), 'Z') != 1 {
			t.Errorf("%s: it has been waited for before Stop", words)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { p.Stop(time.Minute, time.Minute) })
		}
		wg.Wait()
		if inGroup(p.PID(), 'Z') != 0 {
			t.Errorf("%s: it has not been waited for after Stop", words)
		}
	}
}

// TestStartFails: nothing is left of what cannot be started, at whichever step
// it fails.
func TestStartFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("no program"), 0o600))
	script := filepath.Join(dir, "script")
	require.NoError(t, require.WriteProgram(script, []byte("#!/no/such/interpreter\n"), 0o700))
	for name, o := range map[string]proc.Options{
		"no such command":      {Command: "no-such-command-here"},
		"no such file":         {Command: filepath.Join(dir, "none")},
		"a directory":          {Command: dir},
		"not executable":       {Command: plain},
		"no such interpreter":  {Command: script},
		"no such directory":    {Command: "true", Dir: filepath.Join(dir, "none")},
		"a directory, a file":  {Command: "true", Dir: plain},
		"too much to take":     {Command: "true", Env: []string{"A=" + strings.Repeat("x", 1<<20)}},
		"a NUL in an argument": {Command: "true", Args: []string{"a\x00b"}},
		"nothing":              {},
	} {
		p, err := proc.Start(o)
		if err == nil {
			t.Errorf("%s: started", name)
			p.Stop(0, 0)
		}
	}
}

// TestStarve: a process that may open no more files starts nothing, says so and
// loses none of those it has.
func TestStarve(t *testing.T) {
	t.Parallel()
	out, err := actor("starve").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "fine") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestMany: a thousand starts and stops leave neither files nor goroutines, nor
// processes.
func TestMany(t *testing.T) {
	t.Parallel()
	out, err := actor("many").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "fine") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestFilesOfChildren: a child has the three streams and nothing else of ours.
func TestFilesOfChildren(t *testing.T) {
	t.Parallel()
	first := started(t, proc.Options{}, "err=up", "eof")
	line(t, first.Stderr)
	second, err := proc.Start(proc.Options{Command: "sh", Args: []string{"-c", "ls /proc/self/fd | tr '\\n' ' '; echo"}})
	require.NoError(t, err)
	got := strings.Fields(line(t, second.Stdout))
	second.Stop(time.Minute, time.Minute)
	got = slices.DeleteFunc(got, func(fd string) bool { return slices.Contains(handedDown(), fd) })
	if len(got) != 4 { // one is the directory itself
		t.Errorf("a child has %s", got)
	}
	// Were the second a holder of the first's input, this would not end.
	first.Stop(time.Minute, time.Minute)
	_, _ = io.Copy(io.Discard, first.Stdout)
}

// handedDown lists the descriptors beside the streams that this process was
// started with: they go to everybody.
func handedDown() (fds []string) {
	for fd := 3; fd < 1024; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			fds = append(fds, strconv.Itoa(fd))
		}
	}
	return fds
}
