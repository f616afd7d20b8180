package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// Example sends one request over HTTP. Package dial does this, and the
// handshake of older servers, for an entry of servers.json.
func Example() {
	ctx := context.Background()
	server := httptest.NewServer(runtimetest.New().Handler(runtimetest.HTTPOptions{}))
	defer server.Close()

	t, err := transport.NewHTTP(server.URL, transport.HTTPOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = t.Close() }()

	result, err := t.Call(ctx, &runtime.Request{
		Method: "initialize",
		Params: json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var said struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	fmt.Println(json.Unmarshal(result, &said), said.ProtocolVersion)
	// Output:
	// <nil> 2025-11-25
}
