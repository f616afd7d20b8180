package runtimetest_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// run runs fake-mcp with lines on its input.
func run(t *testing.T, flags []string, lines ...string) (stdout, stderr string, code int) {
	t.Helper()
	words, env := runtimetest.Command(flags...)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Env = os.Environ()
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(lines, "\n")), &out, &errs
	_ = cmd.Run() // the code tells
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestProcess(t *testing.T) {
	t.Parallel()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	log := filepath.Join(t.TempDir(), "log")
	tests := []struct {
		flags       string
		out, stderr string
		code        int
	}{
		{"", pong, "", 0},
		{"-exit -code 7", "", "", 7},
		{"-exit-on-probe", "", "", 1},
		{"-silent", "", "", 0},
		{"-flood-stderr 200", pong, "noise noise", 0},
		{"-stderr hello", pong, "hello", 0},
		{"-log " + log, pong, "", 0},
		{"-no-such-flag", "", "-no-such-flag", 2},
	}
	for _, tt := range tests {
		t.Run(tt.flags, func(t *testing.T) {
			t.Parallel()
			out, errs, code := run(t, strings.Fields(tt.flags), ping)
			if out != tt.out || code != tt.code || !strings.Contains(errs, tt.stderr) {
				t.Errorf("got %q, %.80q, code %d; want %q, %q, %d", out, errs, code, tt.out, tt.stderr, tt.code)
			}
		})
	}
	t.Cleanup(func() {
		if b, err := os.ReadFile(log); err != nil || string(b) != ping+"\n" {
			t.Errorf("the log holds %q, %v", b, err)
		}
	})
}

func TestGrandchildStaysBehind(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	if _, errs, code := run(t, []string{"-grandchild", file}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatalf("the grandchild is gone: %v", err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("the grandchild is gone: %v", err)
	}
}
