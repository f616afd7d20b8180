//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestServeHTTP starts mcpctl serve --http on a free port, calls through it
// with mcpctl itself and ends it with SIGTERM.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"fake":{"command":"fake-mcp"}}}`), 0o600))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	cmd := exec.CommandContext(t.Context(), "mcpctl", "--config", config, "serve", "--http", "127.0.0.1:0", "--stream-max", "50ms")
	cmd.Env = env
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "listening on ")
	}
	url = strings.TrimSpace(url)
	if url == "" {
		t.Fatalf("it never said where it listens: %v", cmd.Wait())
	}
	drained := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(stderr) // ends with the process
		drained <- string(rest)
	}()

	// What a modern client gets says so at its beginning and in its _meta.
	content, _, _ := strings.Cut(strings.TrimPrefix(runtimetest.ExactResult, "{"), `,"_meta"`)
	for _, tt := range []struct{ words, want string }{
		{"--json --url " + url + " call fake__exact", content},
		{"--json --url " + url + " --protocol-version 2025-06-18 call fake__exact", runtimetest.ExactResult},
		{"-o text --url " + url + " call fake__echo message=hi", "hi"},
		{"-o text --url " + url + " --protocol-version 2025-11-25 call fake__slow ms=200", "done"}, // beyond --stream-max
		{"--json --url " + strings.TrimSuffix(url, "/mcp") + "/sse call fake__exact", runtimetest.ExactResult},
	} {
		c := exec.CommandContext(t.Context(), "mcpctl", strings.Fields(tt.words)...)
		c.Env = env
		got, err := c.Output()
		if err != nil || !strings.Contains(string(got), tt.want) {
			var exit *exec.ExitError
			errors.As(err, &exit)
			t.Errorf("mcpctl %s: got %s (%v), want %s", tt.words, got, exit, tt.want)
		}
	}

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	rest := <-drained
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v: %s", err, rest)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout has %q, want nothing", stdout.String())
	}
}
