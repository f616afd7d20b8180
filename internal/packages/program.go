package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// missingError says that a tool is not installed.
type missingError struct{ tool string }

func (e *missingError) Error() string { return e.tool + " is not installed" }

// statusError says that a tool has failed, and its most telling line.
type statusError struct{ tool, status, line, all string }

func (e *statusError) Error() string {
	if e.line == "" {
		return e.tool + ": " + e.status
	}
	return e.tool + ": " + e.line
}

// inherited returns the variables of our own environment that the tools get beside
// those of servers: their own settings, which name the registry and how it is
// reached, and the credentials that npm's files refer to by custom.
func inherited() map[string]string {
	own := map[string]string{}
	for _, line := range os.Environ() {
		name, value, _ := strings.Cut(line, "=")
		upper := strings.ToUpper(name)
		for _, prefix := range []string{"NPM_CONFIG_", "UV_", "PIP_", "DOCKER_", "REGISTRY_AUTH_FILE", "NPM_TOKEN", "NODE_AUTH_TOKEN", "NETRC"} {
			if strings.HasPrefix(upper, prefix) {
				own[name] = value
			}
		}
	}
	return own
}

// redacted returns what a tool says without credentials: those of the environment
// and those in addresses.
func redacted(line string) string {
	r := secret.NewRedactor()
	for name, value := range inherited() {
		if secret.LooksName(name) {
			r.Add(secret.New(value))
		}
	}
	for word := range strings.FieldsSeq(line) {
		r.Add(secret.OfURL(strings.Trim(word, `"'()<>,;`))...)
	}
	return r.String(line)
}

// run runs a tool with a text on its standard input, and returns what it writes. It
// runs in the user's home directory: the settings of the folder that mcpctl happens
// to be in may come with somebody else's files.
func (t *Tools) run(ctx context.Context, input, tool string, args ...string) ([]byte, error) {
	if err := t.turn(ctx); err != nil {
		return nil, err
	}
	defer func() { <-t.turns }()
	env := inherited()
	maps.Copy(env, map[string]string{
		"NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8",
		"npm_config_update_notifier": "false", "npm_config_fund": "false", "npm_config_audit": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
	})
	maps.Copy(env, t.Env)
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	command := proc.LookPath(tool, t.Env)
	if t.Env["PATH"] != "" && command == tool && goruntime.GOOS != "windows" {
		return nil, &missingError{tool}
	}
	child, err := proc.Start(proc.Options{
		Command: command, Args: args, Env: proc.ChildEnv(goruntime.GOOS, os.Environ(), env),
		Dir: home, NoTerminal: true, Hurry: t.Hurry,
	})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, &missingError{tool}
	case err != nil:
		return nil, fmt.Errorf("%s cannot be started: %w", tool, err)
	}
	return t.output(ctx, child, input, tool)
}

// output reads a tool's output until its end, that of ctx, or the bound.
func (t *Tools) output(ctx context.Context, child *proc.Process, input, tool string) ([]byte, error) {
	go func() { // ends with the pipe, which Stop closes
		_, _ = io.WriteString(child.Stdin, input)
		_ = child.Stdin.Close()
	}()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var out, complaints bytes.Buffer
	var readers sync.WaitGroup
	keep := func(into *bytes.Buffer, from io.Reader) {
		if n, _ := io.Copy(into, io.LimitReader(from, mostOutput+1)); n > mostOutput {
			stop(fmt.Errorf("%s writes more than %d MiB", tool, mostOutput>>20))
		}
	}
	readers.Go(func() { keep(&out, child.Stdout) })
	readers.Go(func() { keep(&complaints, child.Stderr) })
	drained := make(chan struct{})
	go func() { // ends with the pipes, too
		readers.Wait()
		close(drained)
	}()
	for _, end := range []<-chan struct{}{drained, child.Done()} {
		select {
		case <-end:
		case <-ctx.Done():
		}
	}
	child.Stop(0, 500*time.Millisecond)
	<-drained
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case child.Status() != "exit status 0":
		all := complaints.String()
		return out.Bytes(), &statusError{tool, child.Status(), redacted(proc.TellingLine(strings.TrimSpace(all))), all}
	}
	return out.Bytes(), nil
}

// turn waits until another tool may run.
func (t *Tools) turn(ctx context.Context) error {
	t.once.Do(func() {
		n := t.Parallel
		if n <= 0 {
			n = defaultParallel
		}
		t.turns = make(chan struct{}, n)
	})
	select {
	case t.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
