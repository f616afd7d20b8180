//go:build unix

package ui

import "syscall"

// newSession starts a new session, so that Ctrl+C and our exit do not affect the browser.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
