package transport

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"

	"github.com/mcpctl/mcpctl/runtime/internal/childenv"
)

// Streams are the standard streams of a server that [Replace] runs.
type Streams struct{ In, Out, Err *os.File }

// Replace runs a server in the place of this process: with its streams, and nothing in
// between. On Unix this process becomes the server (execve), so Replace returns only
// where that fails, and Streams has to be its own. On Windows the server is a child, and
// Replace returns its exit code. Of the options it needs Command, Args, Env, Dir and
// Redactor.
func Replace(o StdioOptions, streams Streams) (code int, err error) {
	cmd, err := command(o)
	if err != nil {
		return 0, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Out, streams.Err
	err = replace(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, StartError(o, err)
	}
	return 0, nil
}

func command(o StdioOptions) (*exec.Cmd, error) {
	cmd := exec.Command(childenv.LookPath(o.Command, o.Env), o.Args...) //nolint:noctx // it outlives every context of ours
	if cmd.Err != nil {
		return nil, StartError(o, cmd.Err)
	}
	cmd.Env, cmd.Dir = childenv.Of(goruntime.GOOS, os.Environ(), o.Env), o.Dir
	return cmd, nil
}

// FindCommand returns where the program of a server is, and looks at its directory. The
// error is that of starting it.
func FindCommand(o StdioOptions) (path string, err error) {
	cmd, err := command(o)
	if err != nil {
		return "", err
	}
	if err := badDirectory(o.Dir); err != nil {
		return "", StartError(o, err)
	}
	path = cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", StartError(o, err)
	}
	return path, nil
}
