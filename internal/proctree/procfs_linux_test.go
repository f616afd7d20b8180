package proctree

import (
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestParseStat: a name may be anything.
func TestParseStat(t *testing.T) {
	const rest = " S 12 34 34 0 -1 4194560 100 0 0 0 5 6 7 8 20 0 9 0 123456 1000000 77 18446744073709551615 1 1"
	for _, name := range []string{"node", "a b", ") R 1 1", "(", "((x) y)", ""} {
		got, ok := parseStat(fmt.Appendf(nil, "4321 (%s)%s\n", name, rest))
		want := Stat{PID: 4321, Parent: 12, Group: 34, State: 'S', Ticks: 26, Started: 123456, Pages: 77}
		if !ok || got != want {
			t.Errorf("%q: got %+v %v", name, got, ok)
		}
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x) S 1 1", ") (", "(x) S", "x (y)" + rest} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: got %+v", bad, got)
		}
	}
}

// TestNextPIDs: what has been started after a process is among the next numbers, and
// where that is not certain they are not told.
func TestNextPIDs(t *testing.T) {
	var pid int
	found := false
	for range 50 { // others may start many meanwhile, or the numbers begin again
		first, second := sleeper(t), sleeper(t)
		next, ok := nextPIDs(first, StartOf(first))
		pid = first
		if found = ok && slices.Contains(next, second) && !slices.Contains(next, first); found {
			break
		}
	}
	if !found {
		t.Error("a process is never among those started after the one before")
	}
	started := StartOf(pid)
	for name, c := range map[string]struct {
		pid     int
		started uint64
	}{
		"it is not known when it was started": {pid, 0},
		"it is old":                           {pid, started - nextAge - 100},
		"the numbers have begun anew":         {1 << 30, started},
		"many have been given out":            {pid - nextMost - 1, started},
	} {
		if next, ok := nextPIDs(c.pid, c.started); ok {
			t.Errorf("%s: got %v", name, next)
		}
	}
}

// sleeper starts a process that lives as long as the test.
func sleeper(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
