package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// noQuestions are requests that no server may send to a client. Those for tasks
// are for clients that have declared tasks, which no server is told.
var noQuestions = []string{
	"initialize", "server/discover", "tools/call", "tools/list", "prompts/get", "prompts/list", "resources/read", "resources/list",
	"resources/templates/list", "resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel",
	"subscriptions/listen", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel", "tasks/update", "notifications/initialized",
	"elicitation/Create", "elicitation/create ", "roots/list/", "sampling", "x/y", "rpc.discover", "\u0000",
}

// demanding adds to a server a tool "demand" that sends a request of the method
// that it is called with.
func demanding(s *runtimetest.Server) *runtimetest.Server {
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"demand","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var a struct{ Method string }
			if err := json.Unmarshal(c.Arguments, &a); err != nil {
				return nil, err
			}
			answers, err := c.Questions(ctx, runtimetest.Question{Key: "k", Method: a.Method, Params: json.RawMessage(`{"name":"demand","arguments":{}}`)})
			switch {
			case err != nil && c.Version < runtimetest.RevJuly:
				return runtimetest.Text("refused: " + err.Error()), nil
			case err != nil:
				return nil, err // what asks
			}
			return runtimetest.Text("the client says " + string(answers["k"])), nil
		},
	})
	return s
}

// TestServersAskQuestionsOnly: whatever else a server sends as a request is
// refused, and never reaches a client: in a call and outside, in both eras.
func TestServersAskQuestionsOnly(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(demanding(s)))
		c := attach(t, w.p)
		asked := c.hello("2025-11-25", everything, "one")
		for _, method := range noQuestions {
			arguments := fmt.Sprintf(`{"name":"demand","arguments":{"method":%q}}`, method)
			if method == "\u0000" {
				arguments = `{"name":"demand","arguments":{"method":"\u0000"}}`
			}
			if got := c.call("tools/call", arguments); strings.Contains(got, "the client says") || !strings.Contains(got, "method not found") {
				t.Errorf("%s server, %q, client with a handshake: got %s", era, method, got)
			}
			got := w.call("tools/call", arguments, everything)
			if strings.Contains(got.raw, "input_required") || strings.Contains(got.raw, "the client says") || got.status != 200 {
				t.Errorf("%s server, %q, client without: got %d %s", era, method, got.status, got.raw)
			}
		}
		if n := asked.Load(); n != 0 {
			t.Errorf("%s server: the client was asked %d times", era, n)
		}
		for _, method := range []string{"elicitation/create", "sampling/createMessage", "roots/list"} {
			if got := c.call("tools/call", fmt.Sprintf(`{"name":"demand","arguments":{"method":%q}}`, method)); !strings.Contains(got, "the client says") {
				t.Errorf("%s server, %q: got %s", era, method, got)
			}
		}
		if n := asked.Load(); n != 3 {
			t.Errorf("%s server: the client was asked %d questions, want 3", era, n)
		}
	}
	t.Run("outside of calls", func(t *testing.T) {
		s := runtimetest.Full("2025-11-25")
		answers := make(chan string, 1)
		s.Seen = func(frame []byte) {
			if bytes.Contains(frame, []byte(`"fake-`)) {
				answers <- string(frame)
			}
		}
		c := attach(t, newPool(one(s)).serve(t, proxy.Options{SingleClient: true, NoPrefix: true}))
		asked := c.hello("2025-11-25", everything, "one")
		c.result("tools/call", `{"name":"echo","arguments":{"message":"hi"}}`)
		for _, method := range noQuestions {
			s.AskOutside(t.Context(), method)
			if got := <-answers; !strings.Contains(got, `"code":-32601`) {
				t.Errorf("%q: got %s", method, got)
			}
		}
		s.AskOutside(t.Context(), "ping")
		if got := <-answers; !strings.Contains(got, `"result":{}`) {
			t.Errorf("ping: got %s", got)
		}
		if n := asked.Load(); n != 0 {
			t.Errorf("the client was asked %d times", n)
		}
		s.AskOutside(t.Context(), "roots/list")
		if got := <-answers; !strings.Contains(got, "file:///one") {
			t.Errorf("roots/list: got %s", got)
		}
	})
	t.Run("several clients", func(t *testing.T) {
		s := demanding(runtimetest.Full("2025-11-25"))
		answers := make(chan string, 100)
		s.Seen = func(frame []byte) {
			if bytes.Contains(frame, []byte(`"fake-`)) {
				answers <- string(frame)
			}
		}
		b := newPool(one(s))
		p := b.serve(t, proxy.Options{NoPrefix: true})
		for _, name := range []string{"one", "two", "three"} {
			c := attach(t, p)
			asked := c.hello("2025-11-25", everything, name)
			c.result("tools/call", `{"name":"demand","arguments":{"method":"tools/call"}}`)
			if got := <-answers; !strings.Contains(got, `"code":-32601`) {
				t.Errorf("in a call: got %s", got)
			}
			s.AskOutside(t.Context(), "tools/call")
			if got := <-answers; !strings.Contains(got, `"code":-32601`) {
				t.Errorf("outside of calls: got %s", got)
			}
			if asked.Load() != 0 {
				t.Error("a client was asked")
			}
		}
		// A server that asks questions gets connections for each client.
		if keys := b.dialled(); len(keys) != 1 {
			t.Errorf("what is no question counts as one: %d connections, want 1", len(keys))
		}
	})
}
