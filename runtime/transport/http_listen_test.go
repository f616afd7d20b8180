package transport_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestHTTPListenRetries: the stream is opened again with growing pauses, ten
// times, and never where the server has none.
func TestHTTPListenRetries(t *testing.T) {
	type play = []func(*http.Request) *http.Response
	for name, c := range map[string]struct {
		play  play
		tries int
	}{
		"405":               {play{reply(405, "", "")}, 1},
		"404":               {play{reply(404, "", "")}, 1},
		"400":               {play{reply(400, "application/json", `{}`)}, 1},
		"401":               {play{reply(401, "", "")}, 1},
		"HTML":              {play{reply(200, "text/html", "<html>")}, 1},
		"JSON":              {play{reply(200, "application/json", "{}")}, 1},
		"down":              {play{down}, 11},
		"503":               {play{reply(503, "", "")}, 11},
		"ends at once":      {play{events("")}, 11},
		"comments only":     {play{events(": hi\n\n")}, 11},
		"down, then gone":   {play{down, down, reply(405, "", "")}, 3},
		"an event resets":   {play{down, down, down, events(noteX), down}, 3 + 1 + 10},
		"asks for 1 h":      {play{events("retry: 3600000\n\n"), reply(405, "", "")}, 2},
		"lasting is enough": {play{down, down, lasting(time.Minute), down}, 2 + 1 + 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &steps{t: t, play: c.play}
				rec := newRecorder()
				cl, err := transport.NewHTTP("http://server.test/mcp", transport.HTTPOptions{Client: &http.Client{Transport: s}, Handler: rec})
				require.NoError(t, err)
				defer cl.Close()
				cl.Listen(t.Context())
				if c.tries > 1 {
					cl.Listen(t.Context()) // while one runs, one is enough
				}
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				if len(s.times) != c.tries {
					t.Errorf("%d tries, want %d", len(s.times), c.tries)
				}
				for i, d := range s.waits() {
					if name == "down" {
						most := min(500*time.Millisecond<<i, 30*time.Second)
						if d < most/2 || d > most {
							t.Errorf("pause %d: %v, want at most %v and at least half", i, d, most)
						}
					}
					if name == "asks for 1 h" && d != time.Hour {
						t.Errorf("pause: %v", d)
					}
				}
			})
		})
	}
}

// TestHTTPListenEndsEarly: streams that bring an event and end are opened again as long as
// the client wants, with growing pauses, or as often as the server says.
func TestHTTPListenEndsEarly(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		pause  func(i int) time.Duration // the longest
	}{
		"event":           {noteX, func(i int) time.Duration { return min(500*time.Millisecond<<min(i, 10), 30*time.Second) }},
		"event and retry": {"retry: 2000\n" + noteX, func(int) time.Duration { return 2 * time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &steps{t: t, play: []func(*http.Request) *http.Response{events(c.stream)}}
				cl, err := transport.NewHTTP("http://server.test/mcp", transport.HTTPOptions{Client: &http.Client{Transport: s}})
				require.NoError(t, err)
				defer cl.Close()
				cl.Listen(t.Context())
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if len(s.times) < 20 {
					t.Errorf("%d tries: given up", len(s.times))
				}
				for i, d := range s.waits() {
					if most := c.pause(i); d < most/2 || d > most {
						t.Errorf("pause %d: %v, want at most %v and at least half", i, d, most)
						break
					}
				}
			})
		})
	}
}

// lasting is a stream that says nothing for a while and ends.
func lasting(d time.Duration) func(*http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		resp := events("")(r)
		pr, pw := io.Pipe()
		time.AfterFunc(d, func() { _ = pw.Close() })
		resp.Body = pr
		return resp
	}
}

// TestHTTPListen: what comes outside of calls reaches the handler, progress its
// call; requests are answered; a new session has a stream again.
func TestHTTPListen(t *testing.T) {
	send, pong := make(chan string), make(chan posted, 10)
	session := 0
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
		switch {
		case r.Method == http.MethodGet:
			writeSSE(w, "id: first\ndata:\n\n")
			for {
				select {
				case text := <-send:
					writeSSE(w, "data: %s\n\n", text)
				case <-r.Context().Done():
					return
				}
			}
		case p.Method == "initialize":
			session++
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", session))
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
		case p.Method == "slow":
			send <- `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"other","progress":1}}`
			send <- `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":2}}`
			send <- `{"jsonrpc":"2.0","id":1,"result":"not here"}`
			send <- `{"jsonrpc":"2.0","id":"p","method":"ping"}`
			<-pong // streams do not wait for each other
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
			if p.Method == "" {
				pong <- p
			}
		}
	})
	own, mine := newRecorder(), newRecorder()
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: own})
	shake := func() {
		t.Helper()
		if _, err := c.Call(t.Context(), &runtime.Request{Method: "initialize"}); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, c.Notify(t.Context(), &runtime.Request{Method: "notifications/initialized", Version: legacy}))
	}
	shake()
	c.Listen(t.Context())
	get := s.requests(t, 3)[2]
	if get.HTTPMethod != http.MethodGet || get.Header.Get("Mcp-Session-Id") != "s1" || get.Header.Get("Mcp-Protocol-Version") != legacy || get.Header.Get("Accept") != "text/event-stream" {
		t.Errorf("GET: %+v", get)
	}
	req := &runtime.Request{Method: "slow", Version: legacy, Token: json.RawMessage(`"tok"`), Events: mine}
	if _, err := c.Call(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if n := own.next(t); n.call != nil || !strings.Contains(n.params, "other") {
		t.Errorf("progress of somebody else: %+v", n)
	}
	if n := mine.next(t); n.call != req || !strings.Contains(n.params, `"progress":2`) {
		t.Errorf("progress of the call: %+v", n)
	}
	// Two more: the call and the answer to the ping.
	var answer posted
	for _, p := range s.requests(t, 2) {
		if p.Method == "" && p.HTTPMethod == http.MethodPost {
			answer = p
		}
	}
	if answer.Body != `{"jsonrpc":"2.0","id":"p","result":{}}` || answer.Header.Get("Mcp-Session-Id") != "s1" || answer.Header.Get("Mcp-Protocol-Version") != legacy {
		t.Errorf("answer to the ping: %+v", answer)
	}
	c.ResetSession()
	shake()
	seen := s.requests(t, 3)
	last := seen[len(seen)-1]
	if last.HTTPMethod != http.MethodGet || last.Header.Get("Mcp-Session-Id") != "s2" || last.Header.Get("Last-Event-Id") != "" {
		t.Errorf("the new session's stream: %+v", last)
	}
}

// TestHTTPListenAnswers: a call has its answer, too, that comes on the stream of Listen,
// whether its own stream is open or has ended and is taken up again.
func TestHTTPListenAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		ends       bool // the call's own stream
		text, want string
	}{
		"result, stream open":  {false, `{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}`, `{"ok":true} <nil>`},
		"result, stream ended": {true, `{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}`, `{"ok":true} <nil>`},
		"error, stream open":   {false, `{"jsonrpc":"2.0","id":%s,"error":{"code":-5,"message":"no"}}`, ` no (-5)`},
		"not the first answer": {false, `[{"jsonrpc":"2.0","id":77,"result":{}},{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}]`, `{"ok":true} <nil>`},
	} {
		t.Run(name, func(t *testing.T) {
			send, call := make(chan string, 1), make(chan string, 1)
			s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
				switch {
				case p.Method == "initialize":
					w.Header().Set("Mcp-Session-Id", "s1")
					writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
					return
				case p.Method == "tools/call":
					writeSSE(w, "id: e1\nretry: 1\ndata:\n\n")
					call <- p.ID
					if c.ends {
						return
					}
					send <- fmt.Sprintf(c.text, <-call)
				case p.Header.Get("Last-Event-Id") == "e1":
					writeSSE(w, ": nothing to come\n\n")
					send <- fmt.Sprintf(c.text, <-call)
				case r.Method == http.MethodGet:
					writeSSE(w, ": welcome\n\n")
					select {
					case text := <-send:
						writeSSE(w, "data: %s\n\n", text)
					case <-r.Context().Done():
					}
				default:
					w.WriteHeader(http.StatusAccepted)
					return
				}
				<-r.Context().Done()
			})
			cl := newHTTP(t, s.URL, transport.HTTPOptions{})
			if _, err := cl.Call(t.Context(), &runtime.Request{Method: "initialize"}); err != nil {
				t.Fatal(err)
			}
			require.NoError(t, cl.Notify(t.Context(), &runtime.Request{Method: "notifications/initialized", Version: legacy}))
			cl.Listen(t.Context())
			result, err := cl.Call(t.Context(), &runtime.Request{Method: "tools/call", Version: legacy})
			if got := fmt.Sprint(string(result), " ", err); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestHTTPListenSessionLost: whoever keeps the session hears once that the
// server does not know it, and again only after a stream has opened.
func TestHTTPListenSessionLost(t *testing.T) {
	var gets atomic.Int32
	answered := make(chan bool, 10)
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
		switch {
		case r.Method == http.MethodGet:
			defer func() { answered <- true }()
			if gets.Add(1) == 3 { // lives for a moment
				writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
				return
			}
			w.WriteHeader(http.StatusNotFound)
		case p.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	rec, lost := newRecorder(), make(chan bool, 10)
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: rec})
	c.OnSessionLost(func() { lost <- true })
	shake := func() {
		t.Helper()
		if _, err := c.Call(t.Context(), &runtime.Request{Method: "initialize"}); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, c.Notify(t.Context(), &runtime.Request{Method: "notifications/initialized", Version: legacy}))
	}
	shake()
	c.Listen(t.Context())
	wait.For(t, "the news", lost)
	c.ResetSession()
	shake()
	wait.For(t, "the first answer", answered)
	wait.For(t, "the second, which is told to nobody", answered)
	c.ResetSession()
	shake()
	rec.next(t)
	wait.For(t, "the news after a stream that lived", lost)
	if len(lost) > 0 {
		t.Error("told too often")
	}
}
