//go:build unix

package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// oddKinds are the files that hang or have no end where a file is expected, by
// what they are called.
func oddKinds() map[string]func(path string) error {
	return map[string]func(string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":     func(path string) error { return os.Symlink("/dev/zero", path) },
	}
}

// oddHome is a home of mcpctl with an odd file at a path in it.
func oddHome(t *testing.T, at string, odd func(string) error) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range map[string]string{
		"servers.json": `{"mcpServers": {"fake": {"command": "fake-mcp"}}}`,
		"tools.json":   `{"tools": [{"name": "pay", "inputSchema": {"type": "object"}}]}`,
		"go.mod":       "module example.com/tools\n",
	} {
		if name == at {
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home, at)), 0o700))
	require.NoError(t, odd(filepath.Join(home, at)))
	return home
}

// inHome runs mcpctl in a home, for a minute at most.
func inHome(t *testing.T, home, words string) (stdout, stderr string, code int) {
	t.Helper()
	ctx := wait.Context(t)
	cmd := exec.CommandContext(ctx, "mcpctl", strings.Fields(words)...)
	cmd.Dir = home
	cmd.Env = []string{"MCPCTL_HOME=" + home, "HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH"), noRaceSleep}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // its exit code says it
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestOddFiles: where a file of the configuration or of state is a pipe or a
// device, a command says so in one line and what to do, or does without it.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at, words string
		code      int
		want      string // on standard error behind what it is, "" for nothing there
	}{
		{"servers.json", "list", 5, "servers.json: it is KIND, not a regular file\nhint: "},
		{"servers.json", "fake tools", 5, "servers.json: it is KIND, not a regular file\nhint: "},
		{"servers.json", "add other -- fake-mcp", 5, "servers.json: it is KIND, not a regular file\nhint: "},
		{"servers.json", "config validate --json", 5, "servers.json: it is KIND, not a regular file"},
		{"servers.json", "serve", 5, "servers.json: it is KIND, not a regular file\nhint: "},
		{"config.yaml", "tools fake", 5, "config.yaml: it is KIND, not a regular file\nhint: "},
		{".servers.json.lock", "add other -- fake-mcp", 0, ""},
		{"verdicts.json", "tools fake", 0, ""},
		{"ring.json", "tools fake", 0, ""},
		{"generated/shop/client_gen.go", "generate shop --from tools.json", 1, "client_gen.go: it is KIND, not a regular file\nhint: "},
		{"generated/shop/mcpctl.lock.json", "generate shop --from tools.json", 1, "mcpctl.lock.json: it is KIND, not a regular file\nhint: "},
		{"go.mod", "generate shop --from tools.json", 1, "go.mod: it is KIND, not a regular file\nhint: "},
	} {
		for kind, odd := range oddKinds() {
			t.Run(tt.at+" "+tt.words+" "+kind, func(t *testing.T) {
				t.Parallel()
				home := oddHome(t, tt.at, odd)
				_, stderr, code := inHome(t, home, tt.words)
				want := strings.ReplaceAll(tt.want, "KIND", kind)
				if code != tt.code || !strings.Contains(stderr, want) || want == "" && strings.Contains(stderr, "mcpctl: ") {
					t.Errorf("got exit %d, %q, want %d, %q", code, stderr, tt.code, want)
				}
				if info, err := os.Stat(filepath.Join(home, tt.at)); err != nil || info.Mode().IsRegular() {
					t.Errorf("it is another file now: %v, %v", info, err)
				}
			})
		}
	}
}

// TestEndlessInput: a file that somebody names is read to its bound and no
// further.
func TestEndlessInput(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"generate shop --from /dev/zero":        "/dev/zero: it is larger than 64 MiB",
		"generate shop --from -":                "it is larger than 64 MiB",
		"fake echo --args-file /dev/zero":       "/dev/zero: it is larger than 64 MiB",
		"add /dev/zero":                         "/dev/zero: it is larger than 4 MiB",
		"--config /dev/fd/0 list":               "/dev/fd/0: it is larger than 4 MiB",
		"--config /proc/self/fd/0 tools fake":   "/proc/self/fd/0: it is larger than 4 MiB",
		"--config /dev/stdin config validate":   "/dev/stdin: it is larger than 4 MiB",
		"--config /dev/stdin add x -- fake-mcp": "not a regular file",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(words, "/proc/") {
				if _, err := os.Stat("/proc/self/fd/0"); err != nil {
					t.Skip("no /proc here")
				}
			}
			home := oddHome(t, "x", func(string) error { return nil })
			// What has no bound fills the memory: it ends before.
			ctx := wait.Context(t)
			cmd := exec.CommandContext(ctx, "sh", "-c", "exec mcpctl "+words+" </dev/zero")
			cmd.Dir = home
			cmd.Env = []string{"MCPCTL_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), noRaceSleep}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			cmd.WaitDelay = time.Second
			_ = cmd.Run() // its exit code says it
			if got := errs.String(); cmd.ProcessState.ExitCode() < 1 || !strings.Contains(got, want) {
				t.Errorf("got exit %d, %q, want %q", cmd.ProcessState.ExitCode(), got, want)
			}
		})
	}
}

// TestServeOddFiles: serve goes on with what it had while its configuration is
// no file, and follows it again afterwards.
func TestServeOddFiles(t *testing.T) {
	t.Parallel()
	for kind, odd := range oddKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := serveStdio(t, entries("a"))
			a := s.pid("a")
			alongside := filepath.Join(filepath.Dir(s.config), "config.yaml")
			for _, path := range []string{alongside, s.config} {
				require.NoError(t, odd(path+".odd"))
				require.NoError(t, os.Rename(path+".odd", path))
			}
			s.until("it says what the file is", func() bool { return strings.Contains(s.said(), "servers.json: it is "+kind+", not a regular file") })
			if s.pid("a") != a {
				t.Error("the server is another one")
			}
			s.rename(entries("a b"))
			s.until("b is there", func() bool { return strings.Contains(s.call("tools/list", `{}`), `"b__echo"`) })
			if s.pid("a") != a {
				t.Error("the server is another one")
			}
		})
	}
}

// TestServeOddState: serve opens its port, and answers, whatever is where it
// keeps its state.
func TestServeOddState(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"ring.json", "verdicts.json", "mcpctl.db", "mcpctl.db-wal", "run"} {
		for kind, odd := range oddKinds() {
			t.Run(at+" "+kind, func(t *testing.T) {
				t.Parallel()
				home := oddHome(t, at, odd)
				url := serveAt(t, home)
				out, stderr, code := inHome(t, home, "-o text --url "+url+" call fake__echo message=hi")
				if code != 0 || out != "hi\n" {
					t.Errorf("got exit %d, %q, %q", code, out, stderr)
				}
			})
		}
	}
}

// serveAt starts mcpctl serve --http in a home and gives its URL.
func serveAt(t *testing.T, home string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mcpctl", "serve", "--http", "127.0.0.1:0")
	cmd.Env = []string{"MCPCTL_HOME=" + home, "HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH"), noRaceSleep}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	p, err := wire.Launch(cmd, "listening on ")
	require.NoError(t, err)
	t.Cleanup(func() { <-p.Exited }) // the test's context has ended
	return p.URL
}
