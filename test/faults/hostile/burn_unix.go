//go:build unix

package hostile

import (
	"syscall"
	"time"
)

// burn uses processor time, as the start of an interpreter does.
func burn(d time.Duration) {
	var used syscall.Rusage
	for x := uint64(1); ; x = x*6364136223846793005 + 1 {
		if x%4096 != 1 {
			continue
		}
		if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil || time.Duration(used.Utime.Nano()+used.Stime.Nano()) >= d {
			return
		}
	}
}
