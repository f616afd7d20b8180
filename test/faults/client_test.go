//go:build faults && linux

package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// caller is one client over HTTP, with a session or without.
type caller struct{ *wire.Client }

func newCaller(d *daemon) *caller { return &caller{wire.NewClient(d.URL)} }

// initialize begins a session.
func (c *caller) initialize(ctx context.Context) error {
	c.Session = ""
	res, err := c.Post(ctx, wire.Request("0", "initialize", wire.Hello))
	c.Session = res.Header.Get("Mcp-Session-Id")
	switch {
	case err != nil:
		return err
	case res.Status == http.StatusServiceUnavailable:
		return &refusal{strconv.Itoa(res.Status) + " " + res.Message()}
	case res.Status != http.StatusOK || c.Session == "":
		return fmt.Errorf("initialize: status %d, session %q, %s", res.Status, c.Session, res.Message())
	}
	return nil
}

// refusal is a session that could not begin for want of room.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// kind is how a call ended.
type kind string

const (
	right   kind = "right"   // with its own answer
	wrong   kind = "wrong"   // with an answer that is not its own: never
	failed  kind = "failed"  // with a clear error
	refused kind = "refused" // with a status
	unheard kind = "unheard" // with none of these
)

// call calls a tool of the hostile server with a message of its own and reports
// how that ended.
func (c *caller) call(ctx context.Context, server, name string, ms, size int) (kind, string) {
	id := c.Next()
	message := c.Session + " " + id + " " + strings.Repeat("m", size)
	res, err := c.Post(ctx, wire.Request(id, "tools/call", fmt.Sprintf(`{"_meta":{"progressToken":%s},"name":"%s__%s","arguments":{"message":"%s","ms":%d}}`, id, server, name, message, ms)))
	if err != nil {
		return unheard, err.Error()
	}
	if res.Status != http.StatusOK {
		return refused, strconv.Itoa(res.Status) + " " + res.Message()
	}
	return check(res.Message(), id, server+": "+message)
}

// check returns what an answer to a call is.
func check(text, id, want string) (kind, string) {
	var m struct {
		ID     json.RawMessage
		Result *struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	switch err := json.Unmarshal([]byte(text), &m); {
	case err != nil:
		return unheard, fmt.Sprintf("%v: %.200s", err, text)
	case string(m.ID) != id:
		return wrong, text
	case m.Error != nil && m.Error.Message != "":
		return failed, m.Error.Message
	case m.Result == nil:
		return wrong, text
	case m.Result.IsError && len(m.Result.Content) > 0:
		return failed, m.Result.Content[0].Text
	case len(m.Result.Content) == 1 && strings.HasPrefix(m.Result.Content[0].Text, want):
		return right, ""
	}
	return wrong, fmt.Sprintf("%.300s", text)
}

// background is callers of a server that behaves, as long as a fault lasts. Each of
// their calls has to be answered, and rightly.
type background struct {
	t      testing.TB
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex // guards took
	took  []time.Duration
	calls atomic.Int64
}

// startCallers starts n callers of a server, each with a session; they pause between
// calls.
func startCallers(t testing.TB, d *daemon, server string, n int, pause time.Duration) *background {
	t.Helper()
	g := &background{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	for range n {
		c := newCaller(d)
		require.NoError(t, c.initialize(ctx))
		g.work.Go(func() {
			defer c.Close()
			for ctx.Err() == nil {
				start := time.Now()
				k, text := c.call(context.WithoutCancel(ctx), server, "echo", 0, 20)
				if k != right {
					t.Errorf("a caller of another server: %s %s", k, text)
					return
				}
				g.calls.Add(1)
				g.mu.Lock()
				g.took = append(g.took, time.Since(start))
				g.mu.Unlock()
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	return g
}

// finish ends the callers and looks at how long they had to wait.
func (g *background) finish() {
	g.t.Helper()
	g.cancel()
	g.work.Wait()
	slowest := time.Duration(0)
	for _, d := range g.took {
		slowest = max(slowest, d)
	}
	if slowest > slack {
		g.t.Errorf("a call of another server took %s", slowest)
	}
	if len(g.took) == 0 {
		g.t.Error("nobody else was answered")
	}
}
