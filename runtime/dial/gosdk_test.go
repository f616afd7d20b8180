package dial_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// sdkEnv makes the test binary a server of the official Go SDK on its standard
// streams.
const sdkEnv = "MCPCTL_TEST_SDK_SERVER"

// sdkServer is a server of the official Go SDK, an independent reading of the
// specification. Its tool "grow" adds a tool and changes file:///watched, "ask"
// asks for roots, and "prefixé" has a name that headers have to wrap.
func sdkServer() *mcp.Server {
	nothing := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler: nothing, UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddResource(&mcp.Resource{URI: "file:///watched", Name: "w"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///watched", Text: "x"}}}, nil
	})
	tool := func(name, schema string, f mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, f)
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	const empty = `{"type":"object"}`
	tool("grow", empty, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		tool("grown", empty, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("g"), nil })
		return text("ok"), s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "file:///watched"})
	})
	tool("ask", empty, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.InputResponses == nil {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"r": &mcp.ListRootsParams{}}, RequestState: "s"}, nil //nolint:staticcheck // deprecated, and still to be served
		}
		raw, err := json.Marshal(r.Params.InputResponses["r"])
		return text(r.Params.RequestState + string(raw)), err
	})
	tool("region", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "prefixé"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "é"}, nil
	})
	return s
}

// runSDKServer serves until its input ends.
func runSDKServer() int {
	if err := sdkServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// rooted has a root, and records notifications.
type rooted struct {
	runtime.NopHandler
	told chan string
}

func (r *rooted) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == "roots/list" {
		return json.RawMessage(`{"roots":[{"uri":"file:///here"}]}`), nil
	}
	return r.NopHandler.Request(ctx, call, method, params)
}

func (r *rooted) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	if strings.Contains(method, "list_changed") || strings.Contains(method, "updated") {
		r.told <- method
	}
}

// TestGoSDKServerOf2026: everything that the connection does for its caller.
func TestGoSDKServerOf2026(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	s := sdkServer()
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer srv.Close()
	for name, e := range map[string]config.Entry{
		"stdio": {Name: "s", Command: exe, Env: map[string]string{sdkEnv: "1"}},
		"HTTP":  {Name: "s", URL: srv.URL},
	} {
		h := &rooted{told: make(chan string, 100)}
		c, err := dial.Dial(t.Context(), e, quick(dial.Options{Handler: h, Listen: true, Capabilities: json.RawMessage(`{"roots":{}}`)}))
		if err != nil {
			t.Fatal(name, err)
		}
		if c.Info().Version != "2026-07-28" {
			t.Errorf("%s: speaks %s", name, c.Info().Version)
		}
		call := func(method, params, want string) {
			t.Helper()
			raw, err := c.Call(t.Context(), method, json.RawMessage(params), nil)
			if err != nil || !strings.Contains(string(raw), want) {
				t.Errorf("%s: %s: got %s %v", name, method, raw, err)
			}
		}
		hear := func(want ...string) {
			t.Helper()
			for len(want) > 0 {
				got := wait.For(t, fmt.Sprintf("%s: %v", name, want), h.told)
				for i, w := range want {
					if got == w {
						want = append(want[:i:i], want[i+1:]...)
						break
					}
				}
			}
		}
		call("ping", `{}`, `{}`)
		call("resources/subscribe", `{"uri":"file:///watched"}`, `{}`)
		call("resources/subscribe", `{"uri":"file:///other"}`, `{}`)
		call("resources/unsubscribe", `{"uri":"file:///other"}`, `{}`)
		time.Sleep(time.Second) // what takes the place of something else has done so
		call("tools/call", `{"name":"grow","arguments":{}}`, "ok")
		hear("notifications/tools/list_changed", "notifications/resources/updated")
		call("tools/call", `{"name":"ask","arguments":{}}`, `s{\"roots\":[{\"uri\":\"file:///here\"}]`)
		call("tools/call", `{"name":"region","arguments":{"region":"Hello, 世界"}}`, "世界") // its schema is not known yet
		call("prompts/get", `{"name":"prefixé"}`, "é")
		_ = c.Close()
	}
}
