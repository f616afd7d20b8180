//go:build attacks && linux

package attacks_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// sequences do something to a terminal, or to who reads it.
func sequences() [][2]string {
	return [][2]string{
		{"clears the screen", "\x1b[2J"},
		{"moves the cursor", "\x1b[10A"},
		{"colours", "\x1b[31m"},
		{"hides text", "\x1b[8m"},
		{"sets the title", "\x1b]0;owned\x07"},
		{"sets the title, with another end", "\x1b]0;owned\x1b\\"},
		{"writes the clipboard", "\x1b]52;c;b3duZWQ=\x07"},
		{"links elsewhere", "\x1b]8;;https://attacker.example\x07x\x1b]8;;\x07"},
		{"asks the terminal to answer", "\x1b[6n"},
		{"asks for its name", "\x1bP+q544e\x1b\\"},
		{"resets it", "\x1bc"},
		{"has no end", "\x1b]0;owned"},
		{"is of C1", "\u009b2J"},
		{"is a title of C1", "\u009d0;owned\u009c"},
		{"is a raw byte of C1", "\x9b2J"},
		{"goes back", "safe\rEVIL"},
		{"erases", "EVIL\b\b\b\bsafe"},
		{"rings", "\a"},
		{"has a NUL", "a\x00b"},
		{"deletes", "a\x7fb"},
		{"goes down", "a\vb\fc"},
		{"reorders", "\u202eLIVE\u202c"},
		{"isolates", "\u2066x\u2069"},
		{"marks a direction", "\u200f\u200e\u061c"},
		{"has tags", "\U000e0041\U000e007f"},
		{"ends a line for some", "a\u2028b\u2029c"},
		{"has no width", "a\u200bb"},
		{"joins", "a\u200cb\u200dc"},
		{"joins words", "a\u2060b"},
		{"is the mark of a byte order", "a\ufeffb"},
	}
}

// unsafe returns the first character of a text that is not for a terminal, ""
// for none. Line ends and tabs are.
func unsafe(text string) string {
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case r < ' ', r >= 0x7f && r < 0xa0, r == 0x061c, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r == 0x2060, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
			return wire.Quote(string(r))
		}
	}
	return ""
}

func terminals() class {
	c := class{name: "terminals", apart: true}
	for _, row := range sequences() {
		c.cases = append(c.cases, attack{name: "a description that " + row[0], do: func(t *testing.T, _ *stage) {
			bad := rogue(t, spec{Name: "bad", Tools: []string{`{"name":"x","title":` + raw(row[1]) + `,"description":` + raw(row[1]) + `,"inputSchema":{"type":"object"}}`}})
			h := newHome(t, string(wire.Servers{"bad": bad}.JSON()))
			for _, command := range []string{"tools bad -o text", "describe bad x -o text"} {
				o := h.mcpctl(t, "", strings.Fields(command)...)
				expectExit(t, o, "0")
				if what := unsafe(o.output()); what != "" {
					t.Errorf("%s prints %s: %q", command, what, o.output())
				}
			}
		}})
	}
	nasty := "\x1b[2J\x1b]0;owned\x07\u202eEVIL\r\u009b31m\U000e0041"
	for _, row := range []struct {
		name, command, stdin string
		spec                 spec
	}{
		{"a result", "call bad act -o text", `{"frames":["{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[2J\\u202e\\u009b31m\"}]}}"]}`, spec{Name: "bad"}},
		{"an error", "call bad act -o text", `{"frames":["{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32000,\"message\":\"\\u001b[2J\\u202e\\u009b31m\"}}"]}`, spec{Name: "bad"}},
		{"an error of a tool", "call bad act -o text", `{"frames":["{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[2J\\u202e\\u009b31m\"}]}}"]}`, spec{Name: "bad"}},
		{"a log line", "call bad act -vv", `{"frames":["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"logger\":\"\\u001b[2J\",\"data\":\"\\u001b[2J\\u202e\"}}","{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":$OK}"]}`, spec{Name: "bad"}},
		{"progress", "call bad act -vv", `{"frames":["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$TOKEN,\"progress\":1,\"message\":\"\\u001b[2J\\u202e\"}}","{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":$OK}"]}`, spec{Name: "bad"}},
		{"standard error", "ping bad -vv", "", spec{Name: "bad", Stderr: nasty}},
		{"standard error at the end", "ping bad", "", spec{Name: "bad", Stderr: nasty, Exits: true}},
		{"the name of a tool", "tools bad -o text", "", spec{Name: "bad", Tools: []string{plainTool(nasty)}}},
		{"the name of a tool that is called", "call bad x -o text", "{}", spec{Name: "bad", Tools: []string{plainTool("x" + nasty)}}},
		{"the name of a prompt", "prompts bad -o text", "", spec{Name: "bad", Prompts: []string{prompt(nasty)}}},
		{"the URI of a resource", "resources bad -o text", "", spec{Name: "bad", Resources: []string{resource("x:" + nasty)}}},
		{"a template", "resources bad --templates -o text", "", spec{Name: "bad", Templates: []string{`{"name":` + wire.Quote(nasty) + `,"uriTemplate":` + wire.Quote("x:{y}"+nasty) + `}`}}},
		{"a schema", "describe bad x -o text", "", spec{Name: "bad", Tools: []string{`{"name":"x","inputSchema":{"type":"object","properties":{` + wire.Quote(nasty) + `:{"type":"string","description":` + wire.Quote(nasty) + `,"enum":[` + wire.Quote(nasty) + `]}},"required":[` + wire.Quote(nasty) + `]}}`}}},
		{"a schema that arguments do not fit", "call bad x -o text", `{}`, spec{Name: "bad", Tools: []string{`{"name":"x","inputSchema":{"type":"object","properties":{` + wire.Quote(nasty) + `:{"type":"string"}},"required":[` + wire.Quote(nasty) + `]}}`}}},
		{"the server's own name", "ping bad -o text", "", spec{Name: nasty}},
		{"instructions", "tools bad -o text -vv", "", spec{Name: "bad", Instructions: nasty}},
	} {
		c.cases = append(c.cases, attack{name: row.name, do: func(t *testing.T, _ *stage) {
			h := newHome(t, string(wire.Servers{"bad": rogue(t, row.spec)}.JSON()))
			o := h.mcpctl(t, row.stdin, strings.Fields(row.command)...)
			if what := unsafe(o.output()); what != "" {
				t.Errorf("it prints %s: %q", what, o.output())
			}
		}})
	}
	c.cases = append(c.cases, attack{name: "JSON has them escaped or whole", do: func(t *testing.T, _ *stage) {
		h := newHome(t, string(wire.Servers{"bad": rogue(t, spec{Name: "bad", Tools: []string{plainTool("x" + "\x1b[2J")}})}.JSON()))
		if o := h.mcpctl(t, "", "tools", "bad", "--json"); strings.Contains(o.stdout, "\x1b") {
			t.Errorf("got %q", o.stdout)
		}
	}}, attack{name: "the log of serve", do: func(t *testing.T, _ *stage) {
		h := newHome(t, string(wire.Servers{"bad": rogue(t, spec{Name: "bad", Stderr: nasty, Tools: []string{plainTool("act"), plainTool(nasty)}})}.JSON()))
		d := h.serve(t)
		post(t, d, acting("1", "bad", "!stderr "+nasty, "garbage "+nasty, `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":`+wire.Quote(nasty)+`}}`))
		if what := unsafe(d.Stderr.String()); what != "" {
			t.Errorf("it prints %s: %q", what, d.Stderr.String())
		}
	}}, attack{name: "what a client sends, in the log of serve", do: func(t *testing.T, _ *stage) {
		h := newHome(t, string(wire.Servers{"good": rogue(t, spec{Name: "good"})}.JSON()))
		d := h.serve(t)
		post(t, d, tool(wire.Quote(nasty), nasty, `{}`))
		post(t, d, `{"jsonrpc":"2.0","id":1,"method":`+wire.Quote(nasty)+`}`)
		post(t, d, nasty)
		openSession(t, d, `{}`)
		if what := unsafe(d.Stderr.String()); what != "" {
			t.Errorf("it prints %s: %q", what, d.Stderr.String())
		}
	}}, attack{name: "status of a client with a name", do: func(t *testing.T, _ *stage) {
		h := newHome(t, string(wire.Servers{"good": rogue(t, spec{Name: "good"})}.JSON()))
		d := h.serve(t)
		post(t, d, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":`+wire.Quote(nasty)+`,"version":`+wire.Quote(nasty)+`}}}`)
		o := h.mcpctl(t, "", "status", "-o", "text")
		if what := unsafe(o.output()); what != "" {
			t.Errorf("it prints %s: %q", what, o.output())
		}
	}})
	return c
}

// raw is a text in JSON with its bytes as they are, where JSON lets them be: some
// servers write it so.
func raw(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '\ufffd' }) {
		return wire.Quote(text)
	}
	return `"` + text + `"`
}
