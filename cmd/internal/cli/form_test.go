package cli

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestForms: -o yaml, name and wide, and --jq, are forms of every result; failures stay text.
func TestForms(t *testing.T) {
	long := strings.Repeat("x", 300)
	b := &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{tool(`{"name":"read","description":"`+long+`","inputSchema":{"type":"object"}}`, reflected), tool(`{"name":"write","inputSchema":{"type":"object"}}`, reflected)}}}
	for words, want := range map[string]outcome{
		"list -o yaml":                      {0, "servers:\n  - name: fs\n    transport: stdio\n    command: fs\n  - name: github\n    transport: http\n    url: http://127.0.0.1:1/\n", ""},
		"list -o name":                      {0, "fs\ngithub\n", ""},
		"list -o wide":                      {0, "NAME    TRANSPORT  TARGET\nfs      stdio      fs\ngithub  http       http://127.0.0.1:1/\n", ""},
		"list --jq .servers[1].url":         {0, "http://127.0.0.1:1/\n", ""},
		"fs -o name":                        {0, "read\nwrite\n", ""},
		"fs --jq .tools[].inputSchema":      {0, "{\"type\":\"object\"}\n{\"type\":\"object\"}\n", ""},
		"fs --jq .tools[].x|length --json":  {0, "0\n0\n", ""},
		"fs read a=1 --jq .content[0].text": {0, "{\"a\":\"1\"}\n", ""},
		"list --jq .servers[":               {2, "", "mcpctl: --jq: unexpected EOF\n"},
		"list --jq .servers.x":              {2, "", "mcpctl: --jq: expected an object but got: array ([{\"command\":\"fs\",\"name\":\" ...])\n"},
		"list -o yaml --jq .":               {2, "", "mcpctl: --jq is of JSON: use it without -o yaml\n"},
		"fs read -o name":                   {2, "", "mcpctl: this has no names to print\nhint: use -o json, or --jq to choose\n"},
		"list -o xml":                       {2, "", "mcpctl: --output is \"xml\", want auto, text, wide, json, json-compact, yaml or name\n"},
		"describe fs nope -o yaml":          {2, "", "mcpctl: fs has no tool nope\nhint: see mcpctl tools fs\n"},
		"tools fs --watch":                  {2, "", "mcpctl: --watch shows what is stored, and starts nothing: use it without servers\nhint: mcpctl tools --watch\n"},
		"session fs --watch":                {2, "", "mcpctl: --watch shows the sessions that run: use it without servers\nhint: mcpctl session --watch\n"},
	} {
		t.Run(words, func(t *testing.T) { check(t, b.run(t, strings.Fields(words)...), want) })
	}
}

// TestRemoveAsks: on a terminal a removal is asked about, once, unless -y answers; a bare Enter is no.
func TestRemoveAsks(t *testing.T) {
	for _, tt := range []struct {
		words, asked, out string
		answer            bool
	}{
		{"remove fs github", "Remove fs, github from ", "removed fs\nremoved github\n", true},
		{"remove fs", "Remove fs from ", "", false},
		{"remove fs -y", "", "removed fs\n", false},
		{"remove fs --json", "", "{\"removed\":[\"fs\"]}\n", false},
	} {
		asker := &ui.Scripted{}
		if tt.asked != "" {
			asker.Answers = []any{tt.answer}
		}
		b := &bench{asker: asker, text: !strings.Contains(tt.words, "json")}
		got := b.run(t, strings.Fields(tt.words)...)
		asked := strings.Join(asker.Asked, "|")
		if got.code != 0 || got.out != tt.out || !strings.HasPrefix(asked, tt.asked) || (asked == "") != (tt.asked == "") {
			t.Errorf("%s: asked %q, got %+v", tt.words, asked, got)
		}
		if !tt.answer && tt.asked != "" && got.errOut != "fs: fs\nnothing was removed\n" {
			t.Errorf("%s: got %q", tt.words, got.errOut)
		}
	}
	if got := (&bench{asker: &ui.Scripted{}, text: true}).run(t, "remove", "nope"); got.code != exitUsage || !strings.Contains(got.errOut, "nope") {
		t.Errorf("got %+v", got)
	}
}
