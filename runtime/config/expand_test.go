package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

func lookup(name string) (string, bool) {
	v, ok := map[string]string{"A": "a", "EMPTY": "", "REF": "${A}", "_x9": "x", "DOLLAR": "$$"}[name]
	return v, ok
}

func TestExpand(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"${A}", "a"},
		{"$<A>", "a"},
		{"x${A}y${A}z", "xayaz"},
		{"${_x9}", "x"},
		{"${EMPTY}", ""},
		{"${EMPTY:-d}", "d"},
		{"${EMPTY-d}", ""},
		{"${NO:-d}", "d"},
		{"${NO-d}", "d"},
		{"${NO:-}", ""},
		{"${NO-}", ""},
		{"${A:-d}", "a"},
		{"${NO:-${A}}", "a"},
		{"${NO:-x${NO2-y${A}}z}!", "xyaz!"},
		{"${NO:-$$}", "$"},
		{"${A:-${NO}}", "a"}, // a default that is not used needs nothing
		{"${NO:-{x}", "{x"},
		{"$$", "$"},
		{"$$$$", "$$"},
		{"$${A}", "${A}"},
		{"$$${A}", "$a"},
		{"${REF}", "${A}"},
		{"${DOLLAR}", "$$"},
		{"$A $5 $", "$A $5 $"},
		{"${", "${"},
		{"${A", "${A"},
		{"${A:-", "${A:-"},
		{"${A:-${A}", "${A:-a"},
		{"${}", "${}"},
		{"${9}", "${9}"},
		{"${A B}", "${A B}"},
		{"${A:x}", "${A:x}"},
		{"${A?x}", "${A?x}"},
		{"${env:A}", "${env:A}"},
		{"$<A", "$<A"},
		{"$<A:-x>", "$<A:-x>"},
		{"é${A}漢", "éa漢"},
	} {
		e, err := config.Entry{Name: "s", Command: tt.in}.Expand(lookup)
		if err != nil || e.Command != tt.want {
			t.Errorf("Expand(%q) = %q, %v, want %q", tt.in, e.Command, err, tt.want)
		}
	}
}

func TestExpandFields(t *testing.T) {
	e := config.Entry{
		Name: "s", Command: "${A}", Args: []string{"${A}", "x"}, Env: map[string]string{"${A}": "${A}"}, Cwd: "/${A}",
		CLIOnly: []string{"${A}"}, Raw: []byte(`{"command":"${A}"}`),
	}
	got, err := e.Expand(lookup)
	require.NoError(t, err)
	if got.Command != "a" || got.Args[0].Reveal() != "a" || got.Args[1].Reveal() != "x" || got.Env["${A}"].Reveal() != "a" || got.Cwd != "/a" {
		t.Errorf("got %q, %q, %q, %q", got.Command, got.Args[0].Reveal(), config.Revealed(got.Env), got.Cwd)
	}
	if diff := cmp.Diff(e, got.Entry); diff != "" {
		t.Errorf("the entry as written (-want +got):\n%s", diff)
	}

	remote, err := config.Entry{URL: "${U}/mcp", Headers: map[string]string{"X": "${A}"}}.Expand(func(n string) (string, bool) {
		return map[string]string{"U": "http://127.0.0.1", "A": "a"}[n], true
	})
	if err != nil || remote.URL.Reveal() != "http://127.0.0.1/mcp" || remote.Headers["X"].Reveal() != "a" {
		t.Errorf("got %+v, %v", remote, err)
	}
}

func TestExpandMissing(t *testing.T) {
	e := config.Entry{Name: "gh", Command: "c", Args: []string{"", "${X}"}, Env: map[string]string{"B": "${Y:-${Z}}", "A": "${X}"}}
	_, err := e.Expand(lookup)
	var ve *config.VariableError
	if !errors.As(err, &ve) {
		t.Fatalf("got %v, want a VariableError", err)
	}
	want := []config.MissingVariable{{Field: "args[1]", Variable: "X"}, {Field: "env.A", Variable: "X"}, {Field: "env.B", Variable: "Z"}}
	if diff := cmp.Diff(want, ve.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	for _, word := range []string{"gh", "args[1]", "env.B", "X", "Z"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not name %s", err, word)
		}
	}
	if ve.ExitKind() != "config" || !strings.Contains(ve.Hint(), "X=") || strings.Count(ve.Hint(), "X=") != 1 {
		t.Errorf("kind %q, hint %q", ve.ExitKind(), ve.Hint())
	}

	e.MissingEnv = config.MissingEmpty
	if got, err := e.Expand(lookup); err != nil || got.Args[1].Reveal() != "" || got.Env["B"].Reveal() != "" {
		t.Errorf("empty: %+v, %v", got, err)
	}
	e.MissingEnv = config.MissingLiteral
	if got, err := e.Expand(lookup); err != nil || got.Args[1].Reveal() != "${X}" || got.Env["B"].Reveal() != "${Z}" {
		t.Errorf("literal: %+v, %v", got, err)
	}
}

func TestExpandRefuses(t *testing.T) {
	const secret = "s3cret"
	for _, tt := range []struct {
		entry config.Entry
		value string
	}{
		{config.Entry{URL: "${V}"}, "ftp://" + secret},
		{config.Entry{URL: "${V}"}, "http://"},
		{config.Entry{URL: "${V}"}, "http://" + secret + "\x7f"},
		{config.Entry{URL: "http://x", Headers: map[string]string{"A": "${V}"}}, secret + "\n"},
		{config.Entry{URL: "http://x", Headers: map[string]string{"A": "${V}"}}, secret + "\r\nB: c"},
	} {
		_, err := tt.entry.Expand(func(string) (string, bool) { return tt.value, true })
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v with %q: got %v, want an error without the value", tt.entry, tt.value, err)
		}
	}
}

func TestVariables(t *testing.T) {
	names, required := config.Variables("${A} ${B:-${C}} $<A> $${D}")
	if diff := cmp.Diff([]string{"A", "B", "C"}, names); diff != "" || !required {
		t.Errorf("required %v, names (-want +got):\n%s", required, diff)
	}
	if names, required := config.Variables("${B:-x}"); len(names) != 1 || required {
		t.Errorf("got %v, %v", names, required)
	}
}

// FuzzExpand: escaped text expands to itself, and expansion never fails but
// for missing variables.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "$", "$$", "${A}", "${A:-${B}}", "$<A>", "${A:-", "$${", "x$y", "${NO-${NO:-$}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1000 {
			return
		}
		never := func(name string) (string, bool) {
			t.Fatalf("escaped %q looks up %q", s, name)
			return "", false
		}
		e, err := config.Entry{Command: config.Escape(s)}.Expand(never)
		if err != nil || e.Command != s {
			t.Fatalf("Expand(Escape(%q)) = %q, %v", s, e.Command, err)
		}
		literal, err := config.Entry{Command: s, MissingEnv: config.MissingLiteral}.Expand(func(string) (string, bool) { return "", false })
		if err != nil || len(literal.Command) > len(s) {
			t.Fatalf("Expand(%q), literal: %q, %v", s, literal.Command, err)
		}
		if !strings.Contains(s, "$") && literal.Command != s {
			t.Fatalf("Expand(%q) = %q", s, literal.Command)
		}
	})
}
