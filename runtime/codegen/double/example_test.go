package double_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen/double"
)

// Example answers the calls of a generated client in a test. Generated packages have typed
// functions for this: everythingtest.NewFake(t).OnEcho(…).
func Example() {
	test := func(t *testing.T) {
		server := double.New(t, "weather")
		double.PlainTool(server, "now", func(context.Context) (*runtime.ToolResult, error) {
			return double.Text("cold"), nil
		})
		result, err := server.CallTool(context.Background(), "now", json.RawMessage(`{}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(result.Text())
	}
	testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "Example", F: test}})
	// Output:
	// cold
}
