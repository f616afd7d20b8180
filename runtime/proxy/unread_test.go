package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// unread is the way to an HTTP client that has stopped to read: a write ends
// with its deadline and no sooner.
type unread struct {
	head    http.Header
	once    sync.Once
	blocked chan struct{} // closed by the first write
	over    chan struct{}
	end     func() // closes it

	mu    sync.Mutex // guards timer
	timer *time.Timer
}

func newUnread() *unread {
	u := &unread{head: http.Header{}, blocked: make(chan struct{}), over: make(chan struct{})}
	u.end = sync.OnceFunc(func() { close(u.over) })
	return u
}

func (u *unread) Header() http.Header { return u.head }
func (u *unread) WriteHeader(int)     {}
func (u *unread) Flush()              {}

func (u *unread) Write([]byte) (int, error) {
	u.once.Do(func() { close(u.blocked) })
	<-u.over
	return 0, os.ErrDeadlineExceeded
}

func (u *unread) SetWriteDeadline(at time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.timer != nil {
		u.timer.Stop()
	}
	if !at.IsZero() {
		u.timer = time.AfterFunc(time.Until(at), u.end)
	}
	return nil
}

// TestClientThatDoesNotRead: whoever writes to it is let go when the endpoint ends,
// whatever it writes, and the endpoint ends.
func TestClientThatDoesNotRead(t *testing.T) {
	large := json.RawMessage(`{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("x", 4096) + `"}]}`)
	for name, c := range map[string]struct {
		method, params string
		legacy, events bool // events: something comes before the answer
	}{
		"a listen":                    {method: "subscriptions/listen", params: `{"notifications":{"toolsListChanged":true}}`},
		"a modern answer":             {method: "tools/call", params: `{"name":"echo"}`},
		"what comes before it":        {method: "tools/call", params: `{"name":"echo"}`, events: true},
		"an answer":                   {method: "tools/call", params: `{"name":"echo"}`, legacy: true},
		"what comes before it, older": {method: "tools/call", params: `{"name":"echo"}`, legacy: true, events: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := proxy.NewAllowed(proxy.Options{
					Servers: proxy.Named("s"), NoPrefix: true,
					Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
						s := eventful{instant{json.RawMessage(`{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`), large}, c.events}
						return runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2026-07-28", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
					},
				})
				require.NoError(t, err)
				defer func() { _ = p.Close() }()
				handler := p.NewHTTPHandler(proxy.HTTPOptions{AnyHost: true})
				body, head := request("1", c.method, c.params, "{}", `,"progressToken":1`)
				if c.legacy {
					body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"echo"}}`
					head = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
				}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
				r.Header = head
				w, ended := newUnread(), make(chan struct{})
				go func() {
					defer close(ended)
					handler.ServeHTTP(w, r)
				}()
				<-w.blocked
				start := time.Now()
				handler.Close()
				select {
				case <-ended:
				case <-wait.Late(t):
					t.Error("the handler still writes")
					w.end()
					<-ended
				}
				if after := time.Since(start); after > 2*time.Second {
					t.Errorf("it took %v", after)
				}
			})
		})
	}
}

// eventful tells of progress before it answers.
type eventful struct {
	instant
	tells bool
}

func (s eventful) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if s.tells && req.Method == "tools/call" {
		progress(ctx, req, 1)
		time.Sleep(time.Second)
	}
	return s.instant.Call(ctx, req)
}

// reluctant is a server that does not agree to watch a resource.
type reluctant struct{ instant }

func (s reluctant) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "resources/subscribe" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return json.RawMessage(`{"resources":[{"uri":"x:y","name":"n"}],"resourceTemplates":[]}`), nil
}

// TestListenEndsBeforeItBegins: an endpoint that ends does not wait for the servers
// that a listen has to be agreed with, and tells the client.
func TestListenEndsBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := proxy.NewAllowed(proxy.Options{
			Servers: proxy.Named("s"), NoPrefix: true,
			Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
				return runtime.NewClient(reluctant{}, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"resources":{"subscribe":true}}`)}}), nil
			},
		})
		require.NoError(t, err)
		defer func() { _ = p.Close() }()
		handler := p.NewHTTPHandler(proxy.HTTPOptions{AnyHost: true})
		body, head := request("1", "subscriptions/listen", `{"notifications":{"resourceSubscriptions":["x:y"]}}`, "{}", "")
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header = head
		w, ended := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(ended)
			handler.ServeHTTP(w, r)
		}()
		synctest.Wait()
		start := time.Now()
		handler.Close()
		<-ended
		if after := time.Since(start); after > time.Second || !strings.Contains(w.Body.String(), `"resultType":"complete"`) {
			t.Errorf("after %v: %s", after, w.Body)
		}
	})
}
