package clitool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

func toolNames(tr *Transport) string {
	var names []string
	for _, x := range tr.tools {
		names = append(names, x.name)
	}
	return strings.Join(names, " ")
}

// TestExposure: what rules expose, and that of a tool without rules what reads.
func TestExposure(t *testing.T) {
	t.Parallel()
	o := kitOptions(t, Exposure{})
	for _, tt := range []struct {
		only, deny string
		want       string
	}{
		{"", "", "config_view get"},
		{"*", "", "act apply config_set config_view delete get store store_drop"},
		{"*", "delete|config|store", "act apply get"},
		{"config", "", "config_set config_view"},
		{"cfg", "", "config_set config_view"},
		{"config|get", "config set", "config_view get"},
		{"*", "rm|store wipe|cfg set|g", "act apply config_view store"},
		{"get pods", "", "get_pods"},
		{"get pods|get nodes|delete", "", "delete get_pods get_nodes"},
		{"get", "get", ""},
	} {
		o.Exposure = Exposure{Deny: split(tt.deny), Only: split(tt.only)}
		tr := open(t, o)
		if got := toolNames(tr); got != tt.want {
			t.Errorf("only %q, deny %q: got %q, want %q", tt.only, tt.deny, got, tt.want)
		}
	}
	for _, tt := range []struct{ only, deny, want, hint string }{
		{"gett", "", `cliOnly "gett": there is no such command`, "get"},
		{"", "delet", `cliDeny "delet": there is no such command`, "delete"},
		{"", "get secrets", `cliDeny "get secrets": secrets is not a subcommand`, "cliOnly"},
		{"apply --servr-side", "", `cliOnly "apply --servr-side": there is no flag --servr-side`, "--server-side"},
		{"", "--forse", "there is no flag --forse", "--force"},
		{" ", "", `cliOnly " ": it is empty`, "remove"},
	} {
		o.Exposure = Exposure{Deny: split(tt.deny), Only: split(tt.only)}
		_, err := Open(t.Context(), o)
		wrong, ok := errors.AsType[*RuleError](err)
		if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(wrong.Hint(), tt.hint) || wrong.ExitKind() != "config" {
			t.Errorf("only %q, deny %q: got %v", tt.only, tt.deny, err)
		}
	}
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "|")
}

// TestArgv: the words of calls, and what is refused.
func TestArgv(t *testing.T) {
	t.Parallel()
	o := kitOptions(t, Exposure{})
	for _, tt := range []struct {
		only, deny string
		free       bool
		tool, args string
		want       string // words, or an error after "!"
	}{
		{"*", "", false, "get", `{"name":["a","b"],"output":"json","all":true,"limit":5}`, "get --all --limit=5 --output=json a b"},
		{"*", "", false, "get", `{"name":["a"],"output":"--all"}`, "get --output=--all a"},
		{"*", "", false, "get", `{"name":["a"],"output":""}`, "get --output= a"},
		{"*", "", false, "get", `{"name":["--all"]}`, "get -- --all"},
		{"*", "", false, "get", `{"name":["-"]}`, "get -"},
		{"*", "", false, "get", `{"name":["a"],"cache":false,"all":false}`, "get --cache=false a"},
		{"*", "", false, "get", `{"name":["a"],"label":["x","--y"]}`, "get --label=x --label=--y a"},
		{"*", "", false, "get", `{"name":["a"],"limit":1.0}`, "get --limit=1 a"},
		{"*", "", false, "get", `{"name":["a"],"limit":-1}`, "get --limit=-1 a"},
		{"*", "", false, "get", `{"name":["a"],"limit":"1"}`, "!limit: want a number"},
		{"*", "", false, "get", `{"name":["a"],"limit":1.5}`, "!limit: want a whole number"},
		{"*", "", false, "get", `{"name":["a"],"output":1}`, "!output: want a text"},
		{"*", "", false, "get", `{"name":["a"],"all":"yes"}`, "!all: want true or false"},
		{"*", "", false, "get", `{"name":"a"}`, "!name: want a list"},
		{"*", "", false, "get", `{"name":["a\u0000b"]}`, "!name: it contains a NUL character"},
		{"*", "", false, "get", `{}`, "!name is missing"},
		{"*", "", false, "get", `{"name":["a"],"args":["--all"]}`, "!args is not an argument of get"},
		{"*", "", false, "get", `{"name":["a"],"help":true}`, "!help is not an argument of get"},
		{"*", "", false, "get", `[]`, "!the arguments are no JSON object"},
		{"*", "", false, "store", `{"place":"drop"}`, "!place: the value \"drop\" could be taken for the command drop"},
		{"*", "", false, "store", `{"place":"WIP"}`, "!place: the value \"WIP\" could be taken for the command wipe"},
		{"*", "", false, "store", `{"place":"shelf"}`, "store shelf"},
		{"get pods", "", false, "get_pods", `{"name":["x"]}`, "get pods x"},
		{"get pods", "", false, "get_pods", `{"name":["-x"]}`, "get -- pods -x"},
		{"apply --field", "", false, "apply", `{"file":"f","field":"x"}`, "apply --field=x f"},
		{"apply --field", "", false, "apply", `{"file":"f","force":true}`, "!force is not an argument of apply"},
		{"apply", "apply -f", false, "apply", `{"file":"f","force":true}`, "!force is not an argument of apply"},
		{"apply", "--force", false, "apply", `{"file":"f","server-side":true}`, "apply --server-side f"},
		// The caller's own words.
		{"apply", "", true, "apply", `{"file":"f","args":["--any","-x"]}`, "apply f --any -x"},
		{"apply", "", true, "apply", `{"file":"-f","args":["x"]}`, "!the value \"-f\" begins with a dash: args cannot be used with it"},
		{"apply", "--force", true, "apply", `{"file":"f","args":["--server-side","--field=--force","x"]}`, "apply f --server-side --field=--force x"},
		{"apply", "--force", true, "apply", `{"file":"f","args":["--force"]}`, `!args: "--force" is none of the flags that are exposed`},
		{"apply", "--force", true, "apply", `{"file":"f","args":["--force=true"]}`, `!args: "--force=true" is none`},
		{"apply", "--force", true, "apply", `{"file":"f","args":["--for"]}`, `!args: "--for" is none`},
		{"apply", "--force", true, "apply", `{"file":"f","args":["-f"]}`, `!args: "-f" is none`},
		{"apply", "--force", true, "apply", `{"file":"f","args":["-xf"]}`, `!args: "-xf" is none`},
		{"apply", "--force", true, "apply", `{"file":"f","args":["-force"]}`, `!args: "-force" is none`},
		{"apply", "--force", true, "apply", `{"file":"f","args":["@words"]}`, `!args: "@words" is none`},
		{"apply --field", "", true, "apply", `{"file":"f","args":["--force"]}`, `!args: "--force" is none`},
		{"*", "--hidden", true, "apply", `{"file":"f","args":["--hidden"]}`, `!args: "--hidden" is none`},
		{"*", "", true, "store", `{"args":["wipe"]}`, `!args: the value "wipe" could be taken for the command wipe`},
		{"", "", true, "get", `{"name":["a"],"args":["--output-file=x"]}`, `!args: "--output-file=x" is none`},
	} {
		o.Exposure = Exposure{Only: split(tt.only), Deny: split(tt.deny), FreeArgs: tt.free}
		tr := open(t, o)
		i := slices.IndexFunc(tr.tools, func(x *tool) bool { return x.name == tt.tool })
		if i < 0 {
			t.Errorf("%q: there is no tool %s but %s", tt.only, tt.tool, toolNames(tr))
			continue
		}
		words, err := tr.tools[i].argv(json.RawMessage(tt.args))
		got := strings.Join(words, " ")
		if err != nil {
			got = "!" + err.Error()
		}
		if got != tt.want && !(strings.HasPrefix(tt.want, "!args: ") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s %s: got %s, want %s", tt.tool, tt.args, got, tt.want)
		}
	}
}

// TestOddFlags: values of flags that take none in the same word.
func TestOddFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		flag  clihelp.Flag
		value any
		want  string
	}{
		{clihelp.Flag{Short: "-n", Value: "N", Kind: clihelp.Integer}, json.Number("3"), "-n 3"},
		{clihelp.Flag{Short: "-n", Value: "N", Kind: clihelp.Integer}, json.Number("-3"), "!"},
		{clihelp.Flag{Short: "-o", Value: "FILE", Kind: clihelp.String}, "--all", "!"},
		{clihelp.Flag{Short: "-o", Value: "FILE", Kind: clihelp.String}, "-", "-o -"},
		{clihelp.Flag{Long: "-out", Value: "FILE", Kind: clihelp.String}, "x", "-out x"},
		{clihelp.Flag{Long: "-out", Value: "FILE", Kind: clihelp.String}, "-x", "!"},
		{clihelp.Flag{Short: "-i", Value: "SUFFIX", Kind: clihelp.String, Optional: true}, ".bak", "-i.bak"},
		{clihelp.Flag{Short: "-i", Value: "SUFFIX", Kind: clihelp.String, Optional: true}, "", "!"},
		{clihelp.Flag{Short: "-i", Value: "SUFFIX", Kind: clihelp.String, Optional: true}, true, "-i"},
		{clihelp.Flag{Long: "--color", Value: "WHEN", Kind: clihelp.String, Optional: true}, true, "--color"},
		{clihelp.Flag{Long: "--color", Value: "WHEN", Kind: clihelp.String, Optional: true}, false, ""},
		{clihelp.Flag{Long: "--color", Value: "WHEN", Kind: clihelp.String, Enum: []string{"a", "b"}}, "c", "!"},
		{clihelp.Flag{Long: "--color", Negated: "--no-color", Kind: clihelp.Bool}, false, "--no-color"},
		{clihelp.Flag{Short: "-v", Kind: clihelp.Bool, Repeated: true}, json.Number("2"), "-v -v"},
		{clihelp.Flag{Short: "-v", Kind: clihelp.Bool, Repeated: true}, json.Number("10"), "!"},
	} {
		words, err := flagWords(&tt.flag, tt.value)
		got := strings.Join(words, " ")
		if err != nil {
			got = "!"
		}
		if got != tt.want {
			t.Errorf("%+v with %v: got %q (%v), want %q", tt.flag, tt.value, got, err, tt.want)
		}
	}
}

// TestGuardless: where nothing says that -- ends the flags, a value with a dash is
// refused.
func TestGuardless(t *testing.T) {
	t.Parallel()
	x := &tool{name: "x", selected: selected{Command: &clihelp.Command{}}, params: []param{{name: "a", arg: &clihelp.Arg{Name: "A"}}}}
	if words, err := x.argv(json.RawMessage(`{"a":"-v"}`)); err == nil || !strings.Contains(err.Error(), "begins with a dash") {
		t.Errorf("got %q, %v", words, err)
	}
}

// TestSingle: a tool without subcommands is one tool, which is not called with its own
// name.
func TestSingle(t *testing.T) {
	t.Parallel()
	root := clihelp.Command{Args: []clihelp.Arg{{Name: "PATTERN", Required: true}}, Flags: []clihelp.Flag{{Short: "-c", Long: "--count", Kind: clihelp.Bool}}}
	commands, err := selectCommands("grep", &root, Exposure{})
	require.NoError(t, err)
	b := &builder{program: &Program{Command: "/usr/bin/grep"}, found: &Found{Root: root}}
	tools, err := b.tools(commands)
	require.NoError(t, err)
	if len(tools) != 1 || tools[0].name != "grep" {
		t.Fatalf("got %v", tools)
	}
	words, err := tools[0].argv(json.RawMessage(`{"pattern":"x","count":true}`))
	require.NoError(t, err)
	if got := strings.Join(words, " "); got != "--count x" {
		t.Errorf("got %q", got)
	}
	if commands, err = selectCommands("mkfs", &root, Exposure{}); err != nil || len(commands) != 0 {
		t.Errorf("a tool that may write is exposed: %v, %v", commands, err)
	}
}

// TestListed: an entry of tools/list, as found and as the entry changes it.
func TestListed(t *testing.T) {
	t.Parallel()
	o := kitOptions(t, Exposure{Only: []string{"get", "delete", "apply"}})
	o.Tools = []config.ToolOverride{
		{Command: "apply", Name: "put", Description: "Puts a file.", Annotations: json.RawMessage(`{"idempotentHint":true}`)},
		{Command: "hidden thing", Name: "thing", InputSchema: json.RawMessage(`{"type":"object","properties":{"dry_run":{"type":"boolean"},"n":{"type":"integer"}}}`)},
	}
	tr := open(t, o)
	raw, err := tr.Call(t.Context(), &runtime.Request{Method: "tools/list"})
	require.NoError(t, err)
	var list struct{ Tools []json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &list))
	want := []string{
		`{"name":"put","description":"Puts a file.","inputSchema":{"type":"object","properties":{"file":{"type":"string"},"field":{"type":"string","description":"one field"},` +
			`"force":{"type":"boolean","description":"whatever stands against it"},"server-side":{"type":"boolean","description":"over there"},"trace":{"type":"boolean","description":"say more"}},` +
			`"required":["file"],"additionalProperties":false},"annotations":{"idempotentHint":true},"_meta":{"dev.mcpctl/command":["kit","apply"]}}`,
		`{"name":"delete","description":"Delete a thing","inputSchema":{"type":"object","properties":{"name":{"type":"string"},"trace":{"type":"boolean","description":"say more"}},` +
			`"required":["name"],"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":true},"_meta":{"dev.mcpctl/guessed":true,"dev.mcpctl/command":["kit","delete"]}}`,
	}
	for i, w := range want {
		if diff := cmp.Diff(w, string(list.Tools[i])); diff != "" {
			t.Errorf("tool %d (-want +got):\n%s", i, diff)
		}
	}
	if got := toolNames(tr); got != "put delete get thing" {
		t.Errorf("got the tools %s", got)
	}
	words, err := tr.tools[3].argv(json.RawMessage(`{"dry_run":true,"n":3}`))
	require.NoError(t, err)
	if got := fmt.Sprint(words); got != "[hidden thing --dry-run --n=3]" {
		t.Errorf("got %s", got)
	}
}
