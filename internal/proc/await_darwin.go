package proc

import (
	"syscall"
	"time"
	"unsafe"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// siginfo is siginfo_t as far as it matters.
type siginfo struct {
	signo, errno, code, pid int32
	uid                     uint32
	status                  int32
	rest                    [128]byte // it is smaller
}

// await waits for the end of a child, leaves it to be waited for, and returns how
// it has ended. waitid returns for a child that was stopped, too.
func await(c proctree.Child) string {
	const (
		idPID   = 1        // P_PID
		options = 4 | 0x20 // WEXITED | WNOWAIT
		pause   = 50 * time.Millisecond
	)
	for {
		var info siginfo
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(c.PID), uintptr(unsafe.Pointer(&info)), options, 0, 0)
		switch {
		case err == syscall.EINTR:
		case err != 0:
			return waitText(c.Wait())
		case info.code >= codeExited && info.code <= codeDumped:
			return statusText(int(info.code), int(info.status))
		default:
			time.Sleep(pause)
		}
	}
}
