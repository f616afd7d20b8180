package transport

import (
	"errors"
	"os"
	"os/exec"
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
	cmd := exec.Command(childenv.LookPath(o.Command, o.Env), o.Args...) //nolint:noctx // it outlives every context of ours
	if cmd.Err != nil {
		return 0, StartError(o, cmd.Err)
	}
	cmd.Env, cmd.Dir = childenv.Of(goruntime.GOOS, os.Environ(), o.Env), o.Dir
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
