package double_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen/double"
)

// printing is a test that prints its failures; a test passes its own t.
type printing struct{ testing.TB }

func (printing) Helper()        {}
func (printing) Cleanup(func()) {}

func (printing) Errorf(format string, a ...any) { fmt.Printf(format+"\n", a...) }

// Example answers the calls of a client. Generated packages have typed functions for this:
// everythingtest.NewFake(t).OnEcho(…).
func Example() {
	server := double.New(printing{}, "weather")
	double.PlainTool(server, "now", func(context.Context) (*runtime.ToolResult, error) {
		return double.Text("cold"), nil
	})
	result, err := server.CallTool(context.Background(), "now", json.RawMessage(`{}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text(), len(server.Calls()))
	// Output:
	// cold 1
}
