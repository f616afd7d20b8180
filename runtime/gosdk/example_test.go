package gosdk_test

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/generated/everything"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/gosdk"
)

// A generated client, through an existing session.
func ExampleNew() {
	ctx := context.Background()
	transport := exampleServer(ctx)

	progress := new(gosdk.Progress)
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: progress.Handle,
	})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()

	server := everything.New(gosdk.New(session, gosdk.Options{Progress: progress}))
	result, err := server.Echo(ctx, everything.EchoParams{Message: "hi"}, runtime.WithProgress(func(runtime.Progress) {}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// Echo: {"message":"hi"}
}

// exampleServer replaces a real server.
func exampleServer(ctx context.Context) mcp.Transport {
	near, far := mcp.NewInMemoryTransports()
	if _, err := server().Connect(ctx, far, nil); err != nil {
		panic(err)
	}
	return near
}
