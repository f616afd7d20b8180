package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/test/pty"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// terminal is a pseudo-terminal with somebody in front of it, who types an
// answer to each text that is drawn, once.
type terminal struct {
	screen, tty *os.File
	done        chan struct{}
	// line returns what is typed where an answer is empty, by all that is drawn.
	line func(drawn string) (keys string)

	mu      sync.Mutex // guards what follows
	drawn   strings.Builder
	seen    int // how much of drawn has been answered
	answers [][2]string
}

func openTerminal(t *testing.T, answers ...[2]string) *terminal {
	t.Helper()
	screen, tty := pty.Open(t, 120)
	p := &terminal{screen: screen, tty: tty, done: make(chan struct{}), answers: answers}
	go p.watch()
	t.Cleanup(func() {
		_ = tty.Close() // the reader's end
		<-p.done
		_ = screen.Close()
	})
	return p
}

func (p *terminal) watch() {
	defer close(p.done)
	buf := make([]byte, 4096)
	for {
		n, err := p.screen.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.drawn.Write(buf[:n])
		p.answer()
		p.mu.Unlock()
	}
}

// answer types what belongs to the next text, once that is drawn and the
// program reads single keys. The caller holds the lock.
func (p *terminal) answer() {
	for len(p.answers) > 0 {
		i := strings.Index(p.drawn.String()[p.seen:], p.answers[0][0])
		if i < 0 {
			return
		}
		p.seen += i + len(p.answers[0][0])
		for range 300_000 { // a prompt is drawn before keys are read
			mode, err := unix.IoctlGetTermios(int(p.screen.Fd()), unix.TCGETS)
			if err != nil || mode.Lflag&unix.ICANON == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		keys := p.answers[0][1]
		if keys == "" {
			keys = p.line(p.drawn.String())
		}
		_, _ = p.screen.WriteString(keys)
		p.answers = p.answers[1:]
	}
}

// drawn is what a terminal has drawn, for a test that waits in vain.
type drawn struct{ *terminal }

func (d drawn) String() string { return "an answer; drawn:\n" + d.text() }

func (p *terminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drawn.String()
}

// atTerminal runs mcpctl with standard input and error on a terminal and
// standard output in a pipe.
func atTerminal(t *testing.T, p *terminal, env []string, words ...string) (stdout string, code int) {
	t.Helper()
	return atTerminalWith(t, p, "", env, words...)
}

// atTerminalWith is atTerminal with a config.yaml, "" for none.
func atTerminalWith(t *testing.T, p *terminal, settings string, env []string, words ...string) (stdout string, code int) {
	t.Helper()
	mcpctl, err := exec.LookPath("mcpctl")
	require.NoError(t, err)
	home := t.TempDir()
	servers := map[string]any{}
	for name, version := range map[string]string{"old": "2025-11-25", "new": "2026-07-28"} {
		servers[name] = map[string]any{"command": "fake-mcp", "args": []string{"-full", version}}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, "servers.json"), b, 0o600))
	if settings != "" {
		require.NoError(t, os.Rename(settings, filepath.Join(home, "config.yaml")))
	}
	ctx := wait.Context(t)
	cmd := exec.CommandContext(ctx, mcpctl, words...)
	cmd.Env = append([]string{"MCPCTL_HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", noRaceSleep}, env...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.tty, &out, p.tty
	// Keys such as Ctrl+C go to whose terminal it is.
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	_ = cmd.Run() // its exit code says it
	_ = p.tty.Close()
	<-p.done // all is drawn
	return out.String(), cmd.ProcessState.ExitCode()
}

// TestFormOnATerminal: a person breaks a form off, or says no, in both eras;
// package elicit has those that are filled in.
func TestFormOnATerminal(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"old", "new"} {
		for name, c := range map[string]struct {
			answers [][2]string
			want    string
		}{
			"broken off": {[][2]string{{"Cancel (", "\x03"}}, `{"action":"cancel"}`},
			"declined":   {[][2]string{{"Cancel (", "\x1b[B\r"}}, `{"action":"decline"}`},
		} {
			t.Run(server+" "+name, func(t *testing.T) {
				t.Parallel()
				p := openTerminal(t, c.answers...)
				out, code := atTerminal(t, p, nil, "--json", server, "ask_form")
				if code != 0 || !strings.Contains(out, c.want) {
					t.Errorf("got exit %d, %s, want %s; drawn:\n%s", code, out, c.want, p.text())
				}
				if !strings.Contains(p.text(), server+" asks: Who are you?") {
					t.Errorf("drawn:\n%s", p.text())
				}
			})
		}
	}
}

// TestPageOnATerminal: a page is opened with $BROWSER, and not before it is
// said so.
func TestPageOnATerminal(t *testing.T) {
	t.Parallel()
	for keys, opened := range map[string]bool{"\r": true, "\x1b[B\r": false} {
		opens := filepath.Join(t.TempDir(), "opened")
		browser := filepath.Join(t.TempDir(), "browser")
		require.NoError(t, require.WriteProgram(browser, []byte("#!/bin/sh\nprintf %s \"$1\" >'"+opens+".new'; mv '"+opens+".new' '"+opens+"'\n"), 0o700))
		p := openTerminal(t, [2]string{"Cancel (", keys})
		out, code := atTerminal(t, p, []string{"BROWSER=" + browser}, "--json", "new", "ask_url")
		if code != 0 || !strings.Contains(out, `{"action":"accept"}`) {
			t.Errorf("got exit %d, %s; drawn:\n%s", code, out, p.text())
		}
		const page = "https://example.com/connect?a=1&b=é"
		if !strings.Contains(p.text(), "new asks you to open a page: Please connect\r\n  "+page) {
			t.Errorf("drawn:\n%s", p.text())
		}
		var got []byte
		wait.Until(t, "the browser", func() bool { // mcpctl does not wait for it
			var err error
			got, err = os.ReadFile(opens)
			return err == nil || !opened
		})
		if opened && string(got) != page || !opened && got != nil {
			t.Errorf("%q: opened %q", keys, got)
		}
	}
}

// TestProgressOnATerminal: the live line is there, and gone at the end. A call
// that has ended before anything could be drawn has none: then it is a longer
// one's turn.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	const gone = "\r\x1b[2K"
	for n := 3; ; n *= 20 {
		p := openTerminal(t)
		out, code := atTerminal(t, p, nil, "-o", "text", "old", "steps", fmt.Sprint("n=", n))
		drawn := p.text()
		if code == 0 && drawn == "" && n < 50_000 {
			continue
		}
		if code != 0 || out != "done\n" || !strings.Contains(drawn, gone+"[") || !strings.HasSuffix(drawn, gone) {
			t.Errorf("got exit %d, %q; drawn %q", code, out, drawn)
		}
		return
	}
}

// TestPolicyAsksOnATerminal: what policies ask about is asked on the terminal, with all that
// is sent, in both eras.
func TestPolicyAsksOnATerminal(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"old", "new"} {
		for name, c := range map[string]struct {
			answers [][2]string
			code    int
			want    string
		}{
			"yes":        {[][2]string{{"Cancel (", "\r"}, {"Allow it", "y\r"}}, 0, "hi"},
			"no":         {[][2]string{{"Cancel (", "\r"}, {"Allow it", "n\r"}}, 9, ""},
			"declined":   {[][2]string{{"Cancel (", "\x1b[B\r"}}, 9, ""},
			"broken off": {[][2]string{{"Cancel (", "\x03"}}, 9, ""},
		} {
			t.Run(server+" "+name, func(t *testing.T) {
				t.Parallel()
				settings := filepath.Join(t.TempDir(), "config.yaml")
				require.NoError(t, os.WriteFile(settings, []byte("access:\n  rules:\n    - {ask: '*', to: ["+server+"/echo], question: 'Call {tool} of {server}?'}\n"), 0o600))
				p := openTerminal(t, c.answers...)
				out, code := atTerminalWith(t, p, settings, nil, server, "echo", "message=hi\u202e")
				if code != c.code || !strings.Contains(out, c.want) {
					t.Errorf("got exit %d, %s; drawn:\n%s", code, out, p.text())
				}
				for _, want := range []string{"Call echo of " + server + "?", "It is called with {\"message\":\"hi<U+202E right-to-left override>\"}"} {
					if !strings.Contains(p.text(), want) {
						t.Errorf("%q is not drawn:\n%s", want, p.text())
					}
				}
			})
		}
	}
}
