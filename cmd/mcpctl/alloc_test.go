//go:build !race

// The race detector allocates, too.

package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestAllocServe holds how many allocations of the serving process a call
// costs, everything included: HTTP, timers, the collector's own. It counts
// with runtime.MemStats.Mallocs before and after some thousand calls of clients
// in another process. The package tests of the call path (testing.AllocsPerRun)
// tell where one comes from that is too many. The lines it logs are read by
// test/load/bench.
func TestAllocServe(t *testing.T) {
	dir := t.TempDir()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"load": map[string]any{"command": lookPath(t, "load-echo")}}})
	require.NoError(t, err)
	servers := filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(servers, config, 0o600))
	env := append(os.Environ(), "MCPCTL_CONFIG="+servers, "MCPCTL_HOME="+dir, "HOME="+dir)
	serve := lookPath(t, "mcpctl-counted")
	const calls, callers = 4000, 32
	tests := []struct {
		name     string
		http     bool
		revision string
		most     float64
	}{
		{"stdio", false, gen.Session, 2},
		{"stdio-stateless", false, gen.Stateless, 8},
		{"http", true, gen.Session, 12},
		{"http-stateless", true, gen.Stateless, 14},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			where := filepath.Join(dir, tt.name)
			target := gen.Target{Revision: tt.revision, Command: []string{serve, "serve"}, Env: append(env, countVariable+"="+where)}
			if tt.http {
				target.Command, target.URL = nil, serveCounted(t, serve, append(env, countVariable+"="+where))
			}
			c, err := gen.Open(t.Context(), target)
			require.NoError(t, err)
			defer c.Close()
			run := func() {
				r, err := c.Run(t.Context(), gen.Work{Callers: callers, Count: calls})
				if err == nil {
					err = r.Err()
				}
				require.NoError(t, err)
			}
			run() // pools are filled, connections there
			// The least of some: a collection may empty the pools in any of them,
			// and each lists the tools once.
			least := 0.0
			for i := range 3 {
				before := mallocs(t, where)
				run()
				if n := float64(mallocs(t, where)-before) / calls; i == 0 || n < least {
					least = n
				}
			}
			t.Logf("allocations a call, %s: %.2f", tt.name, least)
			if least > tt.most {
				t.Errorf("got %.2f allocations a call, want at most %v", least, tt.most)
			}
		})
	}
}

// lookPath finds one of TestMain's commands.
func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err)
	return path
}

// serveCounted starts serve over HTTP until the test's end.
func serveCounted(t *testing.T, program string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, program, "serve", "--http", "127.0.0.1:0")
	cmd.Env = env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	urls := make(chan string, 1)
	go func() {
		defer close(done)
		urls <- firstAfter(out, "listening on ")
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() { cancel(); <-done })
	select {
	case url := <-urls:
		if url != "" {
			return url
		}
		t.Fatal("serve ended before it listened")
	case <-wait.Late(t):
		t.Fatal("serve does not listen")
	}
	return ""
}

// firstAfter reads up to a line that begins so, and gives its rest.
func firstAfter(r io.Reader, begins string) string {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := r.Read(b); err != nil {
			return ""
		}
		if b[0] != '\n' {
			line = append(line, b[0])
			continue
		}
		if rest, ok := strings.CutPrefix(string(line), begins); ok {
			return strings.TrimSpace(rest)
		}
		line = line[:0]
	}
}

// mallocs asks a counted mcpctl how many allocations it has made; it has left
// the address in a file.
func mallocs(t *testing.T, where string) uint64 {
	t.Helper()
	var addr []byte
	wait.Until(t, "its address", func() bool {
		addr, _ = os.ReadFile(where)
		return len(addr) > 0
	})
	resp, err := http.Get("http://" + string(addr) + "/")
	require.NoError(t, err)
	defer resp.Body.Close()
	var n uint64
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&n))
	return n
}
