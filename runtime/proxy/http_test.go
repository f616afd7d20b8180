package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// web is an HTTP endpoint over backends, and a client of it.
type web struct {
	t   *testing.T
	url string
	hc  *http.Client
}

func startHTTP(t *testing.T, b *backends, o proxy.HTTPOptions) *web {
	t.Helper()
	p, _ := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	handler := p.NewHTTPHandler(o)
	s := serveHTTP(t, handler)
	t.Cleanup(func() {
		handler.Close()
		s.close()
	})
	return &web{t: t, url: s.url, hc: s.client()}
}

// post sends a body and gives status, headers and the whole answer.
func (w *web) post(body string, headers ...string) (int, http.Header, string) {
	w.t.Helper()
	return w.do(http.MethodPost, body, headers...)
}

func (w *web) do(method, body string, headers ...string) (int, http.Header, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := w.hc.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(answer)
}

func (w *web) session(version string) string {
	w.t.Helper()
	status, head, body := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, version))
	id := head.Get("Mcp-Session-Id")
	if status != 200 || id == "" || !strings.Contains(body, fmt.Sprintf(`"protocolVersion":%q`, version)) {
		w.t.Fatalf("initialize: %d %q %s", status, id, body)
	}
	return id
}

const echoCall = `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"a__echo","arguments":{"message":"hi"}}}`

func TestHTTPCall(t *testing.T) {
	w := startHTTP(t, two(), proxy.HTTPOptions{})
	id := w.session("2025-11-25")
	if status, _, body := w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id); status != 202 || body != "" {
		t.Errorf("notification: %d %s", status, body)
	}
	for range 2 { // first the slow way, then the quick one
		status, head, body := w.post(echoCall, "Mcp-Session-Id", id, "MCP-Protocol-Version", "2025-11-25")
		if status != 200 || head.Get("Content-Type") != "application/json" || !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":9007199254740993,"result":`) {
			t.Errorf("got %d %s", status, body)
		}
	}
	_, _, body := w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__exact","arguments":{}}}`, "Mcp-Session-Id", id)
	if !strings.Contains(body, `"result":`+runtimetest.ExactResult) {
		t.Errorf("the result changed: %s", body)
	}
	if _, _, body := w.post(echoCall); !strings.Contains(body, "hi") {
		t.Errorf("without a session: %s", body)
	}
}

func TestHTTPRefusals(t *testing.T) {
	w := startHTTP(t, two(), proxy.HTTPOptions{MaxBody: 1000})
	id := w.session("2025-06-18")
	old := w.session("2025-03-26")
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		"not JSON":                {`nonsense`, nil, 400, `"code":-32700`},
		"no object":               {`7`, nil, 400, `"code":-32600`},
		"duplicate":               {`{"id":1,"id":2,"method":"ping"}`, nil, 400, `"code":-32600`},
		"content type":            {echoCall, []string{"Content-Type", "text/plain"}, 415, ""},
		"too large":               {`{"x":"` + strings.Repeat("x", 1000) + `"}`, nil, 413, `"code":-32600`},
		"unknown session":         {echoCall, []string{"Mcp-Session-Id", "nope"}, 404, "session"},
		"unknown version":         {echoCall, []string{"MCP-Protocol-Version", "1999-01-01"}, 400, `"code":-32022`},
		"modern request":          {`{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, nil, 400, `"code":-32020`},
		"unknown claim":           {`{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}}`, []string{"MCP-Protocol-Version", "2030-01-01"}, 400, `"supported":["2026-07-28","2025-11-25"`},
		"batch in a new revision": {`[` + echoCall + `]`, []string{"Mcp-Session-Id", id}, 400, `"code":-32600`},
		"batch in 2025-03-26":     {`[` + echoCall + `]`, []string{"Mcp-Session-Id", old}, 200, `[{"jsonrpc":"2.0","id":9007199254740993,"result":`},
		"foreign host":            {echoCall, []string{"Host", "evil.example.com"}, 403, "loopback"},
		"foreign origin":          {echoCall, []string{"Origin", "https://evil.example.com"}, 403, "origin"},
		"local origin":            {echoCall, []string{"Origin", "http://localhost:6274"}, 200, "hi"},
		"no message":              {`{"jsonrpc":"2.0"}`, nil, 400, `"code":-32600`},
		"id is null":              {`{"id":null,"method":"ping"}`, nil, 400, `"code":-32600`},
		"duplicate, its id known": {`{"id":7,"method":"ping","params":{"_meta":1,"_meta":2}}`, nil, 400, `"id":7,"error":{"code":-32600`},
		"method is no string":     {`{"id":1,"method":2}`, nil, 400, `"code":-32600`},
	} {
		if status, _, body := w.post(c.body, c.headers...); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: got %d %s, want %d %s", name, status, body, c.status, c.want)
		}
	}
	if status, head, _ := w.do(http.MethodPut, ""); status != 405 || head.Get("Allow") == "" {
		t.Errorf("PUT: got %d", status)
	}
}

func TestHTTPSessionEnds(t *testing.T) {
	w := startHTTP(t, two(), proxy.HTTPOptions{})
	id := w.session("2025-11-25")
	if status, _, _ := w.do(http.MethodDelete, "", "Mcp-Session-Id", id); status != 204 {
		t.Errorf("DELETE: got %d", status)
	}
	if status, _, _ := w.post(echoCall, "Mcp-Session-Id", id); status != 404 {
		t.Errorf("after DELETE: got %d", status)
	}
	if status, _, _ := w.do(http.MethodDelete, "", "Mcp-Session-Id", id); status != 404 {
		t.Errorf("second DELETE: got %d", status)
	}
	if status, _, _ := w.do(http.MethodDelete, ""); status != 400 {
		t.Errorf("DELETE of no session: got %d", status)
	}
}

func TestHTTPProgressMakesAStream(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := two()
		b.plain = plain
		w := startHTTP(t, b, proxy.HTTPOptions{})
		w.post(echoCall) // connects
		_, head, body := w.post(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":7},"name":"a__steps","arguments":{"n":3}}}`)
		events := strings.Split(strings.TrimSpace(body), "\n\n")
		if head.Get("Content-Type") != "text/event-stream" || len(events) != 4 {
			t.Fatalf("plain %v: got %s: %s", plain, head.Get("Content-Type"), body)
		}
		for _, e := range events[:3] {
			if !strings.Contains(e, `"notifications/progress"`) || !strings.Contains(e, `"progressToken":7`) {
				t.Errorf("plain %v: got %s", plain, e)
			}
		}
		if !strings.Contains(events[3], `"id":5,"result":`) {
			t.Errorf("plain %v: got %s", plain, events[3])
		}
	}
}

func TestHTTPCancelByMessage(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := two()
		b.plain = plain
		started := make(chan struct{}, 8)
		cancelled := make(chan struct{}, 8)
		b.servers["a"].Seen = func(frame []byte) {
			switch {
			case strings.Contains(string(frame), `"slow"`):
				started <- struct{}{}
			case strings.Contains(string(frame), "notifications/cancelled"):
				cancelled <- struct{}{}
			}
		}
		w := startHTTP(t, b, proxy.HTTPOptions{})
		id, other := w.session("2025-11-25"), w.session("2025-11-25")
		w.post(echoCall)
		var wg sync.WaitGroup
		wg.Go(func() {
			status, _, body := w.post(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a__slow","arguments":{"ms":60000}}}`, "Mcp-Session-Id", id)
			if status != 202 || body != "" {
				t.Errorf("plain %v: a cancelled call was answered: %d %s", plain, status, body)
			}
		})
		<-started
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`
		w.post(cancel, "Mcp-Session-Id", other) // another client's id: nothing happens
		select {
		case <-cancelled:
			t.Errorf("plain %v: a client has cancelled another's call", plain)
		default:
		}
		w.post(cancel, "Mcp-Session-Id", id)
		<-cancelled
		wg.Wait()
	}
}

func TestHTTPStreamTellsOfChanges(t *testing.T) {
	b := two()
	changed := false
	var mu sync.Mutex
	b.servers["a"].Methods = map[string]runtimetest.Func{"tools/list": listThatChanges(&mu, &changed)}
	w := startHTTP(t, b, proxy.HTTPOptions{})
	id := w.session("2025-11-25")
	w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", id)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url, nil)
	require.NoError(t, err)
	req.Header.Set("Mcp-Session-Id", id)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := w.hc.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %d", resp.StatusCode)
	}
	mu.Lock()
	changed = true
	mu.Unlock()
	w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__change"}}`, "Mcp-Session-Id", id)
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "notifications/tools/list_changed") {
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}

func TestHTTPStreamNeedsASession(t *testing.T) {
	w := startHTTP(t, two(), proxy.HTTPOptions{})
	if status, _, _ := w.do(http.MethodGet, ""); status != 400 {
		t.Errorf("got %d", status)
	}
	if status, _, _ := w.do(http.MethodGet, "", "Mcp-Session-Id", "nope"); status != 404 {
		t.Errorf("got %d", status)
	}
}
