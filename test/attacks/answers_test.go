//go:build attacks && linux

package attacks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// forged are frames that a server writes in the middle of a call, before it
// answers rightly. None of them may end the call, nor another's.
func forged() [][2]string {
	wrong := `"result":{"content":[{"type":"text","text":"WRONG"}]}`
	frame := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + wrong + `}` }
	return [][2]string{
		{"an id that nobody has", frame(`999999`)},
		{"zero", frame(`0`)},
		{"a negative id", frame(`-1`)},
		{"its own id, negative", frame(`-$ID`)},
		{"its own id as a fraction", frame(`$ID.5`)},
		{"its own id with a zero behind", frame(`$ID0`)},
		{"its own id with digits in front", frame(`1844674407370955161$ID`)},
		{"an id beyond 64 bits", frame(`18446744073709551617`)},
		{"an id beyond all numbers", frame(`1e999`)},
		{"a text", frame(`"no-such-id"`)},
		{"an empty text", frame(`""`)},
		{"its own id in spaces", frame(`" $ID "`)},
		{"its own id with a sign", frame(`"+$ID"`)},
		{"its own id in other digits", frame(`"\u0661"`)},
		{"null", frame(`null`)},
		{"true", frame(`true`)},
		{"a list with its own id", frame(`[$ID]`)},
		{"an object", frame(`{"id":$ID}`)},
		{"no id", `{"jsonrpc":"2.0",` + wrong + `}`},
		{"an id in capitals", `{"jsonrpc":"2.0","ID":$ID,` + wrong + `}`},
		{"an error with no id", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"WRONG"}}`},
		{"an error for an id that nobody has", `{"jsonrpc":"2.0","id":999999,"error":{"code":-32000,"message":"WRONG"}}`},
		{"an error for null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"WRONG"}}`},
		{"a request with its own id", `{"jsonrpc":"2.0","id":$ID,"method":"ping"}`},
		{"a request with its own id and a result", `{"jsonrpc":"2.0","id":$ID,"method":"ping",` + wrong + `}`},
		{"a notification with a result", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":1},` + wrong + `}`},
		{"a batch", `[` + frame(`$ID`) + `]`},
		{"garbage", `WRONG { [ "`},
		{"an empty line", ``},
		{"a header of another framing", "Content-Length: 40\r"},
		{"half a message of another id", `{"jsonrpc":"2.0","id":999999,"result":{"content":[{"type":"text","text":"WRONG`},
		{"a message and more behind", frame(`999999`) + `{}`},
		{"a byte order mark", "\ufeff" + frame(`999999`)},
		{"invalid UTF-8", "\xff\xfe" + frame(`999999`)},
		{"a NUL", "\x00"},
		{"progress with another's token", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":999999,"progress":1,"message":"WRONG"}}`},
		{"progress with a token that is a client's", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"victim","progress":1,"message":"WRONG"}}`},
		{"progress with a token of another kind", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{"a":1},"progress":1,"message":"WRONG"}}`},
		{"progress without a token", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"message":"WRONG"}}`},
		{"a cancel of the client's request", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"WRONG"}}`},
		{"a cancel of its own request", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID,"reason":"WRONG"}}`},
		{"initialized, as a client says", `{"jsonrpc":"2.0","method":"notifications/initialized","params":{"x":"WRONG"}}`},
		{"news of roots, as a client has", `{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"x":"WRONG"}}`},
		{"a notification that is none", `{"jsonrpc":"2.0","method":"notifications/../tools/call","params":{"x":"WRONG"}}`},
		{"news of a resource that nobody listens for", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"WRONG:x"}}`},
		{"an acknowledgement of a listen", `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"x":"WRONG"}}`},
		{"a status of a task of nobody", `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"WRONG","status":"completed"}}`},
		{"an end of an elicitation of nobody", `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"WRONG"}}`},
	}
}

func answers() class {
	c := class{name: "answers"}
	for _, row := range forged() {
		c.cases = append(c.cases, attack{name: "before the right one: " + row[0], do: func(t *testing.T, s *stage) {
			d := s.pair()
			// One client's call waits at good, and another's at bad, while bad forges.
			victims := make(chan wire.Response, 2)
			for _, server := range []string{"good", "bad"} {
				go func() { victims <- post(t, d, acting(`"victim"`, server, "!sleep 60ms", rightAnswer)) }()
			}
			res := post(t, d, acting("7", "bad", "!sleep 20ms", row[1], rightAnswer))
			expect(t, res, "200 result bad right")
			for range 2 {
				v := <-victims
				expect(t, v, "200 result right")
				res.Body += v.Body
			}
			if strings.Contains(res.Body, "WRONG") {
				t.Errorf("a client gets it: %s", res.Body)
			}
		}})
	}
	for _, row := range [][3]string{
		// Frames that are an answer, and what the client gets.
		{"result and error", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"error":{"code":1,"message":"x"}}`, "200 "},
		{"neither result nor error", `{"jsonrpc":"2.0","id":$ID}`, "200 "},
		{"id twice", `{"jsonrpc":"2.0","id":999999,"id":$ID,"result":{"content":[]}}`, "200 "},
		{"result twice", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"one"}]},"result":{"content":[{"type":"text","text":"two"}]}}`, "200 "},
		{"a result that is null", `{"jsonrpc":"2.0","id":$ID,"result":null}`, "200 "},
		{"a result that is a text", `{"jsonrpc":"2.0","id":$ID,"result":"x"}`, "200 "},
		{"a result that is a list", `{"jsonrpc":"2.0","id":$ID,"result":[]}`, "200 "},
		{"an error that is null", `{"jsonrpc":"2.0","id":$ID,"error":null}`, "200 "},
		{"an error that is a text", `{"jsonrpc":"2.0","id":$ID,"error":"x"}`, "200 "},
		{"an error without a code", `{"jsonrpc":"2.0","id":$ID,"error":{"message":"x"}}`, "200 "},
		{"an error with a code beyond all numbers", `{"jsonrpc":"2.0","id":$ID,"error":{"code":1e999,"message":"x"}}`, "200 "},
		{"an error with data that is deep", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"x","data":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`, "200 -32000"},
		{"an answer of another protocol", `{"jsonrpc":"1.0","id":$ID,"result":{"content":[]}}`, "200 "},
		{"an error that says the session is unknown", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"session not found"}}`, "200 -32001"},
		{"an error that says the request was cancelled", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32800,"message":"cancelled"}}`, "200 -32800"},
		{"an error that is a redirect", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32042,"message":"x","data":{"elicitations":[{"mode":"url","url":"javascript:alert(1)","message":"m","elicitationId":"1"}]}}}`, "200 -32042"},
		{"a frame for a stream inside the text", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n\n"}]}}`, "200 result"},
		{"a line end inside of white space", `!raw {"jsonrpc":"2.0","id":$ID,` + "\r" + `"result":{"content":[{"type":"text","text":"cr"}]}}` + "\n", "200 result cr"},
		{"half an answer", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"WRONG`, "200 result isError"},
		{"half a surrogate", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"\ud800"}]}}`, `200 result \ud800`},
	} {
		c.cases = append(c.cases, attack{name: "in place of one: " + row[0], do: func(t *testing.T, s *stage) {
			d := s.serve("short", wire.Servers{"bad": short(rogue(s.t, spec{Name: "bad"})), "good": rogue(s.t, spec{Name: "good"})})
			res := post(t, d, acting("7", "bad", row[1]))
			expect(t, res, row[2])
			if m := res.Message(); !strings.HasPrefix(m, `{"jsonrpc":"2.0","id":7,`) || strings.Count(res.Body, `"id":7,`) != 1 {
				t.Errorf("got %s", res.Body)
			}
			expect(t, post(t, d, acting("7", "bad", rightAnswer)), "200 result bad right")
		}})
	}
	for _, row := range [][2]string{
		{"a second answer", rightAnswer + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"WRONG"}]}}`},
		{"an error behind the answer", rightAnswer + "\n" + `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"WRONG"}}`},
		{"progress behind the answer", rightAnswer + "\n" + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"message":"WRONG"}}`},
		{"a question behind the answer", rightAnswer + "\n" + `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"WRONG","requestedSchema":{"type":"object","properties":{}}}}`},
		{"a log line behind the answer", rightAnswer + "\n" + `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"emergency","data":"WRONG"}}`},
	} {
		c.cases = append(c.cases, attack{name: "late: " + row[0], do: func(t *testing.T, s *stage) {
			d := s.pair()
			expect(t, post(t, d, acting("7", "bad", row[1])), "200 result bad right")
			// The next ones have ids that are near.
			for i := range 3 {
				res := post(t, d, acting(fmt.Sprint(i), "bad", "!sleep 10ms", rightAnswer))
				expect(t, res, "200 result bad right")
				if strings.Contains(res.Body, "WRONG") {
					t.Errorf("the next client gets it: %s", res.Body)
				}
			}
		}})
	}
	c.cases = append(c.cases,
		attack{name: "a server answers all ids that there can be", do: func(t *testing.T, s *stage) {
			d := s.pair()
			victim := make(chan wire.Response, 1)
			go func() { victim <- post(t, d, acting(`"victim"`, "good", "!sleep 150ms", rightAnswer)) }()
			var frames []string
			for i := range 300 {
				frames = append(frames, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"WRONG"}]}}`, i))
			}
			expect(t, post(t, d, acting("1", "bad", append([]string{rightAnswer}, frames...)...)), "200 result bad right")
			expect(t, <-victim, "200 result good right")
		}},
		attack{name: "a cancelled call is answered late", do: func(t *testing.T, s *stage) {
			d := s.pair()
			h := openSession(t, d, `{}`)
			done := make(chan wire.Response, 1)
			go func() {
				done <- post(t, d, acting("70", "bad", "!sleep 300ms", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"WRONG"}]}}`), h)
			}()
			time.Sleep(100 * time.Millisecond) // by then it is under way
			post(t, d, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":70}}`, h)
			if res := <-done; strings.Contains(res.Body, "WRONG") {
				t.Errorf("got %s", res.Body)
			}
			res := post(t, d, acting("70", "bad", "!sleep 400ms", rightAnswer), h)
			expect(t, res, "200 result bad right")
			if strings.Contains(res.Body, "WRONG") {
				t.Errorf("the next call with this id gets it: %s", res.Body)
			}
		}},
		attack{name: "a server ends in the middle of a call", do: func(t *testing.T, s *stage) {
			d := s.pair()
			expect(t, post(t, d, acting("1", "bad", "!exit")), "200 result isError")
			expect(t, post(t, d, acting("2", "bad", rightAnswer)), "200 result bad right")
		}},
	)
	return c
}

// short bounds the requests of a server to a second.
func short(entry map[string]any) map[string]any {
	entry["requestTimeout"] = "1s"
	return entry
}

// questions are requests that a server has for clients. A client is asked what
// the specification lets servers ask, in the middle of its own call, and nothing
// that it has not said it can answer.
func questions() class {
	c := class{name: "questions"}
	everything := `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}}`
	for _, row := range []struct{ name, method, params, capabilities string }{
		{"initialize", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`, everything},
		{"a call of a tool", "tools/call", `{"name":"good__echo","arguments":{}}`, everything},
		{"the list of tools", "tools/list", `{}`, everything},
		{"a resource", "resources/read", `{"uri":"file:///etc/passwd"}`, everything},
		{"a prompt", "prompts/get", `{"name":"x"}`, everything},
		{"a completion", "completion/complete", `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}}`, everything},
		{"a log level", "logging/setLevel", `{"level":"debug"}`, everything},
		{"a subscription", "resources/subscribe", `{"uri":"file:///etc/passwd"}`, everything},
		{"discovery", "server/discover", `{}`, everything},
		{"a listen", "subscriptions/listen", `{}`, everything},
		{"a method that nobody knows", "evil/method", `{}`, everything},
		{"a method of a client's own", "client/execute", `{"command":"id"}`, everything},
		{"a notification with an id", "notifications/cancelled", `{"requestId":7}`, everything},
		{"an empty method", "", `{}`, everything},
		{"a method with a line end", "ping\nx", `{}`, everything},
		{"a page, of a client that has forms only", "elicitation/create", `{"mode":"url","message":"m","url":"https://attacker.example","elicitationId":"1"}`, `{"elicitation":{"form":{}}}`},
		{"a form, of a client that has none", "elicitation/create", `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`, `{}`},
		{"a text of a model, of a client that has none", "sampling/createMessage", `{"messages":[],"maxTokens":1}`, `{}`},
		{"folders, of a client that has none", "roots/list", `{}`, `{}`},
		{"a text with tools, of a client that has no tools", "sampling/createMessage", `{"messages":[],"maxTokens":1,"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`, `{"sampling":{}}`},
	} {
		c.cases = append(c.cases, attack{name: row.name + " is not asked", do: func(t *testing.T, s *stage) {
			d := s.pair()
			h := openSession(t, d, row.capabilities)
			out := stream(t, d, "/mcp", h).out
			ask := `{"jsonrpc":"2.0","id":"q","method":` + wire.Quote(row.method) + `,"params":` + row.params + `}`
			res := post(t, d, acting("1", "bad", ask, "!sleep 100ms", rightAnswer), h)
			expect(t, res, "200 result bad right")
			for _, text := range []string{res.Body, out.String()} {
				if strings.Contains(text, `"method":`+wire.Quote(row.method)) {
					t.Errorf("the client is asked: %s", text)
				}
			}
		}})
	}
	// Outside of any call, a shared server has nobody to ask.
	for _, row := range [][2]string{
		{"a form", `"elicitation/create","params":{"message":"WRONG","requestedSchema":{"type":"object","properties":{}}}`},
		{"a page", `"elicitation/create","params":{"mode":"url","message":"WRONG","url":"https://attacker.example","elicitationId":"1"}`},
		{"a text of a model", `"sampling/createMessage","params":{"messages":[],"maxTokens":1,"systemPrompt":"WRONG"}`},
	} {
		c.cases = append(c.cases, attack{name: row[0] + " outside of calls is not asked", do: func(t *testing.T, s *stage) {
			d := s.pair()
			h := openSession(t, d, everything)
			out := stream(t, d, "/mcp", h).out
			other := openSession(t, d, everything)
			expect(t, post(t, d, acting("1", "bad", rightAnswer+"\n"+`{"jsonrpc":"2.0","id":"q","method":`+row[1]+`}`), other), "200 result")
			expect(t, post(t, d, acting("2", "good", "!sleep 100ms", rightAnswer), h), "200 result")
			if strings.Contains(out.String(), "WRONG") {
				t.Errorf("a client is asked: %s", out)
			}
		}})
	}
	c.cases = append(c.cases, attack{name: "with the calls of two clients under way, neither is asked", do: func(t *testing.T, _ *stage) {
		bad := rogue(t, spec{Name: "bad"})
		bad["isolation"] = "shared"
		d := serve(t, wire.Servers{"bad": bad})
		one, two := openSession(t, d, everything), openSession(t, d, everything)
		toolNames(t, d)
		done := make(chan wire.Response, 1)
		go func() { done <- post(t, d, acting("1", "bad", "!sleep 500ms", rightAnswer), one) }()
		time.Sleep(150 * time.Millisecond) // by then it is under way
		res := post(t, d, acting("2", "bad", `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"WRONG","requestedSchema":{"type":"object","properties":{}}}}`, "!sleep 100ms", rightAnswer), two)
		first := <-done
		expect(t, first, "200 result bad right")
		expect(t, res, "200 result bad right")
		if strings.Contains(first.Body+res.Body, "WRONG") {
			t.Errorf("got %s\n%s", first.Body, res.Body)
		}
	}})
	return c
}
