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
	"github.com/mcpctl/mcpctl/test/wait"
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
		err = require.WriteProgram(program, text, 0o700)
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
	var pids []int
	wait.Until(t, "a guardian that has its name", func() bool {
		pids = childrenOf(serve, "(mcp-guardian)")
		return len(pids) > 0
	})
	return pids[0]
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
			until := time.Now().Add(wait.Gone)
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

// TestCallKilled: kill -9 of a one-shot call in flight leaves nothing of its server, of
// what that has started, and of the shell that waits for this. An ordinary end leaves
// what a server has moved out of its group, which is meant to outlive it.
func TestCallKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*exec.Cmd)
		left int
	}{
		"killed": {func(cmd *exec.Cmd) { _ = cmd.Process.Kill() }, 0},
		"told":   {func(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			config := filepath.Join(dir, "servers.json")
			// The shell stays, as npx does.
			script := `sleep 60 & setsid sleep 60 & fake-mcp -linger 1m -silent-method tools/call -log '` + log + `'; :`
			require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"a":{"command":"sh","args":["-c",`+strconv.Quote(script)+`],"env":{"A":"`+dir+`"}}}}`), 0o600))
			cmd := exec.Command("mcpctl", "--config", config, "a", "echo", "message=x")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MCPCTL_HOME=" + dir, "GORACE=atexit_sleep_ms=0"}
			require.NoError(t, cmd.Start())
			defer cmd.Wait()
			defer cmd.Process.Kill()
			wait.Until(t, "the call", func() bool {
				text, _ := os.ReadFile(log)
				return strings.Contains(string(text), "tools/call")
			})
			waiters := childrenOf(cmd.Process.Pid, "(sh)")
			if n := len(below("A=" + dir)); n != 4 || len(waiters) != 2 { // one is the server
				t.Errorf("%d processes of the server, want 4; shells of mcpctl: %v", n, waiters)
			}
			for _, pid := range waiters {
				environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
				if err != nil || strings.Contains(string(environ), "MCPCTL_HOME=") {
					t.Errorf("a shell has the environment of mcpctl: %q %v", environ, err)
				}
			}
			c.end(cmd)
			_ = cmd.Wait()
			left := func() []int {
				pids := below("A=" + dir)
				for _, pid := range waiters {
					if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(stat), ") Z ") {
						pids = append(pids, pid)
					}
				}
				return pids
			}
			for until := time.Now().Add(wait.Gone); len(left()) != c.left && time.Now().Before(until); {
				time.Sleep(10 * time.Millisecond)
			}
			pids := left()
			if len(pids) != c.left {
				t.Errorf("left: %d, want %d", pids, c.left)
			}
			for _, pid := range pids {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}

// childrenOf lists the children of a process by name.
func childrenOf(parent int, name string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range names {
		stat, _ := os.ReadFile(file) // it may have ended meanwhile
		var pid, of int
		var state string
		before, rest, found := strings.Cut(string(stat), " "+name+" ")
		_, err := fmt.Sscan(before, &pid)
		_, err2 := fmt.Sscan(rest, &state, &of)
		if found && err == nil && err2 == nil && of == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}
