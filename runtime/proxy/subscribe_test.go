package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// updates gives the URIs of the updates that a client has got so far.
func (c *client) updates() (out []string) {
	c.t.Helper()
	c.result("ping", `{}`) // what came before it has been read
	for {
		select {
		case got := <-c.notes:
			var m message
			var p struct{ URI string }
			if json.Unmarshal([]byte(got), &m) != nil || m.Method != "notifications/resources/updated" || json.Unmarshal(m.Params, &p) != nil {
				c.t.Errorf("got %s", got)
			}
			out = append(out, p.URI)
		default:
			return out
		}
	}
}

// counted notes how often a server is told of subscriptions.
func counted(s *runtimetest.Server) chan string {
	told := make(chan string, 100)
	s.Seen = func(frame []byte) {
		var m message
		var p struct{ URI string }
		if json.Unmarshal(frame, &m) == nil && strings.HasSuffix(m.Method, "subscribe") && json.Unmarshal(m.Params, &p) == nil {
			told <- strings.TrimPrefix(m.Method, "resources/") + " " + p.URI
		}
	}
	return told
}

// toucher is a tool that says that a resource has changed, subscribed or not.
func toucher() runtimetest.Tool {
	return runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"touch","inputSchema":{"type":"object"}}`),
		Call: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			c.Notify("notifications/resources/updated", c.Arguments)
			return runtimetest.Text("touched"), nil
		},
	}
}

// TestUpdatesReachTheirSubscribers and nobody else; a server is told of the first
// and of the last of them.
func TestUpdatesReachTheirSubscribers(t *testing.T) {
	for _, line := range [][]string{{"2025-11-25"}, {"2026-07-28"}, {"2026-07-28", "2025-11-25"}} {
		s := runtimetest.Full(line...)
		told := counted(s)
		b := newPool(map[string]*runtimetest.Server{"a": s})
		b.plain = line[0] == "2026-07-28" // whose streams the other one does not know
		p := b.serve(t, proxy.Options{})
		c1, c2, c3 := attach(t, p), attach(t, p), attach(t, p)
		c1.result("resources/subscribe", `{"uri":"fake://note"}`)
		c1.result("resources/subscribe", `{"uri":"fake://note"}`)
		c2.result("resources/subscribe", `{"uri":"fake://note"}`)
		c2.result("resources/subscribe", `{"uri":"fake://blob"}`)
		s.Touch("fake://note")
		s.Touch("fake://blob")
		for c, n := range map[*client]int{c1: 1, c2: 2} {
			for range n {
				if got := <-c.notes; !strings.Contains(got, `"method":"notifications/resources/updated","params":{"uri":"fake://`) || strings.Contains(got, "subscriptionId") {
					t.Errorf("%v: got %s", line, got)
				}
			}
		}
		c1.result("resources/unsubscribe", `{"uri":"fake://note"}`)
		c1.result("resources/unsubscribe", `{"uri":"fake://note"}`)
		s.Touch("fake://note")
		if got := <-c2.notes; !strings.Contains(got, "fake://note") {
			t.Errorf("%v: got %s", line, got)
		}
		c2.end()
		for c, want := range map[*client]int{c1: 0, c3: 0} {
			if got := c.updates(); len(got) != want {
				t.Errorf("%v: got %v", line, got)
			}
		}
		if len(line) == 1 && line[0] == "2025-11-25" {
			for _, want := range []string{"subscribe fake://note", "subscribe fake://blob"} {
				if got := <-told; got != want {
					t.Errorf("the server was told %q, want %q", got, want)
				}
			}
			if a, b := <-told, <-told; a == b || !strings.HasPrefix(a, "unsubscribe ") || !strings.HasPrefix(b, "unsubscribe ") {
				t.Errorf("the server was told %q and %q", a, b)
			}
			if len(told) > 0 {
				t.Errorf("the server was told %q", <-told)
			}
		}
	}
}

// TestUpdatesCarryTheClientsURI, also where a part of what was subscribed to has
// changed.
func TestUpdatesCarryTheClientsURI(t *testing.T) {
	a, other := runtimetest.Full("2025-11-25"), runtimetest.Full("2025-11-25")
	other.Tools = append(other.Tools, toucher())
	b := newPool(map[string]*runtimetest.Server{"a": a, "b": other})
	p := b.serve(t, proxy.Options{})
	c := attach(t, p)
	var list struct{ Resources []struct{ URI string } }
	require.NoError(t, json.Unmarshal([]byte(c.result("resources/list", `{}`)), &list))
	exposed := ""
	for _, r := range list.Resources {
		if strings.Contains(r.URI, "/b/") && strings.HasSuffix(r.URI, "note") {
			exposed = r.URI
		}
	}
	c.result("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, exposed))
	a.Touch("fake://note")
	other.Touch("fake://note")
	if got := <-c.notes; !strings.Contains(got, fmt.Sprintf(`"uri":%q`, exposed)) {
		t.Errorf("got %s, want %s", got, exposed)
	}
	c.result("tools/call", `{"name":"b__touch","arguments":{"uri":"fake://note/part","x":1.0}}`)
	if got := <-c.notes; !strings.Contains(got, fmt.Sprintf(`"uri":%q,"x":1.0`, exposed+"/part")) {
		t.Errorf("got %s, want a part of %s", got, exposed)
	}
	c.result("tools/call", `{"name":"b__touch","arguments":{"uri":"fake://notebook"}}`)
	if got := c.updates(); got != nil {
		t.Errorf("got %v", got)
	}
}

// TestSubscriptionOutlivesItsServer: once it is back it is told again, and the
// client that it may have missed something.
func TestSubscriptionOutlivesItsServer(t *testing.T) {
	s := runtimetest.Full("2025-11-25")
	b := newPool(map[string]*runtimetest.Server{"a": s})
	c := attach(t, b.serve(t, proxy.Options{}))
	c.result("resources/subscribe", `{"uri":"fake://note"}`)
	b.kill(func(proxy.Key) bool { return true })
	if got := <-c.notes; !strings.Contains(got, `"uri":"fake://note"`) {
		t.Errorf("got %s", got)
	}
	s.Touch("fake://note")
	if got := <-c.notes; !strings.Contains(got, `"uri":"fake://note"`) {
		t.Errorf("got %s", got)
	}
	if n := len(b.dialled()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestSubscriptionFollowsItsClient to a connection of its own.
func TestSubscriptionFollowsItsClient(t *testing.T) {
	s, _, _ := asking()
	s.Subscriptions = true
	s.Capabilities = json.RawMessage(`{"tools":{},"resources":{"subscribe":true}}`)
	s.Tools = append(s.Tools, toucher())
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	c1, c2 := attach(t, p), attach(t, p)
	c1.hello("2025-11-25", canElicit, "one")
	c2.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`) // or it would keep the shared one
	c1.result("resources/subscribe", `{"uri":"fake://note"}`)
	for range 3 {
		c1.result("tools/call", `{"name":"a__touch","arguments":{"uri":"fake://note"}}`)
		if got := c1.updates(); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		c1.result("tools/call", `{"name":"a__elicit","arguments":{}}`)
	}
	// What another's process does is not its own to know.
	c2.result("tools/call", `{"name":"a__touch","arguments":{"uri":"fake://note"}}`)
	if got := c1.updates(); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestSubscriptionsThatCannotBe(t *testing.T) {
	b := newPool(map[string]*runtimetest.Server{"a": runtimetest.New()})
	c := attach(t, b.serve(t, proxy.Options{}))
	for params, want := range map[string]string{
		`{}`:                    `"code":-32602`,
		`{"uri":7}`:             `"code":-32602`,
		`{"uri":"fake://note"}`: `"code":-32602,"message":"server a does not tell when its resources change"`,
	} {
		if got := c.call("resources/subscribe", params); !strings.Contains(got, want) {
			t.Errorf("%s: got %s", params, got)
		}
	}
	refusing := runtimetest.Full("2025-11-25")
	refusing.Methods["resources/subscribe"] = func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		return nil, &runtime.Error{Code: -32602, Message: "not that one"}
	}
	c = attach(t, newPool(map[string]*runtimetest.Server{"a": refusing}).serve(t, proxy.Options{}))
	if got := c.call("resources/subscribe", `{"uri":"fake://note"}`); !strings.Contains(got, "not that one") {
		t.Errorf("got %s", got)
	}
}
