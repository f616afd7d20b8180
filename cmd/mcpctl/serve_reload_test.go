//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// served is a running mcpctl serve on standard input and output, and its client.
type served struct {
	t      *testing.T
	config string
	cmd    *exec.Cmd
	in     io.WriteCloser
	exited chan struct{} // closed when it has ended, and its output has been read

	mu    sync.Mutex // guards what follows
	next  int
	wait  map[string]chan string
	notes map[string]int // by method
	log   strings.Builder
	err   error // of cmd.Wait
}

// serveStdio starts mcpctl serve with a configuration.
func serveStdio(t *testing.T, config string, args ...string) *served {
	t.Helper()
	s := &served{t: t, config: filepath.Join(t.TempDir(), "servers.json"), wait: map[string]chan string{}, notes: map[string]int{}, exited: make(chan struct{})}
	s.write(config)
	s.begin(exec.CommandContext(t.Context(), "mcpctl", append([]string{"--config", s.config, "serve"}, args...)...))
	s.call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *served) begin(cmd *exec.Cmd) {
	s.t.Helper()
	dir := filepath.Dir(s.config)
	s.cmd = cmd
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GORACE=atexit_sleep_ms=0"}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.in = in
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			s.deliver(line)
		}
	})
	reading.Go(func() {
		for lines := bufio.NewReader(stderr); ; {
			line, err := lines.ReadString('\n')
			s.mu.Lock()
			s.log.WriteString(line)
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	go func() {
		reading.Wait()
		err := s.cmd.Wait()
		s.mu.Lock()
		s.err = err
		for _, ch := range s.wait {
			ch <- "mcpctl has ended"
		}
		s.mu.Unlock()
		close(s.exited)
	}()
	s.t.Cleanup(func() {
		_ = s.in.Close()
		select {
		case <-s.exited:
		case <-wait.Late(s.t):
			s.t.Error("it did not end with its input")
			_ = s.cmd.Process.Kill()
			<-s.exited
		}
	})
}

func (s *served) deliver(line string) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		s.t.Errorf("got %s", line)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method != "" {
		s.notes[m.Method]++
		return
	}
	if ch := s.wait[string(m.ID)]; ch != nil {
		delete(s.wait, string(m.ID))
		ch <- line
	}
}

func (s *served) send(line string) { _, _ = io.WriteString(s.in, line+"\n") }

// call sends a request and gives the line of its answer.
func (s *served) call(method, params string) string {
	ch := make(chan string, 1)
	s.mu.Lock()
	s.next++
	id := strconv.Itoa(s.next)
	s.wait[id] = ch
	s.mu.Unlock()
	s.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return wait.For(s.t, saying{"the answer to " + method, s}, ch)
}

// text calls a tool and gives the text of its result, or the whole answer where
// there is none.
func (s *served) text(tool, arguments string) string {
	line := s.call("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
	var m struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if json.Unmarshal([]byte(line), &m) != nil || len(m.Result.Content) == 0 {
		return line
	}
	return m.Result.Content[0].Text
}

func (s *served) pid(server string) int {
	s.t.Helper()
	n, err := strconv.Atoi(s.text(server+"__pid", `{}`))
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", server, err, s.said())
	}
	return n
}

func (s *served) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// write truncates the configuration and writes it.
func (s *served) write(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// rename replaces the configuration by another file.
func (s *served) rename(text string) {
	s.t.Helper()
	tmp := s.config + ".tmp"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(tmp, s.config); err != nil {
		s.t.Fatal(err)
	}
}

// saying is what a test waits for of a serve, with what that has said.
type saying struct {
	what string
	*served
}

func (s saying) String() string { return s.what + "\n" + s.said() }

func (s *served) until(what string, holds func() bool) {
	s.t.Helper()
	wait.Until(s.t, saying{what, s}, holds)
}

// running reports whether there is a process.
func running(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// entries returns a configuration of fake servers, as in "a b=1"; what follows the
// sign makes another entry of it.
func entries(words string) string {
	var all []string
	for word := range strings.FieldsSeq(words) {
		name, mark, _ := strings.Cut(word, "=")
		all = append(all, fmt.Sprintf(`%q: {"command": "fake-mcp", "env": {"MARK": %q}}`, name, mark))
	}
	return `{"mcpServers": {` + strings.Join(all, ",\n") + `}}`
}

// TestServeReload: each way to change the file takes effect; the process of a
// server that stays is the same, that of one that goes is gone.
func TestServeReload(t *testing.T) {
	t.Parallel()
	s := serveStdio(t, entries("a b"))
	a, b := s.pid("a"), s.pid("b")
	s.call("tools/list", `{}`)

	s.rename(entries("a c"))
	s.until("c is there", func() bool { return strings.Contains(s.call("tools/list", `{}`), `"c__echo"`) })
	s.until("b's process has ended", func() bool { return !running(b) })
	if got := s.text("b__echo", `{"message":"hi"}`); !strings.Contains(got, "unknown tool") {
		t.Errorf("got %s", got)
	}
	c := s.pid("c")

	s.write(entries("a c=2"))
	s.until("c's process is another", func() bool { return s.pid("c") != c })
	s.until("c's old process has ended", func() bool { return !running(c) })

	// As Kubernetes mounts a ConfigMap.
	dir := filepath.Dir(s.config)
	for i, words := range []string{"a c=2 d", "a"} {
		folder := filepath.Join(dir, fmt.Sprintf("..%d", i))
		if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "servers.json"), []byte(entries(words)), 0o600),
			os.Symlink(filepath.Base(folder), filepath.Join(dir, "tmp")), os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "..data"))); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			require.NoError(t, errors.Join(os.Symlink(filepath.Join("..data", "servers.json"), filepath.Join(dir, "tmp")), os.Rename(filepath.Join(dir, "tmp"), s.config)))
			s.until("d is there", func() bool { return strings.Contains(s.call("tools/list", `{}`), `"d__echo"`) })
			continue
		}
		s.until("d is gone", func() bool { return !strings.Contains(s.call("tools/list", `{}`), `"d__echo"`) })
	}
	if got := s.pid("a"); got != a {
		t.Errorf("a's process is %d, was %d", got, a)
	}
	s.mu.Lock()
	if s.notes["notifications/tools/list_changed"] == 0 {
		t.Error("the client was told of no change")
	}
	s.mu.Unlock()
}

// TestServeReloadSpares: fifty changes of the file disturb no call to a server
// that stays.
func TestServeReloadSpares(t *testing.T) {
	t.Parallel()
	s := serveStdio(t, entries("a b"))
	a := s.pid("a")
	end := make(chan struct{})
	var calls atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				if got := s.text("a__echo", `{"message":"hi"}`); got != "hi" {
					t.Errorf("got %s", got)
					return
				}
				calls.Add(1)
			}
		})
	}
	long := make(chan string, 1)
	go func() { long <- s.text("a__slow", `{"ms":2000}`) }()
	for i := range 50 {
		words := fmt.Sprintf("a b=%d c%d", i, i)
		if i%2 == 0 {
			s.rename(entries(words))
		} else {
			s.write(entries(words))
		}
		// Told in other ways than by the clock, too.
		require.NoError(t, s.cmd.Process.Signal(syscall.SIGHUP))
		n := calls.Load()
		s.until("calls go on", func() bool { return calls.Load() > n+4 })
	}
	s.until("the last configuration is in effect", func() bool { return s.text("c49__echo", `{"message":"there"}`) == "there" })
	if got := <-long; got != "done" {
		t.Errorf("the long call: got %s", got)
	}
	close(end)
	wg.Wait()
	if got := s.pid("a"); got != a {
		t.Errorf("a's process is %d, was %d", got, a)
	}
}

// TestServeReloadBroken: a file that cannot be used changes nothing, and says so
// once, as does an entry; and again when it is mended.
func TestServeReloadBroken(t *testing.T) {
	t.Parallel()
	s := serveStdio(t, entries("a b"), "--server", "a,b")
	a, b := s.pid("a"), s.pid("b")
	s.write("{\"mcpServers\": {\n  \"a\": {\"command\" \"fake-mcp\"}\n}}")
	s.until("it says so", func() bool { return strings.Contains(s.said(), s.config+":2:19: ") })
	if !strings.Contains(s.said(), "what it said before stays") {
		t.Errorf("it says %s", s.said())
	}
	if s.pid("a") != a || s.pid("b") != b {
		t.Error("a broken file has changed something")
	}
	s.rename(`{"mcpServers": {"a": {"command": "fake-mcp", "args": "x"}, "c": {"command": "fake-mcp"}, "b": {"command": "fake-mcp", "env": {"MARK": "2"}}}}`)
	s.until("it says that it can be used again", func() bool { return strings.Contains(s.said(), "can be used again") })
	s.until("it says which entry cannot", func() bool { return strings.Contains(s.said(), `server \"a\": args is a string, want an array`) })
	s.until("the other one is another", func() bool { return s.pid("b") != b })
	if s.pid("a") != a {
		t.Error("an entry that is broken has changed something")
	}
	if got := s.text("c__echo", `{"message":"hi"}`); !strings.Contains(got, "unknown tool") {
		t.Errorf("--server does not name c: got %s", got)
	}
	s.rename(entries("b=2"))
	s.until("a is gone", func() bool { return strings.Contains(s.text("a__pid", `{}`), "unknown tool") })
	s.until("it says so", func() bool {
		return strings.Contains(s.said(), `a server of --server is not configured any more" server=a`)
	})
	require.NoError(t, os.Remove(s.config))
	s.until("it says that the file is gone", func() bool { return strings.Contains(s.said(), "the file is gone") })
	s.pid("b")
	s.write(entries("a b=2"))
	s.until("a is back", func() bool { return !strings.Contains(s.text("a__pid", `{}`), "unknown tool") })
	for _, once := range []string{":2:19: ", "args is a string", "the file is gone"} {
		if n := strings.Count(s.said(), once); n != 1 {
			t.Errorf("%q is said %d times:\n%s", once, n, s.said())
		}
	}
}

// TestServeHangup: the signal HUP has the configuration read at once, and what
// has changed told. Settings are not taken over, which is said.
func TestServeHangup(t *testing.T) {
	t.Parallel()
	s := serveStdio(t, entries("a"))
	hup := func() {
		require.NoError(t, s.cmd.Process.Signal(syscall.SIGHUP))
	}
	hup()
	s.until("it says that nothing has changed", func() bool { return strings.Contains(s.said(), s.config+": nothing has changed") })
	b := ""
	for i := range 20 {
		b = fmt.Sprint("b", i)
		same := strings.Count(s.said(), "nothing has changed")
		s.write(entries(fmt.Sprintf("a=%d %s", i, b)))
		hup()
		told := func() bool { return strings.Contains(s.said(), s.config+": "+b+" added; ") }
		s.until("it says what has", func() bool { return told() || strings.Count(s.said(), "nothing has changed") > same })
		if told() {
			break
		} // it has been read before the signal came, which a slow machine does
		b = ""
	}
	if b == "" || !strings.Contains(s.said(), "a reconnected") {
		t.Fatalf("it does not say what has changed:\n%s", s.said())
	}
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(s.config), "config.yaml"), []byte("serve:\n  prefix: false\n"), 0o600))
	s.until("it says that settings have changed", func() bool { return strings.Contains(s.said(), "settings have changed") })
	s.pid(b)
}
