package settings_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write docs/settings.md")

// TestPage: docs/settings.md is what the table says.
func TestPage(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "settings.md")
	want := page()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
		t.Errorf("docs/settings.md is not current: go test ./cmd/internal/settings -run TestPage -update (-want +got):\n%s", diff)
	}
}

// TestTable: every row is complete, and a setting of the file has a value that takes each
// of its sources.
func TestTable(t *testing.T) {
	other := map[string]string{ // a value that is not the default
		"registry": "https://r.example.com", "output": "json", "verbose": "2", "logFormat": "json", "color": "never", "protocolVersion": "2025-11-25",
		"serve.auth": `{"token":{}}`, "serve.tls": `{"cert":"/c","key":"/k"}`, "serve.hosts": "a.example", "serve.login": `{"clientId":"c","issuer":"https://i.example"}`,
		"serve.url":         "https://a.example/mcp",
		"serve.compression": "off", "serve.cors": "https://a.example", "serve.search": `{"vocabulary":"words.txt"}`,
		"access.default": "allow", "access.groups": `{"eng":["token|ci"]}`, "access.labels": `{"private":["fs"]}`, "access.rules": `{"allow":"*","to":"*"}`,
		"access.policies": "policy/*.cedar", "access.tests": "policy/*_test.yaml", "access.tell": "nothing", "access.guards": `{"size":"1MiB"}`,
		"audit.durability": "power", "audit.keep": "30d", "audit.max": "1GiB", "audit.bodies": `{"to":["gh/*"]}`, "audit.anchor": "file:/mnt/checkpoints",
		"audit.export": `{"jsonl":"/var/log/audit.jsonl"}`,
		"serve.hooks":  `{"action":"block","match":{"in":"result","pattern":"x"},"name":"h"}`, "serve.views": `{"v":{"tools":["a"]}}`, "serve.view": "v",
		"elicit": "decline", "auth.store": "keyring", "serve.separator": "--", "serve.nameOverhead": "7", "serve.roots": "/", "serve.list": "search", "serve.budget": "500",
	}
	seen := map[string]bool{}
	for _, s := range settings.Table() {
		id := s.Name + " --" + s.Flag
		if seen[id] || s.Values == "" || s.Default == "" || s.About == "" || s.Name+s.Flag == "" {
			t.Errorf("%s: there twice, or not complete: %+v", id, s)
		}
		seen[id] = true
		if (s.Variable != "") != (s.Flag != "" && s.Flag != "url" && s.Flag != "jq") || s.Variable != "" && s.Variable != settings.Variable(s.Flag) {
			t.Errorf("%s: the variable is %q", id, s.Variable)
		}
		if s.Name == "" {
			continue
		}
		value := other[s.Name]
		switch {
		case value != "":
		case s.Values == "duration":
			value = "17s"
		case s.Default == "true":
			value = "false"
		default:
			value = "true"
		}
		sourceIs := func(r run, source string) {
			t.Helper()
			got := sources(t, r)[s.Name]
			if want := hidden(s.Name, value); got.Source != source || got.Value != want {
				t.Errorf("%s: got %+v, want %s from %s", s.Name, got, value, source)
			}
			if source == "config.yaml" && !strings.HasSuffix(got.From, "config.yaml:"+map[bool]string{true: "2", false: "1"}[strings.Contains(s.Name, ".")]) {
				t.Errorf("%s is from %s", s.Name, got.From)
			}
		}
		if got := sources(t, run{})[s.Name]; got.Source != "default" || got.Value != s.Default {
			t.Errorf("%s: without anything it is %+v", s.Name, got)
		}
		file := s.Name + ": " + value + "\n"
		if group, name, nested := strings.Cut(s.Name, "."); nested {
			file = group + ":\n  " + name + ": " + value + "\n"
		}
		if s.Name == "serve.login" { // it logs in principals of an issuer
			file += "  auth: [jwt: {issuer: https://i.example}]\n"
		}
		if s.Name == "serve.view" { // there has to be one
			file += "  views: {v: {}}\n"
		}
		if slices.Contains([]string{"serve.roots", "serve.auth", "serve.hosts", "serve.hooks", "access.rules", "access.policies", "access.tests", "audit.anchor", "audit.export"}, s.Name) { // lists
			file = strings.Replace(file, value, "["+value+"]", 1)
		}
		sourceIs(run{file: file}, "config.yaml")
		require.NoError(t, settings.Check("config.yaml", []byte(file)))
		if s.Flag != "" {
			given := value
			if s.Flag == "no-prefix" {
				given = "true"
			}
			sourceIs(run{file: file, env: map[string]string{s.Variable: given}}, "environment")
		}
	}
}

// hidden is what is shown of a value.
func hidden(name, value string) string {
	if name == "serve.views" {
		return "{…}"
	}
	return value
}

// sources are the sources of all settings, by name.
func sources(t *testing.T, r run) map[string]settings.Source {
	t.Helper()
	dir := t.TempDir()
	if r.file != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte(r.file), 0o600))
	}
	all, err := settings.Sources(settings.Options{Getenv: func(name string) string {
		if name == "MCPCTL_HOME" {
			return dir
		}
		return r.env[name]
	}})
	require.NoError(t, err)
	out := map[string]settings.Source{}
	for _, s := range all {
		out[s.Name] = s
	}
	return out
}
