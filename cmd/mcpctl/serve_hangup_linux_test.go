package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/test/pty"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// pseudoTerminal returns both ends of a terminal.
func pseudoTerminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, tty = pty.Open(t, 120)
	t.Cleanup(func() {
		_ = tty.Close()
		_ = screen.Close()
	})
	return screen, tty
}

// TestServeTerminalCloses: serve that was started from a terminal reads its
// configuration again at the signal HUP as long as the terminal is there, and ends
// with it; under nohup it goes on.
func TestServeTerminalCloses(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"shell": `exec mcpctl "$@"`, "nohup": `trap '' HUP; exec mcpctl "$@"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			screen, tty := pseudoTerminal(t)
			s := &served{t: t, config: filepath.Join(t.TempDir(), "servers.json"), wait: map[string]chan string{}, notes: map[string]int{}, exited: make(chan struct{})}
			s.write(entries("a"))
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", line, "sh", "--config", s.config, "serve", "--http", "127.0.0.1:0")
			cmd.ExtraFiles = []*os.File{tty}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
			s.begin(cmd)
			s.until("it listens", func() bool { return strings.Contains(s.said(), "listening on") })
			hup := func(times int) {
				require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
				// The terminal that goes sends the signal, too.
				s.until("it reads", func() bool { return strings.Count(s.said(), "nothing has changed") >= times })
			}
			hup(1)
			_ = tty.Close()
			require.NoError(t, screen.Close())
			if name == "nohup" {
				hup(2)
				require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			}
			select {
			case <-s.exited:
			case <-wait.Late(t):
				t.Fatalf("it did not end:\n%s", s.said())
			}
		})
	}
}
