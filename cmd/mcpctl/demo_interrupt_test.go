//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestDemoInterrupted sends SIGINT and SIGHUP to the tour at several places:
// it ends with exit code 130, its directory and the servers it has started go.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, at string
		sig      os.Signal
	}{
		{"at the start", "Everything is made in", os.Interrupt},
		{"between servers", "$ mcpctl add notes", os.Interrupt},
		{"in the middle of a call", "notifications/progress", os.Interrupt},
		{"while serve runs", "listening on", os.Interrupt},
		{"terminal closed", "listening on", syscall.SIGHUP},
		{"told to end", "$ mcpctl describe", syscall.SIGTERM},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(tt.sig) { // under nohup, which hands that on
				tt.sig = syscall.SIGTERM
			}
			// The tour is quick, and a busy machine may let it end before the
			// signal comes.
			for range 5 {
				if interruptDemo(t, tt.at, tt.sig) {
					return
				}
			}
			t.Error("the tour has always ended before the signal came")
		})
	}
}

// interruptDemo sends the signal when the tour has printed a text. It is false
// where the tour was faster.
func interruptDemo(t *testing.T, at string, sig os.Signal) bool {
	t.Helper()
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "mcpctl", "demo")
	cmd.Dir = temp
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, noRaceSleep)
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	ours, theirs := narrow(t)
	cmd.Stdout = theirs
	require.NoError(t, cmd.Start())
	_ = theirs.Close()
	stdout := bufio.NewReader(ours)
	var seen strings.Builder
	for !strings.Contains(seen.String(), at) {
		line, err := stdout.ReadString('\n')
		seen.WriteString(line)
		if err != nil {
			t.Fatalf("the tour has ended before %q: %v\n%s%s", at, err, seen.String(), stderr.String())
		}
	}
	start := time.Now()
	if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stdout)
	require.NoError(t, err)
	seen.Write(rest)
	err = cmd.Wait()
	if err == nil && strings.Contains(seen.String(), "That was the tour") {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("the tour ended with %v, want exit code 130\n%s", err, seen.String())
	}
	if d := time.Since(start); d > wait.Interrupted {
		t.Errorf("it took %s to end", d)
	}
	if got := stderr.String(); got != "mcpctl: interrupted\n" {
		t.Errorf("stderr is %q", got)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("it has left %v (%v)", left, err)
	}
	for _, addr := range regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`).FindAllString(seen.String(), -1) {
		if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			c.Close()
			t.Errorf("something still listens on %s", addr)
		}
	}
	return true
}

// narrow is a pair of sockets that holds a few writes and no more: who writes
// to it stops soon after the other side has stopped reading, where a pipe would
// take all that is left of the tour.
func narrow(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	require.NoError(t, syscall.SetsockoptInt(fds[1], syscall.SOL_SOCKET, syscall.SO_SNDBUF, 1))
	ours, theirs = os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	t.Cleanup(func() { _ = ours.Close() })
	return ours, theirs
}
