package negotiate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// watcher is a modern server that watches what it is asked to, except what is
// called "no", refuses listens for what is called "bad", and keeps a log of
// listens that begin and end.
type watcher struct {
	mu   sync.Mutex // guards what follows
	log  []string
	open map[int]*watch
	n    int
	// alone counts listens that began while no other was open
	alone int
}

type watch struct {
	call *runtimetest.Call
	uris []string
	end  chan string // how the server ends it
}

func (w *watcher) listen(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
	var p struct {
		Notifications struct {
			Tools bool     `json:"toolsListChanged,omitempty"`
			URIs  []string `json:"resourceSubscriptions,omitempty"`
		}
	}
	if err := json.Unmarshal(c.Params, &p); err != nil {
		return nil, err
	}
	f := &p.Notifications
	own := &watch{call: c, uris: f.URIs, end: make(chan string)}
	w.mu.Lock()
	w.n++
	n := w.n
	w.log = append(w.log, fmt.Sprintf("%d begins %v %v", n, f.Tools, f.URIs))
	if slices.Contains(f.URIs, "bad") {
		w.mu.Unlock()
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "bad URI"}
	}
	if len(w.open) == 0 {
		w.alone++
	}
	w.open[n] = own
	w.mu.Unlock()
	f.URIs = slices.DeleteFunc(f.URIs, func(uri string) bool { return uri == "no" })
	raw, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	tell(c, "notifications/subscriptions/acknowledged", `"notifications":`+string(raw))
	how := "client"
	select {
	case <-ctx.Done():
	case how = <-own.end:
		if how == "cancelled" {
			c.Notify("notifications/cancelled", json.RawMessage(`{"requestId":`+string(c.ID)+`}`))
			<-ctx.Done()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf("%d ends: %s", n, how))
	delete(w.open, n)
	return json.RawMessage(`{"resultType":"complete"}`), nil
}

// update tells of a change on every listen for it.
func (w *watcher) update(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.open {
		if slices.Contains(o.uris, uri) {
			tell(o.call, "notifications/resources/updated", `"uri":"`+uri+`"`)
		}
	}
}

func (w *watcher) end(n int, how string) {
	w.mu.Lock()
	o := w.open[n]
	w.mu.Unlock()
	o.end <- how
}

func (w *watcher) take() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.log
	w.log = nil
	slices.Sort(out) // ends of one moment come in any order
	return out
}

// told is a handler that keeps notifications with their params.
type told struct {
	runtime.NopHandler
	mu  sync.Mutex // guards all
	all []string
}

func (h *told) Notification(_ context.Context, call *runtime.Request, method string, params json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, strings.TrimSpace(fmt.Sprintf("%s %s", strings.TrimPrefix(method, "notifications/"), params)))
	if call != nil {
		h.all = append(h.all, "with a call")
	}
}

func (h *told) take() []string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.all
	h.all = nil
	return out
}

func TestSubscriptionsShareAListen(t *testing.T) {
	for _, overHTTP := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := &watcher{open: map[int]*watch{}}
			s := runtimetest.New()
			s.Versions, s.Capabilities = []string{runtimetest.RevJuly}, json.RawMessage(`{"tools":{"listChanged":true},"resources":{"subscribe":true}}`)
			s.Methods = map[string]runtimetest.Func{"subscriptions/listen": w.listen}
			h := &told{}
			c := connectTo(t, negotiate.Options{HTTP: overHTTP, Handler: h}, func() runtime.Transport { return s.Connect(h) })
			// do makes a call and checks its outcome, what the server saw and
			// what the handler was told; the first of two is for HTTP.
			do := func(method, uri, want string, log, told [2][]string) {
				t.Helper()
				if method != "" {
					raw, err := c.Call(t.Context(), &runtime.Request{Method: "resources/" + method, Params: json.RawMessage(`{"uri":"` + uri + `"}`)})
					if got := string(raw) + fmt.Sprint(err); got != want {
						t.Errorf("HTTP %v: %s %s: got %s, want %s", overHTTP, method, uri, got, want)
					}
				}
				time.Sleep(time.Second)
				i := 1
				if overHTTP {
					i = 0
				}
				slices.Sort(log[i])
				if diff := cmp.Diff(log[i], w.take()); diff != "" {
					t.Errorf("HTTP %v: %s %s: server (-want +got):\n%s", overHTTP, method, uri, diff)
				}
				if diff := cmp.Diff(told[i], h.take()); diff != "" {
					t.Errorf("HTTP %v: %s %s: told (-want +got):\n%s", overHTTP, method, uri, diff)
				}
			}
			both := func(lines ...string) [2][]string { return [2][]string{lines, lines} }
			const ok, ack = `{}<nil>`, `subscriptions/acknowledged {"notifications":{}}`
			c.Transport.(interface{ Listen(context.Context) }).Listen(t.Context())
			do("", "", "", both("1 begins true []"), both(ack))
			do("subscribe", "a", ok, [2][]string{{"2 begins true [a]", "1 ends: client"}, {"2 begins false [a]"}}, both())
			do("subscribe", "a", ok, both(), both())
			do("subscribe", "b", ok, [2][]string{{"3 begins true [a b]", "2 ends: client"}, {"3 begins false [b]"}}, both())
			w.update("a")
			do("", "", "", both(), both(`resources/updated {"uri":"a"}`))
			do("subscribe", "no", `the server does not watch no (-32602)`,
				[2][]string{{"4 begins true [a b no]", "3 ends: client", "5 begins true [a b]", "4 ends: client"}, {"4 begins false [no]"}}, both())
			do("subscribe", "bad", `bad URI (-32602)`, [2][]string{{"6 begins true [a b bad]"}, {"5 begins false [bad]"}}, both())
			do("unsubscribe", "a", ok, [2][]string{{"7 begins true [b]", "5 ends: client"}, nil}, both())
			w.update("a")
			do("unsubscribe", "never", ok, both(), both())
			if w.alone != 1 {
				t.Errorf("HTTP %v: %d listens began while no other was open", overHTTP, w.alone)
			}
			if overHTTP {
				w.end(7, "result")
			} else {
				w.end(3, "cancelled")
			}
			do("", "", "", [2][]string{
				{"7 ends: result", "8 begins true [b]"},
				{"1 ends: client", "2 ends: client", "3 ends: cancelled", "4 ends: client", "6 begins true [b]"},
			}, both(ack, `resources/updated {"uri":"b"}`))
			w.update("b")
			do("", "", "", both(), both(`resources/updated {"uri":"b"}`))
			do("unsubscribe", "b", ok, [2][]string{{"9 begins true []", "8 ends: client"}, nil}, both())
		})
	}
}

func TestSubscribeAfterTheEnd(t *testing.T) {
	s := runtimetest.New()
	s.Versions = []string{runtimetest.RevJuly}
	c, _, err := connect(t.Context(), s, negotiate.Options{})
	require.NoError(t, err)
	_ = c.Close()
	if _, err := c.Call(t.Context(), &runtime.Request{Method: "resources/subscribe", Params: json.RawMessage(`{"uri":"a"}`)}); err == nil {
		t.Error("subscribed on a closed connection")
	}
}

// TestListenThatIsNotAcknowledged: changes of lists may still be told, what was
// to be watched is an error. And one that is refused after an interruption is
// tried without the resources.
func TestListenThatIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards mute and asked
		mute := true
		var asked []string
		s := runtimetest.New()
		s.Versions, s.Capabilities = []string{runtimetest.RevJuly}, json.RawMessage(`{"tools":{"listChanged":true}}`)
		ends := make(chan bool)
		s.Methods = map[string]runtimetest.Func{"subscriptions/listen": func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var p struct{ Notifications json.RawMessage }
			_ = json.Unmarshal(c.Params, &p)
			mu.Lock()
			asked = append(asked, string(p.Notifications))
			n, silent := len(asked), mute
			mu.Unlock()
			switch {
			case n == 5:
				return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "no longer"}
			case !silent:
				tell(c, "notifications/subscriptions/acknowledged", `"notifications":`+string(p.Notifications))
			}
			select {
			case <-ctx.Done():
			case <-ends:
			}
			return json.RawMessage(`{"resultType":"complete"}`), nil
		}}
		h := &told{}
		c := connectTo(t, negotiate.Options{HTTP: true, Handler: h}, func() runtime.Transport { return s.Connect(h) })
		c.Transport.(interface{ Listen(context.Context) }).Listen(t.Context())
		subscribe := func(want string) {
			t.Helper()
			raw, err := c.Call(t.Context(), &runtime.Request{Method: "resources/subscribe", Params: json.RawMessage(`{"uri":"uri"}`)})
			if got := string(raw) + fmt.Sprint(err); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		time.Sleep(time.Minute)
		subscribe("the server does not watch uri (-32602)")
		mu.Lock()
		mute = false
		mu.Unlock()
		time.Sleep(time.Minute)
		subscribe("{}<nil>")
		time.Sleep(time.Second)
		ends <- true // the latest one, the only one left
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		const lists, both = `{"toolsListChanged":true}`, `{"toolsListChanged":true,"resourceSubscriptions":["uri"]}`
		if diff := cmp.Diff([]string{lists, both, lists, both, both, lists}, asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
}

// TestStreamsOverStdioAreBounded, and so is what is watched for nobody.
func TestStreamsOverStdioAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watcher{open: map[int]*watch{}}
		s := runtimetest.New()
		s.Versions = []string{runtimetest.RevJuly}
		s.Methods = map[string]runtimetest.Func{"subscriptions/listen": w.listen}
		h := &told{}
		c := connectTo(t, negotiate.Options{Handler: h}, func() runtime.Transport { return s.Connect(h) })
		call := func(method string, n int) {
			t.Helper()
			if _, err := c.Call(t.Context(), &runtime.Request{Method: "resources/" + method, Params: fmt.Appendf(nil, `{"uri":"u%d"}`, n)}); err != nil {
				t.Fatal(err)
			}
		}
		watched := func() (streams int, uris []string) {
			time.Sleep(time.Second)
			synctest.Wait()
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, o := range w.open {
				uris = append(uris, o.uris...)
			}
			return len(w.open), uris
		}
		for n := range 40 {
			call("subscribe", n)
		}
		if streams, uris := watched(); streams > 32 || len(uris) != 40 {
			t.Errorf("%d streams for %d resources", streams, len(uris))
		}
		for n := range 100 {
			call("subscribe", 1000+n)
			call("unsubscribe", 1000+n)
		}
		h.take()
		if streams, uris := watched(); streams > 32 || len(uris) < 40 || len(uris) > 40+65 {
			t.Errorf("%d streams for %d resources", streams, len(uris))
		}
		w.update("u0")
		w.update("u39")
		if got := h.take(); len(got) != 2 {
			t.Errorf("told %v", got)
		}
	})
}
