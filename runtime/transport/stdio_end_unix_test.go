//go:build unix

package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// shell runs a script as a server.
func shell(t *testing.T, o transport.StdioOptions, script string) *transport.Stdio {
	t.Helper()
	o.Command, o.Args, o.Grace, o.ShutdownTimeout = "sh", []string{"-c", script}, 20*time.Millisecond, time.Second
	s, err := transport.StartStdio(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// lastWords calls a server that ends meanwhile and returns its end.
func lastWords(t *testing.T, s *transport.Stdio) *transport.ExitError {
	t.Helper()
	ctx := wait.Context(t)
	_, err := s.Call(ctx, &runtime.Request{Method: "ping"})
	var exit *transport.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("got %v", err)
	}
	return exit
}

// TestStdioLastLines: the last 50 lines are in the error, whole and clean,
// however many are written in the moment of the end; the sentence is one line.
func TestStdioLastLines(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := shell(t, transport.StdioOptions{}, `read x; i=0; while [ $i -lt 500 ]; do i=$((i+1)); printf '\033[31mline %d\033[0m\r\n\n' $i; done >&2; exit 4`)
			exit := lastWords(t, s)
			lines := exit.StderrLines()
			if len(lines) != 50 || lines[0] != "line 451" || lines[49] != "line 500" {
				t.Errorf("%d lines, %q", len(lines), lines)
			}
			if got, want := exit.Error(), "sh ended (exit status 4): line 500"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	wg.Wait()
	// More than is kept: only whole lines are shown.
	long := strings.Repeat("x", 290)
	s := shell(t, transport.StdioOptions{}, `read x; i=100; while [ $i -lt 200 ]; do i=$((i+1)); echo "$i `+long+`" >&2; done`)
	lines := lastWords(t, s).StderrLines()
	if len(lines) < 10 || len(lines) > 30 || lines[len(lines)-1] != "200 "+long {
		t.Errorf("%d lines, %q", len(lines), lines)
	}
	for _, line := range lines {
		if len(line) != 4+len(long) {
			t.Errorf("a part of a line: %q", line)
		}
	}
	var log bytes.Buffer
	s = shell(t, transport.StdioOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}, `read x; echo one >&2; printf two >&2; exit 4`)
	if got := lastWords(t, s).StderrLines(); len(got) != 2 || got[1] != "two" {
		t.Errorf("got %q", got)
	}
	_ = s.Close()
	if !strings.Contains(log.String(), `stderr="one\ntwo"`) {
		t.Errorf("the log does not have them: %s", &log)
	}
	if got := lastWords(t, shell(t, transport.StdioOptions{}, `read x; exit 4`)).StderrLines(); got != nil {
		t.Errorf("of one that says nothing: %q", got)
	}
}

// closing tells of the end of a connection.
type closing struct {
	runtime.NopHandler
	ended chan error
}

func (c closing) Closed(err error) { c.ended <- err }

// deaf waits until a server that closes its input is one that nothing can be sent to.
// A process that another test starts in that moment holds the input, too, until it
// runs its program: what is written before goes into the pipe, and nobody reads it.
func deaf(t *testing.T, s *transport.Stdio) {
	t.Helper()
	<-s.Alive()
	for s.Notify(wait.Context(t), &runtime.Request{Method: "notifications/initialized"}) == nil {
	}
}

// TestStdioHalfDead: a server that takes no more input, returns no more output, or
// has ended while what it has started holds its output, is reported as ended,
// and Close leaves nothing of it.
func TestStdioHalfDead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"without output":            {`read x; exec >&-; exec sleep 60`, "sh closed its output"},
		"without input":             {`exec <&-; echo up >&2; exec sleep 60`, "sh closed its input: up"},
		"ended, its output is held": {`sleep 60 & read x; exit 3`, "sh ended (exit status 3)"},
		"killed, its output is held": {
			`sleep 60 & echo why >&2; read x; kill -9 $$`, "sh ended (signal: killed): why",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := closing{ended: make(chan error, 1)}
			s := shell(t, transport.StdioOptions{Handler: h}, c.script)
			if name == "without input" {
				deaf(t, s)
			}
			if got := lastWords(t, s).Error(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if err := wait.For(t, "word of the end", h.ended); err == nil || !errors.Is(err, runtime.ErrClosed) {
				t.Errorf("told %v", err)
			}
			_, err := s.Call(t.Context(), &runtime.Request{Method: "ping"})
			if !errors.Is(err, runtime.ErrNotSent) || !errors.Is(err, runtime.ErrClosed) {
				t.Errorf("a call after the end: %v", err)
			}
			pid := s.PID()
			_ = s.Close()
			gone(t, pid)
		})
	}
}

// TestStdioNoInput: what is called before the end of a server that takes no input
// has been noticed was not sent, so that it can be called elsewhere.
func TestStdioNoInput(t *testing.T) {
	t.Parallel()
	h := closing{ended: make(chan error, 1)}
	s := shell(t, transport.StdioOptions{Handler: h}, `exec <&-; echo up >&2; exec sleep 60`)
	deaf(t, s)
	_, err := s.Call(t.Context(), &runtime.Request{Method: "ping"})
	if !errors.Is(err, runtime.ErrNotSent) || !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := <-h.ended; err.Error() != "sh closed its input: up" {
		t.Errorf("told %v", err)
	}
}

// slowHandler is a handler that takes its time.
type slowHandler struct{ runtime.NopHandler }

func (slowHandler) Notification(context.Context, *runtime.Request, string, json.RawMessage) {
	time.Sleep(100 * time.Millisecond)
}

// TestStdioLastAnswer: what a server has said before its end is heard, also
// where something holds its output open, and where it is read after the end.
func TestStdioLastAnswer(t *testing.T) {
	t.Parallel()
	s := shell(t, transport.StdioOptions{Handler: slowHandler{}}, `sleep 60 & read x
echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'; sleep 0.03; echo '{"jsonrpc":"2.0","id":1,"result":{"last":true}}'; exit 3`)
	got, err := s.Call(t.Context(), &runtime.Request{Method: "ping"})
	if err != nil || string(got) != `{"last":true}` {
		t.Errorf("got %s %v", got, err)
	}
}

// TestStdioEnvironment: a variable of ours that is not in the small set does not
// reach a server; an entry's does, and its PATH is where the command is found.
func TestStdioEnvironment(t *testing.T) {
	const secret = "MCPCTL_TEST_SECRET"
	t.Setenv(secret, "s3cret")
	t.Setenv("LC_ALL", "C")
	dir := t.TempDir()
	program := filepath.Join(dir, "only-on-that-path")
	script := fmt.Sprintf("#!/bin/sh\n/bin/sh -c 'read x; env; echo \"[$%s]\"' >&2\n", secret)
	require.NoError(t, require.WriteProgram(program, []byte(script), 0o700))
	s, err := transport.StartStdio(transport.StdioOptions{
		Command: filepath.Base(program), Env: map[string]string{"PATH": "relative:" + dir + ":/usr/bin:/bin", "MINE": "yes"},
	})
	require.NoError(t, err)
	defer s.Close()
	lines := lastWords(t, s).StderrLines()
	text := strings.Join(lines, "\n")
	for _, want := range []string{"MINE=yes", "LC_ALL=C", "PATH=relative:" + dir + ":/usr/bin:/bin", "[]"} {
		if !strings.Contains("\n"+text+"\n", "\n"+want+"\n") {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
	if strings.Contains(text, secret) || strings.Contains(text, "s3cret") {
		t.Errorf("the secret is there:\n%s", text)
	}
}

// TestStdioCannotStart: each reason is one clear line with a remedy, and leaves
// no goroutine (see TestMain).
func TestStdioCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, script := filepath.Join(dir, "plain"), filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(plain, []byte("no program"), 0o600))
	require.NoError(t, require.WriteProgram(script, []byte("#!/no/such/interpreter\n"), 0o700))
	for want, o := range map[string]transport.StdioOptions{
		"connect no-such: command not found":                               {Command: "no-such"},
		"connect " + dir + ": it is a directory":                           {Command: dir},
		"connect " + plain + ": permission denied":                         {Command: plain},
		"connect " + script + ": its interpreter is not there":             {Command: script},
		"connect true: working directory " + dir + "/none not found":       {Command: "true", Dir: dir + "/none"},
		"connect true: working directory " + plain + " is not a directory": {Command: "true", Dir: plain},
	} {
		s, err := transport.StartStdio(o)
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: started", want)
			continue
		}
		var ce *runtime.ConnectError
		if !errors.As(err, &ce) || err.Error() != want || ce.Hint() == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// TestStdioPatience: a negative ShutdownTimeout leaves the server all the time it
// wants after SIGTERM, until there is no time left.
func TestStdioPatience(t *testing.T) {
	t.Parallel()
	hurry := make(chan struct{})
	s, err := transport.StartStdio(transport.StdioOptions{
		Command: "sh", Args: []string{"-c", `trap '' TERM; echo up >&2; while :; do sleep 0.05; done`},
		Grace: time.Millisecond, ShutdownTimeout: -1, Hurry: hurry,
	})
	require.NoError(t, err)
	<-s.Alive()
	closed := make(chan struct{})
	go func() { _ = s.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("it was killed")
	case <-time.After(300 * time.Millisecond): // two looks at it at least
	}
	close(hurry)
	<-closed
}
