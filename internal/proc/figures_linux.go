package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// tick is the unit of times in /proc/PID/stat: sysconf(_SC_CLK_TCK), which is
// 100 a second on every system that Go runs on.
const tick = 10 * time.Millisecond

func measure(asked []int) map[int]Figures {
	var all []sample
	var since unix.Timespec
	now := time.Now()
	booted := time.Time{}
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &since) == nil {
		booted = now.Add(-time.Duration(since.Nano()))
	}
	page := int64(os.Getpagesize())
	buf := make([]byte, 1024)
	for _, pid := range proctree.PIDs() {
		s, ok := proctree.ReadStat(pid, buf)
		if !ok || !s.Living() {
			continue
		}
		p := sample{pid: s.PID, parent: s.Parent, group: s.Group, rss: s.Pages * page, cpu: time.Duration(s.Ticks) * tick}
		if !booted.IsZero() {
			p.started = booted.Add(time.Duration(s.Started) * tick) //nolint:gosec // ticks since boot
		}
		all = append(all, p)
	}
	return sum(all, asked)
}
