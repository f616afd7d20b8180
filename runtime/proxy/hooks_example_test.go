package proxy_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// noDrops refuses statements that drop a table.
type noDrops struct{}

func (noDrops) Wants(t proxy.Target) proxy.Phases {
	if t.Server == "db" {
		return proxy.PhaseRequest
	}
	return 0
}

func (noDrops) Request(_ context.Context, c *proxy.HookCall) error {
	if bytes.Contains(bytes.ToLower(c.Params), []byte("drop table")) {
		return &proxy.Refusal{Reason: "tables are not dropped here"}
	}
	return nil
}

func (noDrops) Response(context.Context, *proxy.HookCall) error { return nil }

func ExampleHook() {
	h := noDrops{}
	fmt.Println(h.Wants(proxy.Target{Server: "db", Tool: "query"}) == proxy.PhaseRequest)
	fmt.Println(h.Request(context.Background(), &proxy.HookCall{Params: []byte(`{"name":"query","arguments":{"sql":"DROP TABLE users"}}`)}))
	// Output:
	// true
	// refused: tables are not dropped here
}
