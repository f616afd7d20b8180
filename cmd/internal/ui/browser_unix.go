//go:build unix

package ui

import "syscall"

// apart makes a session of its own: Ctrl+C, and the end of ours, are not meant
// for the browser.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
