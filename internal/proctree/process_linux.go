package proctree

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StartOf returns when a process was started, in ticks since boot; 0: not known.
func StartOf(pid int) uint64 {
	s, _ := ReadStat(pid, make([]byte, 1024))
	return s.Started
}

// Find returns a living process.
func Find(pid int) (Process, bool) {
	s, ok := ReadStat(pid, make([]byte, 1024))
	return Process{s.PID, s.Group, s.Started}, ok && s.Living()
}

// Look returns the living processes whose group is in, and with carries those
// outside whose environment has a mark that it takes. Processes older than
// since cannot be meant. False: /proc cannot be read.
func Look(in func(group int) bool, carries func(value string) bool, since uint64) (found []Process, sees bool) {
	all := PIDs()
	return lookAmong(all, in, carries, since), len(all) > 0
}

// lookAmong is Look among some processes.
func lookAmong(pids []int, in func(group int) bool, carries func(value string) bool, since uint64) (found []Process) {
	buf := make([]byte, 8<<10)
	self := os.Getpid()
	for _, pid := range pids {
		s, ok := ReadStat(pid, buf[:1024])
		if !ok || !s.Living() || s.Started < since || pid == self {
			continue
		}
		if in(s.Group) {
			found = append(found, Process{s.PID, s.Group, s.Started})
			continue
		}
		if carries == nil {
			continue
		}
		var environ []byte
		environ, buf = readEnviron(pid, buf)
		if value, ok := MarkOf(environ); ok && carries(value) {
			found = append(found, Process{s.PID, s.Group, s.Started})
		}
	}
	return found
}

const (
	// nextMost and nextAge bound what nextPIDs is sure of: numbers are given out in
	// a circle, which takes longer than this to go round.
	nextMost = 128
	nextAge  = 10 * 100 // in ticks, see Tree.Started
)

// deserted reports whether certainly none of a tree lives, without a look at all
// processes: most trees are young, and what they have started has the next numbers.
func (t Tree) deserted(in func(group int) bool, carries func(value string) bool) bool {
	next, ok := nextPIDs(t.Group, t.Started)
	return ok && len(lookAmong(next, in, carries, t.Started)) == 0
}

// nextPIDs returns the numbers that have been given out since a process was started;
// some are those of threads, or of nobody. False: they are not known.
func nextPIDs(pid int, started uint64) ([]int, bool) {
	var up unix.Timespec
	if started == 0 || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return nil, false
	}
	now := uint64(up.Nano() / int64(10*time.Millisecond)) //nolint:gosec // since boot: not negative
	if now-started > nextAge {
		return nil, false
	}
	buf := make([]byte, 128)
	fields := bytes.Fields(buf[:readFile("/proc/loadavg", buf)])
	if len(fields) < 5 {
		return nil, false
	}
	last, err := strconv.Atoi(string(fields[4]))
	if err != nil || last < pid || last-pid > nextMost {
		return nil, false
	}
	next := make([]int, 0, last-pid)
	for n := pid + 1; n <= last; n++ {
		next = append(next, n)
	}
	return next, true
}

// Environ returns the environment a process was started with.
func Environ(pid int) []byte {
	environ, _ := readEnviron(pid, make([]byte, 8<<10))
	return environ
}

// environMost bounds what is read of one environment; the kernel allows 6 MiB
// for all arguments and variables.
const environMost = 6 << 20

// readEnviron reads the environment a process was started with, into buf or a
// larger one; nothing where it is another user's, or has none.
func readEnviron(pid int, buf []byte) (environ, larger []byte) {
	name := "/proc/" + strconv.Itoa(pid) + "/environ"
	n := readFile(name, buf)
	for n == len(buf) && n < environMost {
		buf = make([]byte, 4*len(buf))
		n = readFile(name, buf)
	}
	return buf[:n], buf
}

// Stat is what /proc/PID/stat says, see proc_pid_stat(5).
type Stat struct {
	PID, Parent, Group int
	State              byte
	Ticks              int64  // computed, with children that were waited for
	Started            uint64 // ticks since boot: with the pid, who it is
	Pages              int64  // resident
}

// Living reports whether it is more than a status to be waited for.
func (s *Stat) Living() bool { return s.State != 'Z' && s.State != 'X' }

// PIDs returns all processes; nil where /proc cannot be read.
func PIDs() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	out := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// ReadStat reads one process; false: there is none any more.
func ReadStat(pid int, buf []byte) (s Stat, ok bool) {
	n := readFile("/proc/"+strconv.Itoa(pid)+"/stat", buf)
	return parseStat(buf[:n])
}

// parseStat reads a line of /proc/PID/stat. The name, the second field, may
// hold blanks and brackets itself.
func parseStat(line []byte) (s Stat, ok bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return s, false
	}
	s.PID, _ = strconv.Atoi(string(line[:open-1]))
	fields := bytes.Fields(line[end+1:]) // from the third on
	const enough = 24 - 2
	if s.PID == 0 || len(fields) < enough {
		return s, false
	}
	number := func(field int) int64 { // the kernel writes numbers, and none of these is negative
		n, _ := strconv.ParseInt(string(fields[field-3]), 10, 64)
		return n
	}
	s.State = fields[0][0]
	s.Parent, s.Group = int(number(4)), int(number(5))
	s.Ticks = number(14) + number(15) + number(16) + number(17)
	s.Started, _ = strconv.ParseUint(string(fields[22-3]), 10, 64)
	s.Pages = number(24)
	return s, true
}

// readFile reads the beginning of a small file into buf, without the poller
// and the allocations of package os: a look at all processes reads hundreds.
func readFile(name string, buf []byte) int {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = syscall.Close(fd) }()
	n := 0
	for n < len(buf) {
		m, err := syscall.Read(fd, buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	return n
}
