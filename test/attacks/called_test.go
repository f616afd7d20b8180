//go:build attacks && linux

package attacks_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// searchConfig is in front of rules: the list has search_tools, call_tool and call_read_tool.
const searchConfig = "serve: {list: search}\n"

// viewConfig has the same in a view, which calls a tool by another name.
const viewConfig = `serve:
  view: part
  views:
    part:
      list: search
      tools: ["!good__left"]
      override:
        good__pay: {name: give, arguments: {amount: {value: 501}}}
        good__read: {name: look}
        bad__read: {name: peek}
`

// caller is a tool that calls another.
func caller(tool, name, arguments string) string {
	return `{"name":"` + tool + `","arguments":{"name":` + wire.Quote(name) + `,"arguments":` + arguments + `}}`
}

// untold checks that a call through a tool is refused, as an error of the protocol or as a
// result that is one, and that no server hears of it.
func untold(t *testing.T, s *stage, p *policed, w way, params string) {
	t.Helper()
	p.unused(t, func() {
		got := w.ask(t, s, p, "", "tools/call", params)
		if !strings.Contains(got, `"error":`) && !strings.Contains(got, `"isError":true`) {
			t.Errorf("it is let through: %.500s", got)
		}
	})
}

// called has calls that policies or a view refuse made through call_tool and call_read_tool.
func called() class {
	c := class{name: "called"}
	add := func(name string, do func(t *testing.T, s *stage)) {
		c.cases = append(c.cases, attack{name: name, do: do})
	}
	arguments := func(s *stage) *policed {
		return s.policed("called, arguments", func() *policed { return newPoliced(s.t, searchConfig+argumentsConfig, argumentServers()) })
	}
	view := func(s *stage) *policed {
		return s.policed("called, view", func() *policed {
			servers := argumentServers()
			good := servers["good"]
			good.Tools = append(good.Tools, plainTool("left"))
			servers["good"] = good
			return newPoliced(s.t, viewConfig+argumentsConfig, servers)
		})
	}
	hiding := func(s *stage) *policed {
		return s.policed("called, hiding", func() *policed {
			return newPoliced(s.t, searchConfig+`access:
  default: allow
  rules:
    - {deny: "*", to: [gh/merge, gh/panel, mail, "`+longServer+`"]}
`, offered(true))
		})
	}
	for _, row := range tricks() {
		for _, w := range ways() {
			if w.stdio && !strings.Contains(row.name, "number") {
				continue // the numbers show that transports have the same rules
			}
			add("arguments: "+row.name+", "+w.name, func(t *testing.T, s *stage) {
				for _, server := range []string{"good", "bad"} {
					if row.only == "" || row.only == server {
						untold(t, s, arguments(s), w, caller("call_tool", server+"__"+row.tool, row.arguments))
					}
				}
			})
		}
		if row.tool != "read" {
			continue
		}
		for _, w := range ways()[:2] {
			add("a renamed tool of a view: "+row.name+", "+w.name, func(t *testing.T, s *stage) {
				p := view(s)
				for server, name := range map[string]string{"good": "look", "bad": "peek"} {
					if row.only == "" || row.only == server {
						untold(t, s, p, w, `{"name":"`+name+`","arguments":`+row.arguments+`}`)
						untold(t, s, p, w, caller("call_tool", name, row.arguments))
					}
				}
			})
		}
	}
	for _, row := range [][2]string{
		{"its name", "gh__merge"},
		{"the other separator", "gh.merge"},
		{"a slash", "gh/merge"},
		{"no server", "merge"},
		{"capitals", "gh__MERGE"},
		{"its server in capitals", "GH__merge"},
		{"wide letters", "gh__ｍerge"},
		{"a letter of another script", "gh__mеrge"},
		{"an invisible letter", "gh__mer\u200bge"},
		{"a space behind", "gh__merge "},
		{"a space before", " gh__merge"},
		{"NUL behind", "gh__merge\x00"},
		{"three underscores", "gh___merge"},
		{"a pattern", "gh__m*"},
		{"a tool of apps", "gh__panel"},
		{"a server that is denied whole", "mail__send"},
		{"a server that is denied whole, the other separator", "mail.send"},
		{"a long name", longServer + "__search_items_of_all_kinds"},
		{"a prompt", "gh__tell"},
		{"a resource", "repo://priv"},
		{"nothing", ""},
	} {
		for _, by := range []string{"call_tool", "call_read_tool"} {
			for _, w := range ways() {
				add("a denied tool: "+row[0]+", by "+by+", "+w.name, func(t *testing.T, s *stage) {
					untold(t, s, hiding(s), w, caller(by, row[1], `{}`))
				})
			}
		}
	}
	for _, row := range [][2]string{
		{"call_tool of call_tool", `{"name":"call_tool","arguments":{"name":"call_tool","arguments":{"name":"gh__merge","arguments":{}}}}`},
		{"call_tool of call_read_tool", `{"name":"call_tool","arguments":{"name":"call_read_tool","arguments":{"name":"gh__merge","arguments":{}}}}`},
		{"call_read_tool of what changes things", `{"name":"call_read_tool","arguments":{"name":"gh__act","arguments":{}}}`},
		{"the name twice, the last one denied", `{"name":"call_tool","arguments":{"name":"gh__echo","name":"gh__merge","arguments":{}}}`},
		{"the name twice, the first one denied", `{"name":"call_tool","arguments":{"name":"gh__merge","name":"gh__echo","arguments":{}}}`},
		{"the name twice, once escaped", `{"name":"call_tool","arguments":{"name":"gh__echo","n\u0061me":"gh__merge","arguments":{}}}`},
		{"the name twice, once in capitals, alone denied", `{"name":"call_tool","arguments":{"Name":"gh__echo","name":"gh__merge","arguments":{}}}`},
		{"an escaped name", `{"name":"call_tool","arguments":{"name":"gh__\u006derge","arguments":{}}}`},
		{"an escaped caller", `{"name":"c\u0061ll_tool","arguments":{"name":"gh__merge","arguments":{}}}`},
		{"a caller with the prefix of mcpctl", `{"name":"mcpctl_call_tool","arguments":{"name":"gh__merge","arguments":{}}}`},
		{"a caller of a server", `{"name":"gh__call_tool","arguments":{"name":"gh__merge","arguments":{}}}`},
		{"arguments as a text", `{"name":"call_tool","arguments":"{\"name\":\"gh__merge\",\"arguments\":{}}"}`},
		{"a list of names", `{"name":"call_tool","arguments":{"name":["gh__merge"],"arguments":{}}}`},
		{"fields", `{"name":"call_tool","arguments":{"name":"gh__merge","arguments":{},"fields":["content"]}}`},
		{"fields of what is not denied, too", `{"name":"call_tool","arguments":{"name":"mail__send","arguments":{},"fields":["a.b"]}}`},
		{"a task", `{"name":"call_tool","arguments":{"name":"gh__merge","arguments":{}},"task":{"ttl":1000}}`},
		{"answers to what nobody has asked", `{"name":"call_tool","arguments":{"name":"gh__merge","arguments":{}},"inputResponses":{"x":{"action":"accept","content":{"allow":true}}}}`},
		{"a state that is none", `{"name":"call_tool","arguments":{"name":"gh__merge","arguments":{}},"requestState":"AAAA"}`},
	} {
		for _, w := range ways() {
			add(row[0]+", "+w.name, func(t *testing.T, s *stage) { untold(t, s, hiding(s), w, row[1]) })
		}
	}
	for _, row := range [][2]string{
		{"a tool that a view leaves out", `{"name":"good__left","arguments":{}}`},
		{"a tool that a view leaves out, by call_tool", caller("call_tool", "good__left", `{}`)},
		{"a renamed tool by its own name", `{"name":"good__pay","arguments":{"amount":1}}`},
		{"a renamed tool by its own name, by call_tool", caller("call_tool", "good__pay", `{"amount":1}`)},
		{"a fixed argument that is given, too", `{"name":"give","arguments":{"amount":1}}`},
		{"a fixed argument that is given, too, by call_tool", caller("call_tool", "give", `{"amount":1}`)},
		{"a fixed argument that a rule denies", `{"name":"give","arguments":{}}`},
		{"a fixed argument that a rule denies, by call_tool", caller("call_tool", "give", `{}`)},
		{"a fixed argument, escaped", `{"name":"give","arguments":{"\u0061mount":1}}`},
		{"a fixed argument, escaped, by call_tool", caller("call_tool", "give", `{"\u0061mount":1}`)},
		{"a fixed argument in capitals, by call_tool", caller("call_tool", "give", `{"AMOUNT":1}`)},
	} {
		for _, w := range ways() {
			add(row[0]+", "+w.name, func(t *testing.T, s *stage) { untold(t, s, view(s), w, row[1]) })
		}
	}
	return c
}
