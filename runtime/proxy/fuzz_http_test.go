package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/sse"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// fuzzPatience is how long an exchange may stay open before its endpoint is closed:
// streams, listens and questions do not end by themselves.
const fuzzPatience = 20 * time.Millisecond

// FuzzHTTP: whatever is sent to the Streamable HTTP endpoint, with whatever headers
// and inside or outside of a session, the answer has a status that the
// specification names, and holds JSON-RPC messages where it says so. 503 comes
// only from an endpoint that is closed.
func FuzzHTTP(f *testing.F) {
	p := fuzzProxy(f)
	for _, s := range sessionSeeds() {
		for line := range strings.SplitSeq(s, "\n") {
			for _, v := range []string{"", "2025-03-26", "2025-11-25", "2026-07-28"} {
				f.Add(byte(0), line, v, "SESSION", "application/json, text/event-stream", "Mcp-Method: tools/call\nMcp-Name: old__tell")
			}
		}
	}
	f.Add(byte(1), "", "2025-11-25", "SESSION", "text/event-stream", "Last-Event-Id: 1-1")
	f.Add(byte(2), "", "", "SESSION", "", "")
	f.Add(byte(3), "", "1", "x", "text/html;q=0", "Content-Type: text/plain\nOrigin: http://example.com")
	f.Fuzz(func(t *testing.T, method byte, body, version, session, accept, headers string) {
		handler := p.NewHTTPHandler(proxy.HTTPOptions{})
		defer handler.Close()
		if session == "SESSION" {
			session = openSession(t, handler, []string{"2025-11-25", "2025-03-26", "2025-06-18", "2024-11-05"}[method/4%4])
		}
		r := httptest.NewRequestWithContext(t.Context(), []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodPut}[method%4], "http://127.0.0.1/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for name, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Session-Id": session, "Accept": accept} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		for line := range strings.SplitSeq(headers, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Add(name, value)
			}
		}
		w := httptest.NewRecorder()
		closed := exchangeOf(t, handler, w, r, handler.Close, fuzzPatience)
		statuses := []int{200, 202, 204, 400, 403, 404, 405, 406, 413, 415}
		if closed {
			statuses = append(statuses, 503)
		}
		if !slices.Contains(statuses, w.Code) {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		checkBody(t, w)
	})
}

// openSession shakes hands with an HTTP endpoint and gives the session's id.
func openSession(t *testing.T, handler http.Handler, version string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"c","version":"1"}}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	id := w.Header().Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %d %s", w.Code, w.Body)
	}
	return id
}

// exchangeOf serves a request; where that takes long it closes the endpoint, and
// tells so.
func exchangeOf(t *testing.T, h http.Handler, w http.ResponseWriter, r *http.Request, shut func(), wait time.Duration) (closed bool) {
	t.Helper()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		h.ServeHTTP(w, r)
	}()
	for {
		select {
		case panicked := <-done:
			if panicked != nil {
				panic(panicked)
			}
			return closed
		case <-time.After(wait):
			if closed {
				t.Fatal("the front does not end an exchange when it is closed")
			}
			closed, wait = true, fuzzTime
			go shut()
		}
	}
}

// checkBody wants the messages of a response to be some.
func checkBody(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	switch w.Header().Get("Content-Type") {
	case "application/json":
		messagesOf(t, bytes.TrimSpace(w.Body.Bytes()))
	case "text/event-stream":
		checkEvents(t, w.Body)
	}
}

// checkEvents wants the events of a stream to hold messages, and gives the
// answers among them by id.
func checkEvents(t *testing.T, body io.Reader) map[string]int {
	t.Helper()
	answers := map[string]int{}
	for events := sse.NewReader(body, 1<<20); ; {
		e, err := events.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return answers
		}
		require.NoError(t, err)
		if e.Name != "" && e.Name != "message" || len(e.Data) == 0 {
			continue
		}
		for _, m := range messagesOf(t, e.Data) {
			if m.Method == nil {
				answers[string(m.ID)]++
			}
		}
	}
}

// FuzzSSE: whatever lines a client of HTTP+SSE POSTs, each is taken or refused
// with a status, what comes on its stream are JSON-RPC messages, and each
// request that was taken is answered at most once, a last one always.
func FuzzSSE(f *testing.F) {
	p := fuzzProxy(f)
	for _, s := range sessionSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input string) {
		handler := p.NewSSEHandler(proxy.SSEOptions{})
		defer handler.Close()
		w := &flowing{ResponseRecorder: httptest.NewRecorder(), news: make(chan struct{}, 1)}
		streamed := make(chan struct{})
		go func() {
			defer close(streamed)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/sse", nil)
			r.Header.Set("Accept", "text/event-stream")
			handler.ServeHTTP(w, r)
		}()
		first := w.await(t, "\n\n")
		_, path, _ := strings.Cut(first, "data: ")
		path, _, _ = strings.Cut(path, "\n")
		post := func(line string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(line))
			r.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			exchangeOf(t, handler.Messages(), answer, r, handler.Close, fuzzTime) // it is not answered there
			checkBody(t, answer)
			return answer.Code
		}
		for line := range strings.SplitSeq(input, "\n") {
			if code := post(line); code != http.StatusAccepted && code != http.StatusBadRequest {
				t.Errorf("status %d to %q", code, line)
			}
		}
		const last = `"the very last"`
		if strings.Contains(input, "very") || strings.Contains(input, `\u`) {
			t.Skip("its id is taken")
		}
		if code := post(`{"jsonrpc":"2.0","id":` + last + `,"method":"ping"}`); code != http.StatusAccepted {
			t.Fatalf("status %d", code)
		}
		w.await(t, `"id":`+last)
		handler.Close()
		<-streamed
		sure, perhaps := requestsIn([]byte(input))
		answers := checkEvents(t, w.Body)
		for id, n := range answers {
			if most := sure[id] + perhaps[id]; n > most && id != "null" && id != last {
				t.Errorf("%d answers with id %s to %d requests", n, id, most)
			}
		}
	})
}

// flowing is a response that is looked at while it is written.
type flowing struct {
	*httptest.ResponseRecorder
	mu   sync.Mutex // guards the recorder's body while the handler runs
	news chan struct{}
}

func (w *flowing) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
	return w.ResponseRecorder.Write(b)
}

// await waits until something has been written.
func (w *flowing) await(t *testing.T, what string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fuzzTime)
	defer cancel()
	for {
		w.mu.Lock()
		got := w.Body.String()
		w.mu.Unlock()
		if strings.Contains(got, what) {
			return got
		}
		select {
		case <-w.news:
		case <-ctx.Done():
			t.Fatalf("%q never came: %.2000s", what, got)
		}
	}
}
