package hostfiles_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/hostfiles"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// program returns one in an empty home directory, whose person gives some answers.
func program(t *testing.T, answers ...any) (p *hostfiles.Command, out, notes *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	out, notes = &bytes.Buffer{}, &bytes.Buffer{}
	u := ui.New(strings.NewReader(""), out, notes)
	u.Text = true
	path := filepath.Join(home, "servers.json")
	return &hostfiles.Command{
		UI: u, Getenv: func(string) string { return "" }, ConfigPath: path, StateDir: filepath.Join(home, "state"),
		Place: hosts.Place{GOOS: "linux", Home: home, Dir: filepath.Join(home, "project"), Getenv: func(string) string { return "" }},
		Load:  func() (*config.File, error) { return config.Load(path) },
		Asker: func() ui.Asker { return &ui.Scripted{Answers: answers} },
	}, out, notes
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

const token = "ghp_000000000000000000000000000000000000"

// TestConsent: a person is asked once for each host, of each text that looks like a secret,
// and of each server that another host has under another name. No secret is shown.
func TestConsent(t *testing.T) {
	t.Parallel()
	p, out, notes := program(t, true, true, false, false)
	write(t, filepath.Join(p.Place.Home, ".cursor", "mcp.json"), `{"mcpServers": {"gh": {"url": "https://gh.example.com/mcp", "headers": {"Authorization": "Bearer `+token+`"}}}}`)
	write(t, filepath.Join(p.Place.Home, ".kiro", "settings", "mcp.json"), `{"mcpServers": {"github": {"url": "https://gh.example.com/mcp"}, "x": {"command": "x"}}}`)
	im := &hostfiles.Import{Command: p}
	require.NoError(t, im.Run(t.Context(), nil))
	raw, err := os.ReadFile(p.ConfigPath)
	require.NoError(t, err)
	if text := string(raw); !strings.Contains(text, "Bearer ${GH_AUTHORIZATION}") || strings.Contains(text, token) || strings.Contains(text, `"x"`) {
		t.Errorf("servers.json is\n%s", text)
	}
	if !strings.Contains(notes.String(), "set GH_AUTHORIZATION before use: its value is in ~/.cursor/mcp.json") {
		t.Errorf("notes: %s", notes)
	}
	if strings.Contains(out.String()+notes.String(), token) {
		t.Error("the secret is shown")
	}
}

// TestGateway: the host's own entries of servers that the gateway has are taken out if the
// person agrees, and come back.
func TestGateway(t *testing.T) {
	t.Parallel()
	for _, agrees := range []bool{true, false} {
		p, out, _ := program(t, agrees)
		file := filepath.Join(p.Place.Home, ".cursor", "mcp.json")
		text := "{\n  // mine\n  \"mcpServers\": {\"fs\": {\"command\": \"npx\", \"args\": [\"fs\"]}, \"own\": {\"command\": \"own\"}}\n}\n"
		write(t, file, text)
		write(t, p.ConfigPath, `{"mcpServers": {"files": {"command": "npx", "args": ["-y", "fs"]}}}`)
		ex := &hostfiles.Export{Command: p, Gateway: true, Self: hosts.Self{Command: "mcpctl"}}
		require.NoError(t, ex.Run(t.Context(), "cursor", nil))
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for part, want := range map[string]bool{`"serve"`: true, `"fs": {`: !agrees, `"own"`: true, "// mine": true} {
			if strings.Contains(string(raw), part) != want {
				t.Errorf("agrees %v: %s in the file: %v\n%s", agrees, part, !want, raw)
			}
		}
		if !agrees && !strings.Contains(out.String(), "skip fs: the gateway has it as well") {
			t.Errorf("got %s", out)
		}
		require.NoError(t, (&hostfiles.Export{Command: p}).Undo(t.Context(), "cursor"))
		if raw, _ := os.ReadFile(file); string(raw) != text {
			t.Errorf("taken back:\n%s", raw)
		}
	}
}

// TestOtherEdits: what somebody has changed in the file since the export stays at undo.
func TestOtherEdits(t *testing.T) {
	t.Parallel()
	p, _, _ := program(t)
	file := filepath.Join(p.Place.Home, ".cursor", "mcp.json")
	write(t, file, `{"mcpServers": {"own": {"command": "own"}}}`)
	write(t, p.ConfigPath, `{"mcpServers": {"a": {"command": "a"}, "own": {"command": "other"}}}`)
	ex := &hostfiles.Export{Command: p, Replace: true, Self: hosts.Self{Command: "mcpctl"}}
	require.NoError(t, ex.Run(t.Context(), "cursor", nil))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(raw, []byte(`{"mcpServers"`), []byte(`{"new": 1, "mcpServers"`), 1), 0o600))
	require.NoError(t, ex.Undo(t.Context(), "cursor"))
	raw, err = os.ReadFile(file)
	require.NoError(t, err)
	if got := strings.Join(strings.Fields(string(raw)), ""); got != `{"new":1,"mcpServers":{"own":{"command":"own"}}}` {
		t.Errorf("got %s", raw)
	}
}

// TestSyncNamed: a host that got some servers by name gets no others by sync; one that got
// all gets new ones.
func TestSyncNamed(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		p, _, _ := program(t)
		file := filepath.Join(p.Place.Home, ".cursor", "mcp.json")
		ex := hostfiles.Export{Command: p, Self: hosts.Self{Command: "mcpctl"}}
		var aliases []string
		if named {
			aliases = []string{"a"}
		}
		write(t, p.ConfigPath, `{"mcpServers": {"a": {"command": "a"}}}`)
		require.NoError(t, ex.Run(t.Context(), "cursor", aliases))
		for _, servers := range []string{`"a": {"command": "a2"}`, `"a": {"command": "a3"}, "b": {"command": "b"}`} {
			write(t, p.ConfigPath, `{"mcpServers": {`+servers+`}}`)
			require.NoError(t, (&hostfiles.Sync{Export: ex}).Run(t.Context(), nil))
		}
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		if text := string(raw); !strings.Contains(text, `"a3"`) || strings.Contains(text, `"b"`) == named {
			t.Errorf("named %v: the file has\n%s", named, text)
		}
	}
}

// TestSameServerTwice: two aliases of one server are both written, the first time and again.
func TestSameServerTwice(t *testing.T) {
	t.Parallel()
	p, out, _ := program(t)
	write(t, p.ConfigPath, `{"mcpServers": {"a": {"command": "x", "env": {"A": "1"}}, "b": {"command": "x", "env": {"A": "2"}}}}`)
	ex := hostfiles.Export{Command: p, Self: hosts.Self{Command: "mcpctl"}}
	require.NoError(t, ex.Run(t.Context(), "cursor", nil))
	if got := out.String(); !strings.Contains(got, "wrote a\nwrote b\n") {
		t.Errorf("got %s", got)
	}
	out.Reset()
	require.NoError(t, ex.Run(t.Context(), "cursor", nil))
	if got := out.String(); !strings.Contains(got, "unchanged a\nunchanged b\n") {
		t.Errorf("again: %s", got)
	}
}

// TestWatch follows servers.json while one of two hosts cannot be written: that is said
// once, and the other gets what changes.
func TestWatch(t *testing.T) {
	t.Parallel()
	p, _, _ := program(t)
	servers := func(names ...string) {
		text := ""
		for _, name := range names {
			text += `"` + name + `": {"command": "` + name + `"},`
		}
		write(t, p.ConfigPath, `{"mcpServers": {`+text+`}}`)
	}
	servers("a")
	for _, host := range []string{"cursor", "codex"} {
		require.NoError(t, (&hostfiles.Export{Command: p, Self: hosts.Self{Command: "mcpctl"}}).Run(t.Context(), host, nil))
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 10)
	ended := make(chan error)
	s := &hostfiles.Sync{Export: hostfiles.Export{Command: p, Self: hosts.Self{Command: "mcpctl"}}}
	go func() { ended <- s.Watch(ctx, nil, slog.New(slog.DiscardHandler), func(err error) { failed <- err }) }()
	codex, cursor := filepath.Join(p.Place.Home, ".codex", "config.toml"), filepath.Join(p.Place.Home, ".cursor", "mcp.json")
	follows := func(path, text string) {
		t.Helper()
		wait.Until(t, text, func() bool {
			raw, _ := os.ReadFile(path)
			return strings.Contains(string(raw), text)
		})
	}
	servers("a", "b")
	follows(codex, "[mcp_servers.b]")
	follows(cursor, `"b"`) // written last
	write(t, cursor, "{broken")
	servers("a", "b", "c")
	follows(codex, "[mcp_servers.c]")
	servers("a", "b", "c", "d")
	follows(codex, "[mcp_servers.d]")
	cancel()
	require.NoError(t, <-ended)
	if len(failed) != 1 {
		t.Fatalf("got %d failures", len(failed))
	}
	if err := <-failed; !strings.Contains(err.Error(), "mcp.json") {
		t.Errorf("got %v", err)
	}
}

// TestWatchStart ends when the first run fails, however servers.json changes meanwhile.
func TestWatchStart(t *testing.T) {
	t.Parallel()
	p, _, _ := program(t)
	write(t, p.ConfigPath, `{}`)
	s := &hostfiles.Sync{Export: hostfiles.Export{Command: p}}
	if err := s.Watch(t.Context(), []string{"cursor"}, nil, nil); err == nil || !strings.Contains(err.Error(), "nothing was exported to cursor") {
		t.Errorf("got %v", err)
	}
}

// TestAccounts has servers that run the same with other variables stay apart, unless a person
// joins them.
func TestAccounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answers []any // nil: nobody is asked
		want    []string
	}{
		{nil, []string{"home", "work"}},
		{[]any{false, true}, []string{"home", "work"}},
		{[]any{true, true}, []string{"work"}},
	} {
		p, out, _ := program(t, tt.answers...)
		write(t, filepath.Join(p.Place.Home, ".cursor", "mcp.json"), `{"mcpServers": {
			"work": {"command": "pg", "env": {"BASE": "work"}}, "home": {"command": "pg", "env": {"BASE": "home"}}}}`)
		write(t, filepath.Join(p.Place.Home, ".kiro", "settings", "mcp.json"), `{"mcpServers": {"again": {"command": "pg", "env": {"BASE": "work"}}}}`)
		im := &hostfiles.Import{Command: p, All: tt.answers == nil}
		require.NoError(t, im.Run(t.Context(), []string{"cursor", "kiro"}))
		f, err := config.Load(p.ConfigPath)
		require.NoError(t, err)
		var got []string
		for _, e := range f.Entries() {
			got = append(got, e.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) || !strings.Contains(out.String(), "the same as work of cursor") {
			t.Errorf("%v: got %q, want %q\n%s", tt.answers, got, tt.want, out)
		}
		if len(tt.want) == 1 && !strings.Contains(out.String(), "with other env") {
			t.Errorf("it is not said what is lost:\n%s", out)
		}
	}
}

// TestLongNames: servers whose names are as long as an alias may be, or have none of its
// characters, get aliases of their own, whatever is taken.
func TestLongNames(t *testing.T) {
	t.Parallel()
	p, _, _ := program(t)
	long, longest := strings.Repeat("n", 60), strings.Repeat("n", 64)
	write(t, p.ConfigPath, `{"mcpServers": {"`+long+`": {"command": "a"}, "`+longest+`": {"command": "b"}}}`)
	write(t, filepath.Join(p.Place.Home, ".cursor", "mcp.json"), `{"mcpServers": {"`+long+`": {"command": "c"}, "`+longest+`": {"command": "d"},
		"`+longest+longest+`": {"command": "e"}, "名前": {"command": "f"}, "。": {"command": "g"}}}`)
	require.NoError(t, (&hostfiles.Import{Command: p, All: true}).Run(t.Context(), []string{"cursor"}))
	f, err := config.Load(p.ConfigPath)
	require.NoError(t, err)
	if entries := f.Entries(); len(entries) != 7 || len(f.Faults()) > 0 {
		t.Errorf("got %q, faults %v", entries, f.Faults())
	}
}

// TestStopped: a server that would be less limited than at its host is not imported, whoever
// agrees to import it; who does not is not told of a failure.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answers []any // nil: nobody is asked
		force   bool
		want    string // what of the servers
		fails   bool
	}{
		{nil, false, "found found", false},
		{[]any{false}, false, "skip skip", false},
		{[]any{true}, false, "stopped add", true},
		{[]any{true}, true, "add add", false},
	} {
		p, out, notes := program(t, tt.answers...)
		if tt.answers == nil {
			p.Asker = func() ui.Asker { return &ui.NonInteractive{} }
		}
		p.UI.Text, p.UI.JSON = false, true
		write(t, filepath.Join(p.Place.Home, ".config", "mcp", "servers.json"), `{"mcpServers": {"limited": {"command": "a", "tool_acl": {"write": ["*"]}}, "b": {"command": "b"}}}`)
		err := (&hostfiles.Import{Command: p, Force: tt.force}).Run(t.Context(), nil)
		var kind interface{ ExitKind() string }
		if fails := errors.As(err, &kind) && kind.ExitKind() == "config"; fails != tt.fails || err != nil && !fails {
			t.Errorf("%+v: %v", tt, err)
		}
		var got struct {
			Servers []struct {
				Action string
				Entry  json.RawMessage
				Lost   []hosts.Loss
			}
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &got))
		if len(got.Servers) != 2 || got.Servers[0].Action+" "+got.Servers[1].Action != tt.want || len(got.Servers[0].Lost) != 1 || got.Servers[0].Lost[0].Setting != "tool_acl" {
			t.Errorf("%+v: got %s, notes %s", tt, out, notes)
		}
		raw, _ := os.ReadFile(p.ConfigPath)
		if in := strings.Contains(string(raw), "limited"); in != tt.force {
			t.Errorf("%+v: servers.json has\n%s", tt, raw)
		}
	}
}

// TestLimitedElsewhere: where two files have the same server, that of the one that limits it
// is not joined with the other, which says less.
func TestLimitedElsewhere(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"cursor", "./own.json"}, {"./own.json", "cursor"}} {
		p, out, _ := program(t)
		own := filepath.Join(p.Place.Home, "own.json")
		write(t, own, `{"mcpServers": {"k8s": {"command": "kubectl", "cli": true, "cliOnly": ["get"]}}}`)
		write(t, filepath.Join(p.Place.Home, ".cursor", "mcp.json"), `{"mcpServers": {"kube": {"command": "kubectl"}}}`)
		words := slices.Clone(order)
		for i := range words {
			if words[i] != "cursor" {
				words[i] = own
			}
		}
		require.NoError(t, (&hostfiles.Import{Command: p, All: true}).Run(t.Context(), words))
		f, err := config.Load(p.ConfigPath)
		require.NoError(t, err)
		if e, ok := f.Entry("k8s"); !ok || !e.CLI || !slices.Equal(e.CLIOnly, []string{"get"}) {
			t.Errorf("%v: got %+v\n%s", order, e, out)
		}
	}
}
