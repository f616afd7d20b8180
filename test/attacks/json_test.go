//go:build attacks && linux

package attacks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// shape is a message that some parsers read otherwise than others, or that is
// meant to cost more than it is worth.
type shape struct {
	name, text string
	http       string // wanted over HTTP; see expect
	stdio      string // wanted on standard input, "" the same without the status, "-" not sent there
}

func shapes() []shape {
	deep := func(n int, open, inner, end string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	call := func(rest string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo",` + rest + `}}`
	}
	return []shape{
		{name: "id twice", text: `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, http: "400 -32600 duplicate"},
		{name: "method twice", text: `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, http: "400 -32600 duplicate"},
		{name: "method twice, once escaped", text: `{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}`, http: "400 -32600 duplicate"},
		{name: "params twice", text: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}`, http: "400 -32600 duplicate"},
		{name: "result twice", text: `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, http: "400 -32600 duplicate"},
		{name: "error twice", text: `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"error":{}}`, http: "400 -32600 duplicate"},
		{name: "tool twice", text: call(`"name":"bad__echo","arguments":{}`), http: "400 -32600 duplicate"},
		{name: "tool twice, once escaped", text: call(`"n\u0061me":"bad__echo","arguments":{}`), http: "400 -32600 duplicate"},
		{name: "arguments twice", text: call(`"arguments":{},"arguments":{"a":1}`), http: "400 -32600 duplicate"},
		{name: "metadata twice", text: call(`"_meta":{},"_meta":{"progressToken":1}`), http: "400 -32600 duplicate"},
		{name: "progress token twice", text: call(`"_meta":{"progressToken":1,"progressToken":2}`), http: "400 -32600 duplicate"},
		{name: "URI twice", text: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:b","uri":"c:d"}}`, http: "400 -32600 duplicate"},
		{name: "state twice", text: call(`"requestState":"a","requestState":"b"`), http: "400 -32600 duplicate"},
		{name: "revision twice", text: call(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), http: "400 -32600 duplicate"},

		{name: "method in capitals", text: `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, http: "400 -32600"},
		{name: "method with a capital beside the right one", text: `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, http: "200 result"},
		{name: "id in capitals", text: `{"jsonrpc":"2.0","ID":1,"method":"ping"}`, http: "202", stdio: ""},
		{name: "params with a letter that folds", text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","param\u017f":{"name":"good__echo"}}`, http: "200 -32602"},
		{name: "tool by a name in capitals", text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"good__echo"}}`, http: "200 -32602"},
		{name: "tool in capitals beside the right one", text: call(`"NAME":"bad__echo","arguments":{}`), http: "200 result good "},
		{name: "method with a Kelvin sign", text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo","to\u212aen":1}}`, http: "200 result good "},
		{name: "method name in capitals", text: `{"jsonrpc":"2.0","id":1,"method":"PING"}`, http: "200|404 -32601"},
		{name: "method name with a space", text: `{"jsonrpc":"2.0","id":1,"method":"ping "}`, http: "200|404 -32601"},
		{name: "method name with a NUL", text: `{"jsonrpc":"2.0","id":1,"method":"ping\u0000"}`, http: "200|404 -32601"},
		{name: "method name that climbs", text: `{"jsonrpc":"2.0","id":1,"method":"x/../ping"}`, http: "200|404 -32601"},
		{name: "method that is a number", text: `{"jsonrpc":"2.0","id":1,"method":1}`, http: "400 -32600", stdio: "-32600"},
		{name: "method that is null", text: `{"jsonrpc":"2.0","id":1,"method":null}`, http: "400 -32600", stdio: "-32600"},
		{name: "method that is a list", text: `{"jsonrpc":"2.0","id":1,"method":["ping"]}`, http: "400 -32600", stdio: "-32600"},
		{name: "method of the inside", text: `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled"}`, http: "200|404 -32601"},
		{name: "a method for clients", text: `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`, http: "200|404 -32601"},

		{name: "deep lists", text: call(`"arguments":` + deep(1<<20, "[", "", "]")), http: "400 -32700"},
		{name: "deep objects", text: call(`"arguments":` + deep(1<<18, `{"a":`, "1", "}")), http: "400 -32700"},
		{name: "deep and open", text: strings.Repeat(`{"a":`, 1<<20), http: "400 -32700"},
		{name: "deep metadata", text: call(`"_meta":` + deep(1<<18, `{"a":`, "1", "}")), http: "400 -32700"},
		{name: "just deep enough", text: call(`"arguments":{"a":` + deep(1000, "[", "", "]") + `}`), http: "200 result good "},

		{name: "id that is an object", text: `{"jsonrpc":"2.0","id":{},"method":"ping"}`, http: "400 -32600"},
		{name: "id that is a list", text: `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, http: "400 -32600"},
		{name: "id that is null", text: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, http: "400 -32600"},
		{name: "id that is true", text: `{"jsonrpc":"2.0","id":true,"method":"ping"}`, http: "400 -32600"},
		{name: "id with all its digits", text: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, http: `200 result "id":9007199254740993,`},
		{name: "id that is a fraction", text: `{"jsonrpc":"2.0","id":1.50,"method":"ping"}`, http: `200 result "id":1.50,`},
		{name: "id beyond all numbers", text: `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, http: `200 result "id":1e400,`},
		{name: "id of a million digits", text: `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 1<<20) + `,"method":"ping"}`, http: `200 result "id":999`},
		{name: "id that ends the answer", text: `{"jsonrpc":"2.0","id":"1\",\"result\":\"WRONG","method":"ping"}`, http: `200 result "id":"1\",\"result\":\"WRONG",`},
		{name: "id with a line end", text: `{"jsonrpc":"2.0","id":"a\nb","method":"ping"}`, http: `200 result "id":"a\nb",`},

		{name: "NaN", text: call(`"arguments":{"a":NaN}`), http: "400 -32700"},
		{name: "Infinity", text: call(`"arguments":{"a":-Infinity}`), http: "400 -32700"},
		{name: "hexadecimal", text: call(`"arguments":{"a":0x10}`), http: "400 -32700"},
		{name: "zeros in front", text: call(`"arguments":{"a":007}`), http: "400 -32700"},
		{name: "plus in front", text: call(`"arguments":{"a":+1}`), http: "400 -32700"},
		{name: "dot at the end", text: call(`"arguments":{"a":1.}`), http: "400 -32700"},
		{name: "undefined", text: call(`"arguments":{"a":undefined}`), http: "400 -32700"},
		{name: "single quotes", text: `{'jsonrpc':'2.0','id':1,'method':'ping'}`, http: "400 -32700"},
		{name: "names without quotes", text: `{jsonrpc:"2.0",id:1,method:"ping"}`, http: "400 -32700"},
		{name: "comma at the end", text: `{"jsonrpc":"2.0","id":1,"method":"ping",}`, http: "400 -32700"},
		{name: "comment", text: `{"jsonrpc":"2.0",/* */"id":1,"method":"ping"}`, http: "400 -32700"},
		{name: "comment behind", text: ping + `// {`, http: "400 -32700"},
		{name: "two messages", text: ping + ping, http: "400 -32700"},
		{name: "text behind", text: ping + `x`, http: "400 -32700"},
		{name: "a guard in front", text: `)]}',` + ping, http: "400 -32700"},
		{name: "a frame of server-sent events", text: `data: ` + ping, http: "400 -32700"},
		{name: "byte order mark", text: "\ufeff" + ping, http: "400 -32700", stdio: "result"}, // some write it in front of a stream
		{name: "UTF-16", text: "\xff\xfe{\x00}\x00", http: "400 -32700"},
		{name: "invalid UTF-8", text: call(`"arguments":{"a":"` + "\xff" + `"}`), http: "400 -32700"},
		{name: "overlong UTF-8", text: call(`"arguments":{"a":"` + "\xc0\xaf" + `"}`), http: "400 -32700"},
		{name: "surrogates in UTF-8", text: call(`"arguments":{"a":"` + "\xed\xa0\x80" + `"}`), http: "400 -32700"},
		{name: "invalid UTF-8 in a name", text: `{"jsonrpc":"2.0","id":1,"meth` + "\xff" + `od":"ping"}`, http: "400 -32700"},
		{name: "half a surrogate in the tool's name", text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo\ud800"}}`, http: "200 -32602"},
		{name: "a raw NUL", text: call(`"arguments":{"a":"` + "\x00" + `"}`), http: "400 -32700"},
		{name: "a raw tab in a text", text: call(`"arguments":{"a":"` + "\t" + `"}`), http: "400 -32700"},
		{name: "an escape that is none", text: call(`"arguments":{"a":"\x41"}`), http: "400 -32700"},
		{name: "a text without an end", text: `{"jsonrpc":"2.0","id":1,"method":"ping`, http: "400 -32700"},
		{name: "half a message", text: `{"jsonrpc":"2.0","id":1,`, http: "400 -32700"},
		{name: "nothing", text: "", http: "400 -32700", stdio: "-"},
		{name: "spaces alone", text: "   ", http: "400 -32700", stdio: "-"},
		{name: "a text", text: `"ping"`, http: "400 -32600"},
		{name: "a number", text: `1`, http: "400 -32600"},
		{name: "null", text: `null`, http: "400 -32600"},
		{name: "true", text: `true`, http: "400 -32600"},
		{name: "an object of nothing", text: `{}`, http: "400 -32600"},
		{name: "no method", text: `{"jsonrpc":"2.0","id":1}`, http: "400 -32600"},
		{name: "params that are a list", text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["good__echo"]}`, http: "200 -32602"},
		{name: "params that are a text", text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"good__echo"}`, http: "200 -32602"},
		{name: "a member named like an object's insides", text: call(`"__proto__":{"name":"bad__echo"},"arguments":{}`), http: "200 result good "},
		{name: "a batch that is empty", text: `[]`, http: "200|400 -32600"},
		{name: "a batch bomb", text: `[` + strings.Repeat(ping+",", 9999) + ping + `]`, http: "200|400 -32600"},
		{name: "a batch of batches", text: `[[` + ping + `]]`, http: `200|400 "code":-32600`},
		{name: "a batch of numbers", text: `[1,2]`, http: `200|400 "code":-32600`},
		{name: "a batch with initialize", text: `[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]`, http: `200|400 "code":-32600`},
		{name: "many members", text: call(`"arguments":{` + members(100_000) + `}`), http: "200 result good "},
	}
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"m%d":%d`, i, i)
	}
	return b.String()
}

// parsing has each shape on both endpoints: their readers are two.
func parsing() class {
	c := class{name: "json"}
	for _, row := range shapes() {
		c.cases = append(c.cases, attack{name: row.name + ", HTTP", do: func(t *testing.T, s *stage) {
			d := s.pair()
			expect(t, post(t, d, row.text), row.http)
		}})
		if row.stdio == "-" {
			continue
		}
		want := row.stdio
		if _, rest, _ := strings.Cut(row.http, " "); want == "" {
			want = rest
		}
		c.cases = append(c.cases, attack{name: row.name + ", stdio", do: func(t *testing.T, s *stage) {
			if p := s.lines(); want == "" { // a notification
				p.exchange(t, row.text)
			} else {
				expectMessage(t, p.reply(t, row.text), want)
			}
		}})
	}
	return c
}

// lines returns the class's client on standard input.
func (s *stage) lines() *stdio {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipe == nil {
		s.pipe = pipe(s.t, wire.Servers{"good": rogue(s.t, spec{Name: "good"}), "bad": rogue(s.t, spec{Name: "bad"})})
		s.pipe.initialize(s.t, `{}`)
	}
	return s.pipe
}

// forwarding: what a server gets are the bytes that were looked at.
func forwarding() class {
	c := class{name: "forwarding"}
	for _, row := range [][2]string{
		{"digits", `{"a":9007199254740993,"b":1.50,"c":1e400,"d":-0}`},
		{"order and case of members", `{"b":1,"a":2,"B":3,"name":"bad__echo"}`},
		{"members that fold to others", `{"name":1,"Name":2,"na\u006de2":3,"\u212a":4}`},
		{"members twice, deep inside", `{"x":{"a":1,"a":2}}`},
		{"members that are the envelope's", `{"jsonrpc":"1.0","id":99,"method":"tools/list","params":{"name":"bad__echo"}}`},
		{"escapes as they were written", `{"a":"\u0041\/\u00e9"}`},
		{"half a surrogate", `{"a":"\ud800"}`},
		{"an escaped NUL", `{"a":"\u0000"}`},
		{"an escaped line end", `{"a":"x\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}"}`},
		{"letters that reorder", `{"a":"\u202e\u2066"}`},
		{"an object's insides", `{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}`},
		{"text of a shell", `{"a":"$(touch /tmp/x); ` + "`id`" + ` && ${HOME}"}`},
		{"placeholders", `{"a":"${HOME} ${env:PATH} $$ {{x}}"}`},
		{"empty names", `{"":1,"":2}`},
		{"white space", `{ "a" : [ 1 , 2 ] }`},
	} {
		for _, gateway := range []string{"HTTP", "stdio"} {
			c.cases = append(c.cases, attack{name: row[0] + ", " + gateway, do: func(t *testing.T, s *stage) {
				var got string
				if gateway == "HTTP" {
					got = post(t, s.pair(), tool("5", "good__echo", row[1])).Message()
				} else {
					p := s.lines()
					p.send(tool(wire.Quote(row[0]), "good__echo", row[1]))
					got = p.answer(t, wire.Quote(row[0]))
				}
				// The server says the line that it got.
				if want := wire.Quote(`"arguments":` + row[1]); !strings.Contains(got, want[1:len(want)-1]) {
					t.Errorf("the server got %s, want %s in it", got, want)
				}
				if !strings.Contains(got, "good ") {
					t.Errorf("got %s", got)
				}
			}})
		}
	}
	c.cases = append(c.cases, attack{name: "a raw line end becomes a space", do: func(t *testing.T, s *stage) {
		got := post(t, s.pair(), tool("5", "good__echo", "{\n\"a\":\r\n1}")).Message()
		if !strings.Contains(got, `{ \"a\":  1}`) {
			t.Errorf("got %s", got)
		}
	}})
	return c
}
