package proc_test

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/internal/guardian"
	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/internal/proctree"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// withVariable lists the living processes that have a text in their
// environment.
func withVariable(text string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		environ, err := os.ReadFile(name) // a zombie has none
		if err != nil || !bytes.Contains(environ, []byte(text)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		pids = append(pids, pid)
	}
	return pids
}

// TestKilledAtAnyMoment: whenever the process that starts and stops children is
// killed, none of their processes is there some seconds later, nor the
// guardian. MCPCTL_TEST_KILLS sets how often; a proof takes 100.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("MCPCTL_TEST_KILLS")); err == nil {
		kills = n
	}
	var rounds errgroup.Group
	rounds.SetLimit(4)
	for range kills {
		rounds.Go(func() error { killOne(t); return nil })
	}
	_ = rounds.Wait()
}

func killOne(t *testing.T) {
	x := token()
	cmd := actor("storm", x)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	var guardian int
	text, _ := bufio.NewReader(out).ReadString('\n')
	if _, err := fmt.Sscanf(text, "up %d", &guardian); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Duration(rand.Int64N(int64(150 * time.Millisecond))))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	killed := time.Now()
	begun := len(withVariable(x))
	for alive(guardian) && time.Since(killed) < wait.Gone {
		time.Sleep(10 * time.Millisecond)
	}
	if alive(guardian) {
		t.Error("the guardian is there")
	}
	left := withVariable(x)
	t.Logf("%d processes, %d left after %v", begun, len(left), time.Since(killed).Round(time.Millisecond))
	for _, pid := range left {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		t.Errorf("left: %q %s", text, stat)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// alive reports whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestGuardianItself: it is small, holds the pipe and nothing else, is in a
// session of its own, is called something else, is deaf to what would end it,
// and goes with a goodbye.
func TestGuardianItself(t *testing.T) {
	t.Setenv("CANARY_TOKEN", "of a server")
	t.Setenv(proctree.MarkVariable, "above.1")
	// Descriptors without close-on-exec must not stay with it.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	fd, err := syscall.Dup(int(w.Fd()))
	require.NoError(t, err)
	g := newGuard()
	begin(g)
	_ = syscall.Close(fd)
	_ = w.Close()
	defer g.Close()
	p := started(t, proc.Options{Guard: g}, "err=up", "eof")
	line(t, p.Stderr)
	pid := g.PID()
	if _, err := r.Read(make([]byte, 1)); err == nil {
		t.Error("it holds a pipe of ours open")
	}
	dir := fmt.Sprintf("/proc/%d/", pid)
	wait.Until(t, "the end of the files that it is born with", func() bool { return alienFile(dir+"fd") == "" })
	environ, err := os.ReadFile(dir + "environ")
	for line := range strings.SplitSeq(strings.TrimRight(string(environ), "\x00"), "\x00") {
		switch name, _, _ := strings.Cut(line, "="); name {
		case guardian.Variable, proctree.MarkVariable, "GOMAXPROCS", "GOCOVERDIR", "GORACE":
		default:
			t.Errorf("its environment has %q", line)
		}
	}
	if !strings.Contains(string(environ), proctree.MarkVariable+"=above.1\x00") || err != nil {
		t.Errorf("the guard above does not find it: %q, %v", environ, err)
	}
	if comm, _ := os.ReadFile(dir + "comm"); string(comm) != "mcp-guardian\n" {
		t.Errorf("it is called %s", comm)
	}
	if sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0); int(sid) != pid {
		t.Errorf("its session is %d", sid)
	}
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		_ = syscall.Kill(pid, sig)
	}
	p.Stop(time.Minute, time.Minute)
	if !alive(pid) || g.PID() != pid {
		t.Error("a signal has ended it")
	}
	if f := proc.Measure(pid)[pid]; f.RSS > 40<<20 {
		t.Errorf("it takes %d bytes", f.RSS)
	} else {
		t.Logf("resident: %d KiB", f.RSS>>10)
	}
	g.Close()
	if alive(pid) {
		t.Error("it outlives the goodbye")
	}
	g.Close()
}

// alienFile returns an open file of a guardian that it should not have.
func alienFile(dir string) string {
	fds, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, e := range fds {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		// The runtime's poller, and where it reads how many processors there are.
		own := err != nil || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/sys/fs/cgroup/")
		if n, _ := strconv.Atoi(e.Name()); !own && (n > 2 || n > 0 && to != os.DevNull) {
			return to
		}
	}
	return ""
}

// TestGuardianIsReplaced: another one takes over from one that is killed, or
// stopped and deaf, and knows what the first has been told.
func TestGuardianIsReplaced(t *testing.T) {
	t.Parallel()
	x := token()
	cmd := actor("keep", x)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var first, second int
	if _, err := fmt.Sscanf(line(t, out), "up %d", &first); err != nil {
		t.Fatal(err)
	}
	// The children have cleared their environment, so only the list has them.
	if n := len(living(x)); n != 1+2+2 { // who starts one has the token, too
		t.Fatalf("%d processes, want 5", n)
	}
	_ = syscall.Kill(first, syscall.SIGKILL)
	if _, err := fmt.Sscanf(line(t, out), "up %d", &second); err != nil || second == first {
		t.Fatal(second, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for end := time.Now().Add(wait.Gone); alive(second) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if alive(second) {
		t.Error("the guardian is there")
	}
	none(t, x)
}

// TestStopFindsStrays: with a guard, what has left the group ends with the
// child, unless it has given up the mark; another child's stays.
func TestStopFindsStrays(t *testing.T) {
	t.Parallel()
	g := newGuard()
	defer g.Close()
	x, y := token(), token()
	mine := started(t, proc.Options{Guard: g}, "stray=ignore-term+err=up+sleep+"+x, "stray=err=up+sleep+"+x, "err=up", "eof")
	other := started(t, proc.Options{Guard: g}, "stray=err=up+sleep+"+y, "err=up", "eof")
	line(t, mine.Stderr)
	line(t, other.Stderr)
	mine.Stop(time.Minute, 100*time.Millisecond)
	none(t, x)
	if len(living(y)) != 2 { // the leader, which has the token, too, and its stray
		t.Error("another child's stray is gone")
	}
	other.Stop(time.Minute, time.Minute)
	none(t, y)

	without := started(t, proc.Options{}, "stray=err=up+sleep+"+y, "err=up", "eof")
	line(t, without.Stderr)
	without.Stop(time.Minute, time.Minute)
	if len(living(y)) != 1 {
		t.Error("without a guard, a stray is gone")
	}
	for _, pid := range living(y) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestNoGuardian: that one cannot be started is said once, and harms nobody.
func TestNoGuardian(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{filepath.Join(t.TempDir(), "none"): 1, "/bin/true": -1} {
		var log bytes.Buffer
		g := guardian.New(guardian.Options{Path: path, Args: []string{"x"}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 3 {
			p := started(t, proc.Options{Guard: g}, "err=up", "eof")
			line(t, p.Stderr)
			p.Stop(time.Minute, time.Minute)
		}
		g.Close()
		g.Close()
		if n := strings.Count(log.String(), "can be started"); want >= 0 && n != want {
			t.Errorf("%s: %d warnings: %s", path, n, &log)
		}
	}
	unused := guardian.New(guardian.Options{})
	unused.Close()
}
