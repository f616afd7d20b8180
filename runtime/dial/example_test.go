package dial_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// A server that mcpctl knows by name: `mcpctl add` has put it into servers.json.
func ExampleServer() {
	ctx := context.Background()
	defer exampleConfig()()

	client, err := dial.Server(ctx, "fake", dial.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for tool, err := range client.Tools(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tool.Name, "-", tool.Description)
		break // requests no further page
	}
	// Output:
	// echo - Gives the message back.
}

// A server of servers.json: its tools, and a call.
func ExampleDial() {
	ctx := context.Background()
	path, remove := exampleFile()
	defer remove()

	file, err := config.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	entry, err := file.Use("fake")
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := dial.Dial(ctx, entry, dial.Options{ConnectTimeout: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	tools, err := client.ListTools(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tools[0].Name, "-", tools[0].Description)

	result, err := client.CallTool(ctx, "echo", json.RawMessage(`{"message":"hi"}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// echo - Gives the message back.
	// hi
}

// A server without a file, over HTTP. Lookup replaces the environment.
func ExampleDial_url() {
	ctx := context.Background()
	server := httptest.NewServer(runtimetest.New().Handler(runtimetest.HTTPOptions{}))
	defer server.Close()

	entry := config.Entry{
		Name:    "remote",
		URL:     server.URL,
		Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"},
	}
	client, err := dial.Dial(ctx, entry, dial.Options{
		Lookup: func(name string) (string, bool) { return "secret", name == "TOKEN" },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println(client.Info().Version, client.Ping(ctx))
	// Output:
	// 2025-11-25 <nil>
}

// What can go wrong with a call, from the server's fault to one's own.
func ExampleDial_errors() {
	ctx := context.Background()
	client, closeClient := exampleClient(ctx)
	defer closeClient()

	call := func(tool, arguments string, opts *runtime.CallOptions) {
		result, err := client.CallTool(ctx, tool, json.RawMessage(arguments), opts)
		var (
			answer  *runtime.Error         // the server answered with an error
			timeout *runtime.TimeoutError  // it did not answer in time
			rubbish *runtime.ProtocolError // what it answered is not MCP
		)
		switch {
		case errors.As(err, &answer):
			fmt.Println("refused with code", answer.Code)
		case errors.As(err, &timeout):
			fmt.Println("no answer within", timeout.After)
		case errors.As(err, &rubbish):
			fmt.Println("not MCP:", rubbish.Reason)
		case err != nil:
			fmt.Println("connection:", err)
		case result.IsError: // the tool ran and failed; its text says why
			fmt.Println("failed:", result.Text())
		}
	}
	call("fail", `{}`, nil)
	call("refuse", `{"code":-32099}`, nil)
	call("slow", `{"ms":10000}`, &runtime.CallOptions{Timeout: 20 * time.Millisecond})
	// Output:
	// failed: it did not work
	// refused with code -32099
	// no answer within 20ms
}

// Progress of a call that takes its time.
func ExampleDial_progress() {
	ctx := context.Background()
	client, closeClient := exampleClient(ctx)
	defer closeClient()

	result, err := client.CallTool(ctx, "steps", json.RawMessage(`{"n":2}`), &runtime.CallOptions{
		// Called by the connection's reader: it must not wait.
		Progress: func(p runtime.Progress) { fmt.Printf("%v of %v\n", p.Progress, *p.Total) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// 1 of 2
	// 2 of 2
	// done
}

// exampleFile writes a servers.json with the server of package runtimetest.
func exampleFile() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	command, env := runtimetest.Command()
	b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"fake": map[string]any{"command": command[0], "args": command[1:], "env": env},
	}})
	if err != nil {
		panic(err)
	}
	path = filepath.Join(dir, "servers.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		panic(err)
	}
	return path, func() { _ = os.RemoveAll(dir) }
}

// exampleConfig makes a servers.json the user's configuration.
func exampleConfig() (restore func()) {
	path, remove := exampleFile()
	before, set := os.LookupEnv("MCPCTL_CONFIG")
	if err := os.Setenv("MCPCTL_CONFIG", path); err != nil {
		panic(err)
	}
	return func() {
		if set {
			_ = os.Setenv("MCPCTL_CONFIG", before)
		} else {
			_ = os.Unsetenv("MCPCTL_CONFIG")
		}
		remove()
	}
}

func exampleClient(ctx context.Context) (c *runtime.Client, closeClient func()) {
	c, err := dial.Dial(ctx, stdioEntry(), dial.Options{})
	if err != nil {
		panic(err)
	}
	return c, func() { _ = c.Close() }
}
