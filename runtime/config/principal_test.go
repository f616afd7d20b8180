package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func TestExpandForPrincipal(t *testing.T) {
	t.Parallel()
	alice := &access.Principal{ID: "https://idp.example|8f3a", Name: "Alice", Tags: map[string][]string{
		"team": {"red"}, "teams": {"red", "blue"}, "same": {"x", "x"}, "none": {}, "empty": {""}, "line": {"a\nX-Admin: true"}, "tab": {"a\tb"}, "delete": {"a\x7f"}, "c1": {"a\u0085b"}, "bytes": {"a\xff"},
	}}
	for text, want := range map[string]string{
		"${principal.id}":                 "https://idp.example|8f3a",
		"a ${principal.name}/${A}":        "a Alice/a",
		"${principal.tag.team}":           "red",
		"${principal.tag.same}":           "x",
		"$${principal.id}":                "${principal.id}",
		"${NO:-${principal.id}}":          "https://idp.example|8f3a",
		"${A:-${principal.tag.no}}":       "a",
		"${principal}":                    "!not set",
		"${principal.tag.no}":             "!https://idp.example|8f3a has no tag no",
		"${principal.tag.none}":           "!has no tag none",
		"${principal.tag.teams}":          "!has 2 values of the tag teams: one is needed",
		"${principal.tag.empty}":          "!has none",
		"${principal.tag.line}":           "!control characters",
		"${principal.tag.tab}":            "!control characters",
		"${principal.tag.delete}":         "!control characters",
		"${principal.tag.c1}":             "!control characters",
		"${principal.tag.bytes}":          "!control characters",
		"x${principal.tag.no}${NO}":       "!not set",
		"${principal.id":                  "${principal.id",
		"${principal.tag.team} ${NO:-${}": "red ${NO:-${}",
	} {
		e := config.Entry{Name: "s", Command: "c", Env: map[string]string{"E": text}}
		x, err := e.ExpandFor(alice, lookup)
		if reason, ok := strings.CutPrefix(want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: got %v, want %q", text, err, reason)
			}
			continue
		}
		if got := x.Env["E"].Reveal(); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestNobodyAsks: a placeholder of a principal says what is missing where nobody is asked,
// and what of it is wrong.
func TestNobodyAsks(t *testing.T) {
	t.Parallel()
	e := config.Entry{Name: "s", URL: "http://x", Headers: map[string]string{"X-User": "${principal.name}"}}
	_, err := e.Expand(lookup)
	denied, ok := errors.AsType[*config.PrincipalError](err)
	if !ok || denied.ExitKind() != "config" || denied.Error() != `server "s": headers.X-User needs ${principal.name}, and nobody is asked who they are` ||
		!strings.Contains(denied.Hint(), "serve.auth") {
		t.Errorf("got %v, %+v", err, denied)
	}
	_, err = e.ExpandFor(&access.Principal{ID: "token|ci"}, lookup)
	if denied, ok := errors.AsType[*config.PrincipalError](err); !ok || !strings.HasSuffix(denied.Error(), "and token|ci has none") {
		t.Errorf("got %v", err)
	}
	e.Headers["X-User"] = "${principal.tag.team}"
	_, err = e.ExpandFor(&access.Principal{ID: "token|ci"}, lookup)
	if denied, ok := errors.AsType[*config.PrincipalError](err); !ok || !strings.HasSuffix(denied.Hint(), "tags: [team]") {
		t.Errorf("got %v", err)
	}
	// A field that may not have one says so also where the file was not read.
	_, err = config.Entry{Name: "s", Command: "c", Args: []string{"${principal.id}"}}.ExpandFor(&access.Principal{ID: "token|ci"}, lookup)
	if err == nil || !strings.Contains(err.Error(), "may stand in env and headers only") {
		t.Errorf("got %v", err)
	}
}

func TestPrincipalEntries(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]struct {
		fault string
		each  bool
	}{
		`{"command":"a"}`: {"", false},
		`{"command":"a","env":{"U":"${principal.id}"}}`:                      {"", true},
		`{"command":"a","env":{"U":"${A:-${principal.id}}"}}`:                {"", true},
		`{"command":"a","env":{"U":"$${principal.id}"}}`:                     {"", false},
		`{"url":"http://x","headers":{"U":"${principal.tag.team}"}}`:         {"", true},
		`{"url":"http://x","auth":{"as":"principal"}}`:                       {"", true},
		`{"url":"http://x","auth":{"as":"gateway"}}`:                         {"", false},
		`{"url":"http://x","auth":{"clientId":"${principal.id}"}}`:           {"may stand in env and headers only", false},
		`{"command":"a","args":["${principal.id}"]}`:                         {"args[0]: ${principal.id} may stand in env and headers only", false},
		`{"command":"${principal.id}"}`:                                      {"may stand in env and headers only", false},
		`{"url":"http://x/${principal.id}"}`:                                 {"may stand in env and headers only", false},
		`{"command":"a","env":{"U":"${principal.group}"}}`:                   {"env.U: ${principal.group} is not known", true},
		`{"command":"a","env":{"U":"${principal.tag.}"}}`:                    {"is not known", true},
		`{"command":"a","env":{"U":"${principal.id}"},"isolation":"shared"}`: {`isolation "shared" contradicts`, true},
		`{"command":"a","env":{"U":"${principal.id}"},"isolation":"auto"}`:   {"", true},
		`{"url":"http://x","auth":{"as":"principal","grant":"jwt_bearer","clientId":"a","clientKey":"k.pem","subject":"${principal.tag.email}"}}`: {"", true},
	} {
		e, _ := parse(t, `{"mcpServers":{"s":`+entry+`}}`).Entry("s")
		if err := e.Err(); (err == nil) != (want.fault == "") || err != nil && !strings.Contains(err.Error(), want.fault) {
			t.Errorf("%s: got %v, want %q", entry, err, want.fault)
		}
		if e.PerPrincipal() != want.each {
			t.Errorf("%s: per principal %v", entry, e.PerPrincipal())
		}
	}
	names, required := config.Variables("${principal.id} ${A}")
	if !required || len(names) != 1 || names[0] != "A" {
		t.Errorf("got %v, %v", names, required)
	}
}
