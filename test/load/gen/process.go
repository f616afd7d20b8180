package gen

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Process is what the system says of one process, its children not counted.
// Everything is zero where there is no /proc, or no such process.
type Process struct {
	// CPU is its time in user and system mode, in steps of 10 ms.
	CPU time.Duration
	// PeakKB is the most memory it had resident so far, KB what it has now.
	PeakKB, KB int64
}

// ReadProcess reads /proc (proc(5)).
func ReadProcess(pid int) Process {
	var p Process
	if pid <= 0 {
		return p
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p
	}
	// The second field is the command's name in parentheses, which may hold
	// anything; utime and stime are fields 14 and 15.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) > 12 {
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		p.CPU = time.Duration(user+system) * tick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return p
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			p.PeakKB = kilobytes(v)
		} else if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			p.KB = kilobytes(v)
		}
	}
	return p
}

// tick is the unit of times in /proc: USER_HZ is 100 on every architecture
// that Go runs on.
const tick = 10 * time.Millisecond

func kilobytes(field string) int64 {
	words := strings.Fields(field)
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(words[0], 10, 64)
	return n
}
