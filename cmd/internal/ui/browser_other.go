//go:build !unix

package ui

import "syscall"

func apart() *syscall.SysProcAttr { return nil }
