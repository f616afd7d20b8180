package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/test/require"
)

// wrongHooks are hooks that would look into less than their writer thinks, or into nothing.
var wrongHooks = []string{
	"{}",
	"yes",
	"[yes]",
	"[{}]",
	"[{name: a}]",
	"[{name: a, match: {}}]",
	"[{name: a, match: {pattern: x}, action: block}]",
	"[{name: a, match: {in: params, pattern: x}, action: block}]",
	"[{name: a, match: {in: argument, pattern: x}, action: block}]",
	"[{name: a, match: {in: arguments, pattern: 'canary-3[a'}, action: block}]",
	"[{name: a, match: {in: arguments, pattern: '(?<x'}, action: block}]",
	"[{name: a, match: {in: arguments, pattern: 'x*'}, action: block}]",
	"[{name: a, match: {in: arguments, pattern: x}}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: blok}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: deny}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: audit}]",
	"[{name: a b, match: {in: arguments, pattern: x}, action: block}]",
	"[{match: {in: arguments, pattern: x}, action: block}]",
	"[{name: a, tools: [], match: {in: arguments, pattern: x}, action: block}]",
	"[{name: a, tools: ['!'], match: {in: arguments, pattern: x}, action: block}]",
	"[{name: a, tools: x, match: {in: arguments, pattern: x}, action: block}]",
	"[{name: a, tool: [x], match: {in: arguments, pattern: x}, action: block}]",
	"[{name: a, match: {in: arguments, patern: x}, action: block}]",
	"[{name: a, match: {preset: sensitive-file}, action: block}]",
	"[{name: a, match: {preset: sensitive-files, pattern: x}, action: block}]",
	"[{match: {preset: sensitive-files}, action: block}, {match: {preset: sensitive-files, in: result}, action: block}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: block, name: b}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: block, failOpen: true}]",
	"[{name: a, match: {in: call, pattern: x}, action: redact}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: label, message: no}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: block, message: 'a\n\nb'}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: block, enabled: maybe}]",
	"[{name: a, match: {in: arguments, pattern: x}, action: block, enabled: false}, {name: a, match: {in: result, pattern: x}, action: block}]",
	"[{name: a, match: {in: arguments, pattern: x}, enabled: false}]",
	"[{server: g, message: no}]",
	"[{server: g, match: {in: arguments, pattern: x}, action: block}]",
	"[{server: g, action: block}]",
	"[{server: g, mode: adit}]",
	"[{server: g, methods: [prompts/get]}]",
	"[{server: g, timeout: 200}]",
	"[{server: g, timeout: [1s]}]",
	"[{server: g, failOpen: maybe}]",
	"[{server: 'a b'}]",
	"[{server: g}, {server: h, name: g}]",
}

// TestWrongHooks: testdata/hooks.txt has what is said of each; a pattern is in none.
func TestWrongHooks(t *testing.T) {
	var got strings.Builder
	for _, text := range wrongHooks {
		fmt.Fprintf(&got, "%s\n%s\n", text, shown(t, "serve:\n  hooks: "+text+"\n"))
	}
	fmt.Fprintf(&got, "hooks above serve\n%s\n", shown(t, "hooks: []\n"))
	if said := strings.ReplaceAll(got.String(), "pattern: 'canary-3[a'", ""); strings.Contains(said, "canary") {
		t.Errorf("a pattern is in an error: %s", said)
	}
	const golden = "testdata/hooks.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if got.String() != string(want) {
		t.Errorf("%s is not current (-update): got\n%s", golden, got.String())
	}
}

// TestHooks: what is right is read as it is written.
func TestHooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	const text = `audit: {}
serve:
  prefix: true
  hooks:
    - name: no-keys
      tools: ["gh__*", "!gh__get_*"]
      match: {in: arguments, pattern: 'BEGIN [A-Z ]*PRIVATE KEY'}
      action: block
    - match: {preset: sensitive-files}
      action: audit
    - {server: guard, methods: [tools/call], mode: audit, timeout: 200ms, failOpen: true}
    - {server: other, timeout: 0}
    - {name: off, match: {in: result, pattern: x}, action: block, enabled: false}
    - {name: force, match: {in: call, pattern: '^git__push .*--force'}, action: block, message: ask the release team, enabled: true}
`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	all, err := settings.Hooks(path)
	require.NoError(t, err)
	if want := (settings.HookEntry{Name: "guard", Line: 11, Server: "guard", Mode: "audit", Timeout: 200 * time.Millisecond, FailOpen: true}); len(all) != 5 || !reflect.DeepEqual(all[2], want) || all[3].Timeout != 0 {
		t.Fatalf("got %+v", all)
	}
	if h := all[4]; h.Name != "force" || h.In != "call" || h.Message != "ask the release team" {
		t.Errorf("got %+v", h)
	}
	if all[0].Name != "no-keys" || all[0].In != "arguments" || all[0].Action != "block" || len(all[0].Tools) != 2 || all[0].Pattern != "BEGIN [A-Z ]*PRIVATE KEY" {
		t.Errorf("got %+v", all)
	}
	if all[1].Name != "sensitive-files" || all[1].In != "arguments" || !strings.Contains(all[1].Pattern, "id_(?:rsa") {
		t.Errorf("got %+v", all[1])
	}
	if all, err := settings.Hooks(filepath.Join(t.TempDir(), "none.yaml")); err != nil || all != nil {
		t.Errorf("got %v, %v", all, err)
	}
}
