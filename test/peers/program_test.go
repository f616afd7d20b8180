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
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

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
	texts := make([]string, len(servers))
	for i, s := range servers {
		raw, err := json.Marshal(s.object)
		require.NoError(t, err)
		texts[i] = wire.Quote(s.name) + ":" + string(raw)
	}
	path := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"mcpServers":{`+strings.Join(texts, ",\n")+"}}\n"), 0o600))
	return path
}

// command prepares a run of mcpctl with nothing of this machine's settings.
func command(ctx context.Context, t *testing.T, config string, args ...string) (*exec.Cmd, *wire.Output) {
	t.Helper()
	cmd := exec.CommandContext(ctx, binary, args...)
	stderr := wire.NewOutput()
	cmd.Env, cmd.WaitDelay, cmd.Stderr = wire.Environment(config, t.TempDir()), 10*time.Second, stderr
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
	ctx := wait.Context(t)
	cmd, stderr := command(ctx, t, config, args...)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout = stdin, &stdout
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("mcpctl %s: %v", strings.Join(args, " "), err)
	}
	if ctx.Err() != nil {
		t.Fatalf("mcpctl %s did not end in %s:\n%s", strings.Join(args, " "), wire.Limit, stderr)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// ok runs the program, which has to succeed, and returns its output.
func ok(t *testing.T, config string, args ...string) string {
	t.Helper()
	o := mcpctl(t, config, args...)
	if o.code != 0 {
		t.Fatalf("mcpctl %s: exit %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// serveHTTP starts mcpctl serve --http on a free port; it is stopped with the
// test.
func serveHTTP(t *testing.T, config string, args ...string) *wire.Daemon {
	t.Helper()
	return wire.Serve(t, wire.Setup{Program: binary, Config: config, Args: args})
}
