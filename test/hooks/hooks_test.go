//go:build linux

package hooks_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// fixture is a row of fixtures.json.
type fixture struct {
	Name         string
	Interceptors json.RawMessage
	Answers      map[string]json.RawMessage
	// Hook is added to the entry of serve.hooks.
	Hook map[string]any
	// Want is in the answer to a call of echo with "hello". Sent is how many calls the tool
	// gets, Asked what the hook is asked; nil for any.
	Want  string
	Sent  *int
	Asked []string
	// Fails says that the hook fails: the call does, too, unless it may fail open. Strict
	// says that it fails in any case.
	Fails, Strict bool
	// Quick says that the hook answers each invocation with valid, at once.
	Quick   bool
	silent  bool // nothing is noted
	audited bool // there is an audit log
}

// gateway is mcpctl serve with a tool and a hook.
type gateway struct {
	*wire.Daemon
	t     testing.TB
	notes map[string]string // files
	next  int
	lines chan string

	configured string // config.yaml
}

func start(t testing.TB, f fixture) *gateway {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(f)
	require.NoError(t, err)
	g := &gateway{t: t, notes: map[string]string{}, lines: make(chan string, 100)}
	dir := t.TempDir()
	servers := wire.Servers{}
	for name, fixture := range map[string]string{"tool": "", "guard": string(text)} {
		g.notes[name] = filepath.Join(dir, name)
		if f.silent {
			g.notes[name] = os.DevNull
		}
		servers[name] = map[string]any{"command": self, "env": map[string]string{fixtureEnv: fixture, notesEnv: g.notes[name]}}
	}
	config := filepath.Join(dir, "servers.json")
	g.configured = filepath.Join(dir, "config.yaml")
	hook := map[string]any{"server": "guard"}
	maps.Copy(hook, f.Hook)
	if hook["match"] != nil {
		delete(hook, "server")
	}
	settings := map[string]any{"serve": map[string]any{"hooks": []any{hook}}}
	if f.audited {
		settings["audit"] = map[string]any{"keep": "1d"}
	}
	yaml, err := json.Marshal(settings)
	require.NoError(t, err)
	if f.Name == "" {
		yaml = nil
	}
	require.NoError(t, os.WriteFile(g.configured, yaml, 0o600))
	require.NoError(t, os.WriteFile(config, servers.JSON(), 0o600))
	g.Daemon = wire.Serve(t, wire.Setup{Program: *program, Config: config, Home: dir, Stdio: true, Each: nil})
	go func() {
		_ = wire.Lines(g.Out, func(line []byte) { g.lines <- string(line) })
		close(g.lines)
	}()
	g.ask("initialize", wire.Hello)
	return g
}

// ask returns the answer to a request.
func (g *gateway) ask(method, params string) string {
	g.t.Helper()
	g.next++
	id := wire.Quote(string(rune('a' + g.next%26)))
	_, err := g.In.Write([]byte(wire.Request(id, method, params) + "\n"))
	require.NoError(g.t, err)
	for {
		select {
		case line, ok := <-g.lines:
			if !ok {
				g.t.Fatalf("serve has ended: %s", g.Stderr)
			}
			if strings.Contains(line, `"id":`+id) {
				return line
			}
		case <-wait.Late(g.t):
			g.t.Fatalf("no answer to %s: %s", method, g.Stderr)
		}
	}
}

// mcpctl runs a command with the same settings, and returns all that it prints.
func (g *gateway) mcpctl(words ...string) (string, error) {
	cmd := exec.CommandContext(g.t.Context(), *program, words...)
	cmd.Env = wire.Environment(g.Config, g.Home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g *gateway) echo() string {
	g.t.Helper()
	return g.ask("tools/call", `{"name":"tool__echo","arguments":{"message":"hello"},"_meta":{"x":1}}`)
}

// asked returns what a server has noted, nothing while it has not started.
func (g *gateway) asked(server string) []string {
	raw, err := os.ReadFile(g.notes[server])
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(g.t, err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")[:strings.Count(string(raw), "\n")]
}

func fixtures(t *testing.T) (all []fixture) {
	t.Helper()
	raw, err := os.ReadFile("fixtures.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &all))
	return all
}

// TestFixtures: each row of fixtures.json, and where the hook fails, both ways to take that.
func TestFixtures(t *testing.T) {
	t.Parallel()
	wire.Sources(t)
	const fault = `hook \"guard\" has failed`
	none := 0
	for _, f := range fixtures(t) {
		rows := []fixture{f}
		if f.Fails || f.Strict {
			rows = nil
			for _, open := range []bool{false, true} {
				row := f
				row.Hook = map[string]any{"failOpen": open}
				maps.Copy(row.Hook, f.Hook)
				if row.Want = fault; open && !f.Strict {
					row.Name, row.Want = f.Name+", open", `"hello"`
				} else {
					row.Sent = &none
				}
				rows = append(rows, row)
			}
		}
		for _, f := range rows {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				g := start(t, f)
				list := g.ask("tools/list", `{}`)
				if strings.Contains(list, "guard") || !strings.Contains(list, "tool__echo") {
					t.Errorf("tools: %s", list)
				}
				got := g.echo()
				if !strings.Contains(got, f.Want) {
					t.Errorf("got %.300s\nwant %s\n%s", got, f.Want, g.Stderr)
				}
				if strings.Contains(got, "canary") {
					t.Errorf("what the hook says is shown: %s", got)
				}
				if n := len(g.asked("tool")); f.Sent != nil && n != *f.Sent {
					t.Errorf("the tool got %d calls", n)
				}
				if asked := g.asked("guard"); f.Asked != nil && !slices.Equal(asked, f.Asked) {
					t.Errorf("the hook was asked %q", asked)
				}
				if f.Fails { // it is there again for the next call, whatever it was
					if again := g.echo(); !strings.Contains(again, f.Want) {
						t.Errorf("again: got %.300s", again)
					}
				}
			})
		}
	}
}

// TestCrash: a hook that has crashed in a call is started again, and looks into the next.
func TestCrash(t *testing.T) {
	t.Parallel()
	g := start(t, fixture{
		Name:         "crash",
		Interceptors: json.RawMessage(`[{"name":"check","type":"validation","hooks":[{"events":["tools/call"],"phase":"request"}]}]`),
		Answers:      map[string]json.RawMessage{"check request": json.RawMessage(`"crash once"`)},
	})
	if got := g.echo(); !strings.Contains(got, "has failed") {
		t.Errorf("got %s", got)
	}
	wait.Until(t, "the hook is there again", func() bool { return strings.Contains(g.echo(), `"hello"`) })
	if got := g.ask("tools/call", `{"name":"guard__echo","arguments":{"message":"hello"}}`); !strings.Contains(got, "unknown tool") {
		t.Errorf("a tool of a hook can be called: %s", got)
	}
}

// TestReload: a server is a hook from the moment that config.yaml says so, and one with tools
// again when it does not.
func TestReload(t *testing.T) {
	t.Parallel()
	g := start(t, fixture{
		Interceptors: json.RawMessage(`[{"name":"check","type":"validation","hooks":[{"events":["tools/call"],"phase":"request"}]}]`),
		Answers:      map[string]json.RawMessage{"check request": json.RawMessage(`{"valid":false}`)},
	})
	for range 2 {
		if list := g.ask("tools/list", `{}`); !strings.Contains(list, "guard__echo") || !strings.Contains(g.echo(), `"hello"`) {
			t.Errorf("tools: %s", list)
		}
		require.NoError(t, os.WriteFile(g.configured, []byte("serve: {hooks: [{server: guard}]}\n"), 0o600))
		wait.Until(t, "the hook looks", func() bool { return strings.Contains(g.echo(), `"hook":"guard"`) })
		if list := g.ask("tools/list", `{}`); strings.Contains(list, "guard") {
			t.Errorf("tools: %s", list)
		}
		require.NoError(t, os.WriteFile(g.configured, []byte("{}\n"), 0o600))
		wait.Until(t, "the hook is gone", func() bool { return strings.Contains(g.echo(), `"hello"`) })
		wait.Until(t, "its tools are there", func() bool { return strings.Contains(g.ask("tools/list", `{}`), "guard__echo") })
	}
	require.NoError(t, os.WriteFile(g.configured, []byte("serve: {hooks: [{server: nobody}]}\n"), 0o600))
	wait.Until(t, "calls fail without the server", func() bool { return strings.Contains(g.echo(), "has failed") })
	wait.Until(t, "the log says so", func() bool {
		return strings.Contains(g.Stderr.String(), "the server of a hook is not configured")
	})
}

// BenchmarkCall is calls over stdio, in turns: without a hook, with a rule, and with a hook over
// stdio. What a hook adds is so of the same time, whatever else the machine does.
func BenchmarkCall(b *testing.B) {
	f := fixture{
		Interceptors: json.RawMessage(`[{"name":"check","type":"validation","hooks":[{"events":["tools/call"],"phase":"request"}]}]`),
		Answers:      map[string]json.RawMessage{"check request": json.RawMessage(`{"valid":true}`)},
		Quick:        true,
		silent:       true,
	}
	rule, server := f, f
	rule.Name, rule.Hook = "rule", map[string]any{"name": "r", "match": map[string]any{"in": "arguments", "pattern": "hallo"}, "action": "block"}
	server.Name = "server"
	all := []*gateway{start(b, f), start(b, rule), start(b, server)}
	took := make([][]time.Duration, len(all))
	ask := func() {
		for i, g := range all {
			begun := time.Now()
			g.echo()
			took[i] = append(took[i], time.Since(begun))
		}
	}
	for range 200 {
		ask()
	}
	clear(took)
	for b.Loop() {
		ask()
	}
	median := make([]float64, len(all))
	for i := range took {
		slices.Sort(took[i])
		median[i] = float64(took[i][len(took[i])/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(median[0], "p50-us")
	b.ReportMetric(median[1]-median[0], "rule-adds-us")
	b.ReportMetric(median[2]-median[0], "server-adds-us")
}

// TestRefusalIsExplained: what a rule has refused is decided in the same way by policy explain, and
// unknown where the arguments are not kept.
func TestRefusalIsExplained(t *testing.T) {
	t.Parallel()
	match := map[string]any{"in": "arguments", "pattern": "hel+o"}
	g := start(t, fixture{Name: "x", Hook: map[string]any{"name": "r", "match": match, "action": "block"}, silent: true, audited: true})
	if answer := g.echo(); !strings.Contains(answer, `"hook":"r"`) {
		t.Fatalf("got %s", answer)
	}
	var out string
	wait.Until(t, "the refusal is recorded", func() bool {
		out, _ = g.mcpctl("audit", "--json")
		return strings.Contains(out, "hook.r")
	})
	// The log has its start, the policies, and the call.
	out, err := g.mcpctl("policy", "explain", "--record", "2", "-o", "text")
	if err != nil || !strings.HasPrefix(out, "unknown: call tool/echo") || !strings.Contains(out, "it was denied by hook.r") || !strings.Contains(out, "what a hook has refused is not kept") {
		t.Errorf("without arguments: got %v, %s", err, out)
	}
	out, err = g.mcpctl("policy", "explain", "--record", "2", "--args", `{"message":"hello"}`, "-o", "text")
	if err == nil || !strings.HasPrefix(out, "denied: call tool/echo") || !strings.Contains(out, "refuse what the hook finds (hook.r, ") {
		t.Errorf("with arguments: got %v, %s", err, out)
	}
}

// TestPatternsAreSecret: a pattern is in no list, answer, log, record and status, and in nothing
// that is said of a file with a mistake.
func TestPatternsAreSecret(t *testing.T) {
	t.Parallel()
	const canary = "canary-7731"
	match := func(in string) map[string]any { return map[string]any{"in": in, "pattern": "hel+o|" + canary} }
	for _, action := range []string{"block", "redact", "audit", "label"} {
		for _, in := range []string{"arguments", "result"} {
			t.Run(action+", "+in, func(t *testing.T) {
				t.Parallel()
				g := start(t, fixture{Name: "x", Hook: map[string]any{"name": "r", "match": match(in), "action": action}, silent: true, audited: true})
				sound, err := os.ReadFile(g.configured)
				require.NoError(t, err)
				said := g.ask("tools/list", `{}`) + g.echo() + g.ask("tools/call", `{"name":"tool__echo","arguments":{"message":7}}`)
				for i, wrong := range []string{
					`{name: r, match: {in: arguments, pattern: "(canary-7731"}, action: block}`,
					`{name: r, match: {in: arguments, pattern: "canary-7731*|"}, action: block}`,
					`{name: r, match: canary-7731, action: block}`,
					`{name: r, match: {in: arguments, pattern: [canary-7731]}, action: block}`,
					`{name: r, match: {in: arguments, pattern: {canary-7731: 1}}, action: block}`,
					`{name: r, match: {in: nowhere, pattern: canary-7731}, action: block}`,
					`{name: r, match: {in: result, pattern: canary-7731}, action: drop}`,
					`{match: {in: result, pattern: canary-7731}, action: block}`,
				} {
					require.NoError(t, os.WriteFile(g.configured, []byte("serve: {hooks: ["+wrong+"]}\n"), 0o600))
					if i == 0 { // one of them is read while it serves, too
						wait.Until(t, "the mistake is seen", func() bool { return strings.Contains(g.Stderr.String(), "cannot be used") })
					}
					out, err := g.mcpctl("config", "validate")
					if err == nil {
						t.Errorf("%s is taken", wrong)
					}
					said += out
				}
				status, err := g.mcpctl("status", "--json")
				said += status + g.Stderr.String()
				if err != nil && !strings.Contains(status, "{") {
					t.Logf("status: %v", err) // nobody listens
				}
				require.NoError(t, os.WriteFile(g.configured, sound, 0o600))
				records, err := g.mcpctl("audit", "--json")
				require.NoError(t, err)
				if said += records; !strings.Contains(records, "tools/call") && !strings.Contains(records, `"echo"`) {
					t.Errorf("records: %s", records)
				}
				require.NoError(t, filepath.WalkDir(g.Home, func(path string, d fs.DirEntry, err error) error {
					if err != nil || !d.Type().IsRegular() || path == g.configured || path == g.Config { // the latter is of this test: a fixture
						return err
					}
					raw, err := os.ReadFile(path)
					if strings.Contains(string(raw), canary) {
						t.Errorf("the pattern is in %s", path)
					}
					return err
				}))
				if at := strings.Index(said, canary); at >= 0 {
					t.Errorf("the pattern is in: %s", said[max(0, at-300):at+20])
				}
			})
		}
	}
}
