//go:build integration

package peers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// limit bounds every wait of these tests that is not about time itself.
const limit = 60 * time.Second

// entry is one server of a servers.json.
type entry struct {
	name   string
	object map[string]any
}

// fake is the scripted server as a process.
func fake(name string, flags ...string) entry {
	command, env := runtimetest.Command(flags...)
	return process(name, env, command...)
}

func process(name string, env map[string]string, words ...string) entry {
	e := entry{name, map[string]any{"command": words[0], "args": words[1:]}}
	if env != nil {
		e.object["env"] = env
	}
	return e
}

func remote(name, url string) entry {
	return entry{name, map[string]any{"url": url}}
}

// configure writes a servers.json, servers in the order given.
func configure(t *testing.T, servers ...entry) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"mcpServers":{`)
	for i, s := range servers {
		if i > 0 {
			b.WriteString(",\n")
		}
		raw, err := json.Marshal(s.object)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(`"` + s.name + `":` + string(raw))
	}
	b.WriteString("}}\n")
	path := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// command prepares a run of mcpctl with nothing of this machine's settings.
func command(ctx context.Context, t *testing.T, config string, args ...string) (*exec.Cmd, *output) {
	t.Helper()
	cmd := exec.CommandContext(ctx, binary, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MCPCTL_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	home := t.TempDir()
	cmd.Env = append(cmd.Env, "MCPCTL_CONFIG="+config, "MCPCTL_HOME="+home, "HOME="+home)
	cmd.WaitDelay = 10 * time.Second
	stderr := &output{changed: make(chan struct{})}
	cmd.Stderr = stderr
	t.Cleanup(func() {
		if text := stderr.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") {
			t.Errorf("mcpctl %s:\n%s", strings.Join(args, " "), text)
		}
	})
	return cmd, stderr
}

// outcome is what a finished run of mcpctl leaves.
type outcome struct {
	stdout, stderr string
	code           int
}

// mcpctl runs the program to its end.
func mcpctl(t *testing.T, config string, args ...string) outcome {
	t.Helper()
	return mcpctlWith(t, config, nil, args...)
}

func mcpctlWith(t *testing.T, config string, stdin io.Reader, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd, stderr := command(ctx, t, config, args...)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout = stdin, &stdout
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("mcpctl %s: %v", strings.Join(args, " "), err)
	}
	if ctx.Err() != nil {
		t.Fatalf("mcpctl %s did not end in %s:\n%s", strings.Join(args, " "), limit, stderr)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// ok runs the program, which has to succeed, and gives its output.
func ok(t *testing.T, config string, args ...string) string {
	t.Helper()
	o := mcpctl(t, config, args...)
	if o.code != 0 {
		t.Fatalf("mcpctl %s: exit %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// output keeps what a process writes and tells of each piece.
type output struct {
	mu      sync.Mutex // guards the rest
	buf     bytes.Buffer
	changed chan struct{} // closed with each write
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// line waits for a line that begins with prefix and gives the rest of it.
func (o *output) line(t *testing.T, prefix string) string {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		o.mu.Lock()
		text, changed := o.buf.String(), o.changed
		o.mu.Unlock()
		for l := range strings.Lines(text) {
			if rest, found := strings.CutPrefix(l, prefix); found && strings.HasSuffix(rest, "\n") {
				return strings.TrimSpace(rest)
			}
		}
		select {
		case <-changed:
		case <-timer.C:
			t.Fatalf("no line %q…:\n%s", prefix, text)
		}
	}
}

// daemon is a running mcpctl serve --http.
type daemon struct {
	cmd    *exec.Cmd
	stderr *output
	url    string
	exited chan struct{}
}

// serveHTTP starts mcpctl serve --http on a free port; it is stopped with the
// test.
func serveHTTP(t *testing.T, config string, args ...string) *daemon {
	t.Helper()
	cmd, stderr := command(context.WithoutCancel(t.Context()), t, config, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	d := &daemon{cmd: cmd, stderr: stderr, exited: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // the state is in ProcessState
		close(d.exited)
	}()
	t.Cleanup(func() { d.stop(t) })
	d.url = stderr.line(t, "listening on ")
	return d
}

// stop interrupts the daemon and waits for its end.
func (d *daemon) stop(t *testing.T) {
	t.Helper()
	_ = interrupt(d.cmd.Process) // it may have ended
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-d.exited:
	case <-timer.C:
		_ = d.cmd.Process.Kill()
		t.Errorf("mcpctl serve --http does not end:\n%s", d.stderr)
	}
}

// eventually polls for what has no event of its own, such as the end of a
// process.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	end := time.NewTimer(within)
	defer end.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}
