package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// gateway is a serve on standard input and output.
type gateway struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startServe starts a copy of mcpctl, so that the file can be deleted.
func startServe(t *testing.T, servers string) (*gateway, string) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{`+servers+`}}`), 0o600))
	found, err := exec.LookPath("mcpctl")
	require.NoError(t, err)
	program := filepath.Join(dir, "mcpctl")
	text, err := os.ReadFile(found)
	if err == nil {
		err = os.WriteFile(program, text, 0o700)
	}
	require.NoError(t, err)
	g := &gateway{cmd: exec.Command(program, "--config", config, "serve")}
	g.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MCPCTL_HOME=" + dir, "TMPDIR=" + dir, "GORACE=atexit_sleep_ms=0"}
	g.cmd.Stderr = os.Stderr
	if g.in, err = g.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := g.cmd.StdoutPipe()
	require.NoError(t, err)
	g.out = bufio.NewReader(out)
	require.NoError(t, g.cmd.Start())
	t.Cleanup(func() { _ = g.cmd.Process.Kill(); _ = g.cmd.Wait() })
	g.ask(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	fmt.Fprintln(g.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return g, program
}

// ask sends a request and gives the line of its answer.
func (g *gateway) ask(t *testing.T, request string) string {
	t.Helper()
	fmt.Fprintln(g.in, request)
	for {
		line, err := g.out.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		if strings.Contains(line, `"id":`) {
			return line
		}
	}
}

// call calls a tool and gives the text of the result.
func (g *gateway) call(t *testing.T, tool string) string {
	t.Helper()
	line := g.ask(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
	_, text, _ := strings.Cut(line, `"text":"`)
	text, _, _ = strings.Cut(text, `"`)
	return text
}

// below lists the processes whose environment or command line has a text.
func below(text string) (pids []int) {
	for _, file := range []string{"environ", "cmdline"} {
		names, _ := filepath.Glob("/proc/[0-9]*/" + file)
		for _, name := range names {
			b, err := os.ReadFile(name) // a zombie has none
			if err == nil && strings.Contains(string(b), text) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// guardianOf returns the guardian of a serve, which has nothing of its environment.
func guardianOf(t *testing.T, serve int) int {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // until it has its name
		names, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, name := range names {
			stat, _ := os.ReadFile(name) // it may have ended meanwhile
			var pid, parent int
			var state string
			before, rest, _ := strings.Cut(string(stat), " (mcp-guardian) ")
			if _, err := fmt.Sscan(before, &pid); err != nil {
				continue
			}
			if _, err := fmt.Sscan(rest, &state, &parent); err == nil && parent == serve {
				return pid
			}
		}
	}
	t.Fatal("no guardian")
	return 0
}

// TestServeKilled: kill -9 of a serve, also of one whose file has been deleted,
// leaves nothing of it: neither servers that ignore SIGTERM nor what they have
// started, nor the guardian. An orderly end does not either.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*gateway){
		"killed":  func(g *gateway) { _ = g.cmd.Process.Kill() },
		"deleted": func(g *gateway) { _ = g.cmd.Process.Kill() },
		"told":    func(g *gateway) { _ = g.cmd.Process.Signal(syscall.SIGTERM) },
		"left":    func(g *gateway) { _ = g.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir() // its name is on the command lines
			pid := filepath.Join(dir, "pid")
			g, program := startServe(t, `
				"a": {"command": "fake-mcp", "args": ["-ignore-term", "-linger", "1m", "-grandchild", "`+pid+`"], "shutdownTimeout": "1s"},
				"b": {"command": "sh", "args": ["-c", "setsid sleep 60 & exec fake-mcp"], "env": {"B": "`+dir+`"}}`)
			if name == "deleted" {
				require.NoError(t, os.Remove(program))
			}
			if got := g.call(t, "a__pid"); got == "" {
				t.Fatal("no server")
			}
			if got := g.call(t, "b__pid"); got == "" {
				t.Fatal("no server")
			}
			if n := len(below(dir)); n < 4 {
				t.Fatalf("%d processes", n)
			}
			guardian := guardianOf(t, g.cmd.Process.Pid)
			end(g)
			_ = g.cmd.Wait()
			until := time.Now().Add(6 * time.Second)
			left := func() []int {
				pids := append(below(dir), below(filepath.Dir(program))...)
				if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", guardian)); err == nil && string(comm) == "mcp-guardian\n" {
					pids = append(pids, guardian)
				}
				return pids
			}
			for time.Now().Before(until) && len(left()) > 0 {
				time.Sleep(20 * time.Millisecond)
			}
			for _, pid := range left() {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				t.Errorf("left: %d %q", pid, line)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}
