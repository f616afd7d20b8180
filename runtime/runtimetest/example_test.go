package runtimetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// A server with one tool of one's own, in memory: no process, no port, no
// handshake.
func ExampleServer_Connect() {
	server := &runtimetest.Server{Tools: []runtimetest.Tool{{
		Definition: json.RawMessage(`{"name":"weather","inputSchema":{"type":"object"}}`),
		Call: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			c.Progress(1, 1, "asked")
			if string(c.Arguments) != `{"city":"Oslo"}` {
				return json.RawMessage(`{"content":[{"type":"text","text":"no such city"}],"isError":true}`), nil
			}
			return runtimetest.Text("snow"), nil
		},
	}}}
	client := runtime.NewClient(server.Connect(nil), runtime.ClientOptions{})
	defer client.Close()

	result, err := client.CallTool(context.Background(), "weather", json.RawMessage(`{"city":"Oslo"}`), &runtime.CallOptions{
		Progress: func(p runtime.Progress) { fmt.Println("progress:", p.Message) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// progress: asked
	// snow
}

// A server that misbehaves: it hears the call and never answers.
func ExampleFaults() {
	server := runtimetest.New()
	server.Faults.SilentMethods = []string{"tools/call"}
	client := runtime.NewClient(server.Connect(nil), runtime.ClientOptions{Timeout: time.Millisecond})
	defer client.Close()

	_, err := client.CallTool(context.Background(), "echo", nil, nil)
	var timeout *runtime.TimeoutError
	fmt.Println(errors.As(err, &timeout))
	// Output: true
}
