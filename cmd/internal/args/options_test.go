package args_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
)

const optionsTool = `{"type":"object","properties":{
	"path":{"type":"string"},"oldText":{"type":"string"},"dry_run":{"type":"boolean"},"maybe":{"type":["boolean","null"]},
	"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"o":{"type":"object"},
	"same_name":{"type":"string"},"sameName":{"type":"string"},"--odd":{"type":"string"}}}`

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		words   []string
		literal int
		want    string
	}{
		{[]string{"--path", "x"}, 0, `{"path":"x"}`},
		{[]string{"--path=x=y"}, 0, `{"path":"x=y"}`},
		{[]string{"--path", "-x"}, 0, `{"path":"-x"}`},
		{[]string{"--n", "-5"}, 0, `{"n":-5}`},
		{[]string{"--old-text", "a", "--dry-run"}, 0, `{"oldText":"a","dry_run":true}`},
		{[]string{"--oldtext", "a", "--dryRun", "false", "path=p"}, 0, `{"oldText":"a","dry_run":false,"path":"p"}`},
		{[]string{"--maybe", "--dry_run=false"}, 0, `{"maybe":true,"dry_run":false}`},
		{[]string{"--tags", "a", "--tags", "b"}, 0, `{"tags":["a","b"]}`},
		{[]string{"--o:", `{"x":1}`}, 0, `{"o":{"x":1}}`},
		{[]string{"--o:=[1]"}, 0, ""},
		{[]string{"--sameName", "x"}, 0, `{"sameName":"x"}`},
		{[]string{"--same-name", "x"}, 0, ""},
		{[]string{"--odd", "x"}, 0, `{"--odd":"x"}`}, // but for the dashes it is the name
		{[]string{"--odd=x"}, 0, `{"--odd":"x"}`},
		{[]string{"--path=y", "--path=z"}, 1, ""},
		{[]string{"--path=y", "--odd=z"}, 9, ""},
		{[]string{`{"path":"a"}`, "--n", "1"}, 0, `{"path":"a","n":1}`},
	} {
		src := source(t, tt.words...)
		src.Literal = tt.literal
		raw, err := args.Parse(toolSchema(t, optionsTool), src)
		if string(raw) != tt.want && (tt.want != "" || err == nil) {
			t.Errorf("%q: got %s, %v, want %s", tt.words, raw, err, tt.want)
		}
	}
}

// What is an argument and a flag of mcpctl, too, is not guessed.
func TestTakenOptions(t *testing.T) {
	src := source(t, `{"path":"x"}`)
	src.Taken = []string{"--dry-run"}
	if raw, err := args.Parse(toolSchema(t, optionsTool), src); string(raw) != `{"path":"x"}` {
		t.Errorf("beside one JSON object the flag can be meant alone: got %s, %v", raw, err)
	}
	src = source(t, "path=x")
	src.Taken = []string{"-q", "--json", "--dry-run"}
	_, err := args.Parse(toolSchema(t, optionsTool), src)
	e, ok := errors.AsType[*args.Error](err)
	if !ok || e.Error() != "--dry-run is a flag of mcpctl and an argument of the tool" ||
		e.Remedy != "the argument is written dry_run=VALUE; the flag goes before the tool's name" {
		t.Errorf("got %+v", e)
	}
}

func TestForms(t *testing.T) {
	for word, want := range map[string][]string{
		`echo()`:         {"echo"},
		`add(a: 1, b:2)`: {"add", "a=1", "b=2"},
		`f(s: "a, (b)", 't': 'x', o:{"k":[1,2]}, l: [1,"]"])`: {"f", "s=a, (b)", "t=x", `o:={"k":[1,2]}`, `l:=[1,"]"]`},
		`f(s="x\"y")`: {"f", `s=x"y`},
		`f(1, 2)`:     {"f", "NAME=VALUE"},
		"plain":       nil,
		"open(":       nil,
		"(x)":         nil,
	} {
		name, words, ok := args.CallForm(word)
		if got := append([]string{name}, words...); ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", word, got, ok, want)
		}
	}
	for word, want := range map[string]string{"path:x": "write path=x", "n: 5": "write n=5", `s:"a b"`: "write 's=a b'", `o:{"a":1}`: `write 'o:={"a":1}'`, "http://x": "", ":x": "", "a b:c": ""} {
		_, err := args.Parse(toolSchema(t, optionsTool), source(t, word))
		e, ok := errors.AsType[*args.Error](err)
		if !ok || e.Remedy != want {
			t.Errorf("%s: got %v, want %q", word, err, want)
		}
	}
}
