//go:build integration

package peers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestSearchOfSDK: the client of Go's SDK finds three tools of a serve that lists none of
// them, and calls them, over each transport in each era.
func TestSearchOfSDK(t *testing.T) {
	t.Parallel()
	for gateway, open := range ways() {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			c := open(t, configure(t, sdkBackends(t)["stdio"]("sdk"), fake("fake")), "--list", "search")
			ctx := wait.Context(t)
			var names []string
			for x, err := range c.Tools(ctx, nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, x.Name)
			}
			if got := fmt.Sprint(names); got != "[search_tools call_tool call_read_tool]" {
				t.Errorf("listed: %s", got)
			}
			for name, arguments := range map[string]any{"sdk__echo": message{"hi"}, "sdk__add": map[string]int{"A": 40, "B": 2}, "fake__echo": message{"hi"}} {
				server, bare, _ := strings.Cut(name, "__")
				found, _, err := c.call(ctx, "search_tools", map[string]any{"queries": []string{bare}, "server": server, "limit": 1})
				if err != nil || !strings.HasPrefix(found, name+"(") {
					t.Errorf("%s: found %q, %v", name, found, err)
				}
				params := &mcp.CallToolParams{Name: "call_tool", Arguments: map[string]any{"name": name, "arguments": arguments}}
				result, err := c.CallTool(ctx, params)
				if err != nil || result.IsError || !strings.Contains(fmt.Sprint(result.StructuredContent, result.Content[0].(*mcp.TextContent).Text), map[string]string{"echo": "hi", "add": "42"}[bare]) {
					t.Errorf("%s: got %+v, %v", name, result, err)
				}
			}
			got, result, err := c.call(ctx, "call_tool", map[string]any{"name": "sdk__add", "arguments": map[string]any{"A": "x"}})
			if err != nil || !result.IsError || !strings.Contains(got, "at /arguments/A") {
				t.Errorf("wrong arguments: got %q, %v", got, err)
			}
			got, result, err = c.call(ctx, "call_tool", map[string]any{"name": "sdk__fail"})
			if err != nil || !result.IsError || got != "it did not work" {
				t.Errorf("fail: got %q, %v", got, err)
			}
		})
	}
}

// TestSearchOfTypeScript: the clients of the TypeScript SDKs find each tool before they call
// it, and have all that they have of direct calls: progress, questions, cancels and errors.
func TestSearchOfTypeScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := configure(t, typescript(t, dir, "v2", "both", "stdio", ""), typescript(t, dir, "v1", "old", "stdio", ""))
	url := serveHTTP(t, config, "--list", "search").URL
	want := map[string]map[string]any{}
	for _, name := range []string{"both", "old"} {
		want[name] = finds("v2", name)
		want[name]["lists"] = []any{0.0, 1.0, 1.0}
	}
	for _, c := range []struct {
		tourist
		daily bool // not only with make nightly
	}{
		{tourist{"v2", "modern", "stdio"}, true},
		{tourist{"v2", "modern", "http"}, false},
		{tourist{"v2", "legacy", "http"}, false},
		{tourist{"v2", "legacy", "sse"}, false},
		{tourist{"v1", "legacy", "stdio"}, false},
		{tourist{"v1", "legacy", "http"}, false},
		{tourist{"v1", "legacy", "sse"}, false},
	} {
		if !c.daily && !wire.Nightly() {
			continue
		}
		// One after another: they count each other's cancels.
		t.Run(c.String(), func(t *testing.T) {
			v := visit{url: url, want: want, search: true}
			if c.transport == "stdio" {
				v.config, v.command = config, []string{binary, "serve", "--list", "search"}
			}
			c.pages(t, v)
		})
	}
}
