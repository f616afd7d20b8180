//go:build attacks && linux

package attacks_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// tampered turn a text that was sealed for a client into one that was not.
func tampered() []struct {
	name string
	turn func(sealed string) string // gives raw JSON
} {
	as := func(f func(s string) string) func(string) string {
		return func(s string) string { return wire.Quote(f(s)) }
	}
	flip := func(at func(n int) int) func(string) string {
		return as(func(s string) string {
			b, err := base64.RawURLEncoding.DecodeString(s)
			if err != nil {
				return "no base64: " + s
			}
			b[at(len(b))] ^= 1
			return base64.RawURLEncoding.EncodeToString(b)
		})
	}
	return []struct {
		name string
		turn func(string) string
	}{
		{"its format", flip(func(int) int { return 0 })},
		{"its key's id", flip(func(int) int { return 2 })},
		{"its nonce", flip(func(int) int { return 7 })},
		{"its time", flip(func(int) int { return 18 })},
		{"its middle", flip(func(n int) int { return n / 2 })},
		{"its tag", flip(func(n int) int { return n - 1 })},
		{"its end cut off", as(func(s string) string { return s[:len(s)-4] })},
		{"its beginning cut off", as(func(s string) string { return s[4:] })},
		{"text behind", as(func(s string) string { return s + "AAAA" })},
		{"padding behind", as(func(s string) string { return s + "=" })},
		{"a line end behind", as(func(s string) string { return s + "\n" })},
		{"in the other alphabet of base64", as(func(s string) string {
			b, _ := base64.RawURLEncoding.DecodeString(s)
			return base64.StdEncoding.EncodeToString(append(b, 0xff, 0xff))
		})},
		{"twice", as(func(s string) string { return s + s })},
		{"in capitals", as(strings.ToUpper)},
		{"nothing", as(func(string) string { return "" })},
		{"plain JSON", as(func(string) string { return `{"b":"good","m":"tools/call","t":"good__echo"}` })},
		{"plain JSON in base64", as(func(string) string {
			return base64.RawURLEncoding.EncodeToString([]byte(`{"b":"good","m":"tools/call","t":"good__echo"}`))
		})},
		{"zeros", as(func(string) string { return strings.Repeat("A", 100) })},
		{"very long", as(func(string) string { return strings.Repeat("A", 1<<20) })},
		{"a number", func(string) string { return "1" }},
		{"an object", func(string) string { return "{}" }},
		{"a list", func(s string) string { return "[" + wire.Quote(s) + "]" }},
		{"true", func(string) string { return "true" }},
	}
}

// many is a server with more than a page of each.
func many(name string) spec {
	s := spec{Name: name, Tools: []string{plainTool("act"), plainTool("echo")}}
	for i := range 1200 {
		s.Tools = append(s.Tools, plainTool(fmt.Sprintf("t%d", i)))
		s.Prompts = append(s.Prompts, prompt(fmt.Sprintf("p%d", i)))
	}
	return s
}

func sealed() class {
	c := class{name: "sealed"}
	world := func(s *stage) *wire.Daemon {
		return s.serve("many", wire.Servers{"bad": rogue(s.t, many("bad")), "good": rogue(s.t, spec{Name: "good"})})
	}
	list := func(method, cursor string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"cursor":` + cursor + `}}`
	}
	cursorOf := func(t *testing.T, d *wire.Daemon, method string) string {
		t.Helper()
		return member(t, post(t, d, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`).Message(), "nextCursor")
	}
	for _, row := range tampered() {
		c.cases = append(c.cases, attack{name: "a cursor: " + row.name, do: func(t *testing.T, s *stage) {
			d := world(s)
			expect(t, post(t, d, list("tools/list", row.turn(cursorOf(t, d, "tools/list")))), "200 -32602")
		}})
		c.cases = append(c.cases, attack{name: "a state: " + row.name, do: func(t *testing.T, s *stage) {
			d := world(s)
			a := newAsked(t, d)
			res := a.retry(t, d, "bad__act", row.turn(a.state))
			expect(t, res, "200 -32602")
			expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right") // the call still waits
		}})
	}
	add := c.with(world)
	add("a cursor: of another list", func(t *testing.T, d *wire.Daemon) {
		expect(t, post(t, d, list("prompts/list", wire.Quote(cursorOf(t, d, "tools/list")))), "200 -32602")
	})
	add("a cursor: of another list, the other way", func(t *testing.T, d *wire.Daemon) {
		expect(t, post(t, d, list("tools/list", wire.Quote(cursorOf(t, d, "prompts/list")))), "200 -32602")
	})
	add("a cursor: the right one", func(t *testing.T, d *wire.Daemon) {
		expect(t, post(t, d, list("tools/list", wire.Quote(cursorOf(t, d, "tools/list")))), "200 result")
	})
	add("a cursor: a state in its place", func(t *testing.T, d *wire.Daemon) {
		a := newAsked(t, d)
		expect(t, post(t, d, list("tools/list", wire.Quote(a.state))), "200 -32602")
		expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right")
	})
	add("a cursor: it tells nothing of what is in it", func(t *testing.T, d *wire.Daemon) {
		if b, err := base64.RawURLEncoding.DecodeString(cursorOf(t, d, "tools/list")); err != nil || strings.Contains(string(b), "1000") || strings.Contains(string(b), "tools") {
			t.Errorf("%v: %q", err, b)
		}
	})
	for name, other := range map[string]string{"another tool": "bad__echo", "another server's tool": "good__act", "a tool that is not there": "bad__none"} {
		add("a state: for "+name, func(t *testing.T, d *wire.Daemon) {
			a := newAsked(t, d)
			res := a.retry(t, d, other, wire.Quote(a.state))
			expect(t, res, "200 -32602")
			expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right")
		})
	}
	add("a state: for another method", func(t *testing.T, d *wire.Daemon) {
		a := newAsked(t, d)
		res := post(t, d, modern("prompts/get", `"name":"bad__p1","requestState":`+wire.Quote(a.state)), mirrorsOf("prompts/get", "bad__p1")...)
		expect(t, res, "200 -32602")
		expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right")
	})
	add("a state: a cursor in its place", func(t *testing.T, d *wire.Daemon) {
		a := newAsked(t, d)
		expect(t, a.retry(t, d, "bad__act", wire.Quote(cursorOf(t, d, "tools/list"))), "200 -32602")
		expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right")
	})
	add("a state: again after the end", func(t *testing.T, d *wire.Daemon) {
		a := newAsked(t, d)
		expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right")
		if res := a.retry(t, d, "bad__act", wire.Quote(a.state)); strings.Contains(res.Body, "bad right") {
			t.Errorf("the call is made twice: %s", res.Body)
		}
	})
	add("a state: it tells nothing of what is in it", func(t *testing.T, d *wire.Daemon) {
		a := newAsked(t, d)
		if b, err := base64.RawURLEncoding.DecodeString(a.state); err != nil || strings.Contains(string(b), "act") || strings.Contains(string(b), "bad") {
			t.Errorf("%v: %q", err, b)
		}
		expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right")
	})
	c.cases = append(c.cases, attack{name: "a state: of a process with other keys", do: func(t *testing.T, s *stage) {
		d := world(s)
		a := newAsked(t, d)
		elsewhere := serve(t, wire.Servers{"bad": rogue(t, spec{Name: "bad"})})
		expect(t, a.retry(t, elsewhere, "bad__act", wire.Quote(a.state)), "200 -32602")
		expect(t, a.retry(t, d, "bad__act", wire.Quote(a.state)), "200 result bad right")
	}}, attack{name: "a cursor: of a process with other keys", do: func(t *testing.T, s *stage) {
		elsewhere := serve(t, wire.Servers{"bad": rogue(t, many("bad")), "good": rogue(t, spec{Name: "good"})})
		expect(t, post(t, elsewhere, list("tools/list", wire.Quote(cursorOf(t, world(s), "tools/list")))), "200 -32602")
	}})
	return c
}

// asked is a call of a modern client that waits for an answer of a person.
type asked struct{ frames, key, state string }

// newAsked calls bad's act, which asks.
func newAsked(t testing.TB, d *wire.Daemon) *asked {
	t.Helper()
	raw, err := json.Marshal([]string{
		`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`, "!wait", rightAnswer,
	})
	require.NoError(t, err)
	a := &asked{frames: string(raw)}
	res := post(t, d, modern("tools/call", `"name":"bad__act","arguments":{"frames":`+a.frames+`}`), mirrorsOf("tools/call", "bad__act")...)
	var m struct {
		Result struct {
			InputRequests map[string]json.RawMessage
			RequestState  string
		}
	}
	if err := json.Unmarshal([]byte(res.Message()), &m); err != nil || m.Result.RequestState == "" || len(m.Result.InputRequests) != 1 {
		t.Fatalf("%v: %s", err, res.Body)
	}
	a.state = m.Result.RequestState
	for a.key = range m.Result.InputRequests {
		break
	}
	return a
}

// retry comes back with the answer, and with a state as raw JSON.
func (a *asked) retry(t testing.TB, d *wire.Daemon, tool, state string) wire.Response {
	t.Helper()
	return post(t, d, modern("tools/call", `"name":`+wire.Quote(tool)+`,"arguments":{"frames":`+a.frames+`},"inputResponses":{`+wire.Quote(a.key)+`:{"action":"accept","content":{"name":"x"}}},"requestState":`+state), mirrorsOf("tools/call", tool)...)
}

const revision = "2026-07-28"

// modern is a request of the stateless era; members are those of its params.
func modern(method, members string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision + `","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	if members != "" {
		meta += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + meta + members + `}}`
}

// mirrorsOf are the headers that repeat one.
func mirrorsOf(method, name string) []string {
	return []string{"MCP-Protocol-Version: " + revision, "Mcp-Method: " + method, "Mcp-Name: " + name}
}

// member returns a text of a result.
func member(t testing.TB, message, name string) string {
	t.Helper()
	var m struct {
		Result map[string]json.RawMessage
	}
	var s string
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatalf("%v: %.300s", err, message)
	}
	if err := json.Unmarshal(m.Result[name], &s); err != nil {
		t.Fatalf("%s: %v: %.300s", name, err, message)
	}
	return s
}
