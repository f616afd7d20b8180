//go:build integration

package peers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/require"
)

// sdkEnv makes this test binary an SDK server on stdin and stdout.
const sdkEnv = "MCPCTL_PEERS_SDK"

func sdkMain() int {
	if err := newSDKServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

type message struct {
	Message string `json:"message"`
}

type count struct {
	N int `json:"n"`
}

// newSDKServer returns a server of the official SDK: echo, add (structured),
// steps (progress), wait (until cancelled) with waits (how many began and were
// cancelled), fail (isError), refuse (a JSON-RPC error), grow (one tool more);
// a resource, a template, a prompt, completion.
func newSDKServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Ref.Name + r.Params.Ref.URI + "/" + r.Params.Argument.Value}}}, nil
		},
	})
	var began, cancelled, grown atomic.Int64
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
		return text("%s", in.Message), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct{ A, B int }) (*mcp.CallToolResult, count, error) {
		return nil, count{in.A + in.B}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, in count) (*mcp.CallToolResult, any, error) {
		for i := range in.N {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Message: "step"}); err != nil {
				return nil, nil, err
			}
		}
		return text("done"), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		began.Add(1)
		<-ctx.Done()
		cancelled.Add(1)
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(s, &mcp.Tool{Name: "waits"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return text("%d %d", began.Load(), cancelled.Load()), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("it did not work")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "refuse"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, &jsonrpc.Error{Code: -32050, Message: "refused", Data: []byte(`{"why":"told to"}`)}
	})
	mcp.AddTool(s, &mcp.Tool{Name: "grow"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		name := "grown" + strconv.FormatInt(grown.Add(1), 10)
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return text("%s", name), nil, nil
		})
		return text("%s", name), nil, nil
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		if r.Params.URI == "sdk://item/none" {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "this is " + r.Params.URI}}}, nil
	}
	s.AddResource(&mcp.Resource{Name: "note", URI: "sdk://note", MIMEType: "text/plain"}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "item", URITemplate: "sdk://item/{id}"}, read)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"] + "."}}}}, nil
	})
	return s
}

func text(format string, a ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
}

// sdkBackends are the ways to reach an SDK server, by name.
func sdkBackends(t *testing.T) map[string]func(name string) entry {
	streamable := func(o *mcp.StreamableHTTPOptions) func(string) entry {
		return func(name string) entry {
			s := newSDKServer()
			return remote(name, listen(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)))
		}
	}
	return map[string]func(string) entry{
		"stdio": func(name string) entry {
			exe, err := os.Executable()
			require.NoError(t, err)
			return process(name, map[string]string{sdkEnv: "1"}, exe)
		},
		"stateful":  streamable(nil),
		"json":      streamable(&mcp.StreamableHTTPOptions{JSONResponse: true}),
		"stateless": streamable(&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}),
		"sse": func(name string) entry {
			s := newSDKServer()
			return remote(name, listen(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)))
		},
	}
}

// listen serves a handler on loopback and returns its URL.
func listen(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections() // streams would keep Close waiting
		s.Close()
	})
	return s.URL
}

// notifications collects the notifications of an SDK client.
type notifications struct {
	mu       sync.Mutex // guards progress
	progress []float64
	tools    chan struct{}
}
