package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

type tool = func(ctx context.Context, req *runtime.Request) (json.RawMessage, error)

// asker asks the client what it likes in the middle of a call.
func asker(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	got, err := req.Events.Request(ctx, req, "roots/list", nil)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"content":[],"got":` + string(got) + `}`), nil
}

// TestHTTPQuestion: a question goes on the stream of the POST that it belongs
// to, not on that of a GET, and its answer comes as a POST.
func TestHTTPQuestion(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, asker)
			id := m.session(version)
			get := m.listen(id, "")
			call := m.call(id, "5")
			if got := call.head.Get("Content-Type"); got != "text/event-stream" {
				t.Fatalf("got %s", got)
			}
			first := call.next()
			if version == "2025-11-25" {
				if len(first.Data) > 0 || first.ID == "" {
					t.Errorf("got %+v, want an id alone", first)
				}
				first = call.next()
			}
			if !strings.Contains(string(first.Data), `"method":"roots/list"`) {
				t.Errorf("%s: got %+v", version, first)
			}
			question := idOf(t, first.Data)
			for _, body := range []string{
				`{"jsonrpc":"2.0","id":"nobody's","result":{}}`,
				`{"jsonrpc":"2.0","id":` + question + `,"result":{"roots":[1.0]}}`,
				`{"jsonrpc":"2.0","id":` + question + `,"result":{"roots":"twice"}}`,
			} {
				if r := m.post(id, body); r.status != 202 {
					t.Errorf("an answer: got %d", r.status)
				}
			}
			call.message(`{"jsonrpc":"2.0","id":5,"result":{"content":[],"got":{"roots":[1.0]}}}`)
			call.ended()
			get.hangUp()
		})
	}
}

// TestHTTPQuestionWithoutAWay: where the client cannot be asked, the server
// learns it at once.
func TestHTTPQuestionWithoutAWay(t *testing.T) {
	for name, c := range map[string]struct {
		session bool
		accept  string
	}{
		"no session":          {false, "application/json, text/event-stream"},
		"takes no event data": {true, "application/json"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, asker)
			id := ""
			if c.session {
				id = m.session("2025-11-25")
			}
			r := m.call(id, "5", "Accept", c.accept)
			if text := r.all(); r.head.Get("Content-Type") != "application/json" || !strings.Contains(text, `"code":-32601`) {
				t.Errorf("%s: got %s", name, text)
			}
		})
	}
}

// TestHTTPQuestionOutlivesTheConnection: a client that loses its connection
// finds the question where it takes the stream up again.
func TestHTTPQuestionOutlivesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			progress(ctx, req, 1)
			time.Sleep(time.Second)
			return asker(ctx, req)
		})
		id := m.session("2025-11-25")
		call := m.call(id, "5")
		call.next()
		at := call.message("notifications/progress").ID
		call.hangUp()
		time.Sleep(time.Minute)
		again := m.listen(id, at)
		question := idOf(t, again.message("roots/list").Data)
		m.post(id, `{"jsonrpc":"2.0","id":`+question+`,"result":{"roots":[]}}`)
		again.message(`"id":5,"result"`)
		again.ended()
	})
}

// TestHTTPQuestionEndsWithItsCall: nobody waits for an answer after that.
func TestHTTPQuestionEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan error, 1)
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			go func() {
				_, err := req.Events.Request(context.WithoutCancel(ctx), req, "roots/list", nil)
				asked <- err
			}()
			time.Sleep(time.Second)
			return done, nil
		})
		id := m.session("2025-11-25")
		get := m.listen(id, "")
		call := m.call(id, "5")
		question := idOf(t, call.message("roots/list").Data)
		call.message(`"id":5,"result"`)
		call.ended()
		if got := get.message("notifications/cancelled"); !strings.Contains(string(got.Data), `"requestId":`+question) {
			t.Errorf("got %s", got.Data)
		}
		get.hangUp()
		if err := <-asked; err == nil {
			t.Error("the question was answered")
		}
	})
}

// steps sends n progress messages, a second apart.
func steps(n int) tool {
	return func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
		for i := range n {
			progress(ctx, req, i+1)
			time.Sleep(time.Second)
		}
		return done, nil
	}
}

// TestHTTPResume: a stream whose connection is gone can be taken up after any
// of its events, also when its answer has come, and brings no other's messages.
func TestHTTPResume(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, steps(4))
			id := m.session(version)
			call, other := m.call(id, "5"), m.call(id, "6")
			at := call.message(`"progress":1`).ID
			second := call.message(`"progress":2`).ID
			if !strings.HasPrefix(at, "p") || at == second {
				t.Errorf("got ids %q, %q", at, second)
			}
			call.hangUp()
			again := m.listen(id, at)
			again.message(`"progress":2`)
			// Whoever comes later takes over.
			third := m.listen(id, second)
			again.ended()
			third.message(`"progress":3`)
			third.message(`"progress":4`)
			last := third.message(`"id":5,"result"`).ID
			third.ended()
			for i := range 4 {
				other.message(fmt.Sprintf(`"progress":%d`, i+1))
			}
			other.message(`"id":6,"result"`)
			delayed := m.listen(id, second)
			delayed.message(`"progress":3`)
			delayed.message(`"progress":4`)
			delayed.message(`"id":5,"result"`)
			delayed.ended()
			m.listen(id, last).ended()
			time.Sleep(6 * time.Minute)
			if r := m.listen(id, second); r.status != 400 {
				t.Errorf("after its time: got %d", r.status)
			}
			for _, bad := range []string{"nonsense", "p99-1", "p1", "-"} {
				if r := m.listen(id, bad); r.status != 400 {
					t.Errorf("%s: got %d", bad, r.status)
				}
			}
		})
	}
}

// TestHTTPDroppedStreamIsNoCancel: the call goes on, with a session or without.
func TestHTTPDroppedStreamIsNoCancel(t *testing.T) {
	for _, session := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
				progress(ctx, req, 1)
				time.Sleep(time.Minute)
				ended <- ctx.Err()
				return done, nil
			})
			id := ""
			if session {
				id = m.session("2025-11-25")
			}
			call := m.call(id, "5")
			call.message(`"progress":1`)
			call.hangUp()
			if err := <-ended; err != nil {
				t.Errorf("session %v: %v", session, err)
			}
		})
	}
}

// TestHTTPStreamIsEndedToBePolled: where the server ends its stream for a
// while, so does the endpoint; a client that does not know how to come back keeps
// its stream.
func TestHTTPStreamIsEndedToBePolled(t *testing.T) {
	for version, polled := range map[string]bool{"2025-11-25": true, "2025-06-18": false} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
				p, ok := req.Events.(interface{ Paused(retry time.Duration) })
				if !ok {
					return nil, errors.New("nobody wants to know")
				}
				p.Paused(250 * time.Millisecond)
				time.Sleep(time.Second)
				return done, nil
			})
			id := m.session(version)
			call := m.call(id, "5")
			if !polled {
				if got := call.all(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":5,"result"`) {
					t.Errorf("got %s", got)
				}
				return
			}
			first, mark := call.next(), call.next()
			if first.ID == "" || mark.ID == "" || first.ID == mark.ID {
				t.Errorf("got %+v, %+v", first, mark)
			}
			call.ended()
			if retry, _ := call.events.Retry(); retry != 250*time.Millisecond {
				t.Errorf("got retry %v", retry)
			}
			again := m.listen(id, mark.ID)
			again.message(`"id":5,"result"`)
			again.ended()
		})
	}
}

// TestHTTPStreamMax: no connection is older than that, and nothing is lost.
func TestHTTPStreamMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{StreamMax: 1600 * time.Millisecond}, steps(6))
		id := m.session("2025-11-25")
		start := time.Now()
		r, seen := m.call(id, "5"), 0
		for connections := 1; ; connections++ {
			last := ""
			for {
				ev, err := r.events.Next()
				if err != nil {
					break
				}
				last = ev.ID
				switch {
				case strings.Contains(string(ev.Data), fmt.Sprintf(`"progress":%d`, seen+1)):
					seen++
				case strings.Contains(string(ev.Data), `"id":5,"result"`):
					seen += 100
				}
			}
			if seen > 100 {
				if seen != 106 || connections != 4 {
					t.Errorf("got %d messages over %d connections", seen, connections)
				}
				break
			}
			retry, _ := r.events.Retry()
			if age := time.Since(start); age != 1600*time.Millisecond || retry <= 0 {
				t.Fatalf("a connection lasted %v, retry %v", age, retry)
			}
			start = time.Now()
			r = m.listen(id, last)
		}
		get := m.listen(id, "")
		get.ended()
		if got := m.session("2025-06-18"); m.call(got, "7").status != 200 {
			t.Error("an older client is served otherwise")
		}
	})
}

// TestHTTPStreamMaxIsShort: whoever comes back gets something done.
func TestHTTPStreamMaxIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{StreamMax: 50 * time.Millisecond}, func(context.Context, *runtime.Request) (json.RawMessage, error) {
			time.Sleep(time.Minute)
			return done, nil
		})
		id := m.session("2025-11-25")
		r := m.call(id, "5")
		for _, want := range []time.Duration{0, time.Second, time.Second} {
			start, last := time.Now(), ""
			for ev, err := r.events.Next(); err == nil; ev, err = r.events.Next() {
				last = ev.ID
			}
			if got := time.Since(start); got != want { // the first had its time before it became a stream
				t.Errorf("a connection lasted %v, want %v", got, want)
			}
			r = m.listen(id, last)
		}
		r.hangUp()
	})
}

// TestHTTPWhatAConnectionHasNotTaken goes to the next one, whether or not a
// write has begun.
func TestHTTPWhatAConnectionHasNotTaken(t *testing.T) {
	for _, writing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, steps(0))
			id := m.session("2025-11-25")
			m.post(id, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).all()
			first := m.listen(id, "")
			if writing {
				first.next() // the message comes next, and is not read
			}
			m.back.offer(`{"tools":[]}`)
			m.back.handler.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
			time.Sleep(10 * time.Second)
			first.hangUp()
			next := m.listen(id, "")
			next.message("tools/list_changed")
			next.hangUp()
		})
	}
}

// TestHTTPSilenceBecomesAStream: after five seconds, with comments.
func TestHTTPSilenceBecomesAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(context.Context, *runtime.Request) (json.RawMessage, error) {
			time.Sleep(time.Minute)
			return done, nil
		})
		start := time.Now()
		call := m.call("", "5")
		if d := time.Since(start); d != 5*time.Second || call.head.Get("Content-Type") != "text/event-stream" {
			t.Errorf("after %v: %v", d, call.head)
		}
		if got := call.all(); strings.Count(got, ": keep-alive\n\n") != 4 || !strings.Contains(got, `"id":5,"result"`) {
			t.Errorf("got %s", got)
		}
	})
}

// TestHTTPTaste: an answer is of a kind that the client takes.
func TestHTTPTaste(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                    "application/json",
		"*/*":                                 "text/event-stream",
		"application/json":                    "application/json",
		"text/event-stream":                   "text/event-stream",
		"Text/Event-Stream;q=0.9, text/plain": "text/event-stream",
		"text/html":                           "406",
	} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
				if accept == "application/json" || accept == "*/*" {
					progress(ctx, req, 1) // for which JSON has no room
				}
				return done, nil
			})
			r := m.call("", "5", "Accept", accept)
			text := r.all()
			if want == "406" {
				if r.status != 406 {
					t.Errorf("%s: got %d", accept, r.status)
				}
				return
			}
			if got := r.head.Get("Content-Type"); got != want || !strings.Contains(text, `"id":5,"result"`) {
				t.Errorf("%q: got %s %s", accept, got, text)
			}
		})
	}
}

// TestHTTPChangesWaitForAStream: what a client was not there to hear of it
// hears once, on one stream.
func TestHTTPChangesWaitForAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, steps(0))
		id := m.session("2025-11-25")
		m.post(id, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).all()
		change := func(tool string) {
			m.back.offer(`{"tools":[{"name":"` + tool + `","inputSchema":{"type":"object"}}]}`)
			m.back.handler.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
			time.Sleep(10 * time.Second)
		}
		change("y")
		change("z")
		first := m.listen(id, "")
		at := first.message("tools/list_changed").ID
		second := m.listen(id, "")
		change("u")
		first.message("tools/list_changed") // the oldest stream alone
		first.hangUp()
		change("v")
		second.message("tools/list_changed")
		second.hangUp()
		change("w")
		again := m.listen(id, at) // brings what it had, and what has waited
		again.message("tools/list_changed")
		again.message("tools/list_changed")
		again.hangUp()
		time.Sleep(10 * time.Minute)
		delayed := m.listen(id, at) // nothing is left of it, but it listens
		change("x")
		delayed.message("tools/list_changed")
		delayed.hangUp()
	})
}

// TestHTTPSessionEndsItsCalls: DELETE leaves nothing behind.
func TestHTTPSessionEndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			progress(ctx, req, 1)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		id := m.session("2025-11-25")
		call, get := m.call(id, "5"), m.listen(id, "")
		call.message(`"progress":1`)
		if r := m.do("DELETE", "/mcp", "", "Mcp-Session-Id", id); r.status != 204 {
			t.Errorf("got %d", r.status)
		}
		<-ended
		get.ended()
		call.message(`"id":5,"error"`)
		call.ended()
	})
}

// TestHTTPDeadline: a call may take long while it gives signs of life or a
// person is asked, and an hour at most.
func TestHTTPDeadline(t *testing.T) {
	ask := func(ctx context.Context, req *runtime.Request) {
		_, _ = req.Events.Request(ctx, req, "roots/list", nil)
	}
	for name, c := range map[string]struct {
		do   func(ctx context.Context, req *runtime.Request)
		want time.Duration
	}{
		"silence": {func(ctx context.Context, _ *runtime.Request) { <-ctx.Done() }, 2 * time.Minute},
		"progress": {func(ctx context.Context, req *runtime.Request) {
			for i := range 5 {
				time.Sleep(time.Minute)
				progress(ctx, req, i+1)
			}
			<-ctx.Done()
		}, 7 * time.Minute},
		"progress without end": {func(ctx context.Context, req *runtime.Request) {
			for i := 0; ctx.Err() == nil; i++ {
				progress(ctx, req, i+1)
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
				}
			}
		}, time.Hour},
		"a question": {ask, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
				c.do(ctx, req)
				return nil, ctx.Err()
			})
			id := m.session("2025-06-18")
			start := time.Now()
			text := m.call(id, "5").all()
			if d := time.Since(start).Round(time.Minute); d != c.want || !strings.Contains(text, `"isError":true`) {
				t.Errorf("%s: ended after %v, want %v: %s", name, d, c.want, text[max(0, len(text)-200):])
			}
		})
	}
}

// TestHTTPBatch: messages of a batch are served side by side, and answered
// together; what comes before makes a stream of it.
func TestHTTPBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			switch {
			case strings.Contains(string(req.Params), `"progress":`):
				progress(ctx, req, 1)
			case strings.Contains(string(req.Params), "question"):
				return asker(ctx, req)
			case strings.Contains(string(req.Params), "cancel"):
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return done, nil
		})
		call := func(id int, what string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__x","_meta":{"progressToken":"t"},"arguments":{"%s":1}}}`, id, what)
		}
		id := m.session("2025-03-26")
		r := m.post(id, `[`+call(1, "plain")+`,{"jsonrpc":"2.0","method":"notifications/x"},`+call(2, "cancel")+
			`,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}},{"jsonrpc":"2.0","id":3,"method":"initialize"}]`)
		if text := r.all(); !strings.HasPrefix(text, `[{"jsonrpc":"2.0","id":1,"result":`) || strings.Contains(text, `"id":2`) || !strings.Contains(text, `"id":3,"error"`) {
			t.Errorf("got %s", text)
		}
		r = m.post(id, `[`+call(4, "question")+`,`+call(5, "progress")+`]`)
		question := ""
		for range 2 {
			if ev := r.next(); strings.Contains(string(ev.Data), "roots/list") {
				question = idOf(t, ev.Data)
			}
		}
		if a := m.post(id, `[{"jsonrpc":"2.0","id":`+question+`,"result":{"roots":[]}}]`); a.status != 202 {
			t.Errorf("a batch of answers: got %d", a.status)
		}
		got := r.message(`[{"jsonrpc":"2.0","id":4,"result":`)
		if !strings.Contains(string(got.Data), `{"jsonrpc":"2.0","id":5,"result":`) {
			t.Errorf("got %s", got.Data)
		}
		r.ended()
	})
}
