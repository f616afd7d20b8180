package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestHTTPStreamDeliversEverything: what comes around the answer goes to the
// call's handler before it and to the transport's after it.
func TestHTTPStreamDeliversEverything(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		writeSSE(w, ": hi\n\nid: 1\ndata:\n\nevent: ping\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/other\"}\n\n"+
			"data: rubbish\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\",\"params\":{ \"x\":1.0}}\n\n"+
			"data: [{\"jsonrpc\":\"2.0\",\"method\":\"notifications/b\"},{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}]\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\"result\":{\"ok\":true}}\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/late\"}\n\n", p.ID)
	})
	for _, version := range []string{legacy, modern} {
		own, events := newRecorder(), newRecorder()
		c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: own})
		req := &runtime.Request{Method: "x", Version: version, Events: events}
		got, err := c.Call(t.Context(), req)
		if err != nil || string(got) != `{"ok":true}` {
			t.Fatalf("got %s, %v", got, err)
		}
		for _, want := range []note{{req, "notifications/a", `{ "x":1.0}`}, {req, "notifications/b", ""}} {
			if n := events.next(t); n != want {
				t.Errorf("got %+v, want %+v", n, want)
			}
		}
		if n := own.next(t); n.method != "notifications/late" || n.call != nil {
			t.Errorf("after the answer: got %+v", n)
		}
		if len(events.notes) > 0 || len(own.notes) > 0 {
			t.Error("more came than was sent")
		}
		// Without a handler of its own, a call's messages go to the transport's.
		req = &runtime.Request{Method: "x", Version: version}
		if _, err := c.Call(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if n := own.next(t); n.call != req || n.method != "notifications/a" {
			t.Errorf("without Events: got %+v", n)
		}
	}
}

// TestHTTPServerRequests: a request on a call's stream is answered by a POST of
// its own, in the session, while the call goes on.
func TestHTTPServerRequests(t *testing.T) {
	answered := make(chan posted, 10)
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
		switch p.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"early\",\"method\":\"ping\"}\n\n")
			wait.For(t, "the answer to the early ping", answered)
			writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
		case "tools/call":
			for _, q := range []string{`"id":"a\u0041","method":"ping"`, `"id":7,"method":"ask","params":{"q":1.0}`, `"id":8,"method":"fail"`, `"id":9,"method":"refuse"`, `"id":10,"method":"nothing"`} {
				writeSSE(w, "data: {\"jsonrpc\":\"2.0\",%s}\n\n", q)
				wait.For(t, "an answer", answered)
			}
			writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
		case "":
			w.WriteHeader(http.StatusAccepted)
			answered <- p
		}
	})
	rec := newRecorder()
	rec.request = func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		switch method {
		case "ping":
			return json.RawMessage(`{}`), nil
		case "ask":
			return json.RawMessage(`{"got": ` + string(params) + `}`), nil
		case "refuse":
			return nil, &runtime.Error{Code: -1, Message: "no", Data: json.RawMessage(`{"why":1.0}`)}
		case "nothing":
			return nil, nil
		}
		return nil, errors.New("broken")
	}
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: rec})
	for _, req := range []*runtime.Request{{Method: "initialize", Version: legacy}, {Method: "tools/call", Version: legacy}} {
		if _, err := c.Call(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, p := range s.requests(t, 8) {
		if p.Method != "" {
			continue
		}
		got = append(got, p.Body)
		version := legacy
		if strings.Contains(p.Body, "early") {
			version = "" // not agreed yet
		}
		if p.Header.Get("Mcp-Session-Id") != "s1" || p.Header.Get("Mcp-Protocol-Version") != version {
			t.Errorf("%s: headers %v", p.Body, p.Header)
		}
	}
	want := []string{
		`{"jsonrpc":"2.0","id":"early","result":{}}`,
		`{"jsonrpc":"2.0","id":"a\u0041","result":{}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"got": {"q":1.0}}}`,
		`{"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"broken","data":{"kind":"other"}}}`,
		`{"jsonrpc":"2.0","id":9,"error":{"code":-1,"message":"no","data":{"why":1.0}}}`,
		`{"jsonrpc":"2.0","id":10,"result":{}}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestHTTPServerRequestEnds: the work on a request ends when the server takes
// it back, and when the call it came in is cancelled.
func TestHTTPServerRequestEnds(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
		if p.Method != "tools/call" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ask\"}\n\n")
		if strings.Contains(p.Params, "takeback") {
			writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"q\"}}\n\n")
		}
		<-r.Context().Done()
	})
	for _, params := range []string{`{"takeback":true}`, `{}`} {
		rec := newRecorder()
		began, ended := make(chan struct{}), make(chan struct{})
		rec.request = func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		}
		c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: rec})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := c.Call(ctx, &runtime.Request{Method: "tools/call", Params: json.RawMessage(params), Version: legacy})
			done <- err
		}()
		wait.For(t, "the server's request", began)
		if params == `{}` {
			cancel()
		}
		wait.For(t, "the end of the work", ended)
		cancel()
		if err := wait.For(t, "the end of the call", done); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		_ = c.Close()
		for _, p := range s.seen {
			if p.Method == "" && p.HTTPMethod == http.MethodPost {
				t.Errorf("an answer nobody waits for: %s", p.Body)
			}
		}
	}
}

// TestHTTPModernServerRequestIsIgnored: 2026-07-28 forbids them.
func TestHTTPModernServerRequestIsIgnored(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
	})
	rec := newRecorder()
	rec.request = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		t.Error("the handler was asked")
		return nil, nil
	}
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: rec})
	if _, err := c.Call(t.Context(), &runtime.Request{Method: "x", Version: modern}); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if n := s.count(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestHTTPServerRequestOutlivesTheCall: a request that came in a call is
// answered even when the call has its answer first.
func TestHTTPServerRequestOutlivesTheCall(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		if p.Method == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Connection", "close")
		writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ask\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
	})
	returned := make(chan struct{})
	rec := newRecorder()
	rec.request = func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-returned
		return json.RawMessage(`1`), ctx.Err()
	}
	c := newHTTP(t, s.URL, transport.HTTPOptions{Handler: rec})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Call(ctx, &runtime.Request{Method: "x", Version: legacy}); err != nil {
		t.Fatal(err)
	}
	cancel()
	wait.For(t, "the end of the stream", s.gone) // and with it of the exchange
	close(returned)
	if p := s.requests(t, 2)[1]; p.Body != `{"jsonrpc":"2.0","id":5,"result":1}` {
		t.Errorf("got %s", p.Body)
	}
}

// TestHTTPCancel: a cancelled call returns at once; before 2026-07-28 the
// server is told by a message, since then by the end of the stream.
func TestHTTPCancel(t *testing.T) {
	cause := errors.New("user pressed Esc")
	for name, c := range map[string]struct {
		method, version string
		begin           string // what the server sends before it falls silent
		cause           error
		id              json.RawMessage
		notice          string
	}{
		"legacy":                   {"tools/call", legacy, "", nil, nil, `{"requestId":1,"reason":"the caller cancelled"}`},
		"legacy, in a stream":      {"tools/call", legacy, ": hi\n\n", nil, nil, `{"requestId":1,"reason":"the caller cancelled"}`},
		"legacy, cause":            {"tools/call", legacy, "", cause, nil, `{"requestId":1,"reason":"user pressed Esc"}`},
		"legacy, timeout":          {"tools/call", legacy, "", context.DeadlineExceeded, nil, `{"requestId":1,"reason":"timed out"}`},
		"legacy, id of the caller": {"tools/call", legacy, "", nil, json.RawMessage(`"a\u0041"`), `{"requestId":"a\u0041","reason":"the caller cancelled"}`},
		"initialize":               {"initialize", legacy, "", nil, nil, ""},
		"modern":                   {"tools/call", modern, "", nil, nil, ""},
		"modern, in a stream":      {"tools/call", modern, ": hi\n\n", nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{}, 1)
			begun := make(chan struct{}, 1)
			s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
				if p.Method == "notifications/cancelled" {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				if c.begin != "" {
					writeSSE(w, "%s", c.begin)
				}
				begun <- struct{}{}
				<-r.Context().Done()
				gone <- struct{}{}
			})
			cl := newHTTP(t, s.URL, transport.HTTPOptions{})
			ctx, cancel := context.WithCancelCause(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := cl.Call(ctx, &runtime.Request{Method: c.method, Version: c.version, ID: c.id})
				failed <- err
			}()
			wait.For(t, "the call", begun)
			cancel(c.cause)
			if err := wait.For(t, "the end of the call", failed); !errors.Is(err, context.Canceled) || errors.Is(err, runtime.ErrNotSent) {
				t.Errorf("got %v, want Canceled", err)
			}
			wait.For(t, "the end of the stream at the server", gone)
			// Even when the transport is closed at once, as after Ctrl+C.
			_ = cl.Close()
			var notice string
			for _, p := range s.seen {
				if p.Method == "notifications/cancelled" {
					notice = p.Params
					if got := p.Header.Get("Mcp-Protocol-Version"); got != legacy {
						t.Errorf("version of the notice: %q", got)
					}
				}
			}
			if notice != c.notice {
				t.Errorf("notice: got %s, want %s", notice, c.notice)
			}
		})
	}
}

func TestHTTPCancelledBeforeItIsSent(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, _ *http.Request, _ posted) { w.WriteHeader(202) })
	c := newHTTP(t, s.URL, transport.HTTPOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Call(ctx, &runtime.Request{Method: "x", Version: legacy})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("call: got %v", err)
	}
	if err := c.Notify(ctx, &runtime.Request{Method: "x", Version: legacy}); !errors.Is(err, context.Canceled) || !errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("notify: got %v", err)
	}
	_ = c.Close()
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// steps is a round tripper that plays answers in turn; the last one repeats.
// It needs no socket, so it works under a fake clock.
type steps struct {
	t     *testing.T
	play  []func(r *http.Request) *http.Response
	times []time.Time
	seen  []http.Header
}

func (s *steps) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	s.times = append(s.times, time.Now())
	s.seen = append(s.seen, r.Header.Clone())
	resp := s.play[min(len(s.times), len(s.play))-1](r)
	if resp == nil {
		return nil, errors.New("network is down")
	}
	resp.Request = r
	return resp, nil
}

// waits are the pauses between requests.
func (s *steps) waits() (out []time.Duration) {
	for i := 1; i < len(s.times); i++ {
		out = append(out, s.times[i].Sub(s.times[i-1]))
	}
	return out
}

func reply(status int, media, body string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response {
		return &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
			Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(strings.NewReader(body)),
		}
	}
}

func events(body string) func(*http.Request) *http.Response {
	return reply(200, "text/event-stream", body)
}

func down(*http.Request) *http.Response { return nil }

const (
	answer1 = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"ok\":1}}\n\n"
	noteX   = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n"
)

// TestHTTPResume: a stream that ends before its answer is taken up after its
// last event, when the server said to.
func TestHTTPResume(t *testing.T) {
	type play = []func(*http.Request) *http.Response
	var news, same play
	for i := range 150 {
		news = append(news, events(fmt.Sprintf("id: %d\nretry: 100\ndata:\n\n", i)))
		if i < 50 {
			same = append(same, events("id: 1\nretry: 100\ndata:\n\n"))
		}
	}
	for name, c := range map[string]struct {
		version string
		play    play
		want    string   // part of the error, "" for success
		lastIDs []string // Last-Event-Id of each request
		waits   []time.Duration
		notes   int
	}{
		"after priming, with retry": {
			legacy,
			play{events("id: p\nretry: 1500\ndata:\n\n"), events(answer1)},
			"",
			[]string{"", "p"},
			[]time.Duration{1500 * time.Millisecond},
			0,
		},
		"retry of zero": {
			legacy,
			play{events("id: p\nretry: 0\ndata:\n\n"), events(answer1)},
			"",
			[]string{"", "p"},
			[]time.Duration{0},
			0,
		},
		"messages in between": {
			legacy,
			play{events("id: 1\nretry: 10\n" + noteX), events("id: 2\n" + noteX), events(noteX + answer1)},
			"",
			[]string{"", "1", "2"},
			[]time.Duration{10 * time.Millisecond, 10 * time.Millisecond},
			3,
		},
		"half an event": {
			legacy,
			play{events("id: 1\nretry: 10\n" + noteX + "id: 2\ndata: {"), events(answer1)},
			"",
			[]string{"", "1"},
			nil, 1,
		},
		"network down for a while": {
			legacy,
			play{events("id: 1\nretry: 10\ndata:\n\n"), down, reply(503, "", ""), events(answer1)},
			"",
			[]string{"", "1", "1", "1"},
			nil, 0,
		},
		"polled often, with news":    {legacy, append(news, events(answer1)), "", nil, nil, 0},
		"polled often, without":      {legacy, append(same, events(answer1)), "", nil, nil, 0},
		"polled forever for nothing": {legacy, same[:1], "before the result", nil, nil, 0},
		"no event id": {
			legacy, play{events(noteX)}, "before the result", []string{""}, nil, 1,
		},
		"modern has none": {
			modern, play{events("id: 1\n" + noteX)}, "before the result", []string{""}, nil, 1,
		},
		"server cannot": {
			legacy, play{events("id: 1\nretry: 10\n" + noteX), reply(405, "", "")}, "before the result", []string{"", "1"}, nil, 1,
		},
		"session gone meanwhile is no expired session": {
			legacy, play{events("id: 1\nretry: 10\n" + noteX), reply(404, "", "")}, "before the result", []string{"", "1"}, nil, 1,
		},
		"network down for good": {
			legacy,
			play{events("id: 1\nretry: 10\ndata:\n\n"), down},
			"before the result",
			[]string{"", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1"},
			nil, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &steps{t: t, play: c.play}
				rec := newRecorder()
				cl, err := transport.NewHTTP("http://server.test/mcp", transport.HTTPOptions{Client: &http.Client{Transport: s}, Handler: rec})
				require.NoError(t, err)
				defer cl.Close()
				got, err := cl.Call(t.Context(), &runtime.Request{Method: "tools/call", Version: c.version})
				if c.want == "" && (err != nil || string(got) != `{"ok":1}`) {
					t.Errorf("got %s, %v", got, err)
				}
				if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || errors.Is(err, transport.ErrSessionExpired) || errors.Is(err, runtime.ErrNotSent) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				var ids []string
				for _, h := range s.seen {
					ids = append(ids, h.Get("Last-Event-Id"))
				}
				if c.lastIDs != nil {
					if d := cmp.Diff(c.lastIDs, ids); d != "" {
						t.Error(d)
					}
				}
				if c.waits != nil {
					if d := cmp.Diff(c.waits, s.waits()); d != "" {
						t.Error(d)
					}
				}
				if name == "network down for good" {
					for i, d := range s.waits()[1:] {
						if least := min(500*time.Millisecond<<(i+1), 30*time.Second) / 2; d < least {
							t.Errorf("pause %d: %v, want at least %v", i+1, d, least)
						}
					}
				}
				if len(rec.notes) != c.notes {
					t.Errorf("%d notifications, want %d", len(rec.notes), c.notes)
				}
				if len(s.seen) > 1 {
					h := s.seen[1]
					if h.Get("Accept") != "text/event-stream" || h.Get("Mcp-Protocol-Version") != legacy || h.Get("Content-Type") != "" {
						t.Errorf("headers of the GET: %v", h)
					}
				}
			})
		})
	}
}

// TestHTTPResumeCancelled: a call that waits to resume can be cancelled.
func TestHTTPResumeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &steps{t: t, play: []func(*http.Request) *http.Response{events("id: 1\nretry: 3600000\ndata:\n\n"), reply(202, "", "")}}
		cl, err := transport.NewHTTP("http://server.test/mcp", transport.HTTPOptions{Client: &http.Client{Transport: s}})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = cl.Call(ctx, &runtime.Request{Method: "tools/call", Version: legacy})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		_ = cl.Close()
		if d := cmp.Diff([]time.Duration{time.Second}, s.waits()); d != "" {
			t.Errorf("the cancel notice: %s", d)
		}
	})
}

// poller is a call's handler that counts how often the server paused.
type poller struct {
	*recorder
	paused []time.Duration
}

func (p *poller) Paused(retry time.Duration) { p.paused = append(p.paused, retry) }

// TestHTTPPaused: the call's handler learns that the server wants to be polled;
// a stream that merely breaks is another matter.
func TestHTTPPaused(t *testing.T) {
	type play = []func(*http.Request) *http.Response
	for name, c := range map[string]struct {
		play play
		want []time.Duration
	}{
		"told":    {play{events("id: p\nretry: 1500\ndata:\n\n"), events("id: q\ndata:\n\n"), events(answer1)}, []time.Duration{1500 * time.Millisecond}},
		"twice":   {play{events("id: p\nretry: 5\ndata:\n\n"), events("id: q\nretry: 6\ndata:\n\n"), events(answer1)}, []time.Duration{5 * time.Millisecond, 6 * time.Millisecond}},
		"not":     {play{events("id: p\ndata:\n\n"), events(answer1)}, nil},
		"at once": {play{events("id: p\nretry: 1500\ndata:\n\n" + answer1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &steps{t: t, play: c.play}
				cl, err := transport.NewHTTP("http://server.test/mcp", transport.HTTPOptions{Client: &http.Client{Transport: s}, Handler: newRecorder()})
				require.NoError(t, err)
				defer cl.Close()
				p := &poller{recorder: newRecorder()}
				if _, err := cl.Call(t.Context(), &runtime.Request{Method: "tools/call", Version: legacy, Events: p}); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.want, p.paused); d != "" {
					t.Error(d)
				}
			})
		})
	}
}
