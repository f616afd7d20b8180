package negotiate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// notes is a handler that keeps what it is told.
type notes struct {
	runtime.NopHandler
	mu   sync.Mutex // guards what follows
	told []string
}

func (n *notes) Notification(_ context.Context, _ *runtime.Request, method string, _ json.RawMessage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, method)
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.told...)
}

// tell sends a notification on a listen, with members and the stream's id.
func tell(c *runtimetest.Call, method, members string) {
	if members != "" {
		members += ","
	}
	c.Notify(method, json.RawMessage(`{`+members+`"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.ID)+`}}`))
}

// listener is a modern server that treats the nth listen as it says, and counts
// them with their time.
func listener(capabilities string, listen func(ctx context.Context, n int, c *runtimetest.Call) error) (s *runtimetest.Server, seen func() []string) {
	return listenerOf(capabilities, func() bool { return true }, listen)
}

// listenerOf is listener, which acknowledges a listen only where that says so.
func listenerOf(capabilities string, acknowledges func() bool, listen func(ctx context.Context, n int, c *runtimetest.Call) error) (s *runtimetest.Server, seen func() []string) {
	var mu sync.Mutex
	var all []string
	begin := time.Now()
	s = runtimetest.New()
	s.Versions, s.Capabilities = []string{runtimetest.RevJuly}, json.RawMessage(capabilities)
	s.Methods = map[string]runtimetest.Func{"subscriptions/listen": func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		var p struct{ Notifications json.RawMessage }
		if err := json.Unmarshal(c.Params, &p); err != nil {
			return nil, err
		}
		mu.Lock()
		all = append(all, fmt.Sprint(time.Since(begin).Round(time.Second), " ", string(p.Notifications)))
		n := len(all)
		mu.Unlock()
		if acknowledges() {
			tell(c, "notifications/subscriptions/acknowledged", `"notifications":`+string(p.Notifications))
		}
		return json.RawMessage(`{"resultType":"complete"}`), listen(ctx, n, c)
	}}
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

// listen connects, listens and waits for what comes within an hour.
func listen(t *testing.T, s *runtimetest.Server) []string {
	t.Helper()
	h := &notes{}
	c := connectTo(t, negotiate.Options{Client: runtime.Implementation{Name: "t", Version: "1"}, Handler: h}, func() runtime.Transport { return s.Connect(nil) })
	l, ok := c.Transport.(interface{ Listen(context.Context) })
	if !ok {
		t.Fatal("the transport cannot listen")
	}
	l.Listen(t.Context())
	l.Listen(t.Context()) // does nothing
	time.Sleep(time.Hour) // of the bubble's clock
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	l.Listen(t.Context()) // too late
	return h.all()
}

func TestListenHearsOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen := listener(`{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{"listChanged":true}}`,
			func(ctx context.Context, _ int, c *runtimetest.Call) error {
				tell(c, "notifications/tools/list_changed", "")
				<-ctx.Done()
				return ctx.Err()
			})
		told := listen(t, s)
		if diff := cmp.Diff([]string{"notifications/subscriptions/acknowledged", "notifications/tools/list_changed"}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{`0s {"toolsListChanged":true,"promptsListChanged":true}`}, seen()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
}

func TestListenAgain(t *testing.T) {
	for name, c := range map[string]struct {
		listen func(ctx context.Context, n int, c *runtimetest.Call) error
		want   int
	}{
		"ends at once": {func(context.Context, int, *runtimetest.Call) error { return nil }, 10},
		"refused": {func(context.Context, int, *runtimetest.Call) error {
			return &runtime.Error{Code: runtime.CodeMethodNotFound}
		}, 1},
		"refused the third time": {func(_ context.Context, n int, _ *runtimetest.Call) error {
			return map[bool]error{true: &runtime.Error{Code: -1}}[n == 3]
		}, 3},
		"ends every minute": {func(ctx context.Context, _ int, _ *runtimetest.Call) error {
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
			return ctx.Err()
		}, 60},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, seen := listener(`{"tools":{"listChanged":true}}`, c.listen)
			listen(t, s)
			if got := len(seen()); got != c.want {
				t.Errorf("%s: listened %d times, want %d: %v", name, got, c.want, seen())
			}
		})
	}
}

// TestListenForNothing: a server whose lists do not change is not asked.
func TestListenForNothing(t *testing.T) {
	for _, capabilities := range []string{`{}`, `{"tools":{},"resources":{"subscribe":true},"prompts":{"listChanged":false}}`, `{"tools":7}`} {
		synctest.Test(t, func(t *testing.T) {
			s, seen := listener(capabilities, func(context.Context, int, *runtimetest.Call) error { return nil })
			if told := listen(t, s); len(told)+len(seen()) > 0 {
				t.Errorf("%s: asked %v, told %v", capabilities, seen(), told)
			}
		})
	}
}
