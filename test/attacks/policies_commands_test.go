//go:build attacks && linux

package attacks_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// commanded has commands of the local user do what the policies deny, or run what they
// could not look into.
func commanded() class {
	c := class{name: "commanded"}
	servers := func() map[string]spec {
		return map[string]spec{
			"a": {Tools: []string{plainTool("act"), plainTool("echo"), plainTool("seen"), `{"name":"pay","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`}, Prompts: []string{prompt("ask"), prompt("tell")}, Resources: []string{resource("repo://pub"), resource("repo://priv")}},
			"b": {Resources: []string{resource("x://y")}, Prompts: []string{prompt("p")}},
		}
	}
	const config = `access:
  policies: [more.cedar]
  rules:
    - {deny: local, to: [a/act, "prompt:a/tell", "resource:a/repo://priv", "resource:a/file:///priv/**", b]}
    - {deny: local, to: a/pay, when: {args.n: {gt: 5}}}
    - {limit: local, to: a/echo, over: 100/d}
`
	const more = `
@id("seen") forbid (principal, action == Action::"call", resource == Tool::"a/seen") when {context.front != "none"};
@id("over") forbid (principal, action == Action::"call", resource == Tool::"a/pay") when {context.args has n && context.args.n - 1 < -9};`
	begin := func(t *testing.T) *policed {
		p := &policed{gate: &gate{home: newHome(t, "")}, noted: t.TempDir()}
		entries := wire.Servers{}
		for name, s := range servers() {
			s.Name, s.Heard = name, filepath.Join(p.noted, name)
			entries[name] = rogue(t, s)
		}
		p.home.write(t, "servers.json", string(entries.JSON()))
		p.home.write(t, "more.cedar", more)
		for name, text := range map[string]string{"6e0": `{"n":6e0}`, "twins": `{"n":5,"N":6}`, "least": `{"n":-9223372036854775808}`, "digits": `{"n":99999999999999999999}`} {
			p.home.write(t, name+".json", text)
		}
		p.home.write(t, "config.yaml", config)
		return p
	}
	for _, row := range []struct {
		words string
		want  string // see expectExit
	}{
		{"call a act", "1|2|3|4|9 !right"},
		{"call a.act", "1|2|3|4|9 !right"},
		{"call a seen", "9 policy"},
		{"call a seen --json", "9 denied"},
		{"call a pay n=6", "9 rule-2"},
		{"call a pay --args-file 6e0.json", "9 rule-2"},
		{"call a pay --args-file twins.json", "2|9 !result"},
		{"call a pay --args-file least.json", "9 over"},
		{"call a pay --args-file digits.json", "9 cannot be checked"},
		{"call b echo", "1|2|3|4|9 !result"},
		{"prompt a tell", "1|2|3|4|9 !a prompt"},
		{"read a repo://priv", "1|2|3|4|9 !a read"},
		{"read a REPO://priv", "1|2|3|4|9 !a read"},
		{"read a file:///priv/x", "1|2|3|4|9 !a read"},
		{"read a file:///pub/../priv/x", "1|2|3|4|9 !a read"},
		{"read a file:///%70riv/x", "1|2|3|4|9 !a read"},
		{"read a file:///pub/%2e%2e/priv/x", "1|2|3|4|9 !a read"},
		{"read a FILE:///priv/x", "1|2|3|4|9 !a read"},
		{"read b x://y", "1|2|3|4|9 !b read"},
		{"prompt b p", "1|2|3|4|9 !b prompt"},
		{"tools a", "0 !\"act\""},
		{"tools b", "0|9 !echo"},
		{"tools", "0 !b__"},
		{"prompts a", "0 !tell"},
		{"resources a", "0 !priv"},
		{"grep act", "0|1|10 !a/act"},
		{"run b", "9 policies are about b"},
		{"run a", "9 policies are about a"},
		{"run a --no-policy", "0 no policy decides about a"},
	} {
		c.cases = append(c.cases, attack{name: row.words, do: func(t *testing.T, _ *stage) {
			p := begin(t)
			p.unused(t, func() { expectExit(t, p.home.mcpctl(t, "", strings.Fields(row.words)...), row.want) })
		}})
	}
	for _, row := range []struct{ name, words, want string }{
		{"a program behind bridge", "bridge --http 127.0.0.1:0 -- false", "9 does not read what is said"},
		{"a program by the name of a server behind bridge", "bridge --http 127.0.0.1:0 -- b", "9 does not read what is said"},
		{"a program behind run", "run -- false", "2|9 !starts"},
	} {
		c.cases = append(c.cases, attack{name: row.name, do: func(t *testing.T, _ *stage) {
			p := begin(t)
			p.home.write(t, "config.yaml", "access: {rules: [{deny: local, to: '*', when: {args.n: {gt: 5}}}]}\n")
			expectExit(t, p.home.mcpctl(t, "", strings.Fields(row.words)...), row.want)
		}})
	}
	c.cases = append(c.cases, attack{name: "serve on standard input", do: func(t *testing.T, _ *stage) {
		p := begin(t)
		p.unused(t, func() {
			o := p.home.mcpctl(t, tool("1", "a__act", `{}`)+"\n"+tool("2", "b__echo", `{}`)+"\n"+tool("3", "a__pay", `{"n":6}`)+"\n", "serve")
			if strings.Contains(o.stdout, `"result"`) || strings.Count(o.stdout, `"error"`) != 3 {
				t.Error(o.output())
			}
		})
	}}, attack{name: "bridge of a server", do: func(t *testing.T, _ *stage) {
		p := begin(t)
		p.unused(t, func() {
			o := p.home.mcpctl(t, tool("1", "act", `{"frames":[]}`)+"\n"+tool("3", "pay", `{"n":6}`)+"\n", "bridge", "a")
			if strings.Contains(o.stdout, `"result"`) {
				t.Error(o.output())
			}
		})
	}}, attack{name: "what is allowed", do: func(t *testing.T, _ *stage) {
		p := begin(t)
		expectExit(t, p.home.mcpctl(t, "", "call", "a", "pay", "n=5"), "0 tools/call")
		expectExit(t, p.home.mcpctl(t, "", "call", "a", "echo"), "0 tools/call")
	}})
	return c
}
