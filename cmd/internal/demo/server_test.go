package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/cmd/internal/demo"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// ask sends one request over stdio's framing and returns the answer line.
func ask(t *testing.T, s *demo.Server, request string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, s.Serve(t.Context(), strings.NewReader(request+"\n"), &out))
	return out.String()
}

func call(name, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args)
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestAnswers(t *testing.T) {
	t.Parallel()
	request := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, method, params)
	}
	tests := []struct{ name, request, want string }{
		{"handshake", request("initialize", `{"protocolVersion":"2025-03-26"}`), `"protocolVersion":"2025-03-26"`},
		{"oldest handshake", request("initialize", `{"protocolVersion":"2024-11-05"}`), `"protocolVersion":"2024-11-05"`},
		{"handshake never gives a modern one", request("initialize", `{"protocolVersion":"2026-07-28"}`), `"protocolVersion":"2025-11-25"`},
		{"discover", request("server/discover", `{`+meta+`}`), `"supportedVersions":["2026-07-28","2025-11-25"`},
		{"discover is complete", request("server/discover", `{`+meta+`}`), `"resultType":"complete"`},
		{"discover is cacheable", request("server/discover", `{`+meta+`}`), `"cacheScope":"public"`},
		{"discover without a claim", request("server/discover", `{}`), `-32602`},
		{"unknown revision", request("tools/list", strings.Replace(`{`+meta+`}`, "2026-07-28", "2099-01-01", 1)), `"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2099-01-01"}`},
		{"no capabilities", request("tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), `-32602`},
		{"modern ping", request("ping", `{`+meta+`}`), `-32601`},
		{"ping", request("ping", `{}`), `"result":{}`},
		{"unknown method", request("no/such", `{}`), `-32601`},
		{"unknown tool", call("nothing", `{}`), `-32602`},
		{"batch", `[]`, `"id":null,"error":{"code":-32600`},
		{"no JSON", `{`, `-32700`},
		{"params that are a list", request("tools/call", `[]`), `-32602`},
		{"search", call("search_items", `{"category":"timber","inStock":true}`), `"sku":"oak-board"`},
		{"search: wrong enum", call("search_items", `{"category":"food"}`), `"isError":true`},
		{"search: unknown member", call("search_items", `{"query":"x"}`), `unknown field`},
		{"get: unknown item", call("get_item", `{"sku":"x"}`), `"isError":true`},
		{"order", call("place_order", `{"customer":{"name":"Ada"},"lines":[{"sku":"oak-board","quantity":2}]}`), `"totalCents":5380`},
		{"order: more than there is", call("place_order", `{"customer":{"name":"Ada"},"lines":[{"sku":"ash-board","quantity":1}]}`), `0 in stock`},
		{"order: together more than there is", call("place_order", `{"customer":{"name":"Ada"},"lines":[{"sku":"plane-no4","quantity":2},{"sku":"plane-no4","quantity":1}]}`), `line 2: 3 × plane-no4 wanted`},
		{"order: quantity", call("place_order", `{"customer":{"name":"Ada"},"lines":[{"sku":"oak-board","quantity":0}]}`), `lines[0].quantity`},
		{"order: no customer", call("place_order", `{"lines":[{"sku":"oak-board","quantity":1}]}`), `customer.name`},
		{"safe", call("open_safe", `{}`), `"isError":true`},
		{"image", call("draw_shelves", `{}`), `"mimeType":"image/png"`},
		{"image: scale", call("draw_shelves", `{"scale":9}`), `"isError":true`},
		{"echo", call("echo", `{"message":"hi"}`), `"text":"hi"`},
		{"echo: nothing", call("echo", `{}`), `"isError":true`},
		{"resources", request("resources/list", `{}`), `"uri":"workshop://stock"`},
		{"templates", request("resources/templates/list", `{}`), `workshop://item/{sku}`},
		{"read", request("resources/read", `{"uri":"workshop://item/beeswax"}`), `Beeswax polish`},
		{"read: unknown", request("resources/read", `{"uri":"workshop://item/x"}`), `-32002`},
		{"read: unknown, modern", request("resources/read", `{"uri":"workshop://item/x",`+meta+`}`), `-32602`},
		{"read is stale at once", request("resources/read", `{"uri":"workshop://stock",`+meta+`}`), `"ttlMs":0`},
		{"prompts", request("prompts/list", `{}`), `"name":"plan_project"`},
		{"prompt", request("prompts/get", `{"name":"plan_project","arguments":{"project":"a stool"}}`), `how to build a stool.`},
		{"prompt: missing argument", request("prompts/get", `{"name":"plan_project"}`), `-32602`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, demo.NewServer("1.2.3"), tt.request); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s in it", got, tt.want)
			}
		})
	}
}

func TestAnOrderTakesAllLinesOrNone(t *testing.T) {
	t.Parallel()
	s := demo.NewServer("")
	got := ask(t, s, call("place_order", `{"customer":{"name":"Ada"},"lines":[{"sku":"oak-board","quantity":5},{"sku":"nothing","quantity":1}]}`))
	if !strings.Contains(got, `"isError":true`) {
		t.Fatalf("got %s, want an error", got)
	}
	if got := ask(t, s, call("get_item", `{"sku":"oak-board"}`)); !strings.Contains(got, `"quantity":12`) {
		t.Errorf("a refused order took something: %s", got)
	}
	ask(t, s, call("place_order", `{"customer":{"name":"Ada"},"lines":[{"sku":"oak-board","quantity":5}]}`))
	if got := ask(t, s, call("get_item", `{"sku":"oak-board"}`)); !strings.Contains(got, `"quantity":7`) {
		t.Errorf("an order took nothing: %s", got)
	}
}

func TestProgressGoesOnlyToWhoAsks(t *testing.T) {
	t.Parallel()
	quiet := ask(t, demo.NewServer(""), call("count_stock", `{"pauseMs":0}`))
	if strings.Contains(quiet, "notifications/progress") || !strings.Contains(quiet, `"pieces":92`) {
		t.Errorf("got %s, want the totals alone", quiet)
	}
	loud := ask(t, demo.NewServer(""), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_stock","arguments":{"pauseMs":0},"_meta":{"progressToken":"t"}}}`)
	if n := strings.Count(loud, `"progressToken":"t"`); n != 10 {
		t.Errorf("got %d progress messages, want 10: %s", n, loud)
	}
}

func TestImageIsAPNG(t *testing.T) {
	t.Parallel()
	var res struct {
		Result struct {
			Content []struct {
				Data []byte `json:"data"`
			} `json:"content"`
		} `json:"result"`
	}
	require.NoError(t, json.Unmarshal([]byte(ask(t, demo.NewServer(""), call("draw_shelves", `{"scale":3}`))), &res))
	img, err := png.Decode(bytes.NewReader(res.Result.Content[1].Data))
	require.NoError(t, err)
	if got := img.Bounds().Dy(); got != 120 {
		t.Errorf("height %d, want 120", got)
	}
}

// TestPeer lets the official SDK's client use the server over HTTP, which it
// does in both eras' fashion, and checks every structured result against the
// schema that the server itself gives out.
func TestPeer(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(demo.NewServer("1.2.3").Handler())
	defer srv.Close()
	var progress atomic.Int32 // the client hands messages on while it returns the result
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress.Add(1) },
	})
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: srv.URL, HTTPClient: srv.Client(), DisableStandaloneSSE: true}, nil)
	require.NoError(t, err)
	defer cs.Close()
	list, err := cs.ListTools(t.Context(), nil)
	require.NoError(t, err)
	args := map[string]string{
		"search_items": `{}`, "get_item": `{"sku":"beeswax"}`, "count_stock": `{"pauseMs":0}`,
		"place_order": `{"customer":{"name":"Ada","address":{"city":"Turin"}},"lines":[{"sku":"beeswax","quantity":1,"note":"soon"}],"delivery":"courier"}`,
		"open_safe":   `{}`, "draw_shelves": `{}`, "echo": `{"message":"hi"}`,
	}
	if len(list.Tools) != len(args) {
		t.Errorf("%d tools, want %d", len(list.Tools), len(args))
	}
	for _, tool := range list.Tools {
		in, err := json.Marshal(tool.InputSchema)
		require.NoError(t, err)
		check(t, tool.Name+" input", in, json.RawMessage(args[tool.Name]))
		p := &mcp.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(args[tool.Name])}
		p.SetProgressToken("p")
		res, err := cs.CallTool(t.Context(), p)
		if err != nil {
			t.Errorf("%s: %v", tool.Name, err)
			continue
		}
		if res.IsError != (tool.Name == "open_safe") {
			t.Errorf("%s: isError is %v", tool.Name, res.IsError)
		}
		if tool.OutputSchema == nil {
			continue
		}
		out, err := json.Marshal(tool.OutputSchema)
		require.NoError(t, err)
		got, err := json.Marshal(res.StructuredContent)
		require.NoError(t, err)
		check(t, tool.Name+" output", out, got)
	}
	wait.Until(t, "10 progress messages", func() bool { return progress.Load() == 10 })
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(demo.NewServer("").Handler())
	t.Cleanup(srv.Close)
	modernCall := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"},` + meta + `}}`
	headers := func(kv ...string) http.Header {
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i < len(kv); i += 2 {
			h.Set(kv[i], kv[i+1])
		}
		return h
	}
	tests := []struct {
		name, method, body string
		h                  http.Header
		status             int
		want               string
	}{
		{"modern", "POST", modernCall, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo"), 200, `"resultType":"complete"`},
		{"modern, wrapped name", "POST", modernCall, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?ZWNobw==?="), 200, `hi`},
		{"no version header", "POST", modernCall, headers(), 400, `-32020`},
		{"other method", "POST", modernCall, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"), 400, `-32020`},
		{"other name", "POST", modernCall, headers("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "x"), 400, `-32020`},
		{"header without claim", "POST", call("echo", `{"message":"hi"}`), headers("MCP-Protocol-Version", "2026-07-28"), 400, `-32602`},
		{"unknown version", "POST", call("echo", `{"message":"hi"}`), headers("MCP-Protocol-Version", "1999-01-01"), 400, `-32022`},
		{"legacy", "POST", call("echo", `{"message":"hi"}`), headers("MCP-Protocol-Version", "2025-06-18"), 200, `hi`},
		{"notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers(), 202, ``},
		{"a web page", "POST", call("echo", `{}`), headers("Origin", "https://evil.example"), 403, ``},
		{"a local page", "POST", call("echo", `{"message":"hi"}`), headers("Origin", "http://localhost:3000"), 200, `hi`},
		{"text", "POST", call("echo", `{}`), headers("Content-Type", "text/plain"), 415, ``},
		{"get", "GET", ``, headers(), 405, ``},
		{"too large", "POST", strings.Repeat(" ", 5<<20), headers(), 413, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), tt.method, srv.URL, strings.NewReader(tt.body))
			require.NoError(t, err)
			req.Header = tt.h
			res, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			if res.StatusCode != tt.status || !strings.Contains(string(b), tt.want) {
				t.Errorf("got %d %s, want %d %s", res.StatusCode, b, tt.status, tt.want)
			}
		})
	}
}

func check(t *testing.T, what string, rawSchema, value json.RawMessage) {
	t.Helper()
	s, err := schema.Parse(rawSchema)
	require.NoError(t, err)
	if err := s.Validate(value); err != nil {
		t.Errorf("%s: %s does not fit its schema: %v", what, value, err)
	}
}
