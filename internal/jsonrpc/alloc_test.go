//go:build !race

// The race detector makes pools forget at random.

package jsonrpc_test

import (
	"io"
	"testing"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
)

func TestStartDoesNotAllocate(t *testing.T) {
	out := jsonrpc.NewWriter(io.Discard)
	p := &peer{}
	conn := jsonrpc.NewConn(out, p, false)
	p.conn = conn
	params := []byte(`{"name":"a__b","arguments":{"text":"hello"}}`)
	r := receiver(make(chan jsonrpc.Answer, 1))
	q := &jsonrpc.Call{Method: "m", Params: params, Receiver: r}
	n := testing.AllocsPerRun(1000, func() {
		q.ID = conn.NextID()
		if conn.Start(q) != nil || !conn.Forget(q.ID) {
			t.Fatal("start failed")
		}
		buf, _ := out.Begin()
		out.End(buf[:0])
	})
	if n > 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
