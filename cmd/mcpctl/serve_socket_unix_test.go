//go:build unix

package main_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/local"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestServeSocket: serve --socket is serve --http for this user alone, and its file goes
// with it.
func TestServeSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, servers := filepath.Join(dir, "s"), filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(servers, []byte(`{"mcpServers":{"fake":{"command":"fake-mcp"}}}`), 0o600))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), noRaceSleep}
	cmd := exec.Command("mcpctl", "serve", "--config", servers, "--socket", path)
	cmd.Env = env
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() || lines.Text() != "listening on "+path {
		t.Fatalf("got %q", lines.Text())
	}
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, stderr)
		ended <- cmd.Wait()
	}()
	c := local.Client(path)
	defer c.CloseIdleConnections()
	post := func(body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://any/mcp", strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"},
		}
		resp, err := c.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(text)
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	if got := post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`); !strings.Contains(got, `"fake__echo"`) {
		t.Errorf("got %s", got)
	}
	second := exec.Command("mcpctl", "serve", "--config", servers, "--socket", path)
	second.Env = env
	out, err := second.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 6 || !strings.Contains(string(out), "another process listens there") {
		t.Errorf("a second one: %v %s", err, out)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("it does not end")
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}
