package upstream

import (
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/proctree"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestWantToRun(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"0.20 0.18 0.12 1/80 11206\n": 1, "12.00 3.00 1.00 25/1300 9": 25,
		"": 0, "0.20 0.18 0.12": 0, "0.20 0.18 0.12 x/80 1": 0, "0.20 0.18 0.12 0/0 0": 0, "0.20 0.18 0.12 80 1": 0,
	} {
		if got, ok := wantToRun([]byte(text)); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: got %d %v, want %d", text, got, ok, want)
		}
	}
}

// TestBusyDescendants: those that wait are not at work, nor are those of others.
func TestBusyDescendants(t *testing.T) {
	t.Parallel()
	const us = 10
	of := func(pid, parent int, state byte, ticks int64) proctree.Stat {
		return proctree.Stat{PID: pid, Parent: parent, State: state, Ticks: ticks}
	}
	var d descendants
	for i, c := range []struct {
		all  []proctree.Stat
		want int
	}{
		{[]proctree.Stat{of(1, 0, 'S', 9), of(us, 1, 'R', 5), of(7, 1, 'R', 9)}, 0},
		{[]proctree.Stat{of(us, 1, 'R', 6), of(11, us, 'S', 0), of(12, 11, 'R', 0), of(7, 1, 'R', 99)}, 1},
		{[]proctree.Stat{of(us, 1, 'R', 7), of(11, us, 'S', 0), of(12, 11, 'S', 0)}, 0},
		{[]proctree.Stat{of(11, us, 'R', 0), of(12, 11, 'D', 0), of(13, 99, 'R', 0)}, 2},
		{[]proctree.Stat{of(11, us, 'S', 0), of(12, 11, 'S', 1)}, 1},
		{[]proctree.Stat{of(11, us, 'S', 0), of(12, 11, 'Z', 2)}, 0},
		{[]proctree.Stat{of(21, 22, 'R', 0), of(22, 21, 'R', 0)}, 0}, // as numbers that are used again can look
	} {
		all := map[int]proctree.Stat{}
		for _, s := range c.all {
			all[s.PID] = s
		}
		if got := d.busy(all, us); got != c.want {
			t.Errorf("%d: got %d, want %d", i, got, c.want)
		}
	}
}

// TestStrangers: processes of others are read once, those older than this one not even
// that, until their numbers may be used again.
func TestStrangers(t *testing.T) {
	t.Parallel()
	sh := exec.Command("sleep", "60")
	require.NoError(t, sh.Start())
	defer func() {
		_ = sh.Process.Kill()
		_ = sh.Wait()
	}()
	self, child, now := os.Getpid(), sh.Process.Pid, time.Now()
	if child < self {
		t.Skip("the numbers of processes have gone round")
	}
	const init = 1
	pids := []int{init, self, child}
	for name, c := range map[string]struct {
		d    descendants
		want []int // that are read
	}{
		"young":                {descendants{self: self, begun: now}, []int{self, child}},
		"later":                {descendants{self: self, begun: now.Add(-young)}, []int{init, self, child}},
		"known already":        {descendants{self: self, begun: now.Add(-young), strangers: map[int]bool{init: true, self: true}}, []int{child}},
		"the child of another": {descendants{self: init + 1<<30, begun: now.Add(-young)}, []int{init, self, child}},
	} {
		read := c.d.read(pids, now)
		if got := slices.Sorted(maps.Keys(read)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v are read, want %v", name, got, c.want)
		}
		if ours := c.d.self == self; !c.d.strangers[init] || c.d.strangers[child] == ours {
			t.Errorf("%s: strangers are %v", name, c.d.strangers)
		}
	}
	d := descendants{self: self, begun: now.Add(-2 * young), next: now.Add(-2 * young), strangers: map[int]bool{child: true}}
	if d.spare(now); d.strangers[child] {
		t.Error("a number is a stranger's for ever")
	}
}

// TestSpare: beside servers of ours that wait more can start, whatever others do; beside
// those that compute none.
func TestSpare(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	for script, want := range map[string]bool{"exec sleep 60": true, "while :; do :; done": false} {
		var all []*exec.Cmd
		for range perCPU * n {
			cmd := exec.Command("sh", "-c", script)
			require.NoError(t, cmd.Start())
			all = append(all, cmd)
		}
		has := spare(n)
		found := 0
		for looks := 0; looks < 20 || want && found < 2 && looks < 2000; looks++ {
			time.Sleep(5 * time.Millisecond)
			if has() > 0 {
				found++
			}
		}
		if got := found >= 2; got != want && (want || found > 5) {
			t.Errorf("%s: %d looks find room", script, found)
		}
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}
