package clitool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

// words returns the arguments of act.
func words(w ...string) string { return fmt.Sprintf(`{"word":%s}`, quote(w)) }

// TestRuns: each way in which a program can behave has one clear result.
func TestRuns(t *testing.T) {
	t.Parallel()
	tr := open(t, kitOptions(t, Exposure{Only: []string{"*"}}))
	for _, tt := range []struct {
		words      []string
		text       string
		structured string
		isError    bool
		code       string
	}{
		{[]string{"say=hello"}, "hello", "", false, "0"},
		{[]string{"say=a", "err=b"}, "a\n--- stderr ---\nb", "", false, "0"},
		{[]string{"say=a", "err=b", "exit=3"}, "a\n--- stderr ---\nb\nexit status 3", "", true, "3"},
		{[]string{`json={"a":9007199254740993}`}, `{"a":9007199254740993}`, `{"a":9007199254740993}`, false, "0"},
		{[]string{`json=[1,2]`}, `[1,2]`, `{"result":[1,2]}`, false, "0"},
		{[]string{`json={"a":1}`, "exit=1"}, "{\"a\":1}\nexit status 1", "", true, "1"},
		{[]string{"read"}, "read 0", "", false, "0"},
		{[]string{"tty"}, "terminal false", "", false, "0"},
		{[]string{"env=PAGER", "env=TERM"}, "PAGER=cat\nTERM=dumb", "", false, "0"},
		{[]string{"say=$(id) `id` ; id | id"}, "$(id) `id` ; id | id", "", false, "0"},
	} {
		r, err := call(t.Context(), tr, "act", words(tt.words...))
		require.NoError(t, err)
		if r.text() != tt.text || string(r.Structured) != tt.structured || r.IsError != tt.isError || string(r.Meta[MetaExitCode]) != tt.code {
			t.Errorf("%v: got %q, %s, error %v, code %s", tt.words, r.text(), r.Structured, r.IsError, r.Meta[MetaExitCode])
		}
	}
}

// TestKilled: the end by a signal is told.
func TestKilled(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS == "windows" {
		t.Skip("no signals")
	}
	tr := open(t, kitOptions(t, Exposure{Only: []string{"act"}}))
	r, err := call(t.Context(), tr, "act", words("say=a", "kill"))
	require.NoError(t, err)
	if r.text() != "a\nsignal: killed" || !r.IsError || r.Meta[MetaExitCode] != nil {
		t.Errorf("got %q, error %v, code %s", r.text(), r.IsError, r.Meta[MetaExitCode])
	}
}

// TestFlood: a program that writes without end is ended.
func TestFlood(t *testing.T) {
	t.Parallel()
	tr := open(t, kitOptions(t, Exposure{Only: []string{"act"}}))
	r, err := call(t.Context(), tr, "act", words("flood"))
	require.NoError(t, err)
	if !r.IsError || !strings.Contains(r.text(), "it wrote more than 16777216 bytes, and was ended") || len(r.text()) > shownSize+1000 {
		t.Errorf("got %d bytes that end %q", len(r.text()), r.text()[max(0, len(r.text())-200):])
	}
}

// TestWhole: a result has a part of a large output, and a resource the whole.
func TestWhole(t *testing.T) {
	t.Parallel()
	tr := open(t, kitOptions(t, Exposure{Only: []string{"act"}}))
	r, err := call(t.Context(), tr, "act", words("many=20000"))
	require.NoError(t, err)
	if len(r.Content) != 3 || len(r.Content[0].Text) != shownSize || !strings.Contains(r.Content[1].Text, "1048576 bytes of 1280000") {
		t.Fatalf("got %d blocks, %d bytes, %q", len(r.Content), len(r.Content[0].Text), r.Content[1].Text)
	}
	uri := r.Content[2].URI
	read := func(uri string) (json.RawMessage, error) {
		return tr.Call(t.Context(), &runtime.Request{Method: "resources/read", Params: quote(map[string]string{"uri": uri})})
	}
	raw, err := read(uri)
	require.NoError(t, err)
	if len(raw) < 1280000 || uri != "cli-output://kit/1" {
		t.Errorf("%s has %d bytes", uri, len(raw))
	}
	if _, err := read(uri + "0"); !strings.Contains(fmt.Sprint(err), "no such output") {
		t.Errorf("another one: got %v", err)
	}
}

// TestFork: what a program leaves behind is ended, and said.
func TestFork(t *testing.T) {
	t.Parallel()
	tr := open(t, kitOptions(t, Exposure{Only: []string{"act"}}))
	r, err := call(t.Context(), tr, "act", words("fork", "say=done"))
	require.NoError(t, err)
	if r.IsError || !strings.Contains(r.text(), "left behind were ended") {
		t.Errorf("got %q", r.text())
	}
	pid := 0
	fmt.Sscanf(r.text(), "child %d", &pid)
	wantGone(t, pid)
}

func wantGone(t *testing.T, pid int) {
	t.Helper()
	if f, lives := proc.Measure(pid)[pid]; lives && f.Processes > 0 || pid == 0 {
		t.Errorf("process %d is there still", pid)
	}
}

// TestCancel: a cancelled caller returns at once, and its process is ended with what it
// has started.
func TestCancel(t *testing.T) {
	t.Parallel()
	tr := open(t, kitOptions(t, Exposure{Only: []string{"act"}}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lines := make(chan string, 1)
	events := &progressOf{lines: lines}
	done := make(chan error, 1)
	go func() {
		_, err := tr.Call(ctx, &runtime.Request{
			Method: "tools/call", Params: json.RawMessage(`{"name":"act","arguments":` + words("fork", "pid", "sleep") + `,"_meta":{"progressToken":7}}`),
			Token: json.RawMessage("7"), Events: events,
		})
		done <- err
	}()
	line := <-lines
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	require.NoError(t, tr.Close())
	for _, form := range []string{"child %d", "pid %d"} {
		pid := 0
		if n, _ := fmt.Sscanf(line, form, &pid); n == 1 {
			wantGone(t, pid)
		}
	}
	if _, err := call(t.Context(), tr, "act", words()); !errors.Is(err, runtime.ErrNotSent) || !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("a call after the end: got %v", err)
	}
}

type progressOf struct {
	runtime.NopHandler
	lines chan string
}

func (p *progressOf) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	var m struct {
		ProgressToken int
		Message       string
	}
	if json.Unmarshal(params, &m) == nil && method == "notifications/progress" && m.ProgressToken == 7 {
		select {
		case p.lines <- m.Message:
		default:
		}
	}
}

// TestCloseEnds: Close ends the runs and waits for them.
func TestCloseEnds(t *testing.T) {
	t.Parallel()
	tr := open(t, kitOptions(t, Exposure{Only: []string{"act"}}))
	done := make(chan error, 1)
	go func() {
		_, err := call(t.Context(), tr, "act", words("sleep"))
		done <- err
	}()
	time.Sleep(50 * time.Millisecond)
	require.NoError(t, tr.Close())
	if err := <-done; !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestOneDiscovery: a hundred servers that are opened and called at once ask the tool
// once, and again when it is another file.
func TestOneDiscovery(t *testing.T) {
	t.Parallel()
	o := kitOptions(t, Exposure{Only: []string{"act"}})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			tr, err := Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			defer tr.Close()
		})
	}
	all.Wait()
	asked := func() int {
		text, err := os.ReadFile(o.Program.Env["KIT_ASKED"])
		require.NoError(t, err)
		return strings.Count(string(text), "\n")
	}
	if n := asked(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	tr := open(t, o)
	for range 100 {
		all.Go(func() {
			if r, err := call(t.Context(), tr, "act", words("say=x")); err != nil || r.text() != "x" {
				t.Errorf("got %q, %v", r.text(), err)
			}
		})
	}
	all.Wait()
	if n := asked(); n != 1 {
		t.Errorf("after the calls asked %d times, want once", n)
	}
	o.Program.Args = []string{o.Program.Env["KIT_ASKED"]} // a file that has changed
	if _, err := Open(t.Context(), o); err == nil {
		t.Error("words that the tool does not know: no error")
	}
}

// TestStart: a tool that cannot be started, or prints no help, is an error with a mend.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, dir, want, hint string }{
		{"no-such-tool-here", "", "command not found", "install"},
		{"kit", "/no/such/dir", "working directory", "cwd"},
	} {
		o := kitOptions(t, Exposure{})
		if tt.command != "kit" {
			o.Program.Command = tt.command
		}
		o.Program.Dir = tt.dir
		_, err := Open(t.Context(), o)
		failed, ok := errors.AsType[*runtime.ConnectError](err)
		if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(failed.Hint(), tt.hint) {
			t.Errorf("%s: got %v", tt.command, err)
		}
	}
	o := kitOptions(t, Exposure{})
	o.Help = "get x"
	if _, err := Open(t.Context(), o); !strings.Contains(fmt.Sprint(err), "prints no help") {
		t.Errorf("no help: got %v", err)
	}
}

// TestHangs: a tool that does not answer is an error when the time is over.
func TestHangs(t *testing.T) {
	t.Parallel()
	o := kitOptions(t, Exposure{})
	o.Help, o.Cache = "act pid sleep", ""
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begun := time.Now()
	if _, err := Open(ctx, o); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Errorf("got %v after %v", err, time.Since(begun))
	}
}
