package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestTrustOnATerminal: a person is asked about a project's file once, sees what it runs,
// and the answer is kept; a changed file asks again.
func TestTrustOnATerminal(t *testing.T) {
	t.Parallel()
	mcpctl, err := exec.LookPath("mcpctl")
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "shop", ".mcpctl", "servers.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	write := func(more string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers": {"fake": {"command": "fake-mcp", "args": ["-full", "2026-07-28"]`+more+`}}}`), 0o600))
	}
	run := func(keys string, words ...string) (drawn string, code int) {
		t.Helper()
		var answers [][2]string
		if keys != "" {
			answers = append(answers, [2]string{"no: ignore it", keys})
		}
		p := openTerminal(t, answers...)
		ctx := wait.Context(t)
		cmd := exec.CommandContext(ctx, mcpctl, words...)
		cmd.Dir = filepath.Dir(filepath.Dir(file))
		cmd.Env = []string{"MCPCTL_HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "TERM=xterm", noRaceSleep}
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.tty, &out, p.tty
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
		_ = cmd.Run() // its exit code says it
		_ = p.tty.Close()
		<-p.done
		return p.text(), cmd.ProcessState.ExitCode()
	}
	const down = "\x1b[B"
	const question = "Trust this file"
	for _, step := range []struct {
		change, keys string
		code         int
		asked        string // what is drawn, "" for no question
	}{
		{"", "\r", 5, "is new to mcpctl"},                              // not now
		{"", "\x03", 130, "is new to mcpctl"},                          // broken off
		{"", down + down + "\r", 5, "fake: fake-mcp -full 2026-07-28"}, // no
		{"", "", 5, ""},
		{`, "env": {"A": "1"}`, down + "\r", 0, `env: {"A":"1"}`}, // yes
		{`, "env": {"A": "1"}`, "", 0, ""},
		{`, "env": {"A": "2"}`, down + "\r", 0, "has changed since you trusted it"},
	} {
		write(step.change)
		drawn, code := run(step.keys, "ping", "fake")
		if code != step.code || strings.Contains(drawn, question) != (step.asked != "") || !strings.Contains(drawn, step.asked) {
			t.Fatalf("%+v: exit %d; drawn:\n%s", step, code, drawn)
		}
	}
	// --no-input asks nothing.
	write(`, "env": {"A": "3"}`)
	if drawn, code := run("", "ping", "fake", "--no-input"); code != 5 || strings.Contains(drawn, question) {
		t.Errorf("exit %d; drawn:\n%s", code, drawn)
	}
}
