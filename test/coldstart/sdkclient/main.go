// Command sdkclient is what mcpctl's cold start is measured against: the
// official Go SDK's client in its simplest form. It starts a server, connects,
// lists the tools, calls echo and prints the text.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(server []string) error {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "sdkclient", Version: "1"}, nil)
	transport := &mcp.CommandTransport{
		Command: exec.Command(server[0], server[1:]...),
		// The SDK waits 5 s for a server to end by itself; mcpctl does not.
		TerminateDuration: 20 * time.Millisecond,
	}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	if _, err := session.ListTools(ctx, nil); err != nil {
		return err
	}
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]string{"message": "hi"}})
	if err != nil {
		return err
	}
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			fmt.Println(t.Text)
		}
	}
	_ = session.Close() // the server is killed, which is an error to the SDK
	return nil
}
