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
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestInterruptLeavesNoProcess ends mcpctl in the middle of a call, by Ctrl+C
// and by closing its terminal. The server ignores SIGTERM and has a child that
// does, too. Named pipes which those two hold open tell when they are gone;
// nothing here polls.
func TestInterruptLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			interrupted(t, sig)
		})
	}
}

func interrupted(t *testing.T, sig os.Signal) {
	dir := t.TempDir()
	logPipe, pidPipe := filepath.Join(dir, "log"), filepath.Join(dir, "pid")
	for _, p := range []string{logPipe, pidPipe} {
		require.NoError(t, syscall.Mkfifo(p, 0o600))
	}
	config := filepath.Join(dir, "servers.json")
	entry := `{"mcpServers":{"fake":{"command":"fake-mcp","args":["-ignore-term","-log","` + logPipe + `","-grandchild","` + pidPipe + `"]}}}`
	require.NoError(t, os.WriteFile(config, []byte(entry), 0o600))
	cmd := exec.CommandContext(t.Context(), "mcpctl", "--config", config, "fake", "slow", "ms=60000")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// A child that lives on must not keep Wait from returning.
	cmd.WaitDelay = 10 * time.Second
	require.NoError(t, cmd.Start())
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	// Opening waits for the writer, which never comes if mcpctl ends early.
	open := func(path string) <-chan *os.File {
		ch := make(chan *os.File, 1)
		go func() {
			f, err := os.Open(path)
			if err != nil {
				t.Error(err)
			}
			ch <- f
		}()
		return ch
	}
	logs, pids := open(logPipe), open(pidPipe)
	var log, pid *os.File
	for log == nil || pid == nil {
		select {
		case log = <-logs:
		case pid = <-pids:
		case err := <-exited:
			t.Fatalf("mcpctl ended before the server was up: %v\n%s", err, stderr.String())
		}
	}
	defer log.Close()
	defer pid.Close()
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the call never reached the server: %v\n%s", err, stderr.String())
		}
		if strings.Contains(line, `"tools/call"`) {
			break
		}
	}
	start := time.Now()
	require.NoError(t, cmd.Process.Signal(sig))
	var exit *exec.ExitError
	if err := <-exited; !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("mcpctl ended with %v, want exit code 130", err)
	}
	if d := time.Since(start); d > wait.Interrupted {
		t.Errorf("mcpctl took %s to end", d)
	}
	rest := make(chan string, 2)
	for _, r := range []io.Reader{lines, pid} {
		go func() {
			b, _ := io.ReadAll(r) // ends when the last process that writes has gone
			rest <- string(b)
		}()
	}
	var told string
	for range 2 {
		told += wait.For(t, "the end of the server's processes", rest)
	}
	if !strings.Contains(told, "notifications/cancelled") {
		t.Errorf("the server was not told of the cancel: %q", told)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout has %q, want nothing", stdout.String())
	}
}
