package runtimetest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// lines reads r to its end, in the background, and returns a function for the
// next line: "" at the end, or where none comes within five minutes.
func lines(r io.Reader) func() string {
	c := make(chan string, 100) // more than any test prints
	go func() {
		defer close(c)
		for s := bufio.NewScanner(r); s.Scan(); {
			c <- s.Text()
		}
	}()
	return func() string {
		select {
		case l := <-c:
			return l
		case <-time.After(5 * time.Minute):
			return ""
		}
	}
}

func say(t *testing.T, w io.Writer, line string) {
	t.Helper()
	if _, err := io.WriteString(w, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// get opens a stream and returns its lines, "" at its end.
func get(t *testing.T, url, session, last string) func() string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set("Mcp-Session-Id", session)
	if last != "" {
		req.Header.Set("Last-Event-Id", last)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 {
		t.Fatalf("GET: %d", res.StatusCode)
	}
	return lines(res.Body)
}

func TestResume(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full()
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"poll","inputSchema":{"type":"object"}}`),
		Call: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			c.Poll()
			return runtimetest.Text("polled"), nil
		},
	})
	srv := httptest.NewServer(s.Handler(runtimetest.HTTPOptions{SSE: true, Sessions: true, Stream: true, Resume: true}))
	defer srv.Close()
	res, _ := post(t, srv.URL, initMessage)
	id := res.Header.Get("Mcp-Session-Id")
	post(t, srv.URL, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
	_, got := post(t, srv.URL, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"poll"}}`, "Mcp-Session-Id", id)
	if !strings.HasPrefix(got, "id: 2_0\ndata: \n\n") || !strings.Contains(got, "retry: 10\n\n") {
		t.Errorf("got %q, want a priming event and retry", got)
	}
	next := get(t, srv.URL, id, "2_0")
	var rest []string
	for l := next(); ; l = next() {
		if rest = append(rest, l); strings.HasPrefix(l, "data: ") {
			break
		}
	}
	if last := rest[len(rest)-1]; rest[0] != "id: 2_1" || !strings.Contains(last, "polled") {
		t.Errorf("resumed: %q", rest)
	}
	outside := get(t, srv.URL, id, "")
	s.Change("tools")
	s.AskOutside(t.Context(), "roots/list")
	for _, want := range []string{"id: 0_0", "event: message", "data: " + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, "", "id: 0_1", "event: message", "data: " + `{"jsonrpc":"2.0","id":"fake-1","method":"roots/list"}`} {
		if got := outside(); got != want {
			t.Errorf("stream: got %q, want %q", got, want)
		}
	}
	s.Drop() // ends the call of roots/list and the stream
	if res, _ := post(t, srv.URL, exactCall, "Mcp-Session-Id", id); res.StatusCode != 404 {
		t.Errorf("after the drop: %d", res.StatusCode)
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full()
	for line, want := range map[string]string{"change tools": "{}", "touch fake://note": "{}", "ask ping": "{}", "drop": "{}", "status": `{"Running":0,`, "what": `{"error"`} {
		if got := s.Command(line); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}
