//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/test/require"
)

const (
	toolsBefore = `[{"name":"kept","inputSchema":{"type":"object"}},{"name":"turned","description":"Reads.","inputSchema":{"type":"object"}}]`
	toolsAfter  = `[{"name":"kept","inputSchema":{"type":"object"}},{"name":"turned","description":"Sends.","inputSchema":{"type":"object"}}]`
)

// lockCommand returns mcpctl lock with more words, for a configuration.
func lockCommand(t *testing.T, config string, words ...string) *exec.Cmd {
	t.Helper()
	dir := filepath.Dir(config)
	cmd := exec.CommandContext(t.Context(), "mcpctl", append([]string{"--config", config, "lock"}, words...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, noRaceSleep}
	return cmd
}

func lockNow(t *testing.T, config string, words ...string) {
	t.Helper()
	if out, err := lockCommand(t, config, words...).CombinedOutput(); err != nil {
		t.Fatalf("lock %s: %v\n%s", words, err, out)
	}
}

// TestServeFollowsLock: what a server has changed since it was locked is not there in a
// running serve, until another process approves it; then it is, with a notification and
// in the same process of the server.
func TestServeFollowsLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tools, config := filepath.Join(dir, "tools.json"), filepath.Join(dir, "servers.json")
	entry := `{"mcpServers":{"a":{"command":"fake-mcp","args":["-tools",` + fmt.Sprintf("%q", tools) + `],"pin":"hold"}}}`
	require.NoError(t, os.WriteFile(config, []byte(entry), 0o600))
	require.NoError(t, os.WriteFile(tools, []byte(toolsBefore), 0o600))
	lockNow(t, config)
	require.NoError(t, os.WriteFile(tools, []byte(toolsAfter), 0o600))

	s := &served{t: t, config: config, wait: map[string]chan string{}, notes: map[string]int{}, exited: make(chan struct{})}
	s.begin(exec.CommandContext(t.Context(), "mcpctl", "--config", config, "serve"))
	s.call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if got := s.text("a__turned", `{}`); !strings.Contains(got, "unknown tool: a__turned") {
		t.Errorf("got %s", got)
	}
	if got := s.call("tools/list", `{}`); !strings.Contains(got, `"a__kept"`) || strings.Contains(got, "turned") {
		t.Errorf("got %s", got)
	}
	if got := s.said(); !strings.Contains(got, "server does not offer what is locked") || !strings.Contains(got, "mcpctl lock diff a") {
		t.Errorf("it is not logged:\n%s", got)
	}
	// Another setting counts at once, too.
	shows := func() bool { return strings.Contains(s.call("tools/list", `{}`), `"Sends."`) }
	s.rename(strings.Replace(entry, "hold", "warn", 1))
	s.until("with warn the tool is there", shows)
	s.rename(entry)
	s.until("with hold it is not", func() bool { return !shows() })
	lockNow(t, config, "approve", "a/turned", "--yes")
	s.until("the approved tool is there", func() bool { return strings.Contains(s.call("tools/list", `{}`), `"Sends."`) })
	if got := s.text("a__turned", `{}`); got != "turned" {
		t.Errorf("got %s", got)
	}
	s.mu.Lock()
	told := s.notes["notifications/tools/list_changed"]
	s.mu.Unlock()
	if told == 0 {
		t.Error("the client was not told")
	}

	// What breaks the file while serve runs changes nothing.
	require.NoError(t, os.WriteFile(lockfile.Path(config), []byte("<<<<<<<"), 0o600))
	s.until("the broken file is reported", func() bool { return strings.Contains(s.said(), "the lock file cannot be used") })
	if got := s.text("a__turned", `{}`); got != "turned" {
		t.Errorf("got %s", got)
	}
}

// TestLockTogether: processes that lock different servers at the same time lose nothing.
func TestLockTogether(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(config, []byte(entries("a b c")), 0o600))
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		all.Go(func() {
			if out, err := lockCommand(t, config, name).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	f, err := lockfile.Load(lockfile.Path(config))
	require.NoError(t, err)
	if len(f.Servers) != 3 {
		t.Errorf("%d of 3 servers are locked", len(f.Servers))
	}
}

// TestLockKilled: a lock that is killed at any moment leaves the old file or the new
// one, and the next one tidies up.
func TestLockKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tools, config := filepath.Join(dir, "tools.json"), filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"a":{"command":"fake-mcp","args":["-tools",`+fmt.Sprintf("%q", tools)+`]}}}`), 0o600))
	states := make([][]byte, 2)
	for i, text := range []string{toolsAfter, toolsBefore} {
		require.NoError(t, os.WriteFile(tools, []byte(text), 0o600))
		lockNow(t, config)
		var err error
		states[i], err = os.ReadFile(lockfile.Path(config))
		require.NoError(t, err)
	}
	for i := range 8 {
		require.NoError(t, os.WriteFile(tools, []byte([]string{toolsAfter, toolsBefore}[i%2]), 0o600))
		cmd := lockCommand(t, config)
		require.NoError(t, cmd.Start())
		kill := time.AfterFunc(time.Duration(10+i*15)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		got, err := os.ReadFile(lockfile.Path(config))
		require.NoError(t, err)
		if !bytes.Equal(got, states[0]) && !bytes.Equal(got, states[1]) {
			t.Fatalf("neither the old file nor the new one:\n%s", got)
		}
	}
	left := filepath.Join(dir, ".servers.lock.json.123.tmp")
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	lockNow(t, config)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed one has left is still there: %v", err)
	}
}
