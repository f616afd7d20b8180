package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wait"
)

// lines gives the log lines that a client has got so far.
func (c *client) lines() (out []string) {
	c.t.Helper()
	c.result("ping", `{}`) // what came before it has been read
	for {
		select {
		case got := <-c.notes:
			var m message
			var p struct{ Data string }
			if json.Unmarshal([]byte(got), &m) != nil || m.Method != "notifications/message" || json.Unmarshal(m.Params, &p) != nil {
				c.t.Errorf("got %s", got)
			}
			out = append(out, p.Data)
		default:
			return out
		}
	}
}

func say(level, text string) string {
	return fmt.Sprintf(`{"name":"a__say","arguments":{"level":%q,"text":%q}}`, level, text)
}

// TestLogLevels: each session has its own; a server is told the most verbose
// one that anybody wants.
func TestLogLevels(t *testing.T) {
	s, _, _ := asking()
	s.Capabilities = json.RawMessage(`{"tools":{},"logging":{}}`)
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	c1, c2, c3 := attach(t, p), attach(t, p), attach(t, p)
	c1.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`)
	for _, params := range []string{`{"level":"loud"}`, `{"level":3}`, `{}`} {
		if got := c1.call("logging/setLevel", params); !strings.Contains(got, `"code":-32602`) {
			t.Errorf("%s: got %s", params, got)
		}
	}
	c2.result("logging/setLevel", `{"level":"error"}`)
	c1.result("tools/list", `{}`)
	// A list has what the server offers a moment before the connection can be used.
	wait.Until(t, "the server is told error when it connects", func() bool { return s.Status().Level == "error" })
	c1.result("logging/setLevel", `{"level":"debug"}`)
	c3.result("logging/setLevel", `{"level":"warning"}`)
	wait.Until(t, "the server is told debug", func() bool { return s.Status().Level == "debug" })
	for _, level := range []string{"debug", "notice", "error", "emergency"} {
		for _, c := range []*client{c1, c2, c3} {
			c.result("tools/call", say(level, level))
		}
	}
	for c, want := range map[*client]string{c1: "debug notice error emergency", c2: "error emergency", c3: "error emergency"} {
		if got := strings.Join(c.lines(), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestLogLineThatCouldBeSeveralClients goes to nobody.
func TestLogLineThatCouldBeSeveralClients(t *testing.T) {
	s, started, release := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	c1, c2 := attach(t, p), attach(t, p)
	for range 2 { // the slow way and the quick one
		waiting := c2.begin(`"w"`, "tools/call", `{"name":"a__wait","arguments":{}}`)
		<-started
		c1.result("tools/call", say("error", "x"))
		if got1, got2 := c1.lines(), c2.lines(); got1 != nil || got2 != nil {
			t.Errorf("got %v and %v", got1, got2)
		}
		release <- struct{}{}
		<-waiting
		// One client's own calls do not hide its lines.
		waiting = c1.begin(`"w"`, "tools/call", `{"name":"a__wait","arguments":{}}`)
		<-started
		c1.result("tools/call", say("error", "mine"))
		if got := strings.Join(c1.lines(), " "); got != "mine" {
			t.Errorf("got %q", got)
		}
		release <- struct{}{}
		<-waiting
	}
}

// TestLogLinesOfOwnConnection come also outside calls.
func TestLogLinesOfOwnConnection(t *testing.T) {
	s, _, _ := asking()
	later := make(chan func(text string), 10)
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"later","inputSchema":{"type":"object"}}`),
		Call: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			later <- func(text string) {
				c.Notify("notifications/message", json.RawMessage(fmt.Sprintf(`{"level":"info","data":%q}`, text)))
			}
			return runtimetest.Text("later"), nil
		},
	})
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{Servers: []proxy.Server{{Name: "a", Isolation: proxy.IsolationSession}}})
	c1, c2 := attach(t, p), attach(t, p)
	for i, c := range []*client{c1, c2} {
		c.result("tools/call", `{"name":"a__later","arguments":{}}`)
		(<-later)(fmt.Sprint("for ", i))
		if got := <-c.notes; !strings.Contains(got, fmt.Sprintf(`"data":"for %d"`, i)) {
			t.Errorf("got %s", got)
		}
	}
	if a, b := c1.lines(), c2.lines(); a != nil || b != nil {
		t.Errorf("got %v and %v", a, b)
	}
}

// TestLogLevelOfModernServer: it is told with each request, and only of a client
// that has set one.
func TestLogLevelOfModernServer(t *testing.T) {
	b := newPool(map[string]*runtimetest.Server{"a": runtimetest.Full("2026-07-28")})
	p := b.serve(t, proxy.Options{})
	c1, c2 := attach(t, p), attach(t, p)
	c1.result("logging/setLevel", `{"level":"warning"}`)
	for _, level := range []string{"info", "error"} {
		for _, c := range []*client{c1, c2} {
			c.result("tools/call", fmt.Sprintf(`{"name":"a__log","arguments":{"level":%q,"text":%q},"_meta":{"example.com/k":1}}`, level, level))
		}
	}
	if got := strings.Join(c1.lines(), " "); got != "error" {
		t.Errorf("got %q, want error", got)
	}
	if got := c2.lines(); got != nil {
		t.Errorf("a client that has set no level got %v", got)
	}
}
