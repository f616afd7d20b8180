package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// bridged is a running mcpctl bridge, of which the test is the client.
type bridged struct {
	t     *testing.T
	p     *wire.Process
	lines chan string
	other []string // lines that have come and that nothing has waited for yet
	end   func()
}

func startBridge(t *testing.T, args ...string) *bridged {
	t.Helper()
	p, err := wire.Start(bridgeCommand(t, args...))
	require.NoError(t, err)
	b := &bridged{t: t, p: p, lines: make(chan string, 100)}
	read := make(chan struct{})
	go func() { // ends with the process
		defer close(read)
		_ = wire.Lines(p.Out, func(line []byte) { b.lines <- string(line) })
	}()
	b.end = func() {
		if !p.End(20 * time.Second) {
			t.Error("it did not end with its input")
		}
		<-read
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, p.Stderr.Tail())
		}
	}
	return b
}

// exchange sends a line and returns the first of those that have come with a text.
func (b *bridged) exchange(line, text string) string {
	b.t.Helper()
	if line != "" {
		_, err := io.WriteString(b.p.In, line+"\n")
		require.NoError(b.t, err)
	}
	delayed := wait.Late(b.t)
	for {
		if i := slices.IndexFunc(b.other, func(got string) bool { return strings.Contains(got, text) }); i >= 0 {
			got := b.other[i]
			b.other = slices.Delete(b.other, i, i+1)
			return got
		}
		select {
		case got := <-b.lines:
			b.other = append(b.other, got)
		case <-delayed:
			b.t.Fatalf("nothing with %s came, but %q; stderr has %s", text, b.other, b.p.Stderr.Tail())
		}
	}
}

// hello shakes hands.
func (b *bridged) hello() {
	b.t.Helper()
	b.exchange(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `"id":1,"result"`)
	_, err := io.WriteString(b.p.In, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	require.NoError(b.t, err)
}

// calling is a call of a tool, whose request has this id.
func calling(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

// remote is a server of the handshake era that does what the tool of a call is named for.
type remote struct {
	mu       sync.Mutex // guards what follows
	faults   []string   // what requests had that they must not have
	began    bool       // notifications/initialized has come
	sessions int
	forgets  bool            // the session of the next call
	hanging  json.RawMessage // id of the call of hang
	cancels  []string        // ids of calls that were cancelled
	streams  int             // requests for the server's stream
}

// fault notes a header that is not as it has to be. The caller holds mu.
func (s *remote) fault(r *http.Request, what, name, want string) {
	if got := r.Header.Get(name); got != want {
		s.faults = append(s.faults, fmt.Sprintf("%s %s: %s is %q, want %q", r.Method, what, name, got, want))
	}
}

func (s *remote) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			RequestID json.RawMessage `json:"requestId"`
		}
	}
	_ = json.Unmarshal(body, &m)
	if r.Method == http.MethodPost && m.Method == "server/discover" { // another era
		http.Error(w, "no such method", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault(r, m.Method, "Authorization", "Bearer mine")
	if m.Method == "initialize" {
		s.sessions++
		s.fault(r, m.Method, "Mcp-Session-Id", "")
		s.fault(r, m.Method, "Mcp-Protocol-Version", "")
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("session-", s.sessions))
		s.answer(w, m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"remote","version":"1"}}`)
		return
	}
	s.fault(r, m.Method, "Mcp-Session-Id", fmt.Sprint("session-", s.sessions))
	s.fault(r, m.Method, "Mcp-Protocol-Version", "2025-11-25")
	switch {
	case r.Method == http.MethodGet:
		s.stream(w, r)
	case r.Method == http.MethodDelete:
	case m.Method == "tools/list":
		s.answer(w, m.ID, `{"tools":[]}`)
	case m.Method == "tools/call":
		s.fault(r, m.Method, "Content-Type", "application/json")
		s.fault(r, m.Method, "Accept", "application/json, text/event-stream")
		s.call(w, r, m.ID, m.Params.Name)
	default:
		s.began = s.began || m.Method == "notifications/initialized"
		if m.Method == "notifications/cancelled" {
			s.cancels = append(s.cancels, string(m.Params.RequestID))
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "thank you") // which is nobody's
	}
}

func (s *remote) answer(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// stream is the server's own: a message in two lines, and then nothing. The caller
// holds mu.
func (s *remote) stream(w http.ResponseWriter, r *http.Request) {
	s.fault(r, "stream", "Accept", "text/event-stream")
	if s.streams++; !s.began {
		s.faults = append(s.faults, "the stream is asked for before notifications/initialized")
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\r\ndata: \"params\":{\"level\":\"error\",\"data\":\"unasked\"}}\r\n\r\n")
	_ = http.NewResponseController(w).Flush()
	s.mu.Unlock()
	<-r.Context().Done()
	s.mu.Lock()
}

// call does what the name of a tool says. The caller holds mu.
func (s *remote) call(w http.ResponseWriter, r *http.Request, id json.RawMessage, tool string) {
	switch tool {
	case "forget":
		if s.forgets = !s.forgets; s.forgets {
			http.Error(w, "who are you?", http.StatusNotFound)
			return
		}
	case "teapot":
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, strings.Repeat("short and stout ", 100))
		return
	case "events":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, ": a comment\r\n\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":%s,\r\ndata: \"result\":{\"content\":[]}}\r\n\r\n", id)
		return
	case "hang":
		s.hanging = id
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return
	}
	s.answer(w, id, `{"content":[]}`)
}

// TestBridgeOnTheWire: what a server over HTTP gets of bridge and what the client gets of
// its answers, whatever their form.
func TestBridgeOnTheWire(t *testing.T) {
	t.Parallel()
	s := &remote{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	b := startBridge(t, "-H", "Authorization=Bearer mine", srv.URL)
	defer b.end()
	b.hello()
	b.exchange("", `"data":"unasked"`)
	b.exchange(calling(2, "plain"), `"id":2,"result"`)
	b.exchange(calling(3, "events"), `"id":3,"result"`)
	var refusal struct {
		Error struct {
			Code int
			Data struct {
				Status int
				Body   string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(b.exchange(calling(4, "teapot"), `"id":4,`)), &refusal))
	if e := refusal.Error; e.Code != -32001 || e.Data.Status != http.StatusTeapot || !strings.HasPrefix(e.Data.Body, "short and") || len(e.Data.Body) > 500 {
		t.Errorf("got %+v (%d bytes)", e, len(e.Data.Body))
	}
	b.exchange(calling(5, "forget"), `"id":5,"result"`)

	_, err := io.WriteString(b.p.In, calling(6, "hang")+"\n")
	require.NoError(t, err)
	s.until(t, "the call that hangs", func() bool { return s.hanging != nil })
	b.exchange(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}`+"\n"+calling(7, "plain"), `"id":7,"result"`)
	s.until(t, "the cancellation", func() bool { return len(s.cancels) == 1 && s.cancels[0] == string(s.hanging) })
	b.exchange("", `"data":"unasked"`) // the new session has a stream, too
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b.other) > 0 {
		t.Errorf("the client got %q, too", b.other)
	}
	if s.sessions != 2 || s.streams != 2 || len(s.faults) > 0 {
		t.Errorf("%d sessions, %d streams, want 2 each; %s", s.sessions, s.streams, strings.Join(s.faults, "\n"))
	}
}

// until waits until something is so.
func (s *remote) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	wait.Until(t, what, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return is()
	})
}

// TestBridgeRenewsToken: a token that the server refuses is replaced, once; what refuses
// the new one, too, is reported.
func TestBridgeRenewsToken(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	fake := s.start()
	t.Cleanup(s.Close)
	t.Cleanup(fake.Close)
	b := startBridge(t, fake.URL, "--auth", `{"grant":"client_credentials","clientId":"me","clientSecret":"hush-hush","issuer":"`+s.URL+`"}`)
	defer b.end()
	b.hello()
	b.exchange(calling(2, "echo"), `"id":2,`)
	grants := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.log)
	}
	before := grants()
	s.mu.Lock()
	s.valid = nil
	s.mu.Unlock()
	if got := b.exchange(calling(3, "exact"), `"id":3,`); !strings.Contains(got, `"result"`) || grants() != before+1 {
		t.Errorf("got %s after %d grants, want a result after one", got, grants()-before)
	}
	s.mu.Lock()
	s.valid, s.useless = nil, true
	s.mu.Unlock()
	if got := b.exchange(calling(4, "exact"), `"id":4,`); !strings.Contains(got, `"code":-32001`) || !strings.Contains(got, `"status":401`) || grants() != before+2 {
		t.Errorf("got %s after %d grants, want the refusal after one more", got, grants()-before-1)
	}
}
