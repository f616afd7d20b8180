//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// soon fails the test where f takes longer than any file should.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	wait.For(t, what, done)
}

// odd makes one of each kind of file that is not regular, by kind.
func odd(t *testing.T) map[string]string {
	t.Helper()
	dir, err := os.MkdirTemp("", "odd") //nolint:usetesting // a socket's path has to be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	paths := map[string]string{}
	for kind, name := range map[string]string{"a named pipe": "pipe", "a device": "zero", "a directory": "dir", "a socket": "sock"} {
		paths[kind] = filepath.Join(dir, name)
	}
	l, err := net.Listen("unix", paths["a socket"])
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	for _, err := range []error{
		syscall.Mkfifo(paths["a named pipe"], 0o600),
		os.Symlink("/dev/zero", paths["a device"]),
		os.Mkdir(paths["a directory"], 0o700),
	} {
		require.NoError(t, err)
	}
	return paths
}

// TestReadRegularOnly: whatever else is at the path is refused at once, with
// what it is and what to do.
func TestReadRegularOnly(t *testing.T) {
	for kind, path := range odd(t) {
		soon(t, kind, func() {
			_, err := Read(path, 1<<20)
			failed, ok := errors.AsType[*fs.PathError](err)
			if !ok || failed.Path != path || !strings.Contains(err.Error(), "it is "+kind+", not a regular file") {
				t.Errorf("%s: got %v", kind, err)
			}
			if hinter := (interface{ Hint() string })(nil); !errors.As(err, &hinter) || hinter.Hint() == "" {
				t.Errorf("%s: no hint in %v", kind, err)
			}
		})
	}
}

// TestOpenLooksAgain: what has come to the path since it was looked at is
// refused without waiting, too.
func TestOpenLooksAgain(t *testing.T) {
	for kind, path := range odd(t) {
		soon(t, kind, func() {
			if f, err := open(path); err == nil {
				_ = f.Close()
				t.Errorf("%s was opened", kind)
			}
		})
	}
}

// TestReadBounded: a file of the greatest length is read, a longer one refused,
// also where its size is not told.
func TestReadBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for n, want := range map[int64]string{8: "", 9: "it is larger than 8 bytes"} {
		require.NoError(t, os.WriteFile(path, make([]byte, n), 0o600))
		raw, err := Read(path, 8)
		if want == "" && (err != nil || int64(len(raw)) != n) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes: got %d, %v", n, len(raw), err)
		}
	}
	// Files of /proc say that they are empty.
	if raw, err := os.ReadFile("/proc/self/status"); err == nil && len(raw) > 8 {
		if _, err := Read("/proc/self/status", 8); err == nil {
			t.Error("a file without a size was read beyond the bound")
		}
	}
	if _, err := Read(path+"-", 8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}
