package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
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
	for _, pid := range pids() {
		s, ok := readStat(pid, buf)
		if !ok || !s.living() {
			continue
		}
		p := sample{pid: s.pid, parent: s.parent, group: s.group, rss: s.pages * page, cpu: time.Duration(s.ticks) * tick}
		if !booted.IsZero() {
			p.started = booted.Add(time.Duration(s.started) * tick) //nolint:gosec // ticks since boot
		}
		all = append(all, p)
	}
	return sum(all, asked)
}
