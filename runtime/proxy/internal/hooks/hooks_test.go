package hooks_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestTools: which tools a rule wants.
func TestTools(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		tools []string
		name  string
		want  bool
	}{
		{nil, "gh__get", true},
		{[]string{"*"}, "gh__get", true},
		{[]string{"gh__*"}, "gh__get", true},
		{[]string{"gh__*"}, "fs__get", false},
		{[]string{"!gh__get"}, "gh__get", false},
		{[]string{"!gh__get"}, "gh__put", true},
		{[]string{"!gh__get_*", "gh__*"}, "gh__get_x", false},
		{[]string{"gh__*", "!gh__get_*"}, "gh__put", true},
		{[]string{"fs__x", "gh__put"}, "gh__put", true},
	} {
		h, err := hooks.NewMatch(hooks.Rule{Name: "r", Tools: row.tools, In: hooks.InResult, Pattern: regexp.MustCompile("x"), Action: hooks.Block})
		require.NoError(t, err)
		if got := h.Wants(hooks.Target{Server: "s", Tool: "t", Exposed: row.name}) != 0; got != row.want {
			t.Errorf("%v, %s: got %t", row.tools, row.name, got)
		}
		if h.Wants(hooks.Target{Server: "s"}) != hooks.PhaseResponse {
			t.Errorf("%v: a task of an unknown tool is not looked at", row.tools)
		}
	}
}

// TestWrongRules are refused, and so are hooks without a name of their own.
func TestWrongRules(t *testing.T) {
	t.Parallel()
	x := regexp.MustCompile("x")
	for _, r := range []hooks.Rule{
		{},
		{In: hooks.InResult, Pattern: regexp.MustCompile("x*"), Action: hooks.Block},
		{In: "params", Pattern: x, Action: hooks.Block},
		{In: hooks.InResult, Pattern: x, Action: "drop"},
		{In: hooks.InCall, Pattern: x, Action: hooks.Redact},
		{In: hooks.InResult, Pattern: x, Action: hooks.Audit, Message: "no"},
	} {
		if _, err := hooks.NewMatch(r); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	h, err := hooks.NewMatch(hooks.Rule{In: hooks.InResult, Pattern: x, Action: hooks.Block})
	require.NoError(t, err)
	var reg hooks.Registry
	for _, all := range [][]hooks.Named{{{Name: "a"}}, {{Hook: h}}, {{Name: "a b", Hook: h}}, {{Name: "a", Hook: h}, {Name: "a", Hook: h}}} {
		if reg.Replace(all) == nil || reg.Now() != nil {
			t.Errorf("%v are taken", all)
		}
	}
	require.NoError(t, reg.Replace([]hooks.Named{{Name: "a", Hook: h}}))
	if reg.Now().Of("s", "t", "s__t", nil) == nil || (*hooks.Registry)(nil).Now().Of("s", "t", "s__t", nil) != nil {
		t.Error("the hooks are not those that count")
	}
}

// TestEmptyMatches: a pattern that can match nothing at some places finds characters alone.
func TestEmptyMatches(t *testing.T) {
	t.Parallel()
	h, err := hooks.NewMatch(hooks.Rule{Name: "r", In: hooks.InArguments, Pattern: regexp.MustCompile(`\b`), Action: hooks.Block})
	require.NoError(t, err)
	if err := h.Request(context.Background(), &hooks.Call{Params: []byte(`{"name":"x","arguments":{"a":"b"}}`)}); err != nil {
		t.Error(err)
	}
}

// TestCallAsOneText: a rule about a call sees the name of the tool and the arguments in one
// form, whatever spelling they have, and each string where they have none.
func TestCallAsOneText(t *testing.T) {
	t.Parallel()
	for pattern, rows := range map[string]map[string]bool{
		`^git__push .*"force":true`: {
			`{"branch":"main","force":true}`:     true,
			`{ "force" : true, "branch":"main"}`: true,
			`{"\u0066orce":true}`:                true,
			`{"force":false}`:                    false,
			`{"text":"\"force\":true"}`:          false,
			``:                                   false,
		},
		`^git__push `:  {``: true, `{}`: true},
		`rm -rf`:       {`{"a":"rm\u0020-rf","a":"x"}`: true, `{"a":{"b":["rm -rf /"]}}`: true, `{"a":"rm"}`: false},
		`^fs__push .*`: {`{}`: false},
	} {
		h, err := hooks.NewMatch(hooks.Rule{Name: "r", In: hooks.InCall, Pattern: regexp.MustCompile(pattern), Action: hooks.Block, Message: "ask first"})
		require.NoError(t, err)
		for arguments, refused := range rows {
			params := `{"name":"git__push","arguments":` + arguments + `}`
			if arguments == "" {
				params = `{"name":"git__push"}`
			}
			err := h.Request(context.Background(), &hooks.Call{Target: hooks.Target{Server: "git", Tool: "push", Exposed: "git__push"}, Params: []byte(params)})
			if got, ok := errors.AsType[*hooks.Refusal](err); ok != refused || ok && got.Reason != "ask first" {
				t.Errorf("%s on %s: %v", pattern, params, err)
			}
		}
	}
}
