package ui

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"syscall"
)

// ReaderGone tells whether an error means that whoever read standard output
// has gone away, as head does once it has seen enough. That is the reader's
// wish and no failure. A pipe to a server that breaks is another matter, so
// the error has to come from standard output itself.
//
// Programs written in Go are killed by SIGPIPE in this case, before a child
// process could be reaped; main catches it.
func ReaderGone(err error) bool {
	var path *fs.PathError
	if !errors.As(err, &path) || path.Path != "/dev/stdout" {
		return false
	}
	if errors.Is(path.Err, syscall.EPIPE) {
		return true
	}
	// ERROR_BROKEN_PIPE and ERROR_NO_DATA (Windows system error codes).
	var errno syscall.Errno
	return runtime.GOOS == "windows" && errors.As(path.Err, &errno) && slices.Contains([]syscall.Errno{109, 232}, errno)
}
