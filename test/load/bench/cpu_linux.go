package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the time that a process has used so far (clock_getcpuclockid(3)), 0
// where there is no such process.
func cpuTime(pid int) time.Duration {
	const schedClock = 2
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|schedClock), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
