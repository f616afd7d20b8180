package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// tabbed are lines up to the tabulator key, and what a shell makes of them. Bash breaks
// words at = and :, and every shell has its own idea of a dot.
var tabbed = [][2]string{
	{"mcpctl tools sh", "mcpctl tools shop "},
	{"mcpctl tools the.d", "mcpctl tools the.dotted "},
	{"mcpctl descr", "mcpctl describe "},
	{"mcpctl the", "mcpctl the.dotted "},
	{"mcpctl shop pla", "mcpctl shop place_order "},
	{"mcpctl call the.dotted pla", "mcpctl call the.dotted place_order "},
	{"mcpctl -q describe --json shop pla", "mcpctl -q describe --json shop place_order "},
	{"mcpctl shop place_order del", "mcpctl shop place_order delivery="},
	{"mcpctl shop place_order delivery=co", "mcpctl shop place_order delivery=courier "},
	{"mcpctl shop place_order delivery=pickup --json customer.n", "mcpctl shop place_order delivery=pickup --json customer.name="},
	{"mcpctl shop place_order --delivery pickup li", "mcpctl shop place_order --delivery pickup lines:="},
	{"mcpctl read shop workshop://st", "mcpctl read shop workshop://stock "},
	{"mcpctl prompt shop pl", "mcpctl prompt shop plan_project "},
	{"mcpctl shop place_order nothing", "mcpctl shop place_order nothing"},
}

// shellHome returns a directory with two servers whose lists are stored, and the
// environment of a shell in it. No server can be started any more.
func shellHome(t *testing.T) (home string, env []string) {
	t.Helper()
	home = t.TempDir()
	mcpctl, err := exec.LookPath("mcpctl")
	require.NoError(t, err)
	const servers = `{"mcpServers": {"shop": {"command": "started/mcpctl", "args": ["demo-server"]}, "the.dotted": {"command": "started/mcpctl", "args": ["demo-server"]}}}`
	require.NoError(t, os.WriteFile(filepath.Join(home, "servers.json"), []byte(servers), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(home, "started"), 0o700))
	require.NoError(t, os.Symlink(mcpctl, filepath.Join(home, "started", "mcpctl")))
	env = []string{"MCPCTL_HOME=" + home, "HOME=" + home, "ZDOTDIR=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", noRaceSleep, "OUT=" + filepath.Join(home, "out")}
	for _, words := range []string{"tools shop", "tools the.dotted", "resources shop", "prompts shop"} {
		cmd := exec.Command(mcpctl, strings.Fields(words)...)
		cmd.Env, cmd.Dir = env, home
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("mcpctl %s: %v: %s", words, err, out)
		}
	}
	require.NoError(t, os.RemoveAll(filepath.Join(home, "started")))
	return home, env
}

func shell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s here (apt-get install %s)", name, name)
	}
	return path
}

// TestCompletionInShells types lines into shells on a terminal, and reads what the
// tabulator key makes of them.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text string }{
		"bash": {"rc", `bind -x '"\C-g": printf "%s\n" "$READLINE_LINE" >>"$OUT"; READLINE_LINE= READLINE_POINT=0'
source <(mcpctl completion bash)
PROMPT_COMMAND='echo ready >>"$OUT"'
`},
		"zsh": {".zshrc", `autoload -Uz compinit; compinit -u -D
source <(mcpctl completion zsh)
show() { print -r -- "$BUFFER" >>"$OUT"; BUFFER= }
zle -N show; bindkey '^G' show
zle-line-init() { print ready >>"$OUT" }
zle -N zle-line-init
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := shell(t, name)
			home, env := shellHome(t)
			require.NoError(t, os.WriteFile(filepath.Join(home, c.file), []byte(c.text), 0o600))
			words := []string{"-i"}
			if name == "bash" {
				words = []string{"--noprofile", "--rcfile", filepath.Join(home, c.file), "-i"}
			}
			p := openTerminal(t)
			cmd := exec.Command(path, words...)
			cmd.Env, cmd.Dir = env, home
			cmd.Stdin, cmd.Stdout, cmd.Stderr = p.tty, p.tty, p.tty
			cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
			require.NoError(t, cmd.Start())
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}()
			line := func(n int) string { return shellLine(t, p, filepath.Join(home, "out"), n) }
			if got := line(0); got != "ready" {
				t.Fatalf("got %q", got)
			}
			for i, c := range tabbed {
				_, err := p.screen.WriteString(c[0] + "\t\x07")
				require.NoError(t, err)
				if got := line(i + 1); got != c[1] {
					t.Errorf("%q became %q, want %q", c[0], got, c[1])
				}
			}
		})
	}
	t.Run("fish", func(t *testing.T) {
		t.Parallel()
		path := shell(t, "fish")
		home, env := shellHome(t)
		var script strings.Builder
		script.WriteString("mcpctl completion fish | source\n")
		for i, c := range tabbed {
			fmt.Fprintf(&script, "echo line %d; complete -C '%s'\n", i, c[0])
		}
		cmd := exec.Command(path, "--private", "-c", script.String())
		cmd.Env, cmd.Dir = env, home
		out, err := cmd.CombinedOutput()
		require.NoError(t, err)
		for i, c := range tabbed {
			_, rest, _ := strings.Cut(string(out), fmt.Sprintf("line %d\n", i))
			rest, _, _ = strings.Cut(rest, "line ")
			got, _, _ := strings.Cut(strings.TrimSpace(rest), "\t")
			want := c[1][strings.LastIndex(strings.TrimSpace(c[1]), " ")+1:]
			if want = strings.TrimSpace(want); c[0] == c[1] {
				want = ""
			}
			if got != want || strings.Count(strings.TrimSpace(rest), "\n") > 0 {
				t.Errorf("%q: got %q, want %q", c[0], rest, want)
			}
		}
	})
}

// shellLine returns a line of the file that a shell writes, once it is whole.
func shellLine(t *testing.T, p *terminal, file string, n int) string {
	t.Helper()
	var line string
	wait.Until(t, drawn{p}, func() bool {
		b, _ := os.ReadFile(file)
		lines := strings.SplitAfter(string(b), "\n")
		if len(lines) > n {
			line = lines[n]
		}
		return strings.HasSuffix(line, "\n")
	})
	return strings.TrimSuffix(line, "\n")
}
