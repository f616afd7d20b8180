//go:build hosts

// Package hosts_test has the programs of hosts read what mcpctl export writes, and mcpctl
// import what they write. They are installed by make hosts, 1.2 GB.
package hosts_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

var programs = flag.String("programs", "node_modules/.bin", "the hosts' programs are in these `DIRECTORIES`, separated by commas")

// machine is a home directory with mcpctl and the hosts' programs on its path.
type machine struct {
	t   *testing.T
	dir string
	env []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	bin := filepath.Join(home, "bin")
	m := &machine{t: t, dir: filepath.Join(home, "project")}
	require.NoError(t, os.MkdirAll(m.dir, 0o700))
	require.NoError(t, os.MkdirAll(bin, 0o700))
	path := []string{bin}
	for dir := range strings.SplitSeq(*programs, ",") {
		dir, err := filepath.Abs(dir)
		require.NoError(t, err)
		path = append(path, dir)
	}
	m.env = []string{
		"HOME=" + home, "PATH=" + strings.Join(append(path, os.Getenv("PATH")), string(os.PathListSeparator)),
		"XDG_CONFIG_HOME=" + home + "/.config", "XDG_STATE_HOME=" + home + "/.state", "XDG_DATA_HOME=" + home + "/.data", "XDG_CACHE_HOME=" + home + "/.cache",
		"SHOP_TOKEN=shop-token", "DESK_TOKEN=desk-token", "GEMINI_CLI_TRUST_WORKSPACE=true", "NO_COLOR=1", "TERM=dumb",
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m.run("git", "init", "-q", ".")
	m.run("mcpctl", "add", "shop", "--env", "SHOP_TOKEN", "--env", `LOG=a "b" \c`, "--", "mcpctl", "demo-server")
	m.run("mcpctl", "add", "desk", "--url", "http://127.0.0.1:1/mcp", "--header", "X-Desk=${DESK_TOKEN}")
	return m
}

// run runs a program for two minutes at most and returns what it prints. Hosts fail where
// a server cannot be reached, so an exit code says nothing.
func (m *machine) run(words ...string) string {
	m.t.Helper()
	ctx := wait.Context(m.t)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	for _, dir := range filepath.SplitList(strings.TrimPrefix(m.env[1], "PATH=")) {
		if path := filepath.Join(dir, words[0]); executable(path) {
			cmd.Path, cmd.Err = path, nil
			break
		}
	}
	cmd.Dir, cmd.Env = m.dir, m.env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	m.t.Logf("$ %s: %v\n%s", strings.Join(words, " "), err, out)
	return string(out)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o100 != 0 && !info.IsDir()
}

func (m *machine) prints(words []string, want ...string) {
	m.t.Helper()
	out := m.run(words...)
	for _, part := range want {
		if !strings.Contains(out, part) {
			m.t.Errorf("%q prints no %q:\n%s", words, part, out)
		}
	}
}

// TestHosts exports to each host, has its own program list the servers, adds one with that
// program, and imports it.
func TestHosts(t *testing.T) {
	for _, h := range []struct {
		name      string
		list, add []string
		want      []string
	}{
		{
			"codex",
			[]string{"codex", "mcp", "list"},
			[]string{"codex", "mcp", "add", "theirs", "--env", "A=1", "--", "npx", "-y", "theirs"},
			[]string{"shop", "mcpctl", "demo-server", "SHOP_TOKEN=", "LOG=", "desk", "http://127.0.0.1:1/mcp"},
		},
		{
			"gemini",
			[]string{"gemini", "mcp", "list"},
			[]string{"gemini", "mcp", "add", "theirs", "npx", "-y", "theirs", "-e", "A=1", "-s", "user"},
			[]string{"shop: mcpctl demo-server (stdio)", "desk: mcpctl bridge desk (stdio)"},
		},
		{
			"claude-code",
			[]string{"claude", "mcp", "list"},
			[]string{"claude", "mcp", "add", "theirs", "-s", "user", "-e", "A=1", "--", "npx", "-y", "theirs"},
			[]string{"shop: mcpctl demo-server - ✔ Connected", "desk: http://127.0.0.1:1/mcp (HTTP)"},
		},
		{
			"opencode",
			[]string{"opencode", "mcp", "list"},
			nil,
			[]string{"✓ shop", "mcpctl demo-server", "http://127.0.0.1:1/mcp"},
		},
		{
			"mcporter",
			[]string{"mcporter", "list"},
			nil,
			[]string{"shop", "7 tools", "desk"},
		},
	} {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.run("mcpctl", "export", h.name)
			m.prints(h.list, h.want...)
			if h.add == nil {
				return
			}
			m.run(h.add...)
			m.prints([]string{"mcpctl", "-o", "text", "import", h.name}, "added    theirs")
			m.prints([]string{"mcpctl", "get", "theirs"}, `"args":["-y","theirs"]`, `"A":"1"`)
			m.prints([]string{"mcpctl", "-o", "text", "export", h.name, "--undo"}, "has no more of what was exported")
			m.prints([]string{"mcpctl", "-o", "text", "import", h.name}, "present  theirs")
		})
	}
}
