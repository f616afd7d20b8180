package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wait"
)

// known is a server of the handshake era whose tools a proxy knows, so that calls
// of the stateless era take the quick path. The given tools are added.
func known(tools ...runtimetest.Tool) *runtimetest.Server {
	s := runtimetest.Full(runtimetest.RevNov)
	s.Tools = append(s.Tools, tools...)
	return s
}

func handMade(name string, call runtimetest.Func) runtimetest.Tool {
	return runtimetest.Tool{Definition: json.RawMessage(`{"name":"` + name + `","inputSchema":{"type":"object"}}`), Call: call}
}

// directEndpoints gives, for each endpoint, a way to make a tools/call that is the first
// one to a server of its own, and gives the whole answer.
func directEndpoints(t *testing.T, tools ...runtimetest.Tool) map[string]func(params, capabilities, more string) string {
	t.Helper()
	web := serveJuly(t, proxy.Options{}, one(known(tools...)))
	web.call("tools/list", `{}`, `{}`)
	b := newPool(one(known(tools...)))
	b.listen = true
	line := attach(t, b.serve(t, proxy.Options{NoPrefix: true, Info: runtime.Implementation{Name: "mcpctl", Version: "1"}}))
	line.july(`0`, "tools/list", `{}`, `{}`)
	n := 0
	return map[string]func(params, capabilities, more string) string{
		"http": func(params, capabilities, more string) string {
			n++
			return web.send(request(fmt.Sprint(n), "tools/call", params, capabilities, more)).raw
		},
		"stdio": func(params, capabilities, more string) string {
			n++
			id := fmt.Sprint(n)
			ch := line.expect(id)
			line.send(julyLine(id, "tools/call", params, capabilities, more))
			return <-ch
		},
	}
}

// TestDirectCallIsTranslated: on the quick path the server gets nothing of the
// other era, and the client all that its own demands.
func TestDirectCallIsTranslated(t *testing.T) {
	got := make(chan string, 10)
	reflect := handMade("params", func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		got <- string(c.Params)
		return json.RawMessage(` {"content":[],"x":1.0}`), nil
	})
	for handler, call := range directEndpoints(t, reflect) {
		for _, c := range []struct{ capabilities, more, want string }{
			{`{}`, ``, `{"name":"params","arguments":{"n":9007199254740993},"_meta":{}}`},
			{`{}`, `,"io.modelcontextprotocol/clientInfo":{"name":"me"},"a.b/c":[1.0]`, `{"name":"params","arguments":{"n":9007199254740993},"_meta":{"a.b/c":[1.0]}}`},
			{everything, ``, `{"name":"params","arguments":{"n":9007199254740993},"_meta":{"progressToken":#}}`},
			{everything, `,"x":2`, `{"name":"params","arguments":{"n":9007199254740993},"_meta":{"progressToken":#,"x":2}}`},
		} {
			answer := call(`{"name":"params","arguments":{"n":9007199254740993}}`, c.capabilities, c.more)
			params := <-got
			if i := strings.Index(params, `"progressToken":`); i >= 0 {
				i += len(`"progressToken":`)
				params = params[:i] + "#" + strings.TrimLeft(params[i:], "0123456789")
			}
			if params != c.want {
				t.Errorf("%s: the server got %s, want %s", handler, params, c.want)
			}
			want := `"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcpctl","version":"1"},"dev.mcpctl/backendServerInfo":{"name":"fake-mcp","version":"1.0.0"}},"content":[],"x":1.0}}`
			if !strings.HasSuffix(strings.TrimSpace(answer), want) {
				t.Errorf("%s: got %s, want %s", handler, answer, want)
			}
		}
	}
}

// TestDirectCallAsks: the first thing that a server ever asks comes inside a call
// on the quick path, and reaches its client like any other.
func TestDirectCallAsks(t *testing.T) {
	asked := handMade("asks", func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		c.Progress(1, 2, "nobody wants it")
		res, err := c.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"Who?","requestedSchema":{"type":"object","properties":{"who":{"type":"string"}}}}`))
		if err != nil {
			return runtimetest.Text("error: " + err.Error()), nil //nolint:nilerr // the client's error is the result
		}
		return runtimetest.Text(string(res)), nil
	})
	for handler, call := range directEndpoints(t, asked) {
		line := call(`{"name":"asks"}`, everything, "")
		var first struct{ Result asks }
		if err := json.Unmarshal([]byte(line), &first); err != nil || first.Result.ResultType != "input_required" || len(first.Result.InputRequests) != 1 {
			t.Fatalf("%s: got %s", handler, line)
		}
		params := `{"name":"asks","inputResponses":{"b1":{"action":"accept","content":{"who":"octo"}}},"requestState":"` + first.Result.RequestState + `"}`
		if got := call(params, everything, `,"progressToken":"t"`); !strings.Contains(got, `octo`) || !strings.Contains(got, `"resultType":"complete"`) {
			t.Errorf("%s: got %s", handler, got)
		}
		if got := call(`{"name":"asks"}`, everything, ""); !strings.Contains(got, "input_required") {
			t.Errorf("%s: the second time: got %s", handler, got)
		}
	}
}

// TestDirectCallHasMore: what is no plain result takes the ways of the slow path,
// and the server is called once.
func TestDirectCallHasMore(t *testing.T) {
	for name, c := range map[string]struct{ params, capabilities, want string }{
		"an error of the server":     {`{"name":"refuse","arguments":{"code":-32055}}`, `{}`, `"error":{"code":-32055,`},
		"a tool that is none":        {`{"name":"refuse","arguments":{"code":-32602}}`, `{}`, `"error":{"code":-32602,`},
		"a client that lacks":        {`{"name":"ask_form"}`, `{"roots":{}}`, `"error":{"code":-32021,`},
		"pages to be opened":         {`{"name":"link_first","arguments":{"key":"k"}}`, everything, `"resultType":"input_required"`},
		"a result that has its type": {`{"name":"come_back","arguments":{"key":"k"}}`, everything, `back`},
		"a task, unasked":            {`{"name":"refuse","arguments":{"code":-32601}}`, `{}`, `"error":{"code":-32601,`},
	} {
		for handler, call := range directEndpoints(t) {
			if got := call(c.params, c.capabilities, ""); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s: got %s, want %s", handler, name, got, c.want)
			}
		}
	}
}

// TestDirectCallEndsWithItsClient: a client that cancels, or goes, is not
// answered, and the server told; an endpoint that ends does not wait for its calls.
func TestDirectCallEndsWithItsClient(t *testing.T) {
	s := known()
	b := newPool(one(s))
	b.listen = true
	c := attach(t, b.serve(t, proxy.Options{NoPrefix: true}))
	c.july(`0`, "tools/list", `{}`, `{}`)
	answered := c.expect(`"w"`)
	c.send(julyLine(`"w"`, "tools/call", `{"name":"wait"}`, `{}`, ""))
	wait.Until(t, "the call runs", func() bool { return s.Status().Running == 1 })
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`)
	wait.Until(t, "the call is cancelled", func() bool { return s.Status().Cancelled == 1 })
	c.july(`1`, "tools/list", `{}`, `{}`)
	select {
	case got := <-answered:
		t.Errorf("a cancelled request is answered: %s", got)
	default:
	}
	c.end() // waits for what is in flight: nothing
}

// TestDirectCallEndsWithItsRetry: a call that has asked, and goes on since its
// client has come back, ends when that cancels.
func TestDirectCallEndsWithItsRetry(t *testing.T) {
	waits := make(chan struct{})
	s := known(handMade("asks_and_waits", func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		if _, err := c.Ask(ctx, "roots/list", nil); err != nil {
			return nil, err
		}
		waits <- struct{}{}
		<-ctx.Done()
		close(waits)
		return nil, ctx.Err()
	}))
	b := newPool(one(s))
	b.listen = true
	c := attach(t, b.serve(t, proxy.Options{NoPrefix: true}))
	c.july(`0`, "tools/list", `{}`, `{}`)
	var first struct{ Result asks }
	if line := c.july(`2`, "tools/call", `{"name":"asks_and_waits"}`, everything); json.Unmarshal([]byte(line), &first) != nil || first.Result.RequestState == "" {
		t.Fatalf("got %s", line)
	}
	c.send(julyLine(`3`, "tools/call", `{"name":"asks_and_waits","inputResponses":{"b1":{"roots":[]}},"requestState":"`+first.Result.RequestState+`"}`, everything, ""))
	<-waits
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	<-waits // closed
	c.end() // waits for what is in flight: nothing
}

// TestDirectCallLosesItsServer: calls in flight end at once with the server.
func TestDirectCallLosesItsServer(t *testing.T) {
	for _, handler := range []string{"http", "stdio"} {
		s := known()
		b := newPool(one(s))
		b.listen = true
		p := b.serve(t, proxy.Options{NoPrefix: true})
		answers := make(chan string, 8)
		if handler == "stdio" {
			c := attach(t, p)
			c.july(`0`, "tools/list", `{}`, `{}`)
			for i := range 8 {
				id := fmt.Sprint(i + 1)
				ch := c.expect(id)
				c.send(julyLine(id, "tools/call", `{"name":"wait"}`, `{}`, ""))
				go func() { answers <- <-ch }()
			}
		} else {
			url := serveProxy(t, p)
			post := func(id, method, params string) string {
				body, head := request(id, method, params, `{}`, "")
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
				if err != nil {
					return err.Error()
				}
				req.Header = head
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return err.Error()
				}
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				return fmt.Sprint(string(got), err)
			}
			post(`0`, "tools/list", `{}`)
			for i := range 8 {
				go func() { answers <- post(fmt.Sprint(i+1), "tools/call", `{"name":"wait"}`) }()
			}
		}
		wait.Until(t, handler+": the calls run", func() bool { return s.Status().Running == 8 })
		b.kill(func(proxy.Key) bool { return true })
		for range 8 {
			if got := next(t, answers); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `"kind":"connect"`) {
				t.Errorf("%s: got %s", handler, got)
			}
		}
	}
}

// serveProxy puts a proxy behind an HTTP endpoint and gives its URL.
func serveProxy(t *testing.T, p *proxy.Proxy) string {
	t.Helper()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	s := serveHTTP(t, handler)
	t.Cleanup(func() {
		handler.Close()
		s.close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s.url
}
