package proc

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestNoThreads: children that run hold no thread of this process each.
func TestNoThreads(t *testing.T) {
	if !polled(exited(t), new(unix.Siginfo)) {
		t.Skip("this system cannot wait for a process without a thread (Linux before 5.10)")
	}
	threads := func() int {
		all, err := os.ReadDir("/proc/self/task")
		require.NoError(t, err)
		return len(all)
	}
	const children = 40
	before := threads()
	var all []*Process
	for range children {
		p, err := Start(Options{Command: "sleep", Args: []string{"60"}})
		require.NoError(t, err)
		all = append(all, p)
	}
	if more := threads() - before; more > children/2 {
		t.Errorf("%d children take %d threads", children, more)
	}
	for _, p := range all {
		p.child.Kill()
		if <-p.Done(); p.Status() != "signal: killed" {
			t.Errorf("it ended with %q", p.Status())
		}
		p.Stop(0, 0)
	}
}

// exited returns a child that has ended with status 3, and is waited for at the end.
func exited(t *testing.T) int {
	t.Helper()
	p, err := Start(Options{Command: "sh", Args: []string{"-c", "exit 3"}})
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(0, 0) })
	<-p.Done()
	return p.PID()
}

// TestAwaitWithoutPoller: both ways to wait tell the same.
func TestAwaitWithoutPoller(t *testing.T) {
	pid := exited(t)
	var one, other unix.Siginfo
	require.NoError(t, wait(pid, &one, 0))
	if polled(pid, &other) && ending(&other) != ending(&one) || ending(&one) != "exit status 3" {
		t.Errorf("got %q and %q", ending(&one), ending(&other))
	}
	if polled(os.Getppid(), new(unix.Siginfo)) {
		t.Error("it has waited for a process that is no child")
	}
}
