package proxy

import (
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestAnsweredOverAConnectionThatWentIdle: a call of the quick path that has had
// its answer goes on over its connection, though that was closed as idle in
// between, and counts once.
func TestAnsweredOverAConnectionThatWentIdle(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{Servers: Named("a")}, map[string]*runtimetest.Server{"a": runtimetest.Full(runtimetest.RevNov)})
	s.do(old(), "tools/list", `{}`)
	b := s.backend("a")
	c := b.primary.ready.Load()
	if c == nil || !c.closeIfIdle() {
		t.Fatal("no idle connection")
	}
	before := b.activity.usage().Count
	from := Origin{version: revision.Modern, level: revision.LevelNone}
	type outcome struct {
		result []byte
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := c.resume(t.Context(), func(*Conn) (*runtime.Request, Waiter, error) {
			return &runtime.Request{Method: "tools/call", Params: []byte(`{"name":"echo"}`)}, &relay{from: &from}, nil
		}, []byte(`{"content":[]}`), nil)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		if o.err != nil || string(o.result) != `{"content":[]}` {
			t.Errorf("got %s, %v", o.result, o.err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes round in circles")
	}
	if n := b.activity.usage().Count - before; n != 0 {
		t.Errorf("counted %d times more than when it was sent", n)
	}
}
