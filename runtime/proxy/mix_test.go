package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// mixing is a server whose tool "mix" does what it is told, in order, and puts
// its caller's name into everything that it sends: progress, log lines,
// questions and the result. An answer by another is reported.
func mixing() *runtimetest.Server {
	s := runtimetest.New()
	s.Capabilities = json.RawMessage(`{"tools":{},"logging":{}}`)
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"mix","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var args struct {
				Who   string
				Steps []string
			}
			if err := json.Unmarshal(c.Arguments, &args); err != nil {
				return nil, err
			}
			for i, step := range args.Steps {
				switch step {
				case "progress":
					c.Progress(float64(i+1), 100, "for "+args.Who)
				case "log":
					c.Notify("notifications/message", json.RawMessage(fmt.Sprintf(`{"level":"info","data":"for %s"}`, args.Who)))
				case "ask":
					res, err := c.Ask(ctx, "elicitation/create", json.RawMessage(fmt.Sprintf(`{"message":"for %s","requestedSchema":{"type":"object","properties":{}}}`, args.Who)))
					if err == nil && !strings.Contains(string(res), `"by `+args.Who+`"`) {
						return runtimetest.Text("WRONG: " + args.Who + " was answered " + string(res)), nil
					}
				}
			}
			return runtimetest.Text("for " + args.Who), nil
		},
	})
	return s
}

// mixer is a client that checks that everything it gets is for it.
type mixer struct {
	t    *testing.T
	name string
	// call makes a tools/call with raw params and gives the raw answer.
	call  func(params string) string
	got   atomic.Int64
	asked atomic.Int64
}

// check looks at one message to the client and gives its answer to a question.
func (m *mixer) check(text string) string {
	m.got.Add(1)
	if !strings.Contains(text, "for "+m.name) {
		m.t.Errorf("%s got %s", m.name, text)
	}
	if strings.Contains(text, "WRONG") {
		m.t.Error(text)
	}
	m.asked.Add(1)
	return fmt.Sprintf(`{"action":"accept","content":{"x":"by %s"}}`, m.name)
}

func (m *mixer) run(calls int) {
	for range calls {
		steps := make([]string, 1+rand.IntN(4))
		for i := range steps {
			steps[i] = []string{"progress", "progress", "log", "ask"}[rand.IntN(4)]
		}
		raw, err := json.Marshal(map[string]any{"who": m.name, "steps": steps})
		if err != nil {
			m.t.Error(err)
		}
		// All clients have equal ids and equal tokens.
		m.check(m.call(fmt.Sprintf(`"name":%q,"arguments":%s`, "a__mix", raw)))
	}
}

// overStdio is a client of a stdio endpoint.
func overStdio(t *testing.T, p *proxy.Proxy, name, capabilities string) *mixer {
	c := attach(t, p)
	m := &mixer{t: t, name: name}
	c.hello("2025-11-25", capabilities, name)
	c.mu.Lock()
	c.answer = func(q message) string { return m.check(string(q.Params)) }
	c.note = func(line string) { m.check(line) }
	c.mu.Unlock()
	m.call = func(params string) string {
		id := fmt.Sprint(c.next.Add(1))
		return <-c.begin(id, "tools/call", `{"_meta":{"progressToken":`+id+`},`+params+`}`)
	}
	return m
}

// overHTTP is a client of an HTTP endpoint with a session.
func overHTTP(t *testing.T, url, name string) *mixer {
	m := &mixer{t: t, name: name}
	var session string
	post := func(body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		return http.DefaultClient.Do(req)
	}
	resp, err := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + canElicit + `,"clientInfo":{"name":"t","version":"1"}}}`)
	require.NoError(t, err)
	_ = resp.Body.Close()
	session = resp.Header.Get("Mcp-Session-Id")
	var next atomic.Int64
	m.call = func(params string) string {
		id := fmt.Sprint(next.Add(1))
		resp, err := post(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"_meta":{"progressToken":` + id + `},` + params + `}}`)
		if err != nil {
			t.Error(err)
			return ""
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			text := strings.TrimPrefix(lines.Text(), "data: ")
			var q message
			switch {
			case !strings.HasPrefix(text, "{"):
			case json.Unmarshal([]byte(text), &q) != nil:
				t.Errorf("got %s", text)
			case q.Method == "":
				return text
			case q.ID == nil:
				m.check(text)
			default:
				r, err := post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, m.check(string(q.Params))))
				if err != nil {
					t.Error(err)
					return ""
				}
				_ = r.Body.Close()
			}
		}
		t.Errorf("%s: the stream ended without an answer", name)
		return ""
	}
	return m
}

// overModernHTTP is a client of the stateless era: it answers with a new call.
func overModernHTTP(t *testing.T, url, name string) *mixer {
	m := &mixer{t: t, name: name}
	var next atomic.Int64
	once := func(params string) string {
		id := fmt.Sprint(next.Add(1))
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"_meta":{"progressToken":`+id+
			`,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":`+canElicit+`},`+params+`}}`))
		if err != nil {
			t.Error(err)
			return ""
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "a__mix",
		} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return ""
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			text := strings.TrimPrefix(lines.Text(), "data: ")
			var q message
			switch {
			case !strings.HasPrefix(text, "{"):
			case json.Unmarshal([]byte(text), &q) != nil:
				t.Errorf("got %s", text)
			case q.Method == "":
				return text
			default:
				m.check(text)
			}
		}
		t.Errorf("%s: the stream ended without an answer", name)
		return ""
	}
	m.call = func(params string) string {
		more := ""
		for range 20 {
			text := once(params + more)
			var r struct {
				Result struct {
					Type   string                                      `json:"resultType"`
					Inputs map[string]struct{ Params json.RawMessage } `json:"inputRequests"`
					State  json.RawMessage                             `json:"requestState"`
				}
			}
			if err := json.Unmarshal([]byte(text), &r); err != nil || r.Result.Type != "input_required" {
				return text
			}
			answers := map[string]json.RawMessage{}
			for key, q := range r.Result.Inputs {
				answers[key] = json.RawMessage(m.check(string(q.Params)))
			}
			raw, err := json.Marshal(answers)
			if err != nil {
				t.Error(err)
			}
			more = `,"inputResponses":` + string(raw) + `,"requestState":` + string(r.Result.State)
		}
		t.Errorf("%s: asked without end", name)
		return ""
	}
	return m
}

// TestNothingReachesAnotherClient: clients of both eras and all endpoints, with
// equal ids and tokens, call a server side by side. No answer, progress, log
// line or question gets to a client that it is not for.
func TestNothingReachesAnotherClient(t *testing.T) {
	s := mixing()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	web := serveHTTP(t, handler)
	t.Cleanup(func() {
		handler.Close()
		web.close()
		http.DefaultClient.CloseIdleConnections()
	})
	clients := []*mixer{
		overStdio(t, p, "one", canElicit), overStdio(t, p, "two", canElicit), overStdio(t, p, "deaf", `{}`),
		overHTTP(t, web.url, "web1"), overHTTP(t, web.url, "web2"),
		overModernHTTP(t, web.url, "new1"), overModernHTTP(t, web.url, "new2"),
	}
	var wg sync.WaitGroup
	for _, m := range clients {
		for range 4 {
			wg.Go(func() { m.run(110) })
		}
	}
	wg.Wait()
	total := int64(0)
	for _, m := range clients {
		t.Logf("%s: %d messages", m.name, m.got.Load())
		total += m.got.Load()
	}
	if total < 10_000 {
		t.Errorf("only %d messages", total)
	}
	if !slices.ContainsFunc(b.dialled(), own) {
		t.Error("nobody was given a connection of their own")
	}
}
