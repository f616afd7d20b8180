//go:build attacks && linux

package attacks_test

import (
	"strings"
	"testing"
)

// argumentsConfig has each argument decide twice: of good's tools the policies allow some
// calls, of bad's they deny some.
const argumentsConfig = `access:
  default: deny
  rules:
    - {allow: "*", to: bad}
    - {allow: "*", to: good/pay, when: {args.amount: {le: 500.0}}}
    - {deny: "*", to: bad/pay, when: {args.amount: {gt: 500.0}}}
    - {allow: "*", to: good/buy, when: {args.count: {le: 500}}}
    - {deny: "*", to: bad/buy, when: {args.count: {gt: 500}}}
    - {allow: "*", to: good/read, when: {args.path: {under: /data}}}
    - {deny: "*", to: bad/read, when: {args.path: {under: /etc}}}
    - {allow: "*", to: good/fetch, when: {args.url: {host: [example.com, "*.example.com", xn--bcher-kva.example]}}}
    - {deny: "*", to: bad/fetch, when: {args.url: {host: [evil.example, "*.evil.example", 127.0.0.1, "::1", xn--bcher-kva.example]}}}
    - {allow: "*", to: good/send, when: {args.to: {eq: bob}}}
    - {deny: "*", to: bad/send, when: {args.to: {in: [eve, "e\u00e9"]}}}
    - {allow: "*", to: good/deep, when: {args.o.p.q: {eq: a}}}
    - {deny: "*", to: bad/deep, when: {args.o.p.q: {eq: b}}}
`

func argumentServers() map[string]spec {
	tool := func(name, property, schema string) string {
		return `{"name":"` + name + `","inputSchema":{"type":"object","properties":{"` + property + `":` + schema + `}}}`
	}
	s := spec{Tools: []string{
		tool("pay", "amount", `{"type":"number"}`), tool("buy", "count", `{"type":"integer"}`), tool("read", "path", `{"type":"string"}`),
		tool("fetch", "url", `{"type":"string"}`), tool("send", "to", `{"type":"string"}`),
		tool("deep", "o", `{"type":"object","properties":{"p":{"type":"object","properties":{"q":{"type":"string"}}}}}`),
	}}
	return map[string]spec{"good": s, "bad": s}
}

// trick is the arguments of a call that has to be refused by both servers.
type trick struct {
	name, tool, arguments string
	// only is the one server, where the other may let it pass: "" for none.
	only string
	// instead is what the answer has where no policy is asked.
	instead string
}

func tricks() []trick {
	const broken = `"code":-32`
	path := func(name, text string) trick {
		return trick{name: "a path: " + name, tool: "read", arguments: `{"path":"` + text + `"}`}
	}
	outside := func(name, text string) trick {
		row := path(name, text)
		row.only = "good"
		return row
	}
	url := func(name, text string) trick {
		return trick{name: "a URL: " + name, tool: "fetch", arguments: `{"url":"` + text + `"}`}
	}
	return []trick{
		{name: "a number: too much", tool: "pay", arguments: `{"amount":500.0001}`},
		{name: "a number: more places than are compared", tool: "pay", arguments: `{"amount":500.00009}`},
		{name: "a number: very many places", tool: "pay", arguments: `{"amount":500.00000000000000000000000000001}`},
		{name: "a number: with an exponent", tool: "pay", arguments: `{"amount":5.01e2}`},
		{name: "a number: with a huge exponent", tool: "pay", arguments: `{"amount":1e999999999}`},
		{name: "a number: with a tiny exponent", tool: "pay", arguments: `{"amount":1e-999999999}`},
		{name: "a number: a string", tool: "pay", arguments: `{"amount":"501"}`},
		{name: "a number: a string that is little", tool: "pay", arguments: `{"amount":"1"}`},
		{name: "a number: a list", tool: "pay", arguments: `{"amount":[1]}`},
		{name: "a number: an object", tool: "pay", arguments: `{"amount":{"amount":1}}`},
		{name: "a number: true", tool: "pay", arguments: `{"amount":true}`},
		{name: "a number: null", tool: "pay", arguments: `{"amount":null}`, only: "good"},
		{name: "a number: none", tool: "pay", arguments: `{}`, only: "good"},
		{name: "a number: 2^63", tool: "buy", arguments: `{"count":9223372036854775808}`},
		{name: "a number: 2^64+1", tool: "buy", arguments: `{"count":18446744073709551617}`},
		{name: "a number: 30 digits", tool: "buy", arguments: `{"count":123456789012345678901234567890}`},
		{name: "a number: 30 digits below zero", tool: "buy", arguments: `{"count":-123456789012345678901234567890}`},
		{name: "a number: 6e2", tool: "buy", arguments: `{"count":6e2}`},
		{name: "a number: 5.1E+2", tool: "buy", arguments: `{"count":5.1E+2}`},
		{name: "a number: half of one", tool: "buy", arguments: `{"count":0.5}`},
		{name: "a number: NaN", tool: "buy", arguments: `{"count":NaN}`, instead: broken},
		{name: "a number: hexadecimal", tool: "buy", arguments: `{"count":0x1}`, instead: broken},
		{name: "a number: with a zero in front", tool: "buy", arguments: `{"count":01}`, instead: broken},
		{name: "a number: a string of digits of another script", tool: "buy", arguments: `{"count":"١"}`},

		{name: "a member: twice, the last one good", tool: "send", arguments: `{"to":"eve","to":"bob"}`},
		{name: "a member: twice, the first one good", tool: "send", arguments: `{"to":"bob","to":"eve"}`},
		{name: "a member: twice the same", tool: "send", arguments: `{"to":"bob","to":"bob"}`},
		{name: "a member: twice, one is null", tool: "send", arguments: `{"to":"bob","to":null}`},
		{name: "a member: twice, once escaped", tool: "send", arguments: `{"to":"bob","\u0074o":"eve"}`},
		{name: "a member: escaped", tool: "send", arguments: `{"\u0074o":"eve"}`},
		{name: "a member: a twin in capitals", tool: "send", arguments: `{"to":"bob","TO":"eve"}`},
		{name: "a member: in capitals alone", tool: "send", arguments: `{"To":"eve"}`},
		{name: "a member: an escaped twin in capitals", tool: "send", arguments: `{"to":"bob","\u0054O":"eve"}`},
		{name: "a member: deep, twice", tool: "deep", arguments: `{"o":{"p":{"q":"a","q":"b"}}}`},
		{name: "a member: deep, its parent twice", tool: "deep", arguments: `{"o":{"p":{"q":"a"}},"o":{"p":{"q":"b"}}}`},
		{name: "a member: deep, a twin in capitals", tool: "deep", arguments: `{"o":{"p":{"q":"a","Q":"b"}}}`},
		{name: "a member: deep, its parent has a twin", tool: "deep", arguments: `{"o":{"p":{"q":"a"},"P":{"q":"b"}}}`},
		{name: "a member: deep, escaped twice", tool: "deep", arguments: `{"o":{"p":{"q":"a","\u0071":"b"}}}`},
		{name: "a member: deep, its parent is a list", tool: "deep", arguments: `{"o":[{"p":{"q":"b"}}]}`},
		{name: "a member: deep, its parent is a text", tool: "deep", arguments: `{"o":"{\"p\":{\"q\":\"b\"}}"}`},
		{name: "a member: written with dots", tool: "deep", arguments: `{"o.p.q":"a"}`, only: "good"},
		{name: "arguments twice", tool: "send", arguments: `{"to":"bob"},"arguments":{"to":"eve"}`, instead: broken},
		{name: "arguments twice, once escaped", tool: "send", arguments: `{"to":"bob"},"\u0061rguments":{"to":"eve"}`, instead: broken},
		{name: "arguments that are a list", tool: "send", arguments: `[{"to":"bob"}]`},
		{name: "arguments that are a text", tool: "send", arguments: `"{\"to\":\"bob\"}"`},
		{name: "arguments that are null", tool: "send", arguments: `null`, only: "good"},

		{name: "a text: half of a character", tool: "send", arguments: `{"to":"\ud800"}`},
		{name: "a text: the other half", tool: "send", arguments: `{"to":"bob\udc00"}`},
		{name: "a text: halves in the wrong order", tool: "send", arguments: `{"to":"\ude00\ud83d"}`},
		{name: "a text: invalid UTF-8", tool: "send", arguments: "{\"to\":\"bob\xff\"}", instead: broken},
		{name: "a text: escaped", tool: "send", arguments: `{"to":"\u0065ve"}`},
		{name: "a text: escaped, of another script", tool: "send", arguments: `{"to":"e\u00E9"}`},
		{name: "a text: a list of it", tool: "send", arguments: `{"to":["bob"]}`},
		{name: "a text: a list of another", tool: "send", arguments: `{"to":["eve"]}`},
		{name: "a text: an object with it", tool: "send", arguments: `{"to":{"toString":"bob"}}`},
		{name: "a text: a number", tool: "send", arguments: `{"to":0}`},
		{name: "a text: in capitals", tool: "send", arguments: `{"to":"BOB"}`, only: "good"},
		{name: "a text: with NUL behind", tool: "send", arguments: `{"to":"bob\u0000"}`, only: "good"},
		{name: "a text: of 65 KiB", tool: "send", arguments: `{"to":"` + strings.Repeat("b", 65<<10) + `"}`},
		{name: "a text: of 65 KiB of escapes", tool: "send", arguments: `{"to":"` + strings.Repeat(`\u0062`, 65<<10) + `"}`},
		{name: "a text: 33 deep", tool: "send", arguments: `{"to":` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}`},
		{name: "a text: 9,000 deep", tool: "send", arguments: `{"to":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`},

		path("above the folder", "/data/../etc/passwd"),
		path("above all folders", "/../../etc/passwd"),
		path("dots in the middle", "/data/./../data/../etc/passwd"),
		path("two slashes", "//etc//passwd"),
		path("the folder alone", "/etc"),
		path("the folder and a slash", "/etc/"),
		path("escaped dots", "/data/%2e%2e/etc/passwd"),
		path("escaped dots, capitals", "/data/%2E%2E/etc/passwd"),
		path("dots escaped twice", "/data/%252e%252e/etc/passwd"),
		path("an escaped slash", "/data/..%2fetc/passwd"),
		path("a backslash", `/data\\..\\..\\etc\\passwd`),
		path("backslashes alone", `\\etc\\passwd`),
		path("a share", `\\\\host\\etc`),
		path("NUL", `/data/x\u0000/../../etc/passwd`),
		path("NUL behind", `/etc/passwd\u0000.txt`),
		path("dots escaped as JSON", `/data/\u002e\u002e/etc/passwd`),
		path("a URL", "file:///etc/passwd"),
		path("home", "~/../../etc/passwd"),
		path("relative, above", "../../etc/passwd"),
		outside("that begins alike", "/database/x"),
		outside("relative", "data/x"),
		outside("none", ""),
		outside("in capitals", "/DATA/x"),
		outside("with wide letters", "/ｄata/x"),

		url("a user", "http://example.com@evil.example/"),
		url("a user and a password", "http://example.com:80@evil.example/"),
		url("a user, escaped", `http://example.com\u0040evil.example/`),
		url("a fragment", "http://evil.example#@example.com/"),
		url("a query", "http://evil.example?@example.com/"),
		url("a backslash", `http://evil.example\\@example.com/`),
		url("two users", "http://a@example.com@evil.example/"),
		url("capitals", "HTTP://EVIL.EXAMPLE/"),
		url("a dot behind", "http://evil.example./"),
		url("its default port", "http://evil.example:80/"),
		url("the default port of https", "https://evil.example:443/"),
		url("another port", "http://evil.example:8080/"),
		url("no port", "http://evil.example:/"),
		url("a host below", "http://a.evil.example/"),
		url("0x7f.1", "http://0x7f.1/"),
		url("a number", "http://2130706433/"),
		url("octal", "http://0177.0.0.1/"),
		url("127.1", "http://127.1/"),
		url("an address and a dot", "http://127.0.0.1./"),
		url("an address as IPv6", "http://[::ffff:127.0.0.1]/"),
		url("an address as IPv6 in hexadecimal", "http://[::ffff:7f00:1]/"),
		url("a long form of IPv6", "http://[0:0:0:0:0:0:0:1]/"),
		url("a zone", "http://[fe80::1%25eth0]/"),
		url("an escaped letter", "http://%65vil.example/"),
		url("wide letters", "http://ｅvil.example/"),
		url("a letter of another script", "http://bücher.example/"),
		url("a dot of another script", "http://evil。example/"),
		url("a space in front", " http://evil.example/"),
		url("a tab inside", `http://ev\til.example/`),
		url("a line end", `http://evil.example\n/`),
		url("no scheme", "//evil.example/"),
		url("one slash", "http:/evil.example/"),
		url("three slashes", "http:///evil.example/"),
		url("no host", "http://"),
		url("a script", "javascript:fetch('//evil.example')"),
	}
}

// argued has each trick tried in both eras on both servers. What is fine is let through
// before, so that the calls get there at all.
func argued() (all []attack) {
	begin := func(s *stage) *policed {
		return s.policed("arguments", func() *policed {
			p := newPoliced(s.t, argumentsConfig, argumentServers())
			p.connect(s.t, "good__send", "bad__send")
			return p
		})
	}
	for _, w := range ways()[:2] {
		for _, row := range tricks() {
			all = append(all, attack{name: row.name + ", " + w.name, do: func(t *testing.T, s *stage) {
				p := begin(s)
				for _, server := range []string{"good", "bad"} {
					if row.only != "" && row.only != server {
						continue
					}
					p.unused(t, func() {
						got := w.ask(t, s, p, "", "tools/call", `{"name":"`+server+`__`+row.tool+`","arguments":`+row.arguments+`}`)
						if row.instead != "" {
							refusedBy(t, got, row.instead)
							return
						}
						refusedBy(t, got)
					})
				}
			}})
		}
		for tool, arguments := range map[string]string{"pay": `{"amount":5e2}`, "buy": `{"count":5e2}`, "read": `{"path":"/data/./x/../y"}`, "fetch": `{"url":"HTTPS://u@WWW.Example.COM.:443/x"}`, "send": `{"t\u006f":"b\u006fb"}`, "deep": `{"o":{"p":{"q":"a"}}}`} {
			all = append(all, attack{name: "what " + tool + " may have, " + w.name, do: func(t *testing.T, s *stage) {
				p := begin(s)
				for _, server := range []string{"good", "bad"} {
					if got := w.ask(t, s, p, "", "tools/call", `{"name":"`+server+`__`+tool+`","arguments":`+arguments+`}`); !strings.Contains(got, `"result":`) {
						t.Errorf("%s: got %s", server, got)
					}
				}
			}})
		}
	}
	return all
}
