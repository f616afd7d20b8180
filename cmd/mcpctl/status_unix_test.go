//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestStatus asks two running serves what they do, one over HTTP and one on
// standard streams, each with a call under way, and a third that was killed.
func TestStatus(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	overHTTP := startEnding(t, ending{state: state, http: true}, "600000")
	overStdio := startEnding(t, ending{state: state}, "600000")
	killed := startEnding(t, ending{state: state}, "600000")
	require.NoError(t, killed.cmd.Process.Kill())
	<-killed.exited
	run := func(words ...string) string {
		t.Helper()
		cmd := exec.Command("mcpctl", append([]string{"status"}, words...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "XDG_STATE_HOME=" + state, noRaceSleep}
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("status %v: %v", words, err)
		}
		return string(out)
	}
	type serve struct {
		PID       int      `json:"pid"`
		Front     string   `json:"front"`
		Listening []string `json:"listening"`
		Config    struct{ Path string }
		proxy.Status
	}
	var got struct{ Serves []serve }
	text := run("--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Serves) != 2 {
		t.Fatalf("got %s, %v", text, err)
	}
	for _, s := range got.Serves {
		e, transport := overHTTP, "http"
		if s.PID == overStdio.cmd.Process.Pid {
			e, transport = overStdio, "stdio"
		}
		if s.PID != e.cmd.Process.Pid || s.Front != transport || !s.Ready || s.Process == nil || s.Process.RSS < 1<<20 || filepath.Base(s.Config.Path) != "servers.json" {
			t.Errorf("got %+v", s)
		}
		if len(s.Backends) != 1 {
			t.Fatalf("got %d backends", len(s.Backends))
		}
		b := s.Backends[0]
		if b.Name != "fake" || b.Transport != "stdio" || b.State != "ready" || b.InFlight != 1 || b.Calls != 1 || len(b.Connections) == 0 || b.Catalog == nil || b.Catalog.Tools == 0 {
			t.Errorf("%s: got %+v", transport, b)
			continue
		}
		if u := b.Usage; u == nil || u.Processes < 2 || u.RSS < 1<<20 { // it has started another
			t.Errorf("%s: its processes use %+v", transport, u)
		}
		if pid := b.Connections[0].PID; pid <= 0 || syscall.Kill(pid, 0) != nil {
			t.Errorf("%s: there is no process %d", transport, pid)
		}
	}
	id := strconv.Itoa(overStdio.cmd.Process.Pid)
	if text := run("-o", "text", id); !strings.HasPrefix(text, "serve "+id+", ") || !strings.Contains(text, "on standard input and output") || strings.Count(text, "serve ") != 1 {
		t.Errorf("by its id: %s", text)
	}
	addr := strings.TrimPrefix(overHTTP.base, "http://")
	if text := run("-o", "text", addr); !strings.Contains(text, "on "+overHTTP.base+"/mcp") || strings.Count(text, "serve ") != 1 || !strings.Contains(text, "fake    ready") {
		t.Errorf("by its address: %s", text)
	}
	for _, e := range []*ending{overHTTP, overStdio} { // at once
		e.tell(syscall.SIGTERM)
		if err := e.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
}
