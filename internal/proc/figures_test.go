package proc

import (
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSum: the group of a process belongs to it, and so do the descendants that
// have left the group; nothing else does, and nothing is counted twice.
func TestSum(t *testing.T) {
	at := time.Unix(1000, 0)
	all := []sample{
		{pid: 1, parent: 0, group: 1, rss: 1, cpu: 1},
		{pid: 10, parent: 1, group: 10, rss: 100, cpu: 5, started: at}, // asked about
		{pid: 11, parent: 10, group: 10, rss: 20, cpu: 1},
		{pid: 12, parent: 1, group: 10, rss: 3, cpu: 1},   // its parent has gone
		{pid: 13, parent: 11, group: 13, rss: 4, cpu: 1},  // a group of its own
		{pid: 14, parent: 13, group: 13, rss: 5, cpu: 1},  // below that one
		{pid: 20, parent: 1, group: 20, rss: -1, cpu: -1}, // asked about, unknown
		{pid: 30, parent: 1, group: 30, rss: 7, cpu: 7},
		{pid: 40, parent: 41, group: 4, rss: 7, cpu: 7}, // a circle
		{pid: 41, parent: 40, group: 4, rss: 7, cpu: 7},
	}
	want := map[int]Figures{
		10: {PID: 10, Started: at, Processes: 5, RSS: 132, CPU: 9},
		20: {PID: 20, Processes: 1, RSS: -1, CPU: -1},
	}
	if diff := cmp.Diff(want, sum(all, []int{10, 20, 99})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestParsePS: the columns as macOS and Linux print them.
func TestParsePS(t *testing.T) {
	got := parsePS(`    1     0     1 Ss    12340   1:02.50 Fri Nov  6 13:37:00 2026
  501     1   501 S+     2048  2-01:00:03 Fri Nov 20 01:02:03 2026
  502   501   501 Z         0   0:00.00 Fri Nov 20 01:02:03 2026
  503   501   501 S         8   later Fri Nov 20 01:02:03 2026
x y
`)
	local := func(d, h, m, s int) time.Time { return time.Date(2026, 11, d, h, m, s, 0, time.Local) }
	want := []sample{
		{pid: 1, group: 1, rss: 12340 << 10, cpu: 62500 * time.Millisecond, started: local(6, 13, 37, 0)},
		{pid: 501, parent: 1, group: 501, rss: 2 << 20, cpu: 49*time.Hour + 3*time.Second, started: local(20, 1, 2, 3)},
		{pid: 503, parent: 501, group: 501, rss: 8 << 10, cpu: -1, started: local(20, 1, 2, 3)},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPS: the ps of this machine understands psArgs.
func TestPS(t *testing.T) {
	ps, err := exec.LookPath("ps")
	if err != nil {
		t.Skip("no ps here")
	}
	cmd := exec.Command(ps, psArgs()...)
	cmd.Env = []string{"LC_ALL=C"}
	text, err := cmd.Output()
	if err != nil {
		t.Skipf("ps: %v", err)
	}
	all := parsePS(string(text))
	for _, p := range all {
		if p.pid == cmd.Process.Pid {
			if p.started.IsZero() || p.cpu < 0 || time.Since(p.started) > time.Minute {
				t.Errorf("got %+v", p)
			}
			return
		}
	}
	t.Errorf("ps does not show itself among %d", len(all))
}
