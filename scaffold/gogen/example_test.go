package gogen_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// Example generates a client for a server with one tool.
func Example() {
	out, err := gogen.Generate(gogen.Input{
		Server: "tracker",
		Tools: []runtime.Tool{{
			Name:        "create_issue",
			Description: "Creates an issue.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`),
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range out.Files {
		fmt.Println(f.Name)
		for line := range strings.Lines(string(f.Data)) {
			if strings.HasPrefix(line, "func (c *Client) CreateIssue(") {
				fmt.Print("  ", line)
			}
		}
	}
	// Output:
	// client_gen.go
	//   func (c *Client) CreateIssue(ctx context.Context, p CreateIssueParams, opts ...runtime.CallOption) (*runtime.ToolResult, error) {
	// mcpctl.lock.json
}
