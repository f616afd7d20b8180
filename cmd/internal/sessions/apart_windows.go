package sessions

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart has a process outlive the console of this one.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
