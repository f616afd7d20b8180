//go:build unix

package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// fake starts this test binary as a fake server.
func fake(t *testing.T, o transport.StdioOptions, flags ...string) *transport.Stdio {
	t.Helper()
	command, env := runtimetest.Command(flags...)
	o.Command, o.Args, o.Env = command[0], command[1:], env
	s, err := transport.StartStdio(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func handshake(t *testing.T, s runtime.Transport) error {
	t.Helper()
	_, err := s.Call(t.Context(), &runtime.Request{Method: "initialize", Params: json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)})
	if err != nil {
		return err
	}
	return s.Notify(t.Context(), &runtime.Request{Method: "notifications/initialized"})
}

func stdioTool(ctx context.Context, s runtime.Transport, name, args string) (string, error) {
	raw, err := s.Call(ctx, &runtime.Request{Method: "tools/call", Params: fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, name, args)})
	return string(raw), err
}

func TestStdioCall(t *testing.T) {
	s := fake(t, transport.StdioOptions{})
	require.NoError(t, handshake(t, s))
	if got, err := stdioTool(t.Context(), s, "exact", `{}`); err != nil || got != runtimetest.ExactResult {
		t.Errorf("got %s %v", got, err)
	}
	var rpc *runtime.Error
	if _, err := stdioTool(t.Context(), s, "refuse", `{"code":-31999}`); !errors.As(err, &rpc) || rpc.Code != -31999 || rpc.Raw == nil {
		t.Errorf("got %v", err)
	}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			want := fmt.Sprintf("m%d", i)
			if got, err := stdioTool(t.Context(), s, "random", fmt.Sprintf(`{"message":%q}`, want)); err != nil || !strings.Contains(got, `"`+want+`"`) {
				t.Errorf("got %s %v, want %s", got, err, want)
			}
		})
	}
	wg.Wait()
}

func TestStdioCommandThatDoesNotExist(t *testing.T) {
	_, err := transport.StartStdio(transport.StdioOptions{Command: "no-such-command-here"})
	var ce *runtime.ConnectError
	if !errors.As(err, &ce) || ce.Error() != "connect no-such-command-here: command not found" || ce.Hint() == "" {
		t.Errorf("got %v", err)
	}
	if _, err := transport.StartStdio(transport.StdioOptions{Command: os.Args[0], Dir: filepath.Join(t.TempDir(), "none")}); !errors.As(err, &ce) {
		t.Errorf("missing directory: got %v", err)
	}
}

func TestStdioServerThatEnds(t *testing.T) {
	s := fake(t, transport.StdioOptions{}, "-exit", "-code", "3", "-stderr", "no licence found")
	err := handshake(t, s)
	var exit *transport.ExitError
	if !errors.As(err, &exit) || !errors.Is(err, runtime.ErrClosed) {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(exit.Error(), "exit status 3") || !strings.HasSuffix(exit.Error(), ": no licence found") || exit.Received {
		t.Errorf("got %v (received %v)", exit, exit.Received)
	}
	if _, err := stdioTool(t.Context(), s, "echo", `{}`); !errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("a call after the end: got %v", err)
	}
}

func TestStdioMalformed(t *testing.T) {
	s := fake(t, transport.StdioOptions{}, "-rubbish-between")
	if err := handshake(t, s); err != nil {
		t.Errorf("rubbish between messages: %v", err)
	}
	if sample, only := s.Malformed(); sample == "" || only {
		t.Errorf("got %q %v", sample, only)
	}
	s = fake(t, transport.StdioOptions{}, "-rubbish-only")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, only := s.Malformed(); only {
				cancel()
				return
			}
		}
	}()
	_, err := s.Call(ctx, &runtime.Request{Method: "initialize"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestStdioStrict: a server that must write messages alone is left when it writes
// something else: the call that waits fails, also where its answer comes with the line.
func TestStdioStrict(t *testing.T) {
	closed := make(chan error, 1)
	bad, err := transport.StartStdio(transport.StdioOptions{
		Command: "sh", Args: []string{"-c", `read -r line; printf 'Server is starting\n{"jsonrpc":"2.0","id":1,"result":{}}\n'; cat >/dev/null`},
		Strict: true, Handler: &ending{closed: closed},
	})
	require.NoError(t, err)
	defer bad.Close()
	err = handshake(t, bad)
	var proto *runtime.ProtocolError
	if !errors.As(err, &proto) || !errors.Is(err, runtime.ErrClosed) || !strings.Contains(err.Error(), "strict") || !strings.Contains(err.Error(), "Server is starting") {
		t.Errorf("got %v", err)
	}
	if err := <-closed; !errors.As(err, &proto) {
		t.Errorf("the handler got %v", err)
	}
	s := fake(t, transport.StdioOptions{Strict: true})
	if err := handshake(t, s); err != nil {
		t.Error(err)
	}
	if got, err := stdioTool(t.Context(), s, "exact", `{}`); err != nil || got != runtimetest.ExactResult {
		t.Errorf("got %s %v", got, err)
	}
}

// ending is told of the end of a connection.
type ending struct {
	runtime.NopHandler
	closed chan error
}

func (e *ending) Closed(err error) { e.closed <- err }

func TestStdioFloodedStderr(t *testing.T) {
	s := fake(t, transport.StdioOptions{}, "-flood-stderr", "2000")
	require.NoError(t, handshake(t, s))
	if n := len(s.Stderr()); n == 0 || n > 8<<10 {
		t.Errorf("%d bytes of stderr are kept", n)
	}
}

// asked records what the server asks.
type asked struct {
	runtime.NopHandler
	mu      sync.Mutex
	methods []string
	both    chan struct{}
}

func (a *asked) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	a.mu.Lock()
	a.methods = append(a.methods, method)
	if len(a.methods) == 2 {
		close(a.both)
	}
	a.mu.Unlock()
	return a.NopHandler.Request(ctx, call, method, params)
}

func TestStdioServerRequests(t *testing.T) {
	h := &asked{both: make(chan struct{})}
	s := fake(t, transport.StdioOptions{Handler: h}, "-ask", "ping,roots/list")
	require.NoError(t, handshake(t, s))
	<-h.both
	if got, err := stdioTool(t.Context(), s, "ask", `{"method":"ping"}`); err != nil || !strings.Contains(got, "{}") {
		t.Errorf("ping: got %s %v", got, err)
	}
}

// gone waits until a process is gone.
func gone(t *testing.T, pid int) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("the end of process %d", pid), func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
}

// zombie tells a process that has ended and that nobody has reaped: in a
// container without an init process orphans stay so.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestStdioCloseEndsTheWholeTree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	s := fake(t, transport.StdioOptions{Grace: 50 * time.Millisecond, ShutdownTimeout: 200 * time.Millisecond},
		"-ignore-term", "-linger", "1h", "-grandchild", file)
	require.NoError(t, handshake(t, s))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	grandchild, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	pid := s.PID()
	pending := make(chan error, 1)
	go func() {
		_, err := stdioTool(t.Context(), s, "slow", `{"ms":60000}`)
		pending <- err
	}()
	start := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > wait.Gone {
		t.Errorf("closing took %v", d)
	}
	if err := <-pending; !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("the pending call: got %v", err)
	}
	gone(t, pid)
	gone(t, grandchild)
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestStdioHurry has no time left for a server that would take two minutes to
// end, and has started another process.
func TestStdioHurry(t *testing.T) {
	hurry := make(chan struct{})
	file := filepath.Join(t.TempDir(), "pid")
	s := fake(t, transport.StdioOptions{Grace: time.Minute, ShutdownTimeout: time.Minute, Hurry: hurry},
		"-ignore-term", "-linger", "1m", "-grandchild", file)
	require.NoError(t, handshake(t, s))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	grandchild, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	pid := s.PID()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case <-closed:
		t.Fatal("it ended by itself")
	case <-time.After(100 * time.Millisecond):
	}
	close(hurry)
	if err := wait.For(t, "the end", closed); err != nil {
		t.Error(err)
	}
	gone(t, pid)
	gone(t, grandchild)
}
