package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// grease is a result with everything that a careless reader would change.
const grease = `{ "a":1.0,"big":9007199254740993,"x":"\u0041\ud800","nested":{"k":1,"k":2},"_meta":{"z":null} , "content":[]}`

func TestHTTPKeepsBytes(t *testing.T) {
	params := "{ \"name\":\"t\",\n \"arguments\":" + grease + "}"
	for name, answer := range map[string]func(w http.ResponseWriter, p posted){
		"json": func(w http.ResponseWriter, p posted) {
			writeJSON(w, 200, "{\"grease\":true, \"result\" : %s,\"id\":%s ,\"jsonrpc\":\"2.0\"}\n", grease, p.ID)
		},
		"json with a charset and an odd case": func(w http.ResponseWriter, p posted) {
			w.Header()["Content-Type"] = []string{"Application/JSON; charset=utf-8"}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","result":%s,"id":%s}`, grease, p.ID)
		},
		"json that calls itself text": func(w http.ResponseWriter, p posted) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","result":%s,"id":%s}`, grease, p.ID)
		},
		"json of no type": func(w http.ResponseWriter, p posted) {
			w.Header()["Content-Type"] = nil
			fmt.Fprintf(w, `{"jsonrpc":"2.0","result":%s,"id":%s}`, grease, p.ID)
		},
		"stream": func(w http.ResponseWriter, p posted) {
			writeSSE(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", p.ID, grease)
		},
		"stream in pieces": func(w http.ResponseWriter, p posted) {
			for _, b := range []byte(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\r\r", p.ID, grease)) {
				writeSSE(w, "%c", b)
			}
		},
		"an id that became a string": func(w http.ResponseWriter, p posted) {
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":"%s","result":%s}`, p.ID, grease)
		},
		"a batch of one": func(w http.ResponseWriter, p posted) {
			writeJSON(w, 200, `[{"jsonrpc":"2.0","id":%s,"result":%s}]`, p.ID, grease)
		},
		"null beside the result": func(w http.ResponseWriter, p posted) {
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":%s,"error":null}`, p.ID, grease)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) { answer(w, p) })
			c := newHTTP(t, s.URL, transport.HTTPOptions{})
			got, err := c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(params), Version: legacy})
			require.NoError(t, err)
			if string(got) != grease {
				t.Errorf("result: got %s, want %s", got, grease)
			}
			want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
			if body := s.requests(t, 1)[0].Body; body != want {
				t.Errorf("body: got %s, want %s", body, want)
			}
		})
	}
}

// TestHTTPStringIDs: for servers that refuse numbers.
func TestHTTPStringIDs(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
	})
	c := newHTTP(t, s.URL, transport.HTTPOptions{StringIDs: true})
	if _, err := c.Call(t.Context(), &runtime.Request{Method: "ping", Version: legacy}); err != nil {
		t.Error(err)
	}
	if got, want := s.requests(t, 1)[0].Body, `{"jsonrpc":"2.0","id":"1","method":"ping"}`; got != want {
		t.Errorf("body: got %s, want %s", got, want)
	}
}

// TestHTTPHeaders: which headers go with which message of which revision.
func TestHTTPHeaders(t *testing.T) {
	type headers map[string]string
	session := headers{"Mcp-Session-Id": "s1"}
	for name, c := range map[string]struct {
		version string
		session bool
		mirror  map[string]string
		method  string
		want    headers
	}{
		"initialize":                      {legacy, false, nil, "initialize", headers{}},
		"initialize again":                {legacy, true, nil, "initialize", headers{}},
		"before negotiation":              {"", false, nil, "tools/list", headers{}},
		"2025-03-26 has no version":       {"2025-03-26", true, nil, "tools/list", session},
		"2025-06-18":                      {"2025-06-18", true, nil, "tools/list", headers{"Mcp-Session-Id": "s1", "Mcp-Protocol-Version": "2025-06-18"}},
		"2025-11-25 without session":      {legacy, false, nil, "tools/list", headers{"Mcp-Protocol-Version": legacy}},
		"mirror is for the new":           {legacy, false, map[string]string{"Mcp-Name": "x"}, "tools/call", headers{"Mcp-Protocol-Version": legacy}},
		"2026-07-28 has no session":       {modern, true, nil, "tools/list", headers{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/list"}},
		"2026-07-28 discover":             {modern, false, nil, "server/discover", headers{"Mcp-Protocol-Version": modern, "Mcp-Method": "server/discover"}},
		"mirrored values are not changed": {modern, false, map[string]string{"Mcp-Name": "Hello, 世界", "mcp-param-region": "=?base64?IHBhZGRlZCA=?=", "Mcp-Param-Bad": "a\r\nInjected: 1"}, "tools/call", headers{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "Hello, 世界", "Mcp-Param-Region": "=?base64?IHBhZGRlZCA=?="}},
		"mirror replaces nothing else":    {modern, false, map[string]string{"Accept": "x", "Mcp-Session-Id": "y", "MCP-Protocol-Version": "z", "Mcp-Bad Name": "b"}, "tools/call", headers{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
				if p.Method == "initialize" {
					w.Header().Set("Mcp-Session-Id", "s1")
				}
				writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
			})
			cl := newHTTP(t, s.URL, transport.HTTPOptions{Headers: map[string]string{
				"Authorization": "Bearer k", "x-other": "1", "mcp-session-id": "evil", "Accept": "evil", "content-type": "evil", "MCP-Protocol-Version": "evil", "mcp-name": "evil",
				// What frames a message or its connection is the connection's.
				"content-length": "3", "Transfer-Encoding": "chunked", "connection": "close", "Keep-Alive": "evil", "upgrade": "h2c", "TE": "trailers",
				"Trailer": "X", "Expect": "100-continue", "Proxy-Authorization": "evil", "proxy-connection": "evil", "HTTP2-Settings": "evil",
			}})
			n := 1
			if c.session {
				n++
				if _, err := cl.Call(t.Context(), &runtime.Request{Method: "initialize"}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := cl.Call(t.Context(), &runtime.Request{Method: c.method, Version: c.version, Mirror: c.mirror}); err != nil {
				t.Fatal(err)
			}
			h := s.requests(t, n)[n-1].Header
			got := headers{}
			for k, v := range h {
				if strings.HasPrefix(k, "Mcp-") {
					got[k] = strings.Join(v, "|")
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			always := headers{
				"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "Authorization": "Bearer k", "X-Other": "1", "Accept-Encoding": "",
				"Transfer-Encoding": "", "Connection": "", "Keep-Alive": "", "Upgrade": "", "Te": "", "Trailer": "", "Expect": "",
				"Proxy-Authorization": "", "Proxy-Connection": "", "Http2-Settings": "",
			}
			if c.method == "tools/list" {
				always["Accept-Encoding"] = "gzip"
			}
			for k, want := range always {
				if got := strings.Join(h[k], "|"); got != want {
					t.Errorf("%s: got %q, want %q", k, got, want)
				}
			}
		})
	}
}

func TestHTTPRefusesBadSettings(t *testing.T) {
	for name, c := range map[string]struct {
		url     string
		headers map[string]string
		want    string
	}{
		"no scheme":           {"example.com/mcp", nil, "want http:// or https://"},
		"other scheme":        {"ftp://example.com/", nil, "want http:// or https://"},
		"no host":             {"http:///mcp", nil, "want http:// or https://"},
		"rubbish":             {"http://a b/?key=secret", nil, "malformed"},
		"secret not repeated": {"gopher://user:secret@h/x?key=secret", nil, "gopher://h/x"},
		"bad header name":     {"http://h/", map[string]string{"a b": "secret"}, "not a valid name"},
		"bad header value":    {"http://h/", map[string]string{"A": "secret\r\nB: c"}, "control character"},
	} {
		_, err := transport.NewHTTP(c.url, transport.HTTPOptions{Headers: c.headers})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestHTTPNotify(t *testing.T) {
	for _, status := range []int{200, 202, 204} {
		s := newScript(t, func(w http.ResponseWriter, _ *http.Request, _ posted) { w.WriteHeader(status) })
		c := newHTTP(t, s.URL, transport.HTTPOptions{})
		if err := c.Notify(t.Context(), &runtime.Request{Method: "notifications/initialized", Version: legacy}); err != nil {
			t.Fatalf("%d: %v", status, err)
		}
		p := s.requests(t, 1)[0]
		if want := `{"jsonrpc":"2.0","method":"notifications/initialized"}`; p.Body != want {
			t.Errorf("body: got %s, want %s", p.Body, want)
		}
		if got := p.Header.Get("Mcp-Protocol-Version"); got != legacy {
			t.Errorf("version: got %q", got)
		}
	}
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, _ posted) {
		writeJSON(w, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`)
	})
	var rpc *runtime.Error
	err := newHTTP(t, s.URL, transport.HTTPOptions{}).Notify(t.Context(), &runtime.Request{Method: "notifications/x", Version: legacy})
	if !errors.As(err, &rpc) || rpc.Code != -32600 {
		t.Errorf("got %v, want the server's error", err)
	}
}

// TestHTTPSession: the id comes with the answer to initialize, goes with what
// follows, ends on Close, and a probe's is ended at once.
func TestHTTPSession(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case p.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "real")
		case p.Method == "server/discover":
			w.Header().Set("Mcp-Session-Id", "probe")
		default:
			w.Header().Set("Mcp-Session-Id", "other")
		}
		writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
	})
	rec := newRecorder()
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: rec})
	call := func(method, version string) {
		t.Helper()
		if _, err := c.Call(t.Context(), &runtime.Request{Method: method, Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	call("server/discover", modern)
	seen := s.requests(t, 2)
	if p := seen[1]; p.HTTPMethod != http.MethodDelete || p.Header.Get("Mcp-Session-Id") != "probe" {
		t.Errorf("the probe's session is not ended: %+v", p)
	}
	if c.SessionID() != "" {
		t.Errorf("session %q after the probe", c.SessionID())
	}
	call("initialize", "")
	call("tools/list", legacy)
	call("tools/list", legacy)
	for _, p := range s.requests(t, 3)[3:] {
		if got := p.Header.Get("Mcp-Session-Id"); got != "real" {
			t.Errorf("%s: session %q", p.Method, got)
		}
	}
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	p := s.requests(t, 1)[5]
	if p.HTTPMethod != http.MethodDelete || p.Header.Get("Mcp-Session-Id") != "real" || p.Header.Get("Mcp-Protocol-Version") != legacy {
		t.Errorf("Close: got %+v", p)
	}
	if err := wait.For(t, "Closed", rec.closed); !errors.Is(err, runtime.ErrClosed) || len(rec.closed) > 0 {
		t.Errorf("Closed: got %v and %d more", err, len(rec.closed))
	}
	_, err := c.Call(t.Context(), &runtime.Request{Method: "x"})
	if !errors.Is(err, runtime.ErrClosed) || !errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("call after Close: got %v", err)
	}
	if err := c.Notify(t.Context(), &runtime.Request{Method: "x"}); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("notify after Close: got %v", err)
	}
}

// TestHTTPResetSession: between a lost session and the end of the handshake for
// the next one nothing goes out without a session.
func TestHTTPResetSession(t *testing.T) {
	var sessions atomic.Int64
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		if p.Method == "initialize" {
			w.Header().Set("Mcp-Session-Id", strconv.FormatInt(sessions.Add(1), 10))
		}
		if p.ID == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
	})
	c := newHTTP(t, s.URL, transport.HTTPOptions{})
	call := func(method, version string) error {
		_, err := c.Call(t.Context(), &runtime.Request{Method: method, Version: version})
		return err
	}
	tell := func(method string) error {
		return c.Notify(t.Context(), &runtime.Request{Method: method, Version: legacy})
	}
	unsent := func(when string, err error) {
		t.Helper()
		lost, ok := errors.AsType[interface {
			error
			SessionExpired() bool
		}](err)
		if !ok || !lost.SessionExpired() || !errors.Is(err, transport.ErrSessionExpired) || !errors.Is(err, runtime.ErrNotSent) {
			t.Errorf("%s: got %v, want an expired session and nothing sent", when, err)
		}
	}
	sent := func(when string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	sent("first handshake", call("initialize", ""))
	sent("first handshake", tell("notifications/initialized"))
	sent("first session", call("a", legacy))
	c.ResetSession()
	unsent("after the reset", call("b", legacy))
	unsent("after the reset", tell("notifications/b"))
	sent("of the stateless era", call("c", modern))
	sent("second handshake", call("initialize", ""))
	unsent("in the middle of the handshake", call("d", legacy))
	sent("second handshake", tell("notifications/initialized"))
	sent("second session", call("e", legacy))

	var got []string
	for _, p := range s.requests(t, 7) {
		got = append(got, p.Method+" "+p.Header.Get("Mcp-Session-Id"))
	}
	want := []string{"initialize ", "notifications/initialized 1", "a 1", "c ", "initialize ", "notifications/initialized 2", "e 2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestHTTPAnswersInTheSessionOfTheQuestion: a server may use an id again in a
// new session, so an answer never goes to a later one.
func TestHTTPAnswersInTheSessionOfTheQuestion(t *testing.T) {
	var sessions atomic.Int64
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		switch p.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", strconv.FormatInt(sessions.Add(1), 10))
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
		case "a":
			writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	asked, answer := make(chan struct{}), make(chan struct{})
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: slowRoots{asked: asked, answer: answer}})
	handshake := func() {
		t.Helper()
		if _, err := c.Call(t.Context(), &runtime.Request{Method: "initialize"}); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, c.Notify(t.Context(), &runtime.Request{Method: "notifications/initialized", Version: legacy}))
	}
	handshake()
	if _, err := c.Call(t.Context(), &runtime.Request{Method: "a", Version: legacy}); err != nil {
		t.Fatal(err)
	}
	<-asked
	c.ResetSession()
	handshake()
	close(answer)
	if last := s.requests(t, 6)[5]; last.ID != "7" || last.Header.Get("Mcp-Session-Id") != "1" {
		t.Errorf("the answer %s went to session %q, want %q", last.Body, last.Header.Get("Mcp-Session-Id"), "1")
	}
}

// slowRoots answers a question once it is told to.
type slowRoots struct {
	runtime.NopHandler
	asked, answer chan struct{}
}

func (s slowRoots) Request(context.Context, *runtime.Request, string, json.RawMessage) (json.RawMessage, error) {
	close(s.asked)
	<-s.answer
	return json.RawMessage(`{"roots":[]}`), nil
}

// TestHTTPClosePending: Close ends calls that wait, whatever they wait for.
func TestHTTPClosePending(t *testing.T) {
	for name, begin := range map[string]func(w http.ResponseWriter){
		"headers": func(http.ResponseWriter) {},
		"stream":  func(w http.ResponseWriter) { writeSSE(w, ": hello\n\n") },
		"json": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(w http.ResponseWriter, r *http.Request, _ posted) {
				begin(w)
				<-r.Context().Done()
			})
			c := newHTTP(t, s.URL, transport.HTTPOptions{})
			failed := make(chan error, 1)
			go func() {
				_, err := c.Call(context.WithoutCancel(t.Context()), &runtime.Request{Method: "x", Version: legacy})
				failed <- err
			}()
			s.requests(t, 1)
			_ = c.Close()
			if err := wait.For(t, "the end of the call", failed); !errors.Is(err, runtime.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
	}
}

func TestHTTPConcurrentCallsReuseConnections(t *testing.T) {
	const parallel, rounds = 32, 20
	for name, answer := range map[string]func(w http.ResponseWriter, p posted){
		"json": func(w http.ResponseWriter, p posted) {
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":%s}`, p.ID, p.Params)
		},
		"stream": func(w http.ResponseWriter, p posted) {
			writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", p.ID, p.Params)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) { answer(w, p) })
			c := newHTTP(t, s.URL, transport.HTTPOptions{})
			errs := make(chan error, parallel)
			for i := range parallel {
				go func() {
					for j := range rounds {
						want := fmt.Sprintf(`{"n":%d}`, i*rounds+j)
						// As clients do: the context ends with the call.
						ctx, cancel := context.WithCancel(t.Context())
						got, err := c.Call(ctx, &runtime.Request{Method: "echo", Params: json.RawMessage(want), Version: legacy})
						cancel()
						if err == nil && string(got) != want {
							err = fmt.Errorf("got %s, want %s", got, want)
						}
						if err != nil {
							errs <- err
							return
						}
					}
					errs <- nil
				}()
			}
			for range parallel {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
			// A stream is drained in the background, so a caller may be ahead
			// of its own connection; one each and one in reserve is plenty.
			if n := s.conns.Load(); n > 3*parallel {
				t.Errorf("%d connections for %d callers", n, parallel)
			}
		})
	}
}

// TestHTTPDrainsAfterTheCall: what follows an answer is read even though the
// call's context has ended, so that the connection stays in use.
func TestHTTPDrainsAfterTheCall(t *testing.T) {
	finish := make(chan struct{})
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
		<-finish
		writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/late\"}\n\n")
	})
	rec := newRecorder()
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: rec})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := c.Call(ctx, &runtime.Request{Method: "x", Version: modern}); err != nil {
			t.Fatal(err)
		}
		cancel()
		finish <- struct{}{}
		rec.next(t)
	}
}

// TestHTTPCloseLeavesNoConnection: idle connections end with the transport.
func TestHTTPCloseLeavesNoConnection(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
	})
	c := newHTTP(t, s.URL, transport.HTTPOptions{})
	if _, err := c.Call(t.Context(), &runtime.Request{Method: "x", Version: modern}); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	wait.For(t, "the end of the connection", s.gone)
}

// TestHTTP2: the caller's own client, TLS and HTTP/2.
func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("HTTP/%d", r.ProtoMajor)
		}
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), "wait") {
			writeSSE(w, ": hi\n\n")
			<-r.Context().Done()
			return
		}
		writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":%s}\n\n", grease)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	c := newHTTP(t, s.URL, transport.HTTPOptions{Client: s.Client()})
	got, err := c.Call(t.Context(), &runtime.Request{Method: "x", ID: json.RawMessage(`"a"`), Version: modern})
	if err != nil || string(got) != grease {
		t.Errorf("got %s, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, &runtime.Request{Method: "wait", Version: modern}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// counting is an authorizer whose key is another for each request.
type counting struct{ n atomic.Int64 }

func (c *counting) Authorize(_ context.Context, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+strconv.FormatInt(c.n.Add(1), 10))
	return nil
}

func (*counting) Challenged(context.Context, *http.Response) (bool, error) { return false, nil }

// TestHTTPSharedHeaders: requests of one session share their headers, but for
// what differs between them: the revision, and what an authorizer adds.
func TestHTTPSharedHeaders(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
	})
	bare := newHTTP(t, s.URL, transport.HTTPOptions{Headers: map[string]string{"X-Key": "k"}})
	for i, version := range []string{"2025-11-25", "2025-11-25", "2025-06-18", "2025-03-26", "2025-11-25", "2026-07-28", "2025-11-25"} {
		if _, err := bare.Call(t.Context(), &runtime.Request{Method: "a", Version: version}); err != nil {
			t.Fatal(err)
		}
		h := s.requests(t, 1)[i].Header
		method := ""
		if version == "2026-07-28" {
			method = "a"
		}
		if version == "2025-03-26" {
			version = "" // knows no such header
		}
		if h.Get("Mcp-Protocol-Version") != version || h.Get("Mcp-Method") != method || h.Get("X-Key") != "k" ||
			h.Get("Accept") == "" || h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "mcpctl" {
			t.Errorf("request %d: %v", i, h)
		}
	}
	before := s.count()
	guarded := newHTTP(t, s.URL, transport.HTTPOptions{Authorizer: &counting{}})
	for i := range 3 {
		if _, err := guarded.Call(t.Context(), &runtime.Request{Method: "a", Version: legacy}); err != nil {
			t.Fatal(err)
		}
		if got := s.requests(t, 1)[before+i].Header.Get("Authorization"); got != "Bearer "+strconv.Itoa(i+1) {
			t.Errorf("request %d: %q", i, got)
		}
	}
}
