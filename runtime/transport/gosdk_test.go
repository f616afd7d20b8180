package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// sdkServer is a server of the official Go SDK: an independent reading of the
// specification.
type sdkServer struct {
	*mcp.Server
	began     chan struct{} // "wait" has begun
	cancelled chan error    // why "wait" has ended
}

func newSDKServer() *sdkServer {
	s := &sdkServer{began: make(chan struct{}, 10), cancelled: make(chan error, 10)}
	s.Server = mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	type in struct {
		N int `json:"n"`
	}
	text := func(format string, a ...any) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
	}
	add := func(name string, f func(ctx context.Context, r *mcp.CallToolRequest, n int) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s.Server, &mcp.Tool{Name: name}, func(ctx context.Context, r *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
			res, err := f(ctx, r, a.N)
			return res, nil, err
		})
	}
	add("twice", func(_ context.Context, _ *mcp.CallToolRequest, n int) (*mcp.CallToolResult, error) {
		return text("%d", 2*n), nil
	})
	add("steps", func(ctx context.Context, r *mcp.CallToolRequest, n int) (*mcp.CallToolResult, error) {
		for i := range n {
			err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1)})
			if err != nil {
				return nil, err
			}
		}
		return text("done"), nil
	})
	add("ask", func(ctx context.Context, r *mcp.CallToolRequest, _ int) (*mcp.CallToolResult, error) {
		roots, err := r.Session.ListRoots(ctx, nil) //nolint:staticcheck // deprecated, and still to be served
		if err != nil {
			return nil, err
		}
		return text("%s", roots.Roots[0].URI), nil
	})
	add("polled", func(ctx context.Context, r *mcp.CallToolRequest, n int) (*mcp.CallToolResult, error) {
		r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		return text("%d", n), nil
	})
	add("wait", func(ctx context.Context, _ *mcp.CallToolRequest, _ int) (*mcp.CallToolResult, error) {
		s.began <- struct{}{}
		<-ctx.Done()
		s.cancelled <- ctx.Err()
		return nil, ctx.Err()
	})
	return s
}

// asker has roots.
func asker() *recorder {
	rec := newRecorder()
	rec.request = func(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
		if method != "roots/list" {
			return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: method}
		}
		return json.RawMessage(`{"roots":[{"uri":"file:///here"}]}`), nil
	}
	return rec
}

func shake(t *testing.T, c runtime.Transport) {
	t.Helper()
	_, err := c.Call(t.Context(), &runtime.Request{Method: "initialize", Params: json.RawMessage(
		`{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"test","version":"1"}}`)})
	require.NoError(t, err)
	require.NoError(t, c.Notify(t.Context(), &runtime.Request{Method: "notifications/initialized", Version: legacy}))
}

func callTool(t *testing.T, c runtime.Transport, name string, n int, events runtime.Handler) (string, error) {
	t.Helper()
	req := &runtime.Request{Method: "tools/call", Version: legacy, Token: json.RawMessage(`"t1"`), Events: events}
	req.Params = fmt.Appendf(nil, `{"name":%q,"arguments":{"n":%d},"_meta":{"progressToken":"t1"}}`, name, n)
	raw, err := c.Call(t.Context(), req)
	if err != nil {
		return "", err
	}
	res, err := runtime.ParseToolResult(raw)
	if err != nil {
		return "", err
	}
	return res.Text(), nil
}

// legacyTour is what each transport of the handshake era has to carry.
func legacyTour(t *testing.T, s *sdkServer, c runtime.Transport) {
	t.Helper()
	if got, err := callTool(t, c, "twice", 21, nil); err != nil || got != "42" {
		t.Errorf("twice: got %q, %v", got, err)
	}
	if got, err := callTool(t, c, "ask", 0, nil); err != nil || got != "file:///here" {
		t.Errorf("ask: got %q, %v", got, err)
	}
	var rpc *runtime.Error
	if _, err := callTool(t, c, "missing", 0, nil); !errors.As(err, &rpc) || rpc.Code != runtime.CodeInvalidParams {
		t.Errorf("missing: got %v", err)
	}
	// The SDK refuses a method it does not know with a plain 400.
	var status *transport.StatusError
	if _, err := c.Call(t.Context(), &runtime.Request{Method: "no/such", Version: legacy}); !errors.As(err, &status) || status.Status != 400 || status.SessionExpired() {
		t.Errorf("no/such: got %v", err)
	}
	steps := asker()
	if got, err := callTool(t, c, "steps", 3, steps); err != nil || got != "done" {
		t.Errorf("steps: got %q, %v", got, err)
	}
	for i := range 3 {
		if n := steps.next(t); n.method != "notifications/progress" || !strings.Contains(n.params, fmt.Sprintf(`"progress":%d`, i+1)) {
			t.Errorf("progress %d: got %+v", i+1, n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		failed <- second(c.Call(ctx, &runtime.Request{Method: "tools/call", Version: legacy, Params: json.RawMessage(`{"name":"wait","arguments":{"n":1}}`)}))
	}()
	wait.For(t, "the call", s.began)
	cancel()
	if err := wait.For(t, "the end of the call", failed); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if err := wait.For(t, "the cancel at the server", s.cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled at the server: got %v", err)
	}
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestSDKStreamable(t *testing.T) {
	for name, o := range map[string]*mcp.StreamableHTTPOptions{
		"stream":    nil,
		"resumable": {EventStore: mcp.NewMemoryEventStore(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSDKServer()
			handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.Server }, o)
			var resumed atomic.Int64
			url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Last-Event-Id") != "" {
					resumed.Add(1)
				}
				handler.ServeHTTP(w, r)
			}))
			rec := asker()
			c := newHTTP(t, url, transport.HTTPOptions{Handler: rec})
			shake(t, c)
			if c.SessionID() == "" {
				t.Error("no session")
			}
			c.Listen(t.Context())
			legacyTour(t, s, c)
			if o != nil {
				if got, err := callTool(t, c, "polled", 5, nil); err != nil || got != "5" || resumed.Load() == 0 {
					t.Errorf("polled: got %q, %v, %d streams taken up again", got, err, resumed.Load())
				}
			}
			// The stream outside of calls may not stand yet; once it does, a
			// change of the list arrives there.
			for i := 0; len(rec.notes) == 0; i++ {
				mcp.AddTool(s.Server, &mcp.Tool{Name: fmt.Sprint("new", i)}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
					return nil, nil, nil
				})
				select {
				case n := <-rec.notes:
					rec.notes <- n
				case <-time.After(50 * time.Millisecond):
				}
			}
			if n := rec.next(t); n.method != "notifications/tools/list_changed" {
				t.Errorf("got %+v", n)
			}
			old := c.SessionID()
			// The server forgets the session: the call says so, and a new
			// handshake mends it.
			for ss := range s.Sessions() {
				_ = ss.Close()
			}
			if _, err := callTool(t, c, "twice", 1, nil); !errors.Is(err, transport.ErrSessionExpired) {
				t.Errorf("after the session's end: got %v", err)
			}
			c.ResetSession()
			shake(t, c)
			if got, err := callTool(t, c, "twice", 2, nil); err != nil || got != "4" || c.SessionID() == old {
				t.Errorf("in the new session: got %q, %v", got, err)
			}
			_ = c.Close()
			for ss := range s.Sessions() {
				t.Errorf("session %s is left", ss.ID())
			}
		})
	}
}

func TestSDKStreamableJSON(t *testing.T) {
	s := newSDKServer()
	url := serve(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.Server }, &mcp.StreamableHTTPOptions{JSONResponse: true}))
	c := newHTTP(t, url, transport.HTTPOptions{})
	shake(t, c)
	if got, err := callTool(t, c, "twice", 21, nil); err != nil || got != "42" {
		t.Errorf("got %q, %v", got, err)
	}
	_ = c.Close()
}

func TestSDKHTTPSSE(t *testing.T) {
	s := newSDKServer()
	url := serve(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s.Server }, nil))
	c := openSSE(t, url, transport.HTTPOptions{Handler: asker()})
	shake(t, c)
	legacyTour(t, s, c)
}

// TestSDKModern: 2026-07-28 against a stateless server.
func TestSDKModern(t *testing.T) {
	s := newSDKServer()
	url := serve(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.Server }, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	c := newHTTP(t, url, transport.HTTPOptions{})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"progressToken":"t1"}`
	raw, err := c.Call(t.Context(), &runtime.Request{Method: "server/discover", ID: json.RawMessage(`"probe-1"`), Version: modern, Params: json.RawMessage(`{` + meta + `}`)})
	if err != nil || !strings.Contains(string(raw), `"2026-07-28"`) {
		t.Fatalf("discover: got %s, %v", raw, err)
	}
	tool := func(ctx context.Context, name string, mirror map[string]string, events runtime.Handler) (string, error) {
		raw, err := c.Call(ctx, &runtime.Request{
			Method: "tools/call", Version: modern, Mirror: mirror, Events: events,
			Params: json.RawMessage(`{"name":"` + name + `","arguments":{"n":3},` + meta + `}`),
		})
		return string(raw), err
	}
	if got, err := tool(t.Context(), "twice", map[string]string{"Mcp-Name": "twice"}, nil); err != nil || !strings.Contains(got, `"text":"6"`) {
		t.Errorf("twice: got %s, %v", got, err)
	}
	steps := newRecorder()
	if _, err := tool(t.Context(), "steps", map[string]string{"Mcp-Name": "steps"}, steps); err != nil || len(steps.notes) != 3 {
		t.Errorf("steps: got %d notifications, %v", len(steps.notes), err)
	}
	// A mirror that is wrong or missing: an error of 2026-07-28, with its status.
	for _, mirror := range []map[string]string{nil, {"Mcp-Name": "other"}} {
		var status *transport.StatusError
		if _, err := tool(t.Context(), "twice", mirror, nil); !errors.As(err, &status) || status.Status != 400 || status.RPC == nil || status.RPC.Code != runtime.CodeHeaderMismatch {
			t.Errorf("mirror %v: got %v", mirror, err)
		}
	}
	// Closing the stream is the cancel.
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- second(tool(ctx, "wait", map[string]string{"Mcp-Name": "wait"}, nil)) }()
	wait.For(t, "the call", s.began)
	cancel()
	if err := wait.For(t, "the end of the call", failed); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	wait.For(t, "the cancel at the server", s.cancelled)
}
