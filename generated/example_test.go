package generated_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/generated/filesystem"
	"github.com/mcpctl/mcpctl/generated/memory"
	"github.com/mcpctl/mcpctl/runtime"
)

// A fake server is one method.
type fake func(tool string, args json.RawMessage) string

func (f fake) CallTool(_ context.Context, tool string, args json.RawMessage, _ *runtime.CallOptions) (*runtime.ToolResult, error) {
	return runtime.ParseToolResult([]byte(f(tool, args)))
}

// A client takes any runtime.Caller, so a test needs no server.
func Example_fake() {
	client := memory.New(fake(func(string, json.RawMessage) string {
		return `{"content":[],"structuredContent":{"entities":[{"name":"Ada","entityType":"person","observations":[]}],"relations":[]}}`
	}))

	graph, err := client.ReadGraph(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(graph.Entities[0].Name)
	// Output: Ada
}

// Optional members are pointers: nil is absent, new(2.0) is there.
func Example_optional() {
	ctx := context.Background()
	client := filesystem.New(fake(func(_ string, args json.RawMessage) string {
		fmt.Println(string(args))
		return `{"content":[],"structuredContent":{"content":""}}`
	}))

	_, _ = client.ReadTextFile(ctx, filesystem.ReadTextFileParams{Path: "notes.txt"})
	_, _ = client.ReadTextFile(ctx, filesystem.ReadTextFileParams{Path: "notes.txt", Head: new(2.0)})
	// Output:
	// {"path":"notes.txt"}
	// {"path":"notes.txt","head":2}
}

// Options belong to a client, to a call, or to both.
func Example_options() {
	ctx := context.Background()
	conn := fake(func(string, json.RawMessage) string {
		return `{"content":[],"structuredContent":{"entities":[],"relations":[]}}`
	})

	client := memory.New(conn, runtime.WithTimeout(10*time.Second))
	_, err := client.ReadGraph(ctx,
		runtime.WithTimeout(time.Minute),
		runtime.WithProgress(func(p runtime.Progress) { fmt.Println(p.Message) }),
	)
	fmt.Println(err)
	// Output: <nil>
}

// A tool's own failure, and a result that is not what was promised.
func Example_errors() {
	ctx := context.Background()
	for _, answer := range []string{
		`{"content":[{"type":"text","text":"no such file"}],"isError":true}`,
		`{"content":[],"structuredContent":{"content":7}}`,
	} {
		client := filesystem.New(fake(func(string, json.RawMessage) string { return answer }))

		_, err := client.ReadTextFile(ctx, filesystem.ReadTextFileParams{Path: "notes.txt"})
		var failed *runtime.ToolError
		var unfit *runtime.ResultError
		switch {
		case errors.As(err, &failed):
			fmt.Println("the tool failed:", failed.Result.Text())
		case errors.As(err, &unfit):
			fmt.Println("not what the schema says:", unfit.Err)
		}
	}
	// Output:
	// the tool failed: no such file
	// not what the schema says: at /content: got 7, want a string
}
