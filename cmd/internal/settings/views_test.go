package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestViewsRefused: testdata/views.txt has what is said of each wrong section.
func TestViewsRefused(t *testing.T) {
	var got strings.Builder
	refused := func(text string) {
		fmt.Fprintf(&got, "%s\n%s\n", strings.TrimSuffix(strings.TrimPrefix(text, "serve:\n"), "\n"), shown(t, text))
	}
	for _, text := range []string{
		"views: on", "views: [coding]", "views: {1: {}, '1': {}}", "views: {<<: {}}", "views: {a/b: {}}", "views: {v: [a]}", "views: {v: {tool: [a]}}", "views: {v: {tools: a}}", "views: {v: {tools: }}", "views: {v: {tools: [a, '']}}",
		"views: {v: {tools: ['!']}}", "views: {v: {tools: ['gh__* fs__*']}}", "views: {v: {only: write}}", "views: {v: {list: none}}", "views: {v: {budget: 10k}}", "views: {v: {budget: -1}}", "views: {v: {expose: 99}}",
		"views: {v: {pin: ['gh__*']}}", "views: {v: {pin: [a], tools: [b]}}", "views: {v: {describe: '{tool}'}}", "views: {v: {results: {max: 1}}}", "views: {v: {results: {}}}",
		"views: {v: {groups: [eng]}, w: {groups: [eng]}}", "view: coding", "views: {v: {}}\n  view: w", "view: [v]",
		"views: {v: {override: [a]}}", "views: {v: {override: {gh__t: x}}}", "views: {v: {override: {gh__t: {nam: x}}}}", "views: {v: {override: {gh__t: {name: a.b}}}}", "views: {v: {override: {gh__t: {name: " + strings.Repeat("x", 45) + "}}}}",
		"views: {v: {override: {'gh__*': {name: x}}}}", "views: {v: {override: {a: {name: x}, b: {name: X}}}}", "views: {v: {override: {gh__t: {title: a, title: b}}}}",
		"views: {v: {override: {t: {arguments: [a]}}}}", "views: {v: {override: {t: {arguments: {a: 1}}}}}", "views: {v: {override: {t: {arguments: {a: {}}}}}}", "views: {v: {override: {t: {arguments: {a: {values: 1}}}}}}",
		"views: {v: {override: {t: {arguments: {a: {value: 1, hide: true}}}}}}", "views: {v: {override: {t: {arguments: {a: {hide: maybe}}}}}}", "views: {v: {override: {t: {arguments: {a: {value: .inf}}}}}}",
		"views: {v: {override: {t: {arguments: {a: {value: {b: 1, b: 2}}}}}}}", "views: {v: {override: {t: {arguments: {a: {default: !!binary aGk=}}}}}}", "views: {v: {override: {t: {arguments: {a: {value: &x [*x]}}}}}}",
		"views:\n    v:\n      override:\n        gh__t:\n          title: T\n          arguments:\n            a: {hide: true, description: D}",
	} {
		refused("serve:\n  " + text + "\n")
	}
	refused("views: {}\n")
	refused("serve: {profiles: {}}\n")
	const golden = "testdata/views.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got.String()); diff != "" {
		t.Errorf("%s is not current (-update): %s", golden, diff)
	}
}

// TestViews: a whole section is read as it is written, values of arguments byte by byte.
func TestViews(t *testing.T) {
	const section = `serve:
  nameOverhead: 4
  views:
    writing: {clients: [writer], tools: []}
    coding:
      tools: ["github__*", "!*__delete_*"]
      prompts: ["github__*"]
      clients: ["claude-code", "Visual Studio Code", "w*"]
      groups: [eng]
      only: read
      list: auto
      budget: 10000
      pin: ["github__search_issues"]
      expose: 3
      instructions: "Work in acme/web only."
      describe: "[{server}] {description}"
      results: {maxTokens: 4000}
      override:
        github__create_issue:
          name: ` + "file_bug_with_a_name_of_more_than_44_characters" + `
          title: File a bug
          description: "Files a bug in acme/web."
          arguments:
            owner:  {value: acme}
            date:   {value: 2026-11-23}
            empty:  {value: ""}
            none:   {value: null}
            number: {value: 9007199254740993}
            hex:    {value: 0x1F}
            float:  {value: 1.0}
            "yes":  {default: yes}
            flag:   {default: true}
            object: {value: {a: [1, "<é>"], "b": {}}}
            labels: {default: ["triage"]}
            type:   {hide: true}
            body:   {description: "Steps, expectation, what happened."}
          result: {fields: ["number", "html_url"]}
    everything:
  view: coding
`
	s, err := run{file: section}.load(t)
	require.NoError(t, err)
	set := s.Serve.Views
	v := set.View("coding")
	if v == nil || s.Serve.View != "coding" || set.Fallback() != "coding" || fmt.Sprint(set.Names()) != "[coding everything writing]" {
		t.Fatalf("got %v", set.Names())
	}
	if got, want := fmt.Sprintln(v.Pins(), v.Form(), v.Budget(), v.Expose(), v.Instructions(), v.Tool("x").Result().MaxTokens, v.Tool("github__create_issue").Result().MaxTokens), "[github__search_issues] auto 10000 3 Work in acme/web only. 4000 0\n"; got != want {
		t.Errorf("got %s", got)
	}
	for name, want := range map[string]bool{"github__a": true, "github__delete_a": false, "fs__a": false} {
		if v.Shows(views.Tool, name, true) != want || v.Shows(views.Tool, name, false) {
			t.Errorf("%s: want %v", name, want)
		}
	}
	if !set.View("everything").Shows(views.Tool, "a", false) || set.View("writing").Shows(views.Tool, "a", false) {
		t.Error("an empty list is everything, or none is nothing")
	}
	if c, _ := set.Choose("", nil, "writer"); c.View != "writing" { // the first in the file
		t.Errorf("got %+v", c)
	}
	got, err := v.Tool("github__create_issue").Rewrite([]byte(`{"body":"b"}`))
	want := `{"body":"b","date":"2026-11-23","empty":"","flag":true,"float":1.0,"hex":31,"labels":["triage"],"none":null,"number":9007199254740993,"object":{"a":[1,"<é>"],"b":{}},"owner":"acme","yes":"yes"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	// The same is read again from the file.
	path := filepath.Join(t.TempDir(), settings.FileName)
	if again, err := settings.Views(path); again != nil || err != nil {
		t.Errorf("got %v, %v without a file", again, err)
	}
	require.NoError(t, os.WriteFile(path, []byte(section), 0o600))
	if again, err := settings.Views(path); err != nil || fmt.Sprint(again.Names()) != fmt.Sprint(set.Names()) {
		t.Errorf("got %v, %v", again.Names(), err)
	}
	p := settings.ViewProblem(path, &views.Problem{View: "coding", Path: []string{"override", "github__create_issue", "arguments", "type"}, Text: "t.", Remedy: "r"})
	if p.Line != 35 || p.Message != "serve.views.coding.override.github__create_issue.arguments.type: t." || p.Hint() != "r" {
		t.Errorf("got %+v", p)
	}
}

// TestWithoutViews: files that differ in views alone are the same without them.
func TestWithoutViews(t *testing.T) {
	const timeout = "timeout: 3s\n"
	for text, want := range map[string]string{
		timeout + "serve:\n  view: a\n  views: {a: {}}\n":                        timeout,
		timeout + "serve: {views: {a: {tools: [b]}}, separator: --}\n":           timeout + "serve: {separator: --}\n",
		"serve: {view: a, views: {a: {}}}\naccess: {rules: [{allow: x, to: y}]}": "access: {rules: [{allow: x, to: y}]}\n",
		"serve: {views: {}}\n": "",
		"serve: on\n":          "serve: on\n",
		"views: a\n":           "views: a\n",
		"{":                    "{",
	} {
		if got := string(settings.WithoutViews([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
