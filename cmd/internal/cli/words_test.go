package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// dispatched returns what words become with some servers.
func dispatched(t *testing.T, file string, words ...string) ([]string, error) {
	t.Helper()
	a := &app{environment: environment{ui: ui.New(strings.NewReader(""), io.Discard, io.Discard), getenv: func(name string) string {
		return map[string]string{"MCPCTL_CONFIG": file}[name]
	}}}
	defer a.short.close() // dispatch starts the guardian of the server beside its own work
	return a.dispatch(newRootFor(a, words), words)
}

// TestOtherWords: a word that people bring along is the command that it stands for, and the server
// of that name where there is one. No new server gets the name.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, all := filepath.Join(dir, "none.json"), filepath.Join(dir, "all.json")
	require.NoError(t, os.WriteFile(none, []byte(`{"mcpServers": {"fs": {"command": "x"}}}`), 0o600))
	var servers []string
	for _, o := range otherWords() {
		servers = append(servers, fmt.Sprintf("%q: {\"command\": \"x\"}", o.word))
	}
	if len(servers) < 30 {
		t.Errorf("there are %d words", len(servers))
	}
	require.NoError(t, os.WriteFile(all, []byte(`{"mcpServers": {`+strings.Join(servers, ",")+`}}`), 0o600))
	root := newRoot(&app{environment: environment{ui: ui.New(nil, io.Discard, io.Discard), getenv: func(string) string { return "" }}})
	for _, o := range otherWords() {
		if got, err := dispatched(t, all, o.word); err != nil || strings.Join(got, " ") != "tools "+o.word {
			t.Errorf("the server %s: got %v, %v", o.word, got, err)
		}
		if got, err := dispatched(t, all, o.word, "x", "a=1"); err != nil || strings.Join(got, " ") != "call -- "+o.word+" x a=1" {
			t.Errorf("a tool of the server %s: got %v, %v", o.word, got, err)
		}
		got, err := dispatched(t, none, o.word, "fs")
		switch {
		case o.means == "":
			if err == nil || o.hint == "" || ui.HintOf(err) != o.hint {
				t.Errorf("%s: got %v, %v", o.word, got, err)
			}
		case err != nil:
			t.Errorf("%s: %v", o.word, err)
		default:
			cmd, rest, err := root.Find(strings.Fields(o.means))
			if o.means != "help flags" && (err != nil || cmd == root || len(rest) > 2) {
				t.Errorf("%s means %s, which is no command: %v, %v", o.word, o.means, rest, err)
			}
			if want := strings.Fields(strings.Replace(o.means, "SERVER", "fs", 1)); !slices.Equal(got[:len(want)], want) && got[0] != "call" {
				t.Errorf("%s: got %v, want %v", o.word, got, want)
			}
		}
		if subcommand(root, o.word) != nil {
			t.Errorf("%s is a command", o.word)
		}
		if err := config.CheckAlias(o.word); err == nil {
			t.Errorf("a new server may be named %s", o.word)
		}
		if err := o.help(root); (err == nil) != (o.means != "") {
			t.Errorf("help %s: %v", o.word, err)
		}
	}
	f, err := config.Load(all)
	require.NoError(t, err)
	if faults, warnings := f.Faults(), f.Warnings(); len(faults) > 0 || len(warnings) != len(servers) || !strings.Contains(warnings[0].Remedy, "mcpctl help acl") {
		t.Errorf("faults %v, warnings %v", faults, warnings)
	}
	if _, err := dispatched(t, none, "disable"); err == nil || !strings.Contains(err.Error(), "missing argument: mcpctl disable SERVER") {
		t.Errorf("got %v", err)
	}
	if got, err := dispatched(t, none, "enable", "my.fs"); err != nil || strings.Join(got, " ") != `config set ["my.fs"].disabled false` {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestSpelled: a server and a tool in one word are both, however other programs write it.
func TestSpelled(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers": {"fs": {"command": "x"}, "fs.old": {"command": "x"}}}`), 0o600))
	for _, tt := range []struct {
		words string
		want  string
	}{
		{"fs.read path=a", "call -- fs read path=a"},
		{"fs/read path=a", "call -- fs read path=a"},
		{"fs__read path=a", "call -- fs read path=a"},
		{"call fs.read path=a", "call -- fs read path=a"},
		{"call fs/read --timeout 3s", "call --timeout 3s -- fs read"},
		{"call -q fs__read_text path=a", "call -q -- fs read_text path=a"},
		{"describe fs.read", "describe fs read"},
		{"fs.read --help", "describe -- fs read"},
		{"fs.old.read", "call -- fs.old read"},
		{"fs.old", "tools fs.old"},
		{"fs.read(path:1)", "call -- fs read path=1"},
		{"call fs a.b", "call -- fs a.b"},
	} {
		got, err := dispatched(t, file, strings.Fields(tt.words)...)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, %v, want %s", tt.words, got, err, tt.want)
		}
	}
	for _, words := range []string{"fs.", "fs/", "other.read", "call other/read", ".read"} {
		if got, err := dispatched(t, file, strings.Fields(words)...); err == nil && !strings.HasPrefix(words, "call") {
			t.Errorf("%s: got %v", words, got)
		}
	}
}
