//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// stubbornServer is the entry of a server that wants to outlive its end.
func stubbornServer(faults string) map[string]any {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return map[string]any{
		"command": exe, "args": []string{"-name", "bad", "-fault", faults}, "env": map[string]string{hostile.Env: "1"}, "shutdownTimeout": "500ms",
	}
}

// processes are servers that want to stay, to see or to reach more than they
// were given.
func processes() class {
	c := class{name: "processes", apart: true}
	for name, faults := range map[string]string{
		"behaves":                        "",
		"does not hear SIGTERM":          "ignore-term",
		"lingers":                        "linger",
		"has a child":                    "grandchild",
		"has a child that is deaf":       "grandchild-stubborn,ignore-term",
		"has a child in another session": "grandchild-session",
		"has left a child":               "grandchild-left",
		"closes its standard input":      "close-stdin",
		"floods":                         "flood-notifications,flood-stderr",
	} {
		add := func(how string, do func(t *testing.T, d *wire.Daemon)) {
			c.cases = append(c.cases, attack{name: "one that " + name + ", serve " + how, do: func(t *testing.T, _ *stage) {
				d := serve(t, wire.Servers{"bad": stubbornServer(faults), "good": rogue(t, spec{Name: "good"})})
				for _, call := range []string{tool("1", "good__echo", `{}`), tool("2", "bad__echo", `{"message":"x"}`)} {
					if res := post(t, d, call); res.Status != 200 {
						t.Fatalf("status %d: %s", res.Status, res.Body)
					}
				}
				do(t, d)
			}})
		}
		add("is ended", func(t *testing.T, d *wire.Daemon) { d.Stop(t) })
		add("is killed", func(t *testing.T, d *wire.Daemon) {
			_ = d.Cmd.Process.Kill()
			<-d.Exited // what is left of its servers, Stop looks for
		})
		add("has it removed", func(t *testing.T, d *wire.Daemon) {
			d.Configure(t, wire.Setup{Servers: wire.Servers{"good": rogue(t, spec{Name: "good"})}, Each: addMark})
			wait.Until(t, "nothing of it is left", func() bool {
				return !slices.ContainsFunc(wire.Marked(d.Mark), func(p wire.MarkedProcess) bool {
					return strings.Contains(p.Command, "-name bad") || strings.Contains(p.Command, "-sleep")
				})
			})
			expect(t, post(t, d, tool("1", "good__echo", `{}`)), "200 result good ")
		})
	}
	ask := func(what string) func(t *testing.T, s *stage) string {
		return func(t *testing.T, s *stage) string {
			d := s.serve("secretive", wire.Servers{"good": rogue(s.t, spec{Name: "good"})})
			post(t, d, tool("1", "good__echo", `{}`))
			return post(t, d, acting("1", "good", what)).Message()
		}
	}
	c.cases = append(c.cases,
		attack{name: "a server has nothing open that is not its own", do: func(t *testing.T, s *stage) {
			got := ask("!open")(t, s)
			_, list, _ := strings.Cut(got, "open: ")
			list, _, _ = strings.Cut(list, ".\"")
			// What this process was started with, mcpctl was, too.
			ours := strings.Fields(opened())
			for file := range strings.FieldsSeq(list) {
				if !slices.Contains(ours, file) {
					t.Errorf("it has %s: %s", file, got)
				}
			}
		}},
		attack{name: "a server has a separate group", do: func(t *testing.T, s *stage) {
			if got := ask("!group")(t, s); !strings.Contains(got, "true") {
				t.Errorf("got %s", got)
			}
		}},
		attack{name: "the guardian has nothing of serve's environment", do: func(t *testing.T, _ *stage) {
			h := newHome(t, string(wire.Servers{"good": rogue(t, spec{Name: "good"})}.JSON()))
			h.env = []string{"TOKEN=" + canary("guardian"), "HTTPS_PROXY=http://user:" + canary("guardian") + "@127.0.0.1:1"}
			d := h.serve(t)
			post(t, d, tool("1", "good__echo", `{}`))
			guardian := childOf(t, d.Cmd.Process.Pid, "mcp-guardian")
			raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", guardian))
			require.NoError(t, err)
			clean(t, "the guardian", string(raw))
			if strings.Contains(string(raw), canary("guardian")) {
				t.Errorf("the guardian has %q", raw)
			}
		}},
		attack{name: "the guardian has nothing open but its pipe", do: func(t *testing.T, _ *stage) {
			d := serve(t, wire.Servers{"good": rogue(t, spec{Name: "good"})})
			post(t, d, tool("1", "good__echo", `{}`))
			guardian := childOf(t, d.Cmd.Process.Pid, "mcp-guardian")
			dir := fmt.Sprintf("/proc/%d/fd", guardian)
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			for _, e := range entries {
				to, err := os.Readlink(filepath.Join(dir, e.Name()))
				if err != nil || e.Name() == "0" || to == "/dev/null" || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/sys/") {
					continue // its pipe, and what the Go runtime has
				}
				if strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "/") {
					t.Errorf("%s is %s", e.Name(), to)
				}
			}
		}},
		attack{name: "a guardian that is killed is there again", do: func(t *testing.T, _ *stage) {
			d := serve(t, wire.Servers{"bad": stubbornServer("ignore-term,grandchild-session"), "good": rogue(t, spec{Name: "good"})})
			post(t, d, tool("1", "good__echo", `{}`))
			first := childOf(t, d.Cmd.Process.Pid, "mcp-guardian")
			_ = syscall.Kill(first, syscall.SIGKILL)
			wait.Until(t, "another guardian", func() bool {
				again := childOf(t, d.Cmd.Process.Pid, "mcp-guardian")
				return again != 0 && again != first
			})
			post(t, d, tool("2", "bad__echo", `{"message":"x"}`))
			_ = d.Cmd.Process.Kill()
			<-d.Exited // what is left of its servers, Stop looks for
		}},
	)
	// Words of a command are words, for whatever a shell takes them.
	for _, word := range []string{"$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "&& touch pwned", "> pwned", "*", "~", "$HOME", "a\nb", "'", `"`, "", "--", "-x", "%PATH%", "\\", "a b"} {
		c.cases = append(c.cases, attack{name: "an argument " + wire.Quote(word), do: func(t *testing.T, _ *stage) {
			e := rogue(t, spec{Name: "good"})
			e["args"] = []string{word, "last"}
			h := newHome(t, string(wire.Servers{"good": e}.JSON()))
			o := h.mcpctl(t, `{"frames":["!args"]}`, "call", "good", "act", "--json")
			raw, err := json.Marshal([]string{word, "last"})
			require.NoError(t, err)
			if want := wire.Quote("args: " + string(raw)); !strings.Contains(o.stdout, want[1:len(want)-1]) {
				t.Errorf("exit code %d, got %s%s, want %s in it", o.code, o.stdout, o.stderr, want)
			}
			if _, err := os.Stat(filepath.Join(h.dir, "pwned")); err == nil {
				t.Error("a shell has read it")
			}
		}})
	}
	for _, command := range []string{"true; touch pwned", "$(touch pwned)", "sh -c 'touch pwned'", "true && touch pwned", "| touch pwned", "./true|touch pwned"} {
		c.cases = append(c.cases, attack{name: "a command " + wire.Quote(command), do: func(t *testing.T, _ *stage) {
			h := newHome(t, string(wire.Servers{"bad": {"command": command}}.JSON()))
			expectExit(t, h.mcpctl(t, "", "ping", "bad"), "5|6")
			if _, err := os.Stat(filepath.Join(h.dir, "pwned")); err == nil {
				t.Error("a shell has read it")
			}
		}})
	}
	return c
}

// childOf returns the process that a process has started and that has a name, 0
// for none within a second.
func childOf(t testing.TB, parent int, name string) int {
	t.Helper()
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		dirs, err := os.ReadDir("/proc")
		require.NoError(t, err)
		for _, dir := range dirs {
			pid, err := strconv.Atoi(dir.Name())
			if err != nil {
				continue
			}
			stat, err := os.ReadFile(filepath.Join("/proc", dir.Name(), "stat"))
			if err != nil {
				continue // it has gone
			}
			_, rest, _ := strings.Cut(string(stat), ") ")
			words := strings.Fields(rest)
			line, _ := os.ReadFile(filepath.Join("/proc", dir.Name(), "cmdline"))
			if len(words) > 1 && words[1] == strconv.Itoa(parent) && words[0] != "Z" && strings.Contains(string(line), name) {
				return pid
			}
		}
	}
	return 0
}

// environments: of mcpctl's own variables a server gets those that every program
// needs, and those that its entry names.
func environments() class {
	c := class{name: "environments"}
	world := func(s *stage) *wire.Daemon {
		s.mu.Lock()
		defer s.mu.Unlock()
		if d := s.daemons["environments"]; d != nil {
			return d
		}
		named := rogue(s.t, spec{Name: "named"})
		named["env"].(map[string]string)["MY_TOKEN"] = "${GITHUB_TOKEN}"
		h := newHome(s.t, string(wire.Servers{"bad": rogue(s.t, spec{Name: "bad"}), "named": named}.JSON()))
		for _, row := range variables() {
			switch row[0] {
			case "PATH", "HOME", "MCPCTL_CONFIG", "MCPCTL_HOME": // they are there already
			case "MCPCTL_HEADER":
				h.env = append(h.env, row[0]+"=X="+canary("environment"))
			default:
				h.env = append(h.env, row[0]+"="+canary("environment"))
			}
		}
		h.env = append(h.env, "BASH_FUNC_ls%%=() { touch pwned; }", "LC_TIME=() { touch pwned; }")
		s.daemons["environments"] = h.serve(s.t)
		return s.daemons["environments"]
	}
	for _, row := range variables() {
		name := row[0] + " does not reach a server"
		if row[1] != "" {
			name = row[0] + " reaches it"
		}
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			got := post(t, world(s), acting("1", "bad", "!env "+row[0])).Message()
			if has := !strings.Contains(got, row[0]+"=."); has != (row[1] != "") || !strings.Contains(got, row[0]+"=") {
				t.Errorf("got %s", got)
			}
		}})
	}
	for _, name := range []string{"BASH_FUNC_ls%%", "LC_TIME"} {
		c.cases = append(c.cases, attack{name: "a function of a shell as " + name + " does not", do: func(t *testing.T, s *stage) {
			if got := post(t, world(s), acting("1", "bad", "!env "+name)).Message(); !strings.Contains(got, name+"=.") {
				t.Errorf("got %s", got)
			}
		}})
	}
	c.cases = append(c.cases, attack{name: "what one entry names reaches that server", do: func(t *testing.T, s *stage) {
		if got := post(t, world(s), acting("1", "named", "!env MY_TOKEN")).Message(); !strings.Contains(got, canary("environment")) {
			t.Errorf("got %s", got)
		}
	}}, attack{name: "what one entry names reaches no other", do: func(t *testing.T, s *stage) {
		if got := post(t, world(s), acting("1", "bad", "!env MY_TOKEN")).Message(); !strings.Contains(got, "MY_TOKEN=.") {
			t.Errorf("got %s", got)
		}
	}})
	return c
}

// variables are those of an environment, and whether they reach a server.
func variables() [][2]string {
	return [][2]string{
		{"PATH", "yes"},
		{"HOME", "yes"},
		{"LC_ALL", "yes"},
		{"TZ", "yes"},
		{"XDG_DATA_HOME", "yes"},
		{"GITHUB_TOKEN", ""},
		{"AWS_SECRET_ACCESS_KEY", ""},
		{"AWS_SESSION_TOKEN", ""},
		{"OPENAI_API_KEY", ""},
		{"ANTHROPIC_API_KEY", ""},
		{"NPM_TOKEN", ""},
		{"SSH_AUTH_SOCK", ""},
		{"GPG_AGENT_INFO", ""},
		{"KUBECONFIG", ""},
		{"DOCKER_HOST", ""},
		{"DATABASE_URL", ""},
		{"VAULT_TOKEN", ""},
		{"GOOGLE_APPLICATION_CREDENTIALS", ""},
		{"LD_PRELOAD_X", ""},
		{"NODE_OPTIONS", ""},
		{"PYTHONSTARTUP", ""},
		{"BASH_ENV", ""},
		{"MCPCTL_HEADER", ""},
		{"MCPCTL_CONFIG", ""},
		{"MCPCTL_HOME", ""},
		{"GIT_CONFIG_COUNT", ""},
		{"DISPLAY", ""},
		{"DBUS_SESSION_BUS_ADDRESS", ""},
		{"PATH_EXTRA", ""},
		{"HOMEBREW_GITHUB_API_TOKEN", ""},
		{"LANGUAGES", ""},
		{"XDGX", ""},
		{"lc_all", ""},
	}
}
