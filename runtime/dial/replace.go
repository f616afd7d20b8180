package dial

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"

	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// Streams are the standard streams of a server that [Replace] runs.
type Streams struct{ In, Out, Err *os.File }

// Replace runs the stdio server of an entry in the place of this process, with more
// arguments behind its own and nothing in between. On Unix this process becomes the
// server (execve), so Replace returns only where that fails, and streams have to be its
// own. On Windows the server is a child, and Replace returns its exit code. Of the
// options it needs Lookup. Faults of the entry and missing variables are config errors, and
// so is a filter of its tools: nobody would look at what passes.
func Replace(entry config.Entry, more []string, o Options, streams Streams) (code int, err error) {
	if !entry.ToolFilter.IsZero() {
		return 0, &config.Problem{Server: entry.Name, Message: "run passes everything on, and the entry says which tools there are", Remedy: "mcpctl bridge " + entry.Name}
	}
	start, cmd, err := command(entry, more, o)
	if err != nil {
		return 0, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Out, streams.Err
	err = replace(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, transport.StartError(start, err)
	}
	return 0, nil
}

// FindCommand returns where the program of an entry is. The error of one that is not
// there, or whose directory is not, is that of starting it.
func FindCommand(entry config.Entry, o Options) (path string, err error) {
	start, cmd, err := command(entry, nil, o)
	if err != nil {
		return "", err
	}
	if cmd.Dir != "" {
		if _, err := os.Stat(cmd.Dir); err != nil {
			return "", transport.StartError(start, err)
		}
	}
	path = cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", transport.StartError(start, err)
	}
	return path, nil
}

// command returns the command of an entry's server, in its directory and environment.
func command(entry config.Entry, more []string, o Options) (transport.StdioOptions, *exec.Cmd, error) {
	o.defaults()
	expanded, err := entry.Expand(o.Lookup)
	if err != nil {
		return transport.StdioOptions{}, nil, err
	}
	d := &dialer{Expanded: expanded, o: o, redact: expanded.Redactor()}
	start := d.stdioOptions()
	start.Args = append(start.Args, more...)
	cmd := exec.Command(proc.LookPath(start.Command, start.Env), start.Args...) //nolint:noctx // it outlives every context of ours
	if cmd.Err != nil {
		return start, nil, transport.StartError(start, cmd.Err)
	}
	cmd.Env, cmd.Dir = proc.ChildEnv(goruntime.GOOS, os.Environ(), start.Env), start.Dir
	return start, cmd, nil
}

// Malformed returns a sample of the first line that the stdio server of a client wrote
// and that was no message, "" for none.
func Malformed(c *runtime.Client) (sample string) {
	if s, ok := unwrap(c.Transport()).(*transport.Stdio); ok {
		sample, _ = s.Malformed()
	}
	return sample
}
