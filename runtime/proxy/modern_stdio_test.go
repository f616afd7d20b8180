package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// julyLine makes the line of a self-contained request.
func julyLine(id, method, params, capabilities, more string) string {
	body, _ := request(id, method, params, capabilities, more)
	return body
}

// july sends a self-contained request and gives the answer line.
func (c *client) july(id, method, params, capabilities string) string {
	ch := c.expect(id)
	c.send(julyLine(id, method, params, capabilities, ""))
	return <-ch
}

func (b *pool) stdioOf(t *testing.T, o proxy.Options) *client {
	t.Helper()
	b.listen, b.plain = true, true
	return attach(t, b.serve(t, o))
}

func (b *pool) stdio(t *testing.T) *client {
	t.Helper()
	return b.stdioOf(t, proxy.Options{NoPrefix: len(b.servers) == 1, Info: runtime.Implementation{Name: "mcpctl", Version: "1"}})
}

// TestModernStdioBetweenLegacy: requests of both eras come in one process, in any
// order, and each is answered by its own rules.
func TestModernStdioBetweenLegacy(t *testing.T) {
	for era, s := range eras() {
		c := newPool(one(s)).stdio(t)
		modern := func(when string) {
			if got := c.july(`"d"`, "server/discover", `{}`, `{}`); !strings.Contains(got, `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`) {
				t.Errorf("%s, %s: discover: got %s", era, when, got)
			}
			if got := c.july(`1`, "tools/call", `{"name":"echo","arguments":{"message":"new"}}`, `{}`); !strings.Contains(got, `new`) || !strings.Contains(got, `"resultType":"complete"`) {
				t.Errorf("%s, %s: call: got %s", era, when, got)
			}
			if got := c.july(`1`, "ping", `{}`, `{}`); !strings.Contains(got, `-32601`) {
				t.Errorf("%s, %s: ping: got %s", era, when, got)
			}
		}
		modern("before the handshake")
		c.hello("2025-11-25", `{"elicitation":{"form":{}}}`, "me")
		modern("after it")
		if got := c.result("tools/call", `{"name":"echo","arguments":{"message":"old"}}`); !strings.Contains(got, "old") || strings.Contains(got, "resultType") {
			t.Errorf("%s: got %s", era, got)
		}
		if got := c.result("tools/call", `{"name":"ask_form"}`); !strings.Contains(got, `"who":"me"`) {
			t.Errorf("%s: asked nobody: %s", era, got)
		}
		if got := c.july(`2`, "tools/call", `{"name":"ask_form"}`, everything); !strings.Contains(got, "input_required") {
			t.Errorf("%s: got %s", era, got)
		}
		if got := c.result("ping", `{}`); got != `{}` {
			t.Errorf("%s: got %s", era, got)
		}
		// A claim of the session's own era means nothing in it.
		if got := c.result("tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}`); strings.Contains(got, "resultType") {
			t.Errorf("%s: got %s", era, got)
		}
	}
}

func TestModernStdioCancel(t *testing.T) {
	for era, s := range eras() {
		c := newPool(one(s)).stdio(t)
		c.july(`0`, "tools/list", `{}`, `{}`)
		answered := c.expect(`"w"`)
		c.send(julyLine(`"w"`, "tools/call", `{"name":"wait"}`, `{}`, ""))
		wait.Until(t, era+": the call runs", func() bool { return s.Status().Running == 1 })
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`)
		wait.Until(t, era+": the call is cancelled", func() bool { return s.Status().Cancelled == 1 })
		c.july(`1`, "tools/list", `{}`, `{}`)
		select {
		case got := <-answered:
			t.Errorf("%s: a cancelled request is answered: %s", era, got)
		default:
		}
	}
}

// TestModernStdioListen: listens run side by side, one that the client cancels is
// not answered, and the others end with the endpoint, in both ways.
func TestModernStdioListen(t *testing.T) {
	for era, s := range eras() {
		c := newPool(one(s)).stdio(t)
		c.july(`0`, "tools/list", `{}`, `{}`)
		gone, stays := c.expect(`7`), c.expect(`"7"`)
		for _, id := range []string{`7`, `"7"`} {
			c.send(julyLine(id, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, `{}`, ""))
			if got := next(t, c.notes); !strings.Contains(got, `"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`},"notifications":{"toolsListChanged":true}}`) {
				t.Errorf("%s: got %s", era, got)
			}
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		c.july(`1`, "tools/list", `{}`, `{}`)
		wait.Until(t, era+": the server is listened to", func() bool { return era == "legacy" || s.Status().Listens > 0 })
		s.Change("tools")
		if got := next(t, c.notes); !strings.Contains(got, `"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"7"}}`) {
			t.Errorf("%s: got %s", era, got)
		}
		c.end()
		if got := next(t, c.notes); !strings.Contains(got, `"notifications/cancelled","params":{"requestId":"7"`) {
			t.Errorf("%s: got %s", era, got)
		}
		if got := next(t, stays); got != `{"jsonrpc":"2.0","id":"7","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"7"}}}` {
			t.Errorf("%s: got %s", era, got)
		}
		select {
		case got := <-gone:
			t.Errorf("%s: a cancelled listen is answered: %s", era, got)
		default:
		}
	}
}

// TestModernExpires: a state is good for a quarter of an hour, and a call that
// waits for its answer is given up then.
func TestModernExpires(t *testing.T) {
	for era := range eras() {
		synctest.Test(t, func(t *testing.T) {
			s := eras()[era]
			b := newPool(one(s))
			b.plain = true
			c := attach(t, b.serve(t, proxy.Options{NoPrefix: true}))
			ask := func() asks {
				var a struct{ Result asks }
				require.NoError(t, json.Unmarshal([]byte(c.july(`1`, "tools/call", `{"name":"ask_form"}`, everything)), &a))
				return a.Result
			}
			retry := func(a asks) string {
				for key := range a.InputRequests {
					return c.july(`2`, "tools/call", fmt.Sprintf(`{"name":"ask_form","inputResponses":{%q:{"action":"decline"}},"requestState":%q}`, key, a.RequestState), everything)
				}
				return "nothing was asked"
			}
			a := ask()
			time.Sleep(seal.StateTTL - time.Second)
			if got := retry(a); !strings.Contains(got, "decline") {
				t.Errorf("%s: in time: got %s", era, got)
			}
			a = ask()
			time.Sleep(seal.StateTTL + time.Second)
			if got := retry(a); !strings.Contains(got, `-32602`) || !strings.Contains(got, "expired") {
				t.Errorf("%s: late: got %s", era, got)
			}
			c.end()
		})
	}
}

// TestModernCallOutlivesItsRequest: a call that waits for its client runs on when
// the request that it came with has ended, and ends with the proxy.
func TestModernCallOutlivesItsRequest(t *testing.T) {
	s := runtimetest.Full(runtimetest.RevNov)
	ended := make(chan error, 1)
	s.Tools = append(s.Tools, runtimetest.Tool{Definition: json.RawMessage(`{"name":"hold","inputSchema":{"type":"object"}}`), Call: func(ctx context.Context, call *runtimetest.Call) (json.RawMessage, error) {
		_, err := call.Ask(ctx, "roots/list", nil)
		ended <- err
		return runtimetest.Text("over"), nil
	}})
	b := newPool(one(s))
	p := b.serve(t, proxy.Options{NoPrefix: true})
	in, handler := io.Pipe()
	out, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- p.ServeStdio(ctx, in, toClient) }()
	got := make(chan string, 10)
	go func() {
		buf := make([]byte, 1<<20)
		for {
			n, err := out.Read(buf)
			if err != nil {
				return
			}
			got <- string(buf[:n])
		}
	}()
	if _, err := io.WriteString(handler, julyLine(`1`, "tools/call", `{"name":"hold"}`, everything, "")+"\n"); err != nil {
		t.Fatal(err)
	}
	if line := next(t, got); !strings.Contains(line, "input_required") {
		t.Fatalf("got %s", line)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	_ = handler.Close()
	_ = out.Close()
	select {
	case err := <-ended:
		t.Fatalf("the call has ended with its front: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}

// TestModernRetryWantsProgress: progress of a call goes under the token of the
// request that waits for it, and nowhere where that has none.
func TestModernRetryWantsProgress(t *testing.T) {
	s := runtimetest.Full(runtimetest.RevNov)
	s.Tools = append(s.Tools, runtimetest.Tool{Definition: json.RawMessage(`{"name":"climb","inputSchema":{"type":"object"}}`), Call: func(ctx context.Context, call *runtimetest.Call) (json.RawMessage, error) {
		call.Progress(1, 3, "before")
		_, err := call.Ask(ctx, "roots/list", nil)
		call.Progress(2, 3, "after")
		return runtimetest.Text("over"), err
	}})
	for first, retry := range map[string]string{"": `"r"`, `7`: `"r"`, `8`: ""} {
		c := newPool(one(s)).stdio(t)
		meta := func(token string) string {
			if token == "" {
				return ""
			}
			return `,"progressToken":` + token
		}
		ch := c.expect(`1`)
		c.send(julyLine(`1`, "tools/call", `{"name":"climb"}`, everything, meta(first)))
		var asked struct {
			Result struct{ RequestState string }
		}
		if line := <-ch; json.Unmarshal([]byte(line), &asked) != nil || asked.Result.RequestState == "" {
			t.Fatalf("got %s", line)
		}
		ch = c.expect(`2`)
		c.send(julyLine(`2`, "tools/call", `{"name":"climb","requestState":"`+asked.Result.RequestState+`","inputResponses":{"b1":{"roots":[]}}}`, everything, meta(retry)))
		if line := <-ch; !strings.Contains(line, "over") {
			t.Fatalf("got %s", line)
		}
		c.end()
		close(c.notes)
		var heard []string
		for n := range c.notes {
			heard = append(heard, n)
		}
		var want []string
		if first != "" {
			want = append(want, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+first+`,"progress":1,"total":3,"message":"before"}}`)
		}
		if retry != "" {
			want = append(want, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+retry+`,"progress":2,"total":3,"message":"after"}}`)
		}
		if strings.Join(heard, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q, then %q: got %s, want %s", first, retry, heard, want)
		}
	}
}

// TestServerIsReassured: a server that has asked for it hears that its question is
// still open, as long as the person thinks.
func TestServerIsReassured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var heard []string
		s := runtimetest.Full(runtimetest.RevNov)
		s.Seen = func(frame []byte) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(string(frame), "notifications/progress") {
				heard = append(heard, string(frame))
			}
		}
		s.Tools = append(s.Tools, runtimetest.Tool{Definition: json.RawMessage(`{"name":"hold","inputSchema":{"type":"object"}}`), Call: func(ctx context.Context, call *runtimetest.Call) (json.RawMessage, error) {
			_, err := call.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"?","requestedSchema":{"type":"object","properties":{}},"_meta":{"progressToken":"theirs"}}`))
			return runtimetest.Text("over"), err
		}})
		b := newPool(one(s))
		b.plain = true
		c := attach(t, b.serve(t, proxy.Options{NoPrefix: true}))
		var a struct{ Result asks }
		line := c.july(`1`, "tools/call", `{"name":"hold"}`, everything)
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Result.RequestState == "" || strings.Contains(line, "theirs") {
			t.Fatalf("got %s", line)
		}
		time.Sleep(time.Minute + time.Second)
		got := c.july(`2`, "tools/call", fmt.Sprintf(`{"name":"hold","inputResponses":{"b1":{"action":"cancel"}},"requestState":%q}`, a.Result.RequestState), everything)
		mu.Lock()
		if len(heard) != 4 || !strings.Contains(heard[3], `"progressToken":"theirs","progress":4`) || !strings.Contains(got, "over") {
			t.Errorf("heard %v, got %s", heard, got)
		}
		n := len(heard)
		mu.Unlock()
		time.Sleep(time.Minute)
		mu.Lock()
		if len(heard) != n {
			t.Errorf("heard %v after the answer", heard[n:])
		}
		mu.Unlock()
		c.end()
	})
}

// TestModernStdioListenIsToldOfTheEnd: an endpoint that is told to end says so to a
// client that listens.
func TestModernStdioListenIsToldOfTheEnd(t *testing.T) {
	p := newPool(one(runtimetest.Full(runtimetest.RevNov))).serve(t, proxy.Options{NoPrefix: true})
	in, handler := io.Pipe()
	out, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- p.ServeStdio(ctx, in, toClient)
		_ = toClient.Close()
	}()
	got := make(chan string, 10)
	go func() {
		defer close(got)
		s := bufio.NewScanner(out)
		for s.Scan() {
			got <- s.Text()
		}
	}()
	if _, err := io.WriteString(handler, julyLine(`5`, "subscriptions/listen", `{"notifications":{}}`, `{}`, "")+"\n"); err != nil {
		t.Fatal(err)
	}
	if line := next(t, got); !strings.Contains(line, "acknowledged") {
		t.Fatalf("got %s", line)
	}
	cancel()
	if line := next(t, got); !strings.Contains(line, `"notifications/cancelled","params":{"requestId":5`) {
		t.Errorf("got %s", line)
	}
	if line := next(t, got); !strings.Contains(line, `"id":5,"result"`) {
		t.Errorf("got %s", line)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	_ = handler.Close()
}

// TestModernListensAreBounded: a client with too many is refused one more, and
// served again when one has ended.
func TestModernListensAreBounded(t *testing.T) {
	c := newPool(one(runtimetest.Full(runtimetest.RevNov))).stdio(t)
	var noted sync.WaitGroup
	noted.Add(256)
	c.mu.Lock()
	c.note = func(line string) {
		if strings.Contains(line, "acknowledged") {
			noted.Done()
		}
	}
	c.mu.Unlock()
	for i := range 256 {
		id := fmt.Sprintf(`"l%d"`, i)
		c.expect(id) // the end of it
		c.send(julyLine(id, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, `{}`, ""))
	}
	noted.Wait()
	if got := c.july(`1`, "subscriptions/listen", `{"notifications":{}}`, `{}`); !strings.Contains(got, `-32600`) {
		t.Errorf("got %s", got)
	}
	noted.Add(1)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l7"}}`)
	again := make(chan struct{})
	go func() {
		noted.Wait()
		close(again)
	}()
	wait.Until(t, "one more, as one has ended", func() bool { // the cancelled one takes a moment
		ch := c.expect(`2`)
		c.send(julyLine(`2`, "subscriptions/listen", `{"notifications":{}}`, `{}`, ""))
		select {
		case <-again:
			return true
		case <-ch:
			return false
		}
	})
}
