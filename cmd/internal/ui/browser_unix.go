//go:build unix

package ui

import "syscall"

// apart starts a new session, so that Ctrl+C and our exit do not affect the browser.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
