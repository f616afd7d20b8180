package rules_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/rules"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the golden files")

// parse reads the text of a section.
func parse(text string) (*rules.Section, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("no document")
	}
	return rules.Parse("config.yaml", doc.Content[0])
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s is not current (-update writes it; -want +got):\n%s", path, diff)
	}
}

// forms are the forms of the section, each with what it shows.
var forms = []struct{ name, text string }{
	{"an empty section", "{}"},
	{"default: deny", "default: deny"},
	{"default: allow", "default: allow"},
	{"default: read-only", "default: read-only"},
	{"a group, a server and a pattern of tools", `{groups: {eng: [alice@example.com, "idp:engineers", "token|ci"]}, rules: [{allow: eng, to: [gh, "fs/read_*"]}]}`},
	{"everyone, and only what reads", `rules: [{allow: "*", to: docs, only: read-only}]`},
	{"a path", `rules: [{deny: "*", to: "fs/*", when: {args.path: {under: /etc}}, reason: system files}]`},
	{"a scope", `rules: [{allow: eng, to: gh/merge, scope: gh.write}]`},
	{"two scopes", `rules: [{allow: eng, to: gh/merge, scope: [gh.write, gh.read]}]`},
	{"a flow", `{labels: {outbound: ["mail/send*", "gh/create_*"]}, rules: [{ask: "*", to: outbound, after: [untrusted, private]}]}`},
	{"a question", `rules: [{ask: "*", to: mail/send, question: "Send {tool}?", reason: mail leaves the house}]`},
	{"a limit", `rules: [{limit: eng, to: "*", over: 60/m per principal}]`},
	{"a limit of two groups on two targets is one policy", `rules: [{limit: [eng, ops], to: [gh, "fs/read_*", mail/send], over: 1000/d}]`},
	{"a person by mail", `rules: [{allow: alice@example.com, to: gh}]`},
	{"a person by ID", `rules: [{allow: "https://idp.example|8f3a", to: gh}]`},
	{"a group of an issuer", `rules: [{allow: "idp:engineers", to: gh}]`},
	{"who is asked nothing", `rules: [{deny: local, to: gh/delete_repo}]`},
	{"everything for everyone", `rules: [{allow: "*", to: "*"}]`},
	{"two principals and two targets", `rules: [{allow: [eng, ops], to: [gh, mail]}]`},
	{"one named twice", `rules: [{allow: [eng, eng], to: [gh, gh]}]`},
	{"a prompt", `rules: [{allow: eng, to: "prompt:gh/review"}]`},
	{"a pattern of prompts", `rules: [{allow: eng, to: "prompt:gh/re*"}]`},
	{"a resource", `rules: [{allow: eng, to: "resource:fs/file:///data/a.txt"}]`},
	{"a pattern of resources", `rules: [{allow: eng, to: "resource:fs/file:///data/*"}]`},
	{"kinds that are written out", `{labels: {gh: [mail]}, rules: [{allow: eng, to: ["server:gh", "label:private", "tool:gh/x", gh]}]}`},
	{"patterns of one kind", `{labels: {a: ["tool:gh/x*", gh/y]}, rules: [{allow: eng, to: ["tool:gh/x*", "resource:fs/file:///**"]}]}`},
	{"a tool with a slash in its name", `rules: [{allow: eng, to: gh/repos/get}]`},
	{"a tool with quotes in its name", `rules: [{allow: eng, to: 'gh/a"b\c'}]`},
	{"an id", `rules: [{id: no-exfil, deny: "*", to: mail}]`},
	{"an id of several policies", `rules: [{id: crew, allow: [eng, ops], to: gh}]`},
	{"a shadow", `rules: [{deny: "*", to: mail, shadow: true}]`},
	{"shadow: false", `rules: [{deny: "*", to: mail, shadow: false}]`},
	{"only what reads, with an argument", `rules: [{allow: eng, to: fs, only: read-only, when: {args.path: {under: /data}}}]`},
	{"only what reads, forbidden", `rules: [{deny: eng, to: fs, only: read-only}]`},
	{"eq of each type", `rules: [{deny: "*", to: a/b, when: {args.s: {eq: text}, args.n: {eq: 5}, args.f: {eq: 0.5}, args.b: {eq: true}, args.t: {eq: 2027-01-31}}}]`},
	{"in", `rules: [{deny: "*", to: a/b, when: {args.s: {in: [open, "closed"]}, args.n: {in: [1, -2]}}}]`},
	{"comparisons", `rules: [{deny: "*", to: a/b, when: {args.n: {lt: 1, le: 2, gt: -3, ge: 4}, args.f: {lt: 1.0, le: 2.5, gt: -3.25, ge: 4.0001}}}]`},
	{"like", `rules: [{deny: "*", to: a/b, when: {args.s: {like: 'rm *\"'}}}]`},
	{"like one of several", `rules: [{deny: "*", to: a/b, when: {args.s: {like: ["a*", "*b"]}}}]`},
	{"under several, and the root", `rules: [{deny: "*", to: a/b, when: {args.p: {under: [/etc/, "/a*b", /]}}}]`},
	{"hosts", `rules: [{deny: "*", to: a/b, when: {args.url: {host: [example.com, "*.example.com", 127.0.0.1, "::1"]}}}]`},
	{"arguments inside of others, and with odd names", `rules: [{deny: "*", to: a/b, when: {args.a.b-c.in: {eq: x}, args.o.p: {under: /x}}}]`},
	{"arguments of what is asked after a flow", `rules: [{ask: eng, to: a/b, after: private, when: {args.n: {gt: 1}}}]`},
}

// TestForms: testdata/forms.txt has the Cedar of each form.
func TestForms(t *testing.T) {
	var got strings.Builder
	for _, f := range forms {
		s, err := parse(f.text)
		require.NoError(t, err)
		fmt.Fprintf(&got, "## %s\n%s\n\n", f.name, f.text)
		for _, r := range s.List(true) {
			fmt.Fprintf(&got, "// %s\n%s\n", r.Words, strings.Join(r.Cedar, "\n"))
		}
	}
	golden(t, "forms.txt", got.String())
}

// faults are sections that are wrong.
var faults = []string{
	"[]", "text", "5", "{rule: []}", "{default: open}", "{default: }", "{default: [deny]}", "{default: deny, default: allow}",
	"{groups: [a]}", "{groups: {a b: [x]}}", "{groups: {local: [x]}}", "{groups: {eng: {a: b}}}", "{groups: {eng: ['']}}", "{groups: {eng: ['*']}}", "{groups: {eng: ['*@example.com']}}",
	"{labels: [a]}", "{labels: {a/b: [x]}}", "{labels: {a: ['*']}}", "{labels: {a: ['*/x']}}", "{labels: {a: ['label:b']}}", "{labels: {fromAnnotations: maybe}}", "{labels: {a: [gh/]}}",
	"{tell: all}", "{forget: soon}", "{forget: -1h}", "{forget: 0s}", "{guards: on}", "{guards: {secret: redact}}", "{guards: {secrets: on}}", "{guards: {hidden: [label]}}", "{guards: {size: big}}", "{guards: {size: -1}}", "{guards: {size: 9999999999999MiB}}", "{guards: {canaries: [blue-heron-42]}}", "{guards: {secrets: label, canaries: [heron]}}", "{guards: {secrets: label, canaries: {a: b}}}", "{policies: {a: b}}", "{tests: [[a]]}",
	"{rules: {allow: eng}}", "{rules: [allow]}", "{rules: [{}]}", "{rules: [{allow: eng}]}", "{rules: [{to: gh}]}", "{rules: [{allow: eng, deny: ops, to: gh}]}",
	"{rules: [{alow: eng, to: gh}]}", "{rules: [{allow: eng, to: gh, allow: ops}]}", "{rules: [{allow: , to: gh}]}", "{rules: [{allow: [], to: gh}]}", "{rules: [{allow: ['*', eng], to: gh}]}",
	"{rules: [{allow: 'eng*', to: gh}]}", "{rules: [{allow: ' eng', to: gh}]}", "{rules: [{allow: eng, to: []}]}", "{rules: [{allow: eng, to: ['*', gh]}]}",
	"{rules: [{allow: eng, to: 'g*'}]}", "{rules: [{allow: eng, to: 'g*/x'}]}", "{rules: [{allow: eng, to: 'tools:gh/x'}]}", "{rules: [{allow: eng, to: 'server:gh/x'}]}", "{rules: [{allow: eng, to: 'prompt:gh'}]}", "{rules: [{allow: eng, to: gh/}]}", "{rules: [{allow: eng, to: {a: b}}]}",
	"{rules: [{allow: eng, to: gh, only: write}]}", "{rules: [{limit: eng, to: gh, only: read-only, over: 1/s}]}", "{rules: [{limit: eng, to: gh}]}", "{rules: [{allow: eng, to: gh, over: 1/s}]}",
	"{rules: [{deny: eng, to: gh, scope: a}]}", "{rules: [{allow: eng, to: gh, scope: 'a b'}]}", "{rules: [{allow: eng, to: gh, scope: []}]}", "{rules: [{deny: eng, to: gh, question: x}]}", "{rules: [{ask: eng, to: gh, question: ' '}]}",
	"{rules: [{deny: eng, to: gh, shadow: 1}]}", "{rules: [{deny: eng, to: gh, reason: [x]}]}", "{rules: [{deny: eng, to: gh, reason: }]}", "{rules: [{deny: eng, to: gh, id: a b}]}", "{rules: [{deny: eng, to: gh, id: default}]}",
	"{rules: [{deny: eng, to: gh, id: a}, {deny: ops, to: gh, id: a}]}", "{rules: [{deny: eng, to: gh, id: rule-2}, {deny: ops, to: gh}]}", "{rules: [{deny: eng, to: gh, id: rule-2.1}, {deny: [a, b], to: gh}]}",
	"{rules: [{deny: eng, to: gh, after: []}]}", "{rules: [{deny: eng, to: gh, after: 'a b'}]}", "{rules: [{deny: eng, to: gh, when: [a]}]}", "{rules: [{deny: eng, to: gh, when: {}}]}", "{rules: [{deny: eng, to: gh, when: {path: {eq: a}}}]}",
	"{rules: [{deny: eng, to: gh, when: {args: {eq: a}}}]}", "{rules: [{deny: eng, to: gh, when: {args.: {eq: a}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: b}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {equals: b}}}]}",
	"{rules: [{deny: eng, to: gh, when: {args.a: {eq: }}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {eq: [b]}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {eq: 1e3}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {eq: 0x10}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {eq: 1_000}}}]}",
	"{rules: [{deny: eng, to: gh, when: {args.a: {eq: 9223372036854775808}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {eq: 0.00001}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {eq: .inf}}}]}",
	"{rules: [{deny: eng, to: gh, when: {args.a: {in: b}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {in: []}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {in: [1, x]}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {in: [1, 1.5]}}}]}",
	"{rules: [{deny: eng, to: gh, when: {args.a: {lt: x}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {ge: '5'}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {like: [[x]]}}}]}",
	"{rules: [{deny: eng, to: gh, when: {args.a: {under: etc}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {under: /etc/../x}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {under: '/a%2e'}}}]}", `{rules: [{deny: eng, to: gh, when: {args.a: {under: '/a\b'}}}]}`, "{rules: [{deny: eng, to: gh, when: {args.a: {under: []}}}]}",
	"{rules: [{deny: eng, to: gh, when: {args.a: {host: 'https://example.com'}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {host: Example.com}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {host: 'example.com:443'}}}]}", "{rules: [{deny: eng, to: gh, when: {args.a: {host: '*'}}}]}",
	"{rules: [{allow: eng, to: gh}, {deny: eng, to: 'x*'}]}", // the place is in the second
}

// TestFaults: testdata/faults.txt has what is said of each.
func TestFaults(t *testing.T) {
	var got strings.Builder
	for _, text := range append(faults, "{rules: [{allow: ["+numbered("g", 20)+"], to: ["+numbered("s", 20)+"]}]}") {
		_, err := parse(text)
		var p *policy.Problem
		if !errors.As(err, &p) {
			t.Errorf("%s: got %v", text, err)
			continue
		}
		if p.File != "config.yaml" || p.Line != 1 || p.Column == 0 || p.Text == "" || p.Remedy == "" {
			t.Errorf("%s: the problem is not complete: %+v", text, p)
		}
		fmt.Fprintf(&got, "%s\n  %d: %s\n  %s\n\n", text, p.Column, p.Text, p.Remedy)
	}
	golden(t, "faults.txt", got.String())
}

func numbered(name string, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(name, i))
	}
	return strings.Join(all, ", ")
}
