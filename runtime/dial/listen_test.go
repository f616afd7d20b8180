package dial_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/require"
)

// delayedStream is a server of the handshake era that takes a while to open the
// stream for its requests, and answers a call with whether it was open.
func delayedStream(t *testing.T, opens time.Duration) string {
	var open atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			select {
			case <-time.After(opens):
			case <-r.Context().Done():
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			open.Store(true)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		result := fmt.Sprintf(`{"open":%v}`, open.Load())
		switch {
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case m.Method == "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"late","version":"1"}}`
		case m.Method == "server/discover":
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestWhoCanAnswerIsHeard: some servers lose requests without a listener, so the
// stream is open before the first call; one that does not open delays calls only
// briefly.
func TestWhoCanAnswerIsHeard(t *testing.T) {
	for _, c := range []struct {
		opens        time.Duration
		capabilities string
		want         string
	}{
		{100 * time.Millisecond, `{"elicitation":{}}`, `{"open":true}`},
		{time.Hour, `{}`, `{"open":false}`}, // nothing will be asked
		{time.Hour, `{"elicitation":{}}`, `{"open":false}`},
	} {
		start := time.Now()
		client, err := dial.Dial(t.Context(), config.Entry{Name: "late", URL: delayedStream(t, c.opens)}, dial.Options{Capabilities: json.RawMessage(c.capabilities)})
		require.NoError(t, err)
		got, err := client.Call(t.Context(), "tools/call", nil, &runtime.CallOptions{})
		if err != nil || string(got) != c.want {
			t.Errorf("%v %s: got %s %v, want %s", c.opens, c.capabilities, got, err, c.want)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%v: the call took %v", c.opens, took)
		}
		_ = client.Close()
	}
}
