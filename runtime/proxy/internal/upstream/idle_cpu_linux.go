package upstream

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// treeShare bounds the part of a processor that looks at all processes take: one in so
// many.
const treeShare = 8

// spare returns how many servers more can start on n processors. One can where a
// processor has nothing to do. On a machine that others keep at work, as many can as
// there are turns that no process of ours makes use of.
func spare(n int) func() int {
	// With fewer processors than the machine has, the limit of a container holds threads
	// back, and then they do not count as wanting to run.
	limited := n < runtime.NumCPU()
	own := descendants{turns: perCPU * n, begun: time.Now(), self: os.Getpid()}
	return func() int {
		if !limited && idle(n) {
			return 1
		}
		return own.spare(time.Now())
	}
}

// idle reports whether one of n processors has nothing to do now.
func idle(n int) bool {
	text, err := os.ReadFile("/proc/loadavg")
	want, ok := wantToRun(text)
	return err == nil && ok && want-1 < n // one is this
}

// wantToRun returns how many threads run or could, by /proc/loadavg, see proc(5):
// "0.20 0.18 0.12 1/80 11206", of which it is the 1.
func wantToRun(text []byte) (int, bool) {
	fields := bytes.Fields(text)
	if len(fields) < 4 {
		return 0, false
	}
	now, _, ok := bytes.Cut(fields[3], []byte("/"))
	n, err := strconv.Atoi(string(now))
	return n, ok && err == nil && n > 0
}

// young is how long a number of a process is certainly not used again, and those of what
// this process starts are above its own: they are given out in a circle, which takes
// longer to go round.
const young = 10 * time.Second

// descendants looks at what this process has started, and that has started.
type descendants struct {
	turns int
	begun time.Time
	self  int
	next  time.Time     // when to look
	ticks map[int]int64 // that each had computed at the last look
	// strangers are the processes of the last look that are no descendants. They become
	// none, and to read them takes most of a look.
	strangers map[int]bool
}

// spare returns how many turns no descendant makes use of, 0 where it is too early to say.
func (d *descendants) spare(now time.Time) int {
	if now.Before(d.next) {
		return 0
	}
	if now.Sub(d.next) > young { // their numbers may be those of others by now
		d.strangers = nil
	}
	busy := d.busy(d.read(proctree.PIDs(), now), d.self)
	took := time.Since(now)
	d.next = now.Add(max(lookMost, treeShare*took))
	return max(d.turns-busy, 0)
}

// read reads those of all processes that may be descendants, and notes which are not.
func (d *descendants) read(pids []int, now time.Time) map[int]proctree.Stat {
	all, strangers := map[int]proctree.Stat{}, make(map[int]bool, len(pids))
	buf := make([]byte, 1024)
	for _, pid := range pids {
		if d.strangers[pid] || pid < d.self && now.Sub(d.begun) < young {
			strangers[pid] = true
		} else if s, ok := proctree.ReadStat(pid, buf); ok {
			all[pid] = s
		}
	}
	for pid, s := range all {
		if !descends(all, s, d.self) {
			strangers[pid] = true
		}
	}
	d.strangers = strangers
	return all
}

// busy returns how many descendants of a process run, want to, wait for a disk, or have
// computed since the last look.
func (d *descendants) busy(all map[int]proctree.Stat, of int) (busy int) {
	before := d.ticks
	d.ticks = map[int]int64{}
	for pid, s := range all {
		if !descends(all, s, of) {
			continue
		}
		d.ticks[pid] = s.Ticks
		had, known := before[pid]
		if s.Living() && (s.State == 'R' || s.State == 'D' || known && had != s.Ticks) {
			busy++
		}
	}
	return busy
}

// descends reports whether a process is among those below another.
func descends(all map[int]proctree.Stat, s proctree.Stat, of int) bool {
	for range len(all) { // a number may be used again while all are read
		if s.Parent == of {
			return true
		}
		parent, ok := all[s.Parent]
		if !ok {
			return false
		}
		s = parent
	}
	return false
}
