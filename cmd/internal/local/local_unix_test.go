//go:build unix

package local

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestMain makes this binary one that connects to a socket, for a process of another user.
func TestMain(m *testing.M) {
	if path := os.Getenv("CONNECT_TO"); path != "" {
		c, err := net.Dial("unix", path)
		if err != nil {
			os.Exit(3)
		}
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Minute))
		_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
		text, _ := io.ReadAll(c)
		_, _ = os.Stderr.Write(text)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func serve(t *testing.T, path string, log *slog.Logger) {
	t.Helper()
	l, err := Listen(t.Context(), path, log)
	require.NoError(t, err)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }), ReadHeaderTimeout: time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-served
	})
}

// TestListen: this user's processes are served, by mode and by the peer's user id.
func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	serve(t, path, slog.New(slog.DiscardHandler))
	info, err := os.Stat(path)
	require.NoError(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	c := Client(path)
	defer c.CloseIdleConnections()
	resp, err := c.Get("http://any/")
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	_ = resp.Body.Close()
	if string(text) != "hello" {
		t.Errorf("got %q", text)
	}
	if _, err := Listen(t.Context(), path, nil); !errors.Is(err, ErrInUse) {
		t.Errorf("a second one: %v", err)
	}
}

// text is written and read concurrently.
type text struct {
	mu sync.Mutex // guards b
	b  strings.Builder
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// TestOtherUser: a process of another user is refused, though the file lets it in.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	dir, err := os.MkdirTemp("/tmp", "local") //nolint:usetesting // the other user must reach it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, "s")
	var logged text
	serve(t, path, slog.New(slog.NewTextHandler(&logged, nil)))
	require.NoError(t, os.Chmod(path, 0o666))
	program := filepath.Join(dir, "connect")
	own, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, require.WriteProgram(program, own, 0o755))
	connect := func(uid uint32) string {
		t.Helper()
		ctx := wait.Context(t)
		cmd := exec.CommandContext(ctx, program)
		cmd.Env = []string{"CONNECT_TO=" + path, "GORACE=atexit_sleep_ms=0"}
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("as %d: %v %s", uid, err, out)
		}
		return string(out)
	}
	if got := connect(0); !strings.Contains(got, "hello") {
		t.Errorf("as this user: %q", got)
	}
	if got := connect(65534); got != "" {
		t.Errorf("as another: %q", got)
	}
	if !strings.Contains(logged.String(), "uid=65534") {
		t.Errorf("log: %s", logged.String())
	}
}

// TestWhatIsThere: sockets of processes that have ended are replaced, other files are not.
func TestWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	serve(t, path, slog.New(slog.DiscardHandler))
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, []byte("keep"), 0o600))
	if _, err := Listen(t.Context(), file, nil); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "keep" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if _, err := Listen(t.Context(), filepath.Join(t.TempDir(), "no", "s"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
