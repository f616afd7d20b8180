package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
	"github.com/mcpctl/mcpctl/schemas"
	"github.com/mcpctl/mcpctl/test/require"
)

const servers = `{
  // mine
  "mcpServers": {
    "fs": {"command": "npx", "args": ["-y", "fs@1.0", "a b"], "origin": {"registry": "r", "name": "io.example/fs", "version": "1.0"}},
    // the forge
    "gh": {"url": "https://api.example.com/mcp?a=1&b=2", "headers": {"Authorization": "Bearer ${TOKEN}"}}, // ours
    "kube": {"command": "kubectl", "cli": true}
  }
}
`

// home is a configuration directory with the files given, and the only source
// of settings.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "MCPCTL_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("MCPCTL_HOME", dir)
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

type outcome struct {
	code        int
	out, errOut string
}

func run(words ...string) outcome {
	var out, errOut bytes.Buffer
	code := cli.Main(words, strings.NewReader(""), &out, &errOut)
	return outcome{code, out.String(), errOut.String()}
}

func (o outcome) want(t *testing.T, code int, out string) {
	t.Helper()
	if o.code != code || o.out != out {
		t.Errorf("exit %d, stdout %q, stderr %q; want exit %d, stdout %q", o.code, o.out, o.errOut, code, out)
	}
}

func (o outcome) fails(t *testing.T, code int, words ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit %d, stdout %q, stderr %q; want exit %d", o.code, o.out, o.errOut, code)
	}
	for _, w := range words {
		if !strings.Contains(o.errOut, w) {
			t.Errorf("stderr %q lacks %q", o.errOut, w)
		}
	}
}

func TestList(t *testing.T) {
	home(t, map[string]string{"servers.json": servers})
	run("list").want(t, 0, `{"servers":[`+
		`{"name":"fs","transport":"stdio","command":"npx","args":["-y","fs@1.0","a b"],"origin":{"registry":"r","name":"io.example/fs","version":"1.0"}},`+
		`{"name":"gh","transport":"http","url":"https://api.example.com/mcp"},`+
		`{"name":"kube","transport":"cli","command":"kubectl"}]}`+"\n")
	run("list", "-o", "text").want(t, 0, ""+
		"NAME  TRANSPORT  TARGET                       ORIGIN\n"+
		"fs    stdio      npx -y fs@1.0 'a b'          io.example/fs@1.0\n"+
		"gh    http       https://api.example.com/mcp\n"+
		"kube  cli        kubectl\n")
	run("list", "extra").fails(t, 2, "usage:")

	home(t, nil)
	run("list").want(t, 0, `{"servers":[]}`+"\n")
	if o := run("list", "-o", "text"); o.code != 0 || o.out != "" || !strings.Contains(o.errOut, "mcpctl add") {
		t.Errorf("an empty list: %+v", o)
	}
	if o := run("list", "-o", "text", "-q"); o.errOut != "" {
		t.Errorf("an empty list, quiet: %+v", o)
	}
}

// TestBrokenEntry: one broken entry is named and the others are usable.
func TestBrokenEntry(t *testing.T) {
	dir := home(t, map[string]string{"servers.json": `{"mcpServers": {
  "bad": {"command": "a", "url": "http://x"},
  "good": {"command": "b", "evn": {}}
}}`})
	o := run("list")
	o.want(t, 0, `{"servers":[{"name":"good","transport":"stdio","command":"b"}]}`+"\n")
	o.fails(t, 0, "servers.json:2:27", "bad", "both")
	run("get", "bad").want(t, 0, `{"name":"bad","entry":{"command":"a","url":"http://x"}}`+"\n")

	o = run("config", "validate")
	o.fails(t, 5, filepath.Join(dir, "servers.json")+":2:27", "hint: keep command")
	var got struct {
		OK       bool
		Problems []struct {
			Severity, Server string
			Line, Column     int
		}
	}
	if err := json.Unmarshal([]byte(o.out), &got); err != nil || got.OK || len(got.Problems) != 2 ||
		got.Problems[0].Severity != "error" || got.Problems[0].Line != 2 || got.Problems[0].Column != 27 || got.Problems[1].Severity != "warning" || got.Problems[1].Line != 3 {
		t.Errorf("validate printed %s, %v", o.out, err)
	}
	o = run("config", "validate", "-o", "text")
	if o.code != 5 || o.errOut != "" || !strings.Contains(o.out, "did you mean env?") || !strings.Contains(o.out, ":2:27: ") {
		t.Errorf("validate as text: %+v", o)
	}
	run("remove", "bad").want(t, 0, `{"removed":["bad"]}`+"\n")
	run("config", "validate").fails(t, 0)
}

func TestBrokenFile(t *testing.T) {
	home(t, map[string]string{"servers.json": "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n    \"b\": {}\n  }\n}\n"})
	for _, words := range [][]string{{"list"}, {"get", "a"}, {"remove", "a"}, {"config", "validate"}, {"a"}} {
		run(words...).fails(t, 5, "servers.json:4:5:", "comma", "hint: ")
	}
	o := run("list", "--json")
	var got struct {
		Error struct{ Kind, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(o.errOut), &got); err != nil || got.Error.Kind != "config" || got.Error.Hint == "" || strings.Count(o.errOut, "\n") != 1 {
		t.Errorf("stderr is %q, %v", o.errOut, err)
	}
}

func TestGet(t *testing.T) {
	home(t, map[string]string{"servers.json": servers})
	t.Setenv("TOKEN", "secret")
	run("get", "gh").want(t, 0, `{"name":"gh","entry":{"url":"https://api.example.com/mcp?a=1&b=2","headers":{"Authorization":"Bearer ${TOKEN}"}}}`+"\n")
	run("get", "kube", "-o", "text").want(t, 0, "{\n  \"command\": \"kubectl\",\n  \"cli\": true\n}\n")
	run("get", "gj").fails(t, 2, `"gj"`, "did you mean gh?")
	run("get").fails(t, 2)
	run("get", "gh", "fs").fails(t, 2)
}

// literalSecrets has a secret in each place of an entry that can hold one.
const literalSecrets = `{"mcpServers": {
  "a": {"command": "npx", "args": ["-y", "mcp-remote", "https://me:pwd-canary1@h.example/x?key=url-canary1", "--header", "Authorization: Bearer arg-canary1", "--api-key", "arg-canary2", "--token=arg-canary3"],
        "env": {"GITHUB_TOKEN": "env-canary1", "DB": "postgres://u:env-canary2@db/x", "LEVEL": "verbose", "T": "${MY_TOKEN:-env-canary3}"}},
  "b": {"url": "https://u:pwd-canary2@h.example/mcp?token=url-canary2&v=2", "headers": {"X-Api-Key": "hdr-canary1", "Authorization": "Bearer hdr-canary2", "X-Trace": "${TRACE}"}}}}`

// TestSecretsAreNotShown: what an entry holds literally is printed by get
// --reveal alone.
func TestSecretsAreNotShown(t *testing.T) {
	home(t, map[string]string{"servers.json": literalSecrets})
	for _, words := range [][]string{
		{"list"},
		{"list", "--json"},
		{"list", "-o", "text"},
		{"get", "a"},
		{"get", "a", "-o", "text"},
		{"get", "b"},
		{"get", "b", "-o", "text"},
		{"config", "validate"},
		{"get", "c"},
		{"list", "-vvv"},
	} {
		if o := run(words...); strings.Contains(o.out+o.errOut, "canary") {
			t.Errorf("%v: %s%s", words, o.out, o.errOut)
		}
	}
	for name, wants := range map[string][]string{
		"a": {"h.example", "LEVEL", "verbose", "Bearer [redacted]", "${MY_TOKEN:-[redacted]}"},
		"b": {"h.example", "${TRACE}", "v=2", "Bearer [redacted]"},
	} {
		for _, want := range wants {
			if o := run("get", name); !strings.Contains(o.out, want) {
				t.Errorf("get %s lacks %s: %s", name, want, o.out)
			}
		}
		if o := run("get", name, "--reveal"); strings.Count(o.out, "canary") < 4 || strings.Contains(o.out, "[redacted]") {
			t.Errorf("get %s --reveal: %s", name, o.out)
		}
	}
	for _, url := range []string{"ftp://u:pwd-canary@h.example/?token=url-canary", "u:pwd-canary@h.example/mcp?k=url-canary", "//u:pwd-canary@h"} {
		if o := run("tools", "--url", url); o.code != 2 || strings.Contains(o.out+o.errOut, "canary") {
			t.Errorf("--url %s: %+v", url, o)
		}
		if o := run("search", "x", "--registry", url); o.code != 2 || strings.Contains(o.out+o.errOut, "canary") {
			t.Errorf("--registry %s: %+v", url, o)
		}
		if o := run("add", "x", "--dry-run", "--url", strings.Replace(url, "ftp:", "https:", 1), "-H", "X-Key: hdr-canary"); strings.Contains(o.out+o.errOut, "canary") {
			t.Errorf("add --url %s: %+v", url, o)
		}
	}
	if o := run("add", "y", "--env", "=env-canary", "--", "sh"); o.code != 2 || strings.Contains(o.out+o.errOut, "canary") {
		t.Errorf("add: %+v", o)
	}
	if o := run("add", "y", "--env", "API_KEY=env-canary", "--", "sh", "--token", "arg-canary", "--password=arg-canary"); o.code != 0 || strings.Contains(o.out+o.errOut, "canary") {
		t.Errorf("add: %+v", o)
	}
}

func TestRemove(t *testing.T) {
	dir := home(t, map[string]string{"servers.json": servers})
	file := func() string {
		b, err := os.ReadFile(filepath.Join(dir, "servers.json"))
		require.NoError(t, err)
		return string(b)
	}
	run("remove", "gh", "kub").fails(t, 2, `"kub"`, "kube")
	if file() != servers {
		t.Errorf("a removal that failed changed the file to\n%s", file())
	}
	run("remove", "gh", "kube", "gh", "-o", "text").want(t, 0, "removed gh\nremoved kube\n")
	want := strings.Split(servers, "\n")
	want = append(append(want[:3:3], strings.TrimSuffix(want[3], ",")), want[7:]...)
	if diff := cmp.Diff(strings.Join(want, "\n"), file()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	run("remove").fails(t, 2)
}

func TestConfigCommands(t *testing.T) {
	dir := home(t, map[string]string{"config.yaml": "timeout: soon\n"})
	path := filepath.Join(dir, "servers.json")
	// These work whatever is in config.yaml.
	run("config", "path").want(t, 0, path+"\n")
	run("config", "schema").want(t, 0, string(schemas.Servers()))
	for _, words := range [][]string{{"version"}, {"--version"}, {"--help"}, {"list", "--help"}, {"help", "list"}, {"completion", "bash"}, {"__complete", "get", ""}} {
		if o := run(words...); o.code != 0 || o.out == "" {
			t.Errorf("%v with a broken config.yaml: %+v", words, o)
		}
	}
	// These do not.
	run("tools", "x").fails(t, 5, "config.yaml:1:10:", "timeout", "soon")
	run("config", "validate").fails(t, 5, "config.yaml:1:10:")

	home(t, nil)
	var v struct {
		Version, Go string
		Commit      *string
		Protocols   []string
	}
	if o := run("version"); json.Unmarshal([]byte(o.out), &v) != nil || v.Version == "" || v.Commit == nil || !strings.HasPrefix(v.Go, "go1.") || len(v.Protocols) != 5 || v.Protocols[0] != "2026-07-28" {
		t.Errorf("version printed %s", o.out)
	}
	if o := run("version", "-o", "text"); !strings.HasPrefix(o.out, "mcpctl "+v.Version+"\n") || !strings.Contains(o.out, "2024-11-05") {
		t.Errorf("version printed %s", o.out)
	}
	run("config").fails(t, 2, "validate")
	run("config", "nonsense").fails(t, 2)
}

func TestConfigEdit(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("the editors of this test are shell commands")
	}
	dir := home(t, nil)
	path := filepath.Join(dir, "servers.json")
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	run("config", "edit").fails(t, 2, "terminal", "EDITOR")
	t.Setenv("EDITOR", "false")
	run("config", "edit").fails(t, 1, "false")
	run("config", "edit", "--no-input").fails(t, 2, "--no-input")

	// An editor with arguments of its own, and the file made for it.
	t.Setenv("EDITOR", `grep -q mcpServers`)
	run("config", "edit").fails(t, 0)
	// VISUAL goes first; what it leaves is checked.
	t.Setenv("VISUAL", `f() { echo oops > "$1"; }; f`)
	run("config", "edit").fails(t, 5, path+":1:1:")
	// A broken file can be mended.
	t.Setenv("VISUAL", `f() { echo '{}' > "$1"; }; f`)
	run("config", "edit").fails(t, 0)
}

func TestGlobalFlags(t *testing.T) {
	dir := home(t, map[string]string{"servers.json": servers, "config.yaml": "output: text\n"})
	other := filepath.Join(t.TempDir(), "other.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"mcpServers": {"o": {"command": "x"}}}`), 0o600))
	want := `{"servers":[{"name":"o","transport":"stdio","command":"x"}]}` + "\n"
	for _, words := range [][]string{
		{"list", "--config", other}, {"--config", other, "list"}, {"--config=" + other, "-H", "A=b", "list", "-H", "C: d"}, {"-qvv", "--config", other, "list"},
	} {
		run(words...).want(t, 0, want)
	}
	if o := run("list"); !strings.HasPrefix(o.out, "NAME") {
		t.Errorf("output: text of config.yaml is not followed: %+v", o)
	}
	t.Setenv("MCPCTL_OUTPUT", "json")
	t.Setenv("MCPCTL_CONFIG", other)
	run("list").want(t, 0, want)
	run("config", "path").want(t, 0, `{"path":"`+other+`","settings":"`+filepath.Join(filepath.Dir(other), "config.yaml")+`"}`+"\n")
	t.Setenv("MCPCTL_CONFIG", "")
	t.Setenv("MCPCTL_OUTPUT", "")

	for _, words := range [][]string{
		{"list", "--color", "blue"},
		{"list", "--protocol-version", "2020-01-01"},
		{"list", "--timeout", "5"},
		{"list", "-o", "xml"},
		{"-H", "nonsense", "list"},
		{"list", "--log-format=yaml"},
		{"list", "--nope"},
		{"--nope", "list"},
		{"list", "--url", "x"},
		{"list", "--json=maybe"},
		{"list", "-H"},
	} {
		run(words...).fails(t, 2, "mcpctl: ")
	}
	_ = dir
}

// TestJSONErrors: an explicit --json makes every error one line of JSON, also
// when the flags could not be parsed.
func TestJSONErrors(t *testing.T) {
	home(t, nil)
	for _, words := range [][]string{
		{"--json", "get", "x"},
		{"get", "x", "-o", "json"},
		{"get", "x", "-ojson"},
		{"get", "x", "--output=json"},
		{"get", "--json", "--nope"},
		{"--nope", "--json"},
		{"nosuchcommand", "--json"},
		{"list", "--color=blue", "--json"},
		{"get", "--json"},
	} {
		o := run(words...)
		var got struct {
			Error struct{ Kind, Message string }
		}
		if err := json.Unmarshal([]byte(o.errOut), &got); err != nil || got.Error.Kind != "usage" || got.Error.Message == "" || o.code != 2 || o.out != "" {
			t.Errorf("%v: %+v", words, o)
		}
	}
	for _, words := range [][]string{{"get", "x"}, {"get", "x", "--json", "--json=false"}, {"get", "--", "--json"}} {
		if o := run(words...); !strings.HasPrefix(o.errOut, "mcpctl: ") || o.code != 2 {
			t.Errorf("%v: %+v", words, o)
		}
	}
	t.Setenv("MCPCTL_JSON", "1")
	if o := run("get", "x"); !strings.HasPrefix(o.errOut, `{"error":`) {
		t.Errorf("MCPCTL_JSON: %+v", o)
	}
}

func TestCompletion(t *testing.T) {
	home(t, map[string]string{"servers.json": servers})
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"__completeNoDesc", "get", ""}, "fs\ngh\nkube\n:4\n"},
		{[]string{"__completeNoDesc", "get", "fs", ""}, ":4\n"},
		{[]string{"__completeNoDesc", "remove", "fs", ""}, "gh\nkube\n:4\n"},
		{[]string{"__completeNoDesc", "list", "--color", ""}, "auto\nalways\nnever\n:4\n"},
	} {
		run(tt.words...).want(t, 0, tt.want)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"mcpServers": {"o": {"command": "x"}}}`), 0o600))
	run("__completeNoDesc", "--config", other, "get", "").want(t, 0, "o\n:4\n")
}
