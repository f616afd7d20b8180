//go:build unix

package control

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// isOurs reports whether a file belongs to this user.
func isOurs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// alive reports whether a process lives.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
