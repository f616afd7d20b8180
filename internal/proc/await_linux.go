package proc

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// await waits for the end of a child, leaves it to be waited for, and returns how
// it has ended.
func await(c proctree.Child) string {
	var info unix.Siginfo
	if polled(c.PID, &info) {
		return ending(&info)
	}
	if wait(c.PID, &info, 0) != nil {
		return waitText(c.Wait()) // a system without waitid
	}
	return ending(&info)
}

// polled has Go's poller wait for the end of a child, so that it takes no thread of its
// own. False: that cannot be done here, as before Linux 5.10.
func polled(pid int, info *unix.Siginfo) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return false
	}
	handle := os.NewFile(uintptr(fd), "pidfd")
	defer handle.Close()
	raw, err := handle.SyscallConn()
	if err != nil {
		return false
	}
	var failed error
	err = raw.Read(func(uintptr) (ended bool) {
		failed = wait(pid, info, unix.WNOHANG)
		return failed != nil || info.Signo != 0
	})
	return err == nil && failed == nil
}

// wait asks for the end of a child, which stays to be waited for. Info has no signal
// where it has not ended, with WNOHANG.
func wait(pid int, info *unix.Siginfo, options int) error {
	for {
		*info = unix.Siginfo{}
		err := unix.Waitid(unix.P_PID, pid, info, unix.WEXITED|unix.WNOWAIT|options, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func ending(info *unix.Siginfo) string { return statusText(int(info.Code), int(childStatus(info))) }

// childStatus is si_status of siginfo_t: behind three numbers, which are padded
// to the alignment of a pointer, and the process and user ids.
func childStatus(info *unix.Siginfo) int32 {
	align := unsafe.Sizeof(uintptr(0))
	at := (3*4+align-1)/align*align + 8
	return *(*int32)(unsafe.Add(unsafe.Pointer(info), at)) //nolint:gosec // inside of info, which has 128 bytes
}
