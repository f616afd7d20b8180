package proc

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/runtime/internal/proctree"
)

// await waits for the end of a child, leaves it to be waited for, and returns how
// it has ended.
func await(c proctree.Child) string {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, c.PID, &info, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil:
			return statusText(int(info.Code), int(childStatus(&info)))
		case !errors.Is(err, syscall.EINTR):
			return waitText(c.Wait()) // a system without waitid
		}
	}
}

// childStatus is si_status of siginfo_t: behind three numbers, which are padded
// to the alignment of a pointer, and the process and user ids.
func childStatus(info *unix.Siginfo) int32 {
	align := unsafe.Sizeof(uintptr(0))
	at := (3*4+align-1)/align*align + 8
	return *(*int32)(unsafe.Add(unsafe.Pointer(info), at)) //nolint:gosec // inside of info, which has 128 bytes
}
