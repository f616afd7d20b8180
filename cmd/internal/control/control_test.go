package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen opens this process's socket.
func listen(t *testing.T, state string, status func() any) *Server {
	t.Helper()
	s, err := Listen(t.Context(), state, status, noRestart)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func find1(t *testing.T, state string) []Found {
	t.Helper()
	all, err := Find(t.Context(), state)
	require.NoError(t, err)
	return all
}

// deadPID is that of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	require.NoError(t, cmd.Run())
	return cmd.Process.Pid
}

func TestListenAndFind(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if got := find1(t, state); len(got) != 0 {
		t.Errorf("without a folder: %v", got)
	}
	s := listen(t, state, func() any { return map[string]int{"n": 7} })
	got := find1(t, state)
	if len(got) != 1 || got[0].PID != os.Getpid() || strings.TrimSpace(string(got[0].Status)) != `{"n":7}` || got[0].Err != nil {
		t.Fatalf("got %+v", got)
	}
	if pids := PIDs(t.Context(), state); len(pids) != 1 || pids[0] != os.Getpid() {
		t.Errorf("got %v", pids)
	}
	if goruntime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{s.Path(): 0o600, filepath.Dir(s.Path()): 0o700, state: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if got := find1(t, state); len(got) != 0 {
		t.Errorf("after the end: %v", got)
	}
}

// TestLongPath finds a shorter place, and the same from both sides.
func TestLongPath(t *testing.T) {
	state := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	s := listen(t, state, func() any { return 1 })
	if len(s.Path()) > maxPath || strings.HasPrefix(s.Path(), state) {
		t.Errorf("%s", s.Path())
	}
	if got := find1(t, state); len(got) != 1 || got[0].Err != nil {
		t.Errorf("got %+v", got)
	}
	if got := find1(t, state+"x"); len(got) != 0 {
		t.Errorf("another state directory finds %+v", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Dir(s.Path())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still there: %v", err)
	}
	for _, tt := range []struct{ state, temp, want string }{
		{"/home/u/.local/state/mcpctl", "/tmp", "/home/u/.local/state/mcpctl/run"},
		{"/" + strings.Repeat("y", 82), "/tmp", "/" + strings.Repeat("y", 82) + "/run"},
		{"/" + strings.Repeat("y", 83), "/tmp", "/tmp/mcpctl-"},
		{"/" + strings.Repeat("y", 200), "/" + strings.Repeat("z", 90), "/tmp/mcpctl-"},
	} {
		if goruntime.GOOS == "windows" {
			break
		}
		if got := socketDir(tt.state, tt.temp); !strings.HasPrefix(got, tt.want) || len(got)+longest > maxPath {
			t.Errorf("%s: got %s", tt.state, got)
		}
	}
}

// TestStaleSockets: any process removes sockets of dead ones.
func TestStaleSockets(t *testing.T) {
	state := t.TempDir()
	dir := Dir(state)
	require.NoError(t, Prepare(dir))
	leave := func(pid int) string { // as kill -9 does
		t.Helper()
		path := socketOf(dir, pid)
		l, err := net.Listen("unix", path)
		require.NoError(t, err)
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		_ = l.Close()
		return path
	}
	dead := deadPID(t)
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	path, own, living := leave(dead), leave(os.Getpid()), leave(os.Getppid())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.sock"), nil, 0o600))
	if got := find1(t, state); len(got) != 0 {
		t.Errorf("found %+v", got)
	}
	if there(path) || !there(own) || !there(living) {
		t.Errorf("of the dead %v, ours %v, of the living %v", there(path), there(own), there(living))
	}
	path = leave(dead)
	listen(t, state, func() any { return 1 })
	if there(path) || !there(living) || !there(filepath.Join(dir, "notes.sock")) {
		t.Errorf("of the dead %v, of the living %v", there(path), there(living))
	}
	if got := find1(t, state); len(got) != 1 || got[0].PID != os.Getpid() {
		t.Errorf("found %+v", got)
	}
}

// TestHangingServe: it delays neither clients nor its own end.
func TestHangingServe(t *testing.T) {
	state := t.TempDir()
	release := make(chan struct{})
	s := listen(t, state, func() any {
		<-release
		return 1
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	all, err := Find(ctx, state)
	if len(all) != 1 || all[0].Err == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %+v, %v", all, err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	if err := wait.For(t, "its end", closed); err != nil {
		t.Error(err)
	}
	close(release)
}

// TestNoPlace: a missing directory is an error.
func TestNoPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	link := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(link, "run")); err != nil {
		t.Skip(err)
	}
	for _, state := range []string{"", file, link} {
		if _, err := Listen(t.Context(), state, func() any { return 1 }, noRestart); err == nil {
			t.Errorf("%q: no error", state)
		}
		if got, err := Find(t.Context(), state); err == nil {
			t.Errorf("%q: found %v and no error", state, got)
		}
	}
	wide := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(wide, "run"), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(wide, "run"), 0o777))
	listen(t, wide, func() any { return json.RawMessage(`{}`) })
	if info, err := os.Stat(filepath.Join(wide, "run")); err != nil || goruntime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func noRestart(string) (bool, error) { return false, nil }

// TestRestart: a process is asked for one server, and what it answers is told.
func TestRestart(t *testing.T) {
	state := t.TempDir()
	var asked []string
	s, err := Listen(t.Context(), state, func() any { return 1 }, func(server string) (bool, error) {
		asked = append(asked, server)
		if server == "bad" {
			return true, errors.New("it cannot")
		}
		return server == "a b", nil
	})
	require.NoError(t, err)
	defer s.Close()
	pid := os.Getpid()
	require.NoError(t, Restart(t.Context(), state, pid, "a b"))
	for _, server := range []string{"other", "bad"} {
		if err := Restart(t.Context(), state, pid, server); err == nil {
			t.Errorf("%s: no error", server)
		}
	}
	if strings.Join(asked, ",") != "a b,other,bad" {
		t.Errorf("asked for %q", asked)
	}
}
