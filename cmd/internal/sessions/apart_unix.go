//go:build unix

package sessions

import "syscall"

// apart has a process outlive the terminal of this one.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
