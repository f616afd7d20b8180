package ui

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"syscall"
)

// ReaderGone reports whether an error means that the reader of standard output has
// closed it, as head does: that is no failure. The error has to come from standard
// output itself, since a broken pipe to a server is a failure.
//
// By default SIGPIPE kills Go programs in this case, before they can reap a child
// process; main catches it.
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
