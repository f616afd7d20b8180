package transport

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/stderr"
)

// startError says why a command could not be started, and what mends it. The
// system's own words name neither which of the files involved is meant nor what
// is wrong with it.
func startError(o StdioOptions, err error) error {
	c := whyNotStarted(o, err)
	return &runtime.ConnectError{Target: o.Redactor.String(c.Target), Err: o.Redactor.Error(c.Err), Remedy: o.Redactor.String(c.Remedy)}
}

func whyNotStarted(o StdioOptions, err error) *runtime.ConnectError {
	c := &runtime.ConnectError{Target: o.Command, Err: err}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		c.Err = path.Err // the path is the target
	}
	if sys, ok := errors.AsType[*os.SyscallError](err); ok {
		c.Err = sys.Err
	}
	install := "install " + o.Command + ", or correct the command in servers.json"
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		c.Err, c.Remedy = errors.New("command not found"), install
		if !errors.Is(err, exec.ErrNotFound) {
			c.Err = missing.Err
		}
		return c
	}
	if why := badDirectory(o.Dir); why != nil {
		c.Err, c.Remedy = why, "correct cwd in servers.json"
		return c
	}
	info, missing := os.Stat(o.Command)
	switch {
	case errors.Is(err, os.ErrNotExist) && missing != nil:
		c.Err, c.Remedy = errors.New("command not found"), install
	case errors.Is(err, os.ErrNotExist):
		c.Err = errors.New("its interpreter is not there")
		c.Remedy = "install what the first line of " + o.Command + " names"
	case missing == nil && info.IsDir():
		c.Err, c.Remedy = errors.New("it is a directory"), "correct the command in servers.json"
	case errors.Is(err, os.ErrPermission):
		c.Err, c.Remedy = errors.New("permission denied"), "make it executable: chmod +x "+o.Command
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		c.Remedy = "let mcpctl open more files, as with ulimit -n"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		c.Remedy = "there is no room for another process: end some, or raise the limit, as with ulimit -u"
	}
	return c
}

// badDirectory says what is wrong with a working directory, nil where it will
// do.
func badDirectory(dir string) error {
	if dir == "" {
		return nil
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("working directory " + stderr.Line(dir) + " not found")
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("working directory " + stderr.Line(dir) + " is not a directory")
	}
	return nil
}
