//go:build unix

package main_test

import (
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
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
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
	p, err := wire.Launch(cmd, "listening on ")
	require.NoError(t, err)
	if p.URL != path {
		t.Fatalf("it listens on %q", p.URL)
	}
	c := local.Client(path)
	defer c.CloseIdleConnections()
	post := func(body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://any/mcp", strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if strings.Contains(body, "tools/list") {
			req.Header["Mcp-Protocol-Version"], req.Header["Mcp-Method"] = []string{"2026-07-28"}, []string{"tools/list"}
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
	// Its sessions are of the user, whom the system lets in.
	if got := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`); !strings.Contains(got, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("got %s", got)
	}
	status := exec.Command("mcpctl", "status", "--json")
	status.Env = env
	owner, _ := local.Owner()
	if out, err := status.Output(); err != nil || !strings.Contains(string(out), `"principal":"local|`+owner+`"`) {
		t.Errorf("status: %v, %s", err, out)
	}
	second := exec.Command("mcpctl", "serve", "--config", servers, "--socket", path)
	second.Env = env
	out, err := second.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 6 || !strings.Contains(string(out), "another process listens there") {
		t.Errorf("a second one: %v %s", err, out)
	}
	p.Stop(time.Until(wait.Deadline(t)))
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// TestServeSocketProxy: a socket that the settings give to a proxy asks for who the proxy
// says it is, and knows nobody else.
func TestServeSocketProxy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "servers.json"), []byte(`{"mcpServers":{"fake":{"command":"fake-mcp"}}}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("serve:\n  auth:\n    - proxy: {from: [unix], user: X-User}\naccess: {default: allow}\n"), 0o600))
	cmd := exec.Command("mcpctl", "serve", "--config", filepath.Join(dir, "servers.json"), "--socket", path)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, noRaceSleep}
	p, err := wire.Launch(cmd, "listening on ")
	require.NoError(t, err)
	defer p.Stop(time.Until(wait.Deadline(t)))
	if p.URL != path {
		t.Fatalf("it listens on %q", p.URL)
	}
	c := local.Client(path)
	defer c.CloseIdleConnections()
	for name, r := range map[string]struct {
		header http.Header
		want   int
	}{
		"alice":    {http.Header{"X-User": {"alice"}}, http.StatusNotFound}, // there is nothing, but she may ask
		"nobody":   {http.Header{}, http.StatusUnauthorized},
		"two":      {http.Header{"X-User": {"alice", "bob"}}, http.StatusBadRequest},
		"smuggled": {http.Header{"X_user": {"alice"}}, http.StatusBadRequest},
		"a token":  {http.Header{"Authorization": {"Bearer x"}}, http.StatusUnauthorized},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://any/nothing", nil)
		require.NoError(t, err)
		req.Header = r.header
		resp, err := c.Do(req)
		require.NoError(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != r.want {
			t.Errorf("%s: got %s, want %d", name, resp.Status, r.want)
		}
	}
}
