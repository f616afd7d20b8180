package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// written writes files below a folder, and returns its config.yaml.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return filepath.Join(dir, settings.FileName)
}

const aPolicy = "@id(\"a\")\npermit (principal, action, resource);\n"

// TestPolicies: rules and files are one configuration, each policy with its place.
func TestPolicies(t *testing.T) {
	path := written(t, map[string]string{
		"config.yaml":    "timeout: 3s\naccess:\n  default: deny\n  groups: {eng: [token|ci]}\n  labels: {private: [fs], fromAnnotations: true}\n  rules:\n    - {allow: eng, to: [gh, 'fs/read_*']}\n    - deny: '*'\n      to: fs/x\n  policies: [policy/*.cedar, policy/a.cedar]\n  tests: policy/*_test.yaml\n  tell: nothing\n  forget: 5m\n",
		"policy/a.cedar": aPolicy, "policy/b.cedar": aPolicy, "policy/a_test.yaml": "[]",
	})
	p, err := settings.ReadPolicies(path, true)
	require.NoError(t, err)
	dir := filepath.Dir(path)
	var got strings.Builder
	for _, s := range p.Config.Sources {
		text, _, _ := strings.Cut(string(s.Text), ")")
		name, err := filepath.Rel(dir, s.Name)
		require.NoError(t, err)
		fmt.Fprintf(&got, "%s:%d %s)\n", filepath.ToSlash(name), s.Line+1, text)
	}
	want := "config.yaml:7 @id(\"rule-1.1\")\nconfig.yaml:7 @id(\"rule-1.2\")\nconfig.yaml:8 @id(\"rule-2\")\npolicy/a.cedar:1 @id(\"a\")\npolicy/b.cedar:1 @id(\"a\")\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	if !p.Section.TellNothing || p.Section.Forget.Minutes() != 5 || !p.Config.FromAnnotations {
		t.Errorf("got %+v", p.Section)
	}
	if len(p.Config.Groups["eng"]) != 1 || len(p.Config.Labels["private"]) != 1 || len(p.Config.Labels["fs/read_*"]) != 1 {
		t.Errorf("got %+v", p.Config)
	}
	for _, name := range []string{"config.yaml", "policy", "policy/a.cedar", "policy/b.cedar"} {
		if !strings.Contains(strings.Join(p.Watch, "\n")+"\n", filepath.Join(dir, filepath.FromSlash(name))+"\n") {
			t.Errorf("%s is not watched: %q", name, p.Watch)
		}
	}
	tests, err := p.TestFiles()
	if err != nil || len(tests) != 1 || filepath.Base(tests[0]) != "a_test.yaml" {
		t.Errorf("got %q, %v", tests, err)
	}
}

// TestPoliciesDefault: serve.auth decides what counts where the section does not say.
func TestPoliciesDefault(t *testing.T) {
	for _, tt := range []struct {
		file string
		auth bool
		want int
	}{
		{"", true, 0},
		{"", false, 0},
		{"timeout: 1s\n", true, 0},
		{"access: {}\n", true, 1}, // for local
		{"access:\n", false, 1},
		{"access: {default: deny}\n", false, 0},
		{"access: {default: allow}\n", true, 1},
		{"access: {default: read-only}\n", true, 2},
	} {
		p, err := settings.ReadPolicies(written(t, map[string]string{"config.yaml": tt.file}), tt.auth)
		require.NoError(t, err)
		if (p.Section != nil) != strings.Contains(tt.file, "access") || len(p.Config.Sources) != tt.want {
			t.Errorf("%q, auth %v: got %+v", tt.file, tt.auth, p.Config.Sources)
		}
	}
	p, err := settings.ReadPolicies(filepath.Join(t.TempDir(), "config.yaml"), true) // none
	if err != nil || p.Section != nil {
		t.Errorf("got %+v, %v", p, err)
	}
}

// TestPoliciesRefused: what is wrong is an error with its place.
func TestPoliciesRefused(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"access: {rule: []}\n", "1:10 unknown setting \"rule\" of access; did you mean rules?"},
		{"acess: {}\n", "1:1 unknown setting \"acess\"; did you mean access?"},
		{"acl: {}\n", "1:1 unknown setting \"acl\"; write rules, as in access: {rules: [{allow: alice@example.com, to: gh}]}; mcpctl policy import translates a file"},
		{"serve: {access: {}}\n", "1:9 unknown setting \"serve.access\"; access has no setting above it: remove the indent, or write access: {rules: …}"},
		{"access:\n  rules:\n    - {allow: eng}\n", "3:7 rule-1 does not say what it is about; add to: and a server, a tool or a label; to: \"*\" is everything"},
		{"access: {default: deny}\naccess: {default: allow}\n", "2:1 access is there twice; remove one of the two"},
		{"access:\n  policies: [policy/*.cedar]\n", "2:14 no file is \"policy/*.cedar\"; the path is relative to config.yaml"},
		{"access:\n  policies: ['policy/[']\n", "2:14 the pattern \"policy/[\" cannot be read; as in policy/*.cedar"},
	} {
		_, err := settings.ReadPolicies(written(t, map[string]string{"config.yaml": tt.file}), true)
		var p *config.Problem
		if !errors.As(err, &p) {
			t.Errorf("%q: got %v", tt.file, err)
			continue
		}
		if got := fmt.Sprintf("%d:%d %s; %s", p.Line, p.Column, p.Message, p.Remedy); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.file, got, tt.want)
		}
		if !strings.Contains(tt.file, "policies") {
			if _, err := (run{file: tt.file}).load(t); err == nil {
				t.Errorf("%q: every command reads it", tt.file)
			}
		}
	}
}
