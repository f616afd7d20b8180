package hostile

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// HTTPFaults are the names that [Handler] takes.
func HTTPFaults() []string {
	return []string{
		"", "http-forgets", "http-500", "http-cut", "http-cut-answer", "http-reset", "http-endless-header", "http-redirect", "http-slow-body",
		"http-content-type", "http-bomb", "http-endless-body", "http-endless-event", "http-flood-events", "http-hang", "http-wrong-ids",
		"http-unauthorized", "http-empty", "http-garbage", "http-ask-pending-id",
	}
}

// Handler is a server over Streamable HTTP with one fault, which shows with
// tools/call, "" for none; or one of [Leaks].
func Handler(name, fault string) http.Handler {
	return &remote{name: name, fault: fault}
}

type remote struct {
	name, fault string
	begun       atomic.Int64 // sessions

	mu    sync.Mutex // guards calls
	calls map[string]int
}

// used counts the calls of a session.
func (s *remote) used(session string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[session]++
	return s.calls[session]
}

func (s *remote) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 128<<20))
	var m message
	if err != nil || json.Unmarshal(raw, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.leak(w, r, &m) {
		return
	}
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", s.begun.Add(1)))
		s.answer(w, &m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"`+s.name+`","version":"1"}}`)
	case "tools/list":
		s.answer(w, &m, `{"tools":[`+twoTools+`]}`)
	case "tools/call":
		s.call(w, r, &m)
	case "ping":
		s.answer(w, &m, `{}`)
	default:
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID)
	}
}

func (s *remote) answer(w http.ResponseWriter, m *message, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, frame(m, result))
}

func frame(m *message, result string) string {
	return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
}

func (s *remote) call(w http.ResponseWriter, r *http.Request, m *message) {
	right := Text(s.name, m.Params.Arguments.Message)
	flush := func() { _ = http.NewResponseController(w).Flush() } // the client may be gone
	endless := func(block string) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}
	stream := func() {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\n\n")
		flush()
	}
	switch s.fault {
	case "http-forgets":
		if s.used(r.Header.Get("Mcp-Session-Id")) > 6 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		s.answer(w, m, right)
	case "http-500":
		http.Error(w, "the machine is on fire", http.StatusInternalServerError)
	case "http-unauthorized":
		w.WriteHeader(http.StatusUnauthorized)
	case "http-redirect":
		http.Redirect(w, r, r.URL.Path+"x", http.StatusTemporaryRedirect)
	case "http-cut": // before the end of an event
		stream()
		fmt.Fprint(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":")
		flush()
		panic(http.ErrAbortHandler)
	case "http-cut-answer":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100000")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":`)
		flush()
		panic(http.ErrAbortHandler)
	case "http-reset":
		panic(http.ErrAbortHandler)
	case "http-endless-header":
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n"); err != nil {
			return
		}
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(c, "X-Header-%d: %s\r\n", i, strings.Repeat("h", 1000)); err != nil {
				return
			}
		}
	case "http-slow-body":
		w.Header().Set("Content-Type", "application/json")
		for _, b := range []byte(frame(m, right)) {
			_, _ = w.Write([]byte{b}) // the client may be gone
			flush()
			select {
			case <-time.After(100 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
	case "http-content-type":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, frame(m, right))
	case "http-bomb": // 2 GB of blanks
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for block, i := make([]byte, 1<<20), 0; i < 2048 && r.Context().Err() == nil; i++ {
			clear(block)
			if _, err := z.Write([]byte(strings.Repeat(" ", len(block)))); err != nil {
				return
			}
		}
		_ = z.Close() // the client may be gone
	case "http-endless-body":
		w.Header().Set("Content-Type", "application/json")
		endless(strings.Repeat(" ", 64<<10))
	case "http-endless-event":
		stream()
		endless("data: " + strings.Repeat("e", 64<<10))
	case "http-flood-events":
		stream()
		for i := 0; i < 20_000 && r.Context().Err() == nil; i++ {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"%0100d\"}}\n\n", i)
		}
		fmt.Fprintf(w, "data: %s\n\n", frame(m, right))
	case "http-hang":
		<-r.Context().Done()
	case "http-wrong-ids":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":987654,"result":%s}`, Text(s.name, "WRONG"))
	case "http-empty":
		w.WriteHeader(http.StatusOK)
	case "http-garbage":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{{{{ \xff\xfe not JSON")
	case "http-ask-pending-id":
		stream()
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}\n\n", m.ID)
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"roots/list\"}\n\n", m.ID)
		fmt.Fprintf(w, "data: %s\n\n", frame(m, right))
	default:
		s.answer(w, m, right)
	}
}
