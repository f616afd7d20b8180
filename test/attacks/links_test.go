//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/test/pty"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// actorEnv names a file: this test binary is a browser then, which writes its
// words into it.
const actorEnv = "MCPCTL_ATTACKS_ACTOR"

func actorMain(path string, words []string) int {
	raw, err := json.Marshal(words)
	if err == nil {
		err = os.WriteFile(path+".new", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return 1
	}
	return 0
}

// links are pages that a server wants opened, by a person at a terminal who
// agrees to everything. The address is one word of the browser's, and no shell
// reads it; what is no page is not opened.
func links() class {
	c := class{name: "links", apart: true}
	for _, row := range []struct {
		name, url string
		opened    bool
	}{
		{"a page", "https://id.example/connect?a=1&b=2", true},
		{"a command behind", "https://id.example/$(touch${IFS}pwned)", true},
		{"a command in quotes", "https://id.example/';touch${IFS}pwned;'", true},
		{"a command in backquotes", "https://id.example/`touch${IFS}pwned`", true},
		{"a command behind an and", "https://id.example/&touch${IFS}pwned", true},
		{"a pipe", "https://id.example/|touch${IFS}pwned", true},
		{"a variable of a shell", "https://id.example/$HOME", true},
		{"user information", "https://bank.example@attacker.example/", true}, // the person is shown the host it leads to

		{"a file", "file:///etc/passwd", false},
		{"a script", "javascript:alert(1)", false},
		{"data", "data:text/html,<script>", false},
		{"an application", "ms-msdt:/id", false},
		{"an application with a host", "evil-app://id.example/run", false},
		{"a place for the address", "https://id.example/%s%s", false},
		{"a mail", "mailto:x@attacker.example", false},
		{"a share", "\\\\attacker.example\\share", false},
		{"a path", "/bin/sh", false},
		{"an option", "--load-extension=/tmp/x", false},
		{"no host", "https:///x", false},
		{"nothing", "", false},
		{"a scheme in front", "x-evil:https://id.example/", false},
		{"a line end in front", "\nhttps://id.example/", false},
	} {
		c.cases = append(c.cases, attack{name: row.name, do: func(t *testing.T, _ *stage) {
			h := newHome(t, string(wire.Servers{"bad": rogue(t, spec{Name: "bad"})}.JSON()))
			exe, err := os.Executable()
			require.NoError(t, err)
			seen := filepath.Join(h.dir, "opened.json")
			h.env = []string{"BROWSER=" + exe, actorEnv + "=" + seen, "TERM=xterm"}
			frames, err := json.Marshal([]string{
				`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","message":"sign in","url":` + wire.Quote(row.url) + `,"elicitationId":"1"}}`, "!wait", rightAnswer,
			})
			require.NoError(t, err)
			screen := h.confirmOnTerminal(t, "call", "bad", "act", "frames:="+string(frames))
			if _, err := os.Stat(filepath.Join(h.dir, "pwned")); err == nil {
				t.Error("a shell has read it")
			}
			var words []string
			wait.Until(t, "the browser", func() bool { // it goes its own way
				raw, err := os.ReadFile(seen)
				if err == nil && json.Unmarshal(raw, &words) != nil {
					t.Errorf("got %s", raw)
				}
				return err == nil || !row.opened
			})
			for end := time.Now().Add(500 * time.Millisecond); !row.opened && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(seen); err == nil {
					break
				}
			}
			switch _, err := os.Stat(seen); {
			case !row.opened && err == nil:
				t.Errorf("it was opened:\n%s", screen)
			case row.opened && (len(words) != 1 || words[0] != row.url):
				t.Errorf("got %q\n%s", words, screen)
			}
		}})
	}
	return c
}

// confirmOnTerminal runs a command on a terminal where somebody presses Enter at each
// question, and returns what it has drawn.
func (h *home) confirmOnTerminal(t testing.TB, args ...string) string {
	t.Helper()
	screen, tty := terminal(t)
	cmd := h.command(t.Context(), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	_ = tty.Close()
	delayed := time.AfterFunc(wire.Limit, func() { _ = cmd.Process.Kill() })
	var drawn strings.Builder
	buf, asked := make([]byte, 4096), false
	for {
		n, err := screen.Read(buf)
		if err != nil {
			break // it has ended, and nobody has the terminal
		}
		drawn.Write(buf[:n])
		if strings.Contains(string(buf[:n]), "\x1b[6n") { // where is the cursor?
			_, _ = screen.WriteString("\x1b[10;1R")
		}
		if !asked && strings.Contains(drawn.String(), "Open it in the browser") {
			asked = true
			pressEnter(screen)
		}
	}
	_ = cmd.Wait() // how it ends is not what this is about
	if !delayed.Stop() {
		t.Errorf("mcpctl %s does not end:\n%q", strings.Join(args, " "), drawn.String())
	}
	return drawn.String()
}

// pressEnter presses Enter. Until the program takes single keys a key is lost, and
// nothing but the terminal's mode says when that is.
func pressEnter(screen *os.File) {
	for range 300_000 {
		mode, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
		if err != nil || mode.Lflag&unix.ICANON == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_, _ = screen.WriteString("\r")
}

// terminal makes one: the side of the person, and that of the program.
func terminal(t testing.TB) (screen, tty *os.File) {
	t.Helper()
	screen, tty = pty.Open(t, 200)
	t.Cleanup(func() { _ = screen.Close() })
	return screen, tty
}
