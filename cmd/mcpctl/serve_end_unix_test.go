//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	limits "github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// ending is a serve with one call under way, that is about to be ended.
type ending struct {
	http   bool   // else on standard streams
	stuck  bool   // there is a server, too, that neither reads nor heeds SIGTERM
	state  string // the state directory; "" is one of its own
	t      *testing.T
	cmd    *exec.Cmd
	base   string         // http://ADDR; "" on standard streams
	stdin  io.WriteCloser // of the stdio front
	answer chan string    // what the call came to
	exited chan error
	log    *bufio.Reader // of the server
	told   time.Time
	again  time.Time // when it was told that there is no time left, at the earliest
	stderr *bytes.Buffer
	left   heldPipes // processes of servers
}

// heldPipes collects the named pipes that processes of servers hold open.
type heldPipes []*os.File

const slowCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fake__slow","arguments":{"ms":%MS%}}}` + "\n"

// startEnding starts serve before a fake server with some flags, and calls it
// for so many milliseconds. The server and a process that it has started hold
// named pipes open, which tells when they have gone; so does the one that
// is stuck.
func startEnding(t *testing.T, e ending, ms string, flags ...string) *ending {
	t.Helper()
	shutdown := "200ms"
	if e.stuck {
		shutdown = "1m" // more than there is
	}
	dir := t.TempDir()
	fifo := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		return path
	}
	open := func(path string) chan *os.File {
		ch := make(chan *os.File, 1)
		go func() { // until the writer comes; the test fails where it does not
			f, _ := os.Open(path)
			ch <- f
		}()
		return ch
	}
	pipes := []string{fifo("log"), fifo("grandchild")}
	entries := map[string]any{"fake": map[string]any{"command": "fake-mcp", "args": append(flags, "-log", pipes[0], "-grandchild", pipes[1]), "shutdownTimeout": shutdown}}
	if e.stuck {
		pipes = append(pipes, fifo("stuck"))
		entries["stuck"] = map[string]any{"command": "sh", "args": []string{"-c", `trap "" TERM; exec 9>"$0"; while :; do sleep 1; done`, pipes[2]}, "connectTimeout": "1m"}
	}
	config := filepath.Join(dir, "servers.json")
	b, err := json.Marshal(map[string]any{"mcpServers": entries})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, b, 0o600))
	words := []string{"--config", config, "serve"}
	if e.http {
		words = append(words, "--http", "127.0.0.1:0")
	}
	e.t, e.cmd, e.stderr = t, exec.Command("mcpctl", words...), new(bytes.Buffer)
	e.answer, e.exited = make(chan string, 2), make(chan error, 1)
	if e.state == "" {
		e.state = dir
	}
	e.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "XDG_STATE_HOME=" + e.state, noRaceSleep}
	stdin, stdout := pipeOf(t, e.cmd.StdinPipe), pipeOf(t, e.cmd.StdoutPipe)
	stderr := pipeOf(t, e.cmd.StderrPipe)
	e.stdin = stdin
	require.NoError(t, e.cmd.Start())
	t.Cleanup(func() { _ = e.cmd.Process.Kill() }) // where it has not ended as it should
	lines := bufio.NewReader(stderr)
	if e.http {
		line, err := lines.ReadString('\n')
		_, url, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
		if err != nil || !ok {
			t.Fatalf("it does not listen: %q %v", line, err)
		}
		e.base = strings.TrimSuffix(url, "/mcp")
	}
	call := strings.Replace(slowCall, "%MS%", ms, 1)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(e.stderr, lines) // ends with the process
	}()
	answered := make(chan struct{})
	if e.http {
		if e.stuck {
			go func() { _ = e.post(list) }()
		}
		go func() { e.answer <- e.post(call) }()
		close(answered)
	} else {
		if e.stuck {
			call = list + call
		}
		go func() {
			defer close(answered)
			if _, err := io.WriteString(stdin, call); err != nil {
				t.Error(err)
			}
			out := bufio.NewScanner(stdout)
			for out.Scan() {
				if strings.Contains(out.Text(), `"id":7`) {
					e.answer <- out.Text()
				}
			}
			e.answer <- ""
		}()
	}
	go func() {
		<-answered
		<-drained
		e.exited <- e.cmd.Wait()
	}()
	for _, p := range pipes {
		select {
		case f := <-open(p):
			t.Cleanup(func() { _ = f.Close() })
			e.left = append(e.left, f)
		case <-wait.Late(t):
			t.Fatalf("no process holds %s: %s", p, e.stderr)
		}
	}
	e.log = bufio.NewReader(e.left[0])
	for {
		line, err := e.log.ReadString('\n')
		if err != nil {
			t.Fatalf("the call never reached the server: %v", err)
		}
		if strings.Contains(line, `"tools/call"`) {
			return &e
		}
	}
}

func pipeOf[P any](t *testing.T, open func() (P, error)) P {
	t.Helper()
	p, err := open()
	require.NoError(t, err)
	return p
}

// post sends a message and gives the answer, or what went wrong.
func (e *ending) post(body string) string {
	req, err := http.NewRequest(http.MethodPost, e.base+"/mcp", strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (e *ending) tell(sig os.Signal) {
	e.t.Helper()
	if e.told.IsZero() {
		e.told = time.Now()
	}
	if err := e.cmd.Process.Signal(sig); err != nil {
		e.t.Fatal(err)
	}
}

// ends wants exit code 0 within a time from the first signal, a call that came
// to something, and no process left.
func (e *ending) ends(within time.Duration, want string) {
	e.t.Helper()
	if e.told.IsZero() {
		e.told = time.Now()
	}
	err := wait.For(e.t, "its end", e.exited)
	// One that has no time left, as it was told again or its bound has passed, does not wait long
	// for what it has killed.
	exit, is := errors.AsType[*exec.ExitError](err)
	hurried := !e.again.IsZero() && time.Since(e.again) >= limits.ReapTimeout
	gaveUp := is && exit.ExitCode() == 130 && (hurried || time.Since(e.told) >= limits.EndBound)
	if err != nil && !gaveUp {
		e.t.Errorf("it ended with %v: %s", err, e.stderr)
	}
	if d := time.Since(e.told); d > within {
		e.t.Errorf("it took %v to end, want %v at most", d, within)
	}
	if got := wait.For(e.t, "an answer of the call, or a refusal", e.answer); !strings.Contains(got, want) {
		e.t.Errorf("the call came to %q, want %s", got, want)
	}
	for i, f := range e.left {
		var r io.Reader = f
		if i == 0 {
			r = e.log
		}
		gone := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, r) // ends when nobody holds the pipe open
			close(gone)
		}()
		wait.For(e.t, "the end of the process that holds "+filepath.Base(f.Name()), gone)
	}
}

// TestServeEndsInFlight lets a call of a second end that is under way when
// serve is told to end, twice in a row, as by a terminal and by npm.
func TestServeEndsInFlight(t *testing.T) {
	t.Parallel()
	const answered = `"result":{"content":[{"type":"text","text":"done`
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		e := startEnding(t, ending{http: true}, "1000")
		e.tell(os.Interrupt)
		e.tell(os.Interrupt)
		e.ends(wait.Ended, answered)
	})
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		e := startEnding(t, ending{}, "1000")
		e.tell(syscall.SIGTERM)
		e.ends(wait.Ended, answered)
	})
	t.Run("end of input", func(t *testing.T) {
		t.Parallel()
		e := startEnding(t, ending{}, "1000")
		require.NoError(t, e.stdin.Close())
		e.ends(wait.Ended, answered)
	})
}

// TestServeEndsInTime bounds the end where a call hangs, its server heeds
// neither the end of its input nor SIGTERM, and another one does not even read.
func TestServeEndsInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	t.Parallel()
	e := startEnding(t, ending{http: true, stuck: true}, "600000", "-ignore-term", "-linger", "1h")
	e.tell(syscall.SIGTERM)
	// From now on probes are told that nothing new is taken, and it is not.
	wait.Until(t, "readyz says so", func() bool {
		resp, err := http.Get(e.base + "/readyz")
		require.NoError(t, err)
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusServiceUnavailable
	})
	if got := e.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, "shutting down") {
		t.Errorf("a new request: %s", got)
	}
	e.ends(wait.Ended, "")
	if d := time.Since(e.told); d < 4*time.Second {
		t.Errorf("the call had only %v to end", d)
	}
}

// TestServeEndsInTimeAfterInput bounds the end where the input has ended: the same
// time, from when the requests under way were answered.
func TestServeEndsInTimeAfterInput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	t.Parallel()
	e := startEnding(t, ending{stuck: true}, "3000", "-ignore-term", "-linger", "1h")
	require.NoError(t, e.stdin.Close())
	e.told = time.Now()
	answer := <-e.answer
	t.Logf("answered after %s", time.Since(e.told))
	e.told = time.Now()
	e.answer <- answer
	e.ends(wait.Ended, `"done`)
	t.Logf("ended %s later", time.Since(e.told))
}

// TestServeClosedOutput: a client that has closed standard output ends serve quietly,
// with a call under way, too.
func TestServeClosedOutput(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"fake":{"command":"fake-mcp"}}}`), 0o600))
	for name, lines := range map[string]string{
		"idle":                `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n",
		"with a call":         strings.Replace(slowCall, "%MS%", "60000", 1) + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n",
		"with a large answer": strings.Repeat(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n", 500),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "mcpctl", "--config", config, "serve")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), noRaceSleep}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdin, stdout := pipeOf(t, cmd.StdinPipe), pipeOf(t, cmd.StdoutPipe)
			require.NoError(t, cmd.Start())
			_, err := io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fake__echo","arguments":{"message":"m"}}}`+"\n")
			require.NoError(t, err)
			_, err = bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			require.NoError(t, stdout.Close())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			// A process that another test starts in this moment holds the pipe, too, until it
			// runs its program: what is written before is lost without an error.
			wait.Until(t, "its end", func() bool {
				_, _ = io.WriteString(stdin, lines) // it may have ended by the last
				return len(ended) > 0
			})
			if err := <-ended; err != nil || stderr.Len() > 0 {
				t.Errorf("it ended with %v: %q", err, stderr.String())
			}
		})
	}
}

// TestServeEndsAtOnce at a second signal, or at more of them right after the
// first, and leaves no process. A connection on which nothing was asked does
// not hold it up, nor change its exit code.
func TestServeEndsAtOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		http, quick bool
	}{
		"http": {true, false}, "stdio": {false, false}, "http, many in a row": {true, true}, "stdio, many in a row": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEnding(t, ending{http: tt.http, stuck: true}, "600000", "-ignore-term", "-linger", "1h")
			if tt.http {
				idle, err := net.Dial("tcp", strings.TrimPrefix(e.base, "http://"))
				require.NoError(t, err)
				defer idle.Close()
			}
			e.tell(syscall.SIGTERM)
			e.again = time.Now()
			if tt.quick {
				for range 5 { // more than three: of two that wait the kernel makes one
					time.Sleep(40 * time.Millisecond)
					_ = e.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
				}
			} else {
				time.Sleep(400 * time.Millisecond) // longer than what counts as one signal
				e.again = time.Now()
				e.tell(syscall.SIGTERM)
			}
			e.ends(wait.EndedAtOnce, "")
		})
	}
}
