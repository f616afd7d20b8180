//go:build !unix

package ui

import "syscall"

func newSession() *syscall.SysProcAttr { return nil }
