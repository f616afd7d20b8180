package wire

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what the system says of one process, its children not counted.
// Everything is zero where there is no /proc, or no such process.
type Usage struct {
	// CPU is its time in user and system mode, in steps of 10 ms.
	CPU time.Duration
	// PeakKB is the most memory it had resident so far, KB what it has now.
	PeakKB, KB     int64
	Threads, Files int // files are those that it has open
}

// ReadUsage reads /proc (proc(5)).
func ReadUsage(pid int) (u Usage) {
	proc := fmt.Sprintf("/proc/%d/", pid)
	stat, _ := os.ReadFile(proc + "stat")
	// The second field is the command's name in parentheses, which may hold
	// anything; utime and stime are fields 14 and 15.
	if f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(f) > 12 {
		u.CPU = time.Duration(number(f[11])+number(f[12])) * tick
	}
	status, _ := os.ReadFile(proc + "status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "VmHWM":
			u.PeakKB = number(value)
		case "VmRSS":
			u.KB = number(value)
		case "Threads":
			u.Threads = int(number(value))
		}
	}
	files, _ := os.ReadDir(proc + "fd")
	u.Files = len(files)
	return u
}

// tick is the unit of times in /proc: USER_HZ is 100 on every architecture
// that Go runs on.
const tick = 10 * time.Millisecond

// number reads the first word of a field, 0 where that is none.
func number(field string) int64 {
	word, _, _ := strings.Cut(strings.TrimSpace(field), " ")
	n, _ := strconv.ParseInt(word, 10, 64)
	return n
}
