package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestBlankLineBehindACall: what comes with a message and is none must not
// keep the message from being sent on.
func TestBlankLineBehindACall(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	c.result("tools/list", `{}`) // connects: the calls go the quick way
	for i := range 20 {          // some are sent on by a write that is under way
		id := fmt.Sprint(i + 1000)
		answer := c.expect(id)
		c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"a__echo","arguments":{"message":"hi"}}}` + "\n\r\n")
		wait.For(t, "an answer", answer)
	}
}

// scripted is a connection whose answers are a function's.
type scripted struct {
	answer func(method string, params json.RawMessage) (json.RawMessage, error)
	closed atomic.Bool
}

func (s *scripted) Call(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
	if s.closed.Load() {
		return nil, runtime.ErrClosed
	}
	return s.answer(req.Method, req.Params)
}

func (s *scripted) Notify(context.Context, *runtime.Request) error { return nil }

func (s *scripted) Close() error {
	s.closed.Store(true)
	return nil
}

// script makes a proxy whose one server, "a", is what connect gives.
func script(t *testing.T, connect func(h runtime.Handler) *scripted) *client {
	t.Helper()
	return scriptTransport(t, "", func(h runtime.Handler) runtime.Transport { return connect(h) })
}

func scriptTransport(t *testing.T, version string, connect func(h runtime.Handler) runtime.Transport) *client {
	t.Helper()
	p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Dial: func(_ context.Context, _ proxy.Key, h runtime.Handler) (*runtime.Client, error) {
		return runtime.NewClient(connect(h), runtime.ClientOptions{Info: runtime.ServerInfo{Version: version, Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return attach(t, p)
}

const oneTool = `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`

// TestBackendThatEndsWhileItIsConnected: a connection that has ended by the
// time it could be used is not kept.
func TestBackendThatEndsWhileItIsConnected(t *testing.T) {
	var dials atomic.Int64
	c := script(t, func(h runtime.Handler) *scripted {
		s := &scripted{}
		first := dials.Add(1) == 1
		s.answer = func(method string, _ json.RawMessage) (json.RawMessage, error) {
			if method == "tools/list" {
				if first {
					s.closed.Store(true)
					h.Closed(errors.New("ended"))
				}
				return json.RawMessage(oneTool), nil
			}
			return json.RawMessage(`{"content":[]}`), nil
		}
		return s
	})
	c.result("tools/list", `{}`)
	// A call that comes before the first attempt is over is told how it ended.
	wait.Until(t, "a call goes over the second connection", func() bool {
		return c.result("tools/call", `{"name":"a__x"}`) == `{"content":[]}`
	})
	if n := dials.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// TestOneListFails: what a server does not list does not cost what it does.
func TestOneListFails(t *testing.T) {
	b := two()
	b.servers["a"].Methods = map[string]runtimetest.Func{
		"prompts/list": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return nil, &runtime.Error{Code: -32603, Message: "no prompts today"}
		},
		"resources/list": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"resources":{}}`), nil
		},
	}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	if got := c.result("tools/list", `{}`); !strings.Contains(got, `"a__echo"`) || strings.Contains(got, "partial") {
		t.Errorf("tools: got %s", got)
	}
	c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	for method, secret := range map[string]string{"prompts/list": "no prompts today", "resources/list": "not a JSON array"} {
		if got := c.result(method, `{}`); !strings.Contains(got, `"dev.mcpctl/partial":[{"server":"a","kind":"protocol"}]`) || strings.Contains(got, secret) || !strings.Contains(got, `"b__`) {
			t.Errorf("%s: got %s", method, got)
		}
	}
	if got := c.call("prompts/get", `{"name":"a__greet"}`); !strings.Contains(got, `"code":-32603,"message":"a: prompts/list: no prompts today`) || !strings.Contains(got, `"server":"a"`) {
		t.Errorf("got %s", got)
	}
}

// TestChangesWithoutEnd: a server that says all the time that its lists change
// is asked for them all the same, and one that says so because it was asked is
// not asked all the time.
func TestChangesWithoutEnd(t *testing.T) {
	for name, c := range map[string]struct {
		every       time.Duration // 0: whenever it is asked
		least, most int64
	}{
		"all the time":   {50 * time.Millisecond, 5, 20},
		"whenever asked": {0, 5, 20},
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked, running, overlaps atomic.Int64
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c1 := script(t, func(h runtime.Handler) *scripted {
				tell := func() { h.Notification(ctx, nil, "notifications/tools/list_changed", nil) }
				if c.every > 0 {
					go func() {
						tick := time.NewTicker(c.every)
						defer tick.Stop()
						for {
							select {
							case <-tick.C:
								tell()
							case <-ctx.Done():
								return
							}
						}
					}()
				}
				return &scripted{answer: func(string, json.RawMessage) (json.RawMessage, error) {
					asked.Add(1)
					if running.Add(1) > 1 {
						overlaps.Add(1)
					}
					defer running.Add(-1)
					time.Sleep(350 * time.Millisecond) // as time goes in the bubble
					if c.every == 0 {
						tell()
					}
					return json.RawMessage(oneTool), nil
				}}
			})
			c1.result("tools/list", `{}`)
			time.Sleep(time.Minute) // as above
			if n := asked.Load(); n < c.least || n > c.most {
				t.Errorf("%s: asked %d times in a minute, want %d to %d", name, n, c.least, c.most)
			}
			if n := overlaps.Load(); n > 0 {
				t.Errorf("%s: asked %d times while an answer was awaited", name, n)
			}
			stop()
		})
	}
}

// TestCallsTimeOut: a call that is not answered is ended and says so, also
// where nothing else would make the endpoint write.
func TestCallsTimeOut(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b"), RequestTimeout: 300 * time.Millisecond})
	for range 2 { // first the slow way, then the quick one
		if got := c.result("tools/call", `{"name":"a__slow","arguments":{"ms":60000}}`); !strings.Contains(got, `"dev.mcpctl/error":{"kind":"timeout","server":"a"}`) {
			t.Errorf("got %s", got)
		}
	}
}

// TestCallsTimeOutPerServer: a server's own bound counts, also where it has
// none and the others have.
func TestCallsTimeOutPerServer(t *testing.T) {
	servers := proxy.Named("a", "b")
	servers[0].RequestTimeout, servers[1].RequestTimeout = 150*time.Millisecond, -1
	_, c := start(t, two(), proxy.Options{Servers: servers, RequestTimeout: 500 * time.Millisecond})
	slow := c.begin(`"slow"`, "tools/call", `{"name":"b__slow","arguments":{"ms":1000}}`)
	for range 2 { // first the slow way, then the quick one
		if got := c.result("tools/call", `{"name":"a__slow","arguments":{"ms":60000}}`); !strings.Contains(got, `"dev.mcpctl/error":{"kind":"timeout","server":"a"}`) || !strings.Contains(got, "tools/call: no answer within 150ms") {
			t.Errorf("got %s", got)
		}
	}
	if got := <-slow; strings.Contains(got, "timeout") {
		t.Errorf("b: got %s", got)
	}
	if got := c.call("tools/call", `{"name":"b__slow","arguments":{"ms":700}}`); strings.Contains(got, "timeout") { // the quick way
		t.Errorf("b: got %s", got)
	}
}

// TestTooMuchInFlight: a client that asks for more than is served at once is
// not read from until some of it is answered.
func TestTooMuchInFlight(t *testing.T) {
	hold := make(chan struct{})
	b := two()
	b.hold = map[string]chan struct{}{"a": hold}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	const n = 4000
	var written atomic.Int64
	pause, all := make(chan struct{}), make(chan []chan string, 1)
	go func() {
		var answers []chan string
		for i := range n {
			answers = append(answers, c.begin(fmt.Sprint(i+1), "tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`))
			if written.Add(1) == 1000 {
				close(pause)
			}
		}
		all <- answers
	}()
	<-pause
	select {
	case <-all:
		t.Error("everything was read")
	case <-time.After(200 * time.Millisecond): // so long it stands still
	}
	close(hold)
	for _, answer := range <-all {
		<-answer
	}
}

// TestOnlyServerGetsUnlistedURIs: it may know more than it lists.
func TestOnlyServerGetsUnlistedURIs(t *testing.T) {
	b := &backends{servers: map[string]*runtimetest.Server{"a": runtimetest.New()}}
	seen := make(chan string, 4)
	b.servers["a"].Seen = func(frame []byte) {
		if strings.Contains(string(frame), "resources/read") {
			seen <- string(frame)
		}
	}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a")})
	c.call("resources/read", `{"uri":"elsewhere://x"}`)
	select {
	case got := <-seen:
		if !strings.Contains(got, `"uri":"elsewhere://x"`) {
			t.Errorf("got %s", got)
		}
	default:
		t.Error("it was not asked")
	}
}

// TestCallsBeforeTheEnd: what was put off to be sent with what follows is sent when
// nothing follows: calls whose input ends behind them, in the middle of a line, or
// with a line that is refused.
func TestCallsBeforeTheEnd(t *testing.T) {
	for name, rest := range map[string]string{"nothing": "", "half a line": `{"jsonrpc":"2.0","id":2,`, "a line that is none": "}\n", "blank lines": "\n\n \n"} {
		b := &backends{servers: map[string]*runtimetest.Server{"a": runtimetest.New()}}
		_, c := start(t, b, proxy.Options{Servers: proxy.Named("a")})
		c.result("tools/list", `{}`)
		one := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a__echo","arguments":{"message":"hi"}}}` + "\n"
		two := strings.ReplaceAll(julyLine(`"y"`, "tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`, `{}`, ""), "\n", "") + "\n"
		x, y := c.expect(`"x"`), c.expect(`"y"`)
		_, _ = io.WriteString(c.in, one+two+rest) // in one piece
		c.end()
		for _, ch := range []chan string{x, y} {
			if got := next(t, ch); !strings.Contains(got, "hi") {
				t.Errorf("%s: got %s", name, got)
			}
		}
	}
}
