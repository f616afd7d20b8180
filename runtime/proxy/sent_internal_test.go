package proxy

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestAnsweredOverAConnectionThatWentIdle: a fast call that has had its
// answer goes on over its connection, though that was closed as idle in
// between, and counts once.
func TestAnsweredOverAConnectionThatWentIdle(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{Servers: Named("a")}, map[string]*runtimetest.Server{"a": runtimetest.Full(runtimetest.RevNov)})
	s.do(old(), "tools/list", `{}`)
	b := s.backend("a")
	c := b.Primary.Ready.Load()
	if c == nil || !c.CloseIfIdle() {
		t.Fatal("no idle connection")
	}
	before := b.Activity.Usage().Count
	from := upstream.Caller{Version: revision.Modern, Level: revision.LevelNone}
	type outcome struct {
		result []byte
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := c.Resume(t.Context(), func(*upstream.Conn) (*runtime.Request, upstream.Waiter, error) {
			return &runtime.Request{Method: "tools/call", Params: []byte(`{"name":"echo"}`)}, &router.Relay{From: &from}, nil
		}, []byte(`{"content":[]}`), nil)
		done <- outcome{result, err}
	}()
	if o := wait.For(t, "the end of the call", done); o.err != nil || string(o.result) != `{"content":[]}` {
		t.Errorf("got %s, %v", o.result, o.err)
	}
	if n := b.Activity.Usage().Count - before; n != 0 {
		t.Errorf("counted %d times more than when it was sent", n)
	}
}
