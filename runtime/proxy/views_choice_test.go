package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestViewChoice: who gets which view by its address, its group, its own name or none of these, in
// this order, and whether caches may give the list to others. An address of no view is 404 for who
// is let in, and 401 for others, like that of a view.
func TestViewChoice(t *testing.T) {
	t.Parallel()
	public := &stub{version: runtimetest.RevJuly, capabilities: `{"tools":{}}`, answers: map[string]string{"tools/list": `{"resultType":"complete","ttlMs":60000,"cacheScope":"public","tools":[` +
		`{"name":"address","inputSchema":{"type":"object"}},{"name":"group","inputSchema":{"type":"object"}},{"name":"client","inputSchema":{"type":"object"}},{"name":"default","inputSchema":{"type":"object"}}]}`}}
	only := func(c views.Config) views.Config {
		c.Prompts, c.Resources = []string{}, []string{}
		return c
	}
	all := map[string]views.Config{"address": only(views.Config{Tools: []string{"s__address"}}), "default": only(views.Config{Tools: []string{"s__default"}})}
	asking := map[string]views.Config{
		"address": all["address"], "default": all["default"],
		"group":  only(views.Config{Tools: []string{"s__group"}, Groups: []string{"alice"}, Order: 2}),
		"client": only(views.Config{Tools: []string{"s__client"}, Clients: []string{"agent*"}, Order: 1}),
	}
	name := regexp.MustCompile(`"name":"s__(\w+)"`)
	for _, tc := range []struct {
		what              string
		views             map[string]views.Config
		fallback, flag    string
		at, token, client string
		want              string // the tools, and the scope; or the status
	}{
		{"path", asking, "default", "", "/mcp/address", "", "agent", "address public"},
		{"query", asking, "default", "", "/mcp?view=address", "", "agent", "address public"},
		{"path, let in", asking, "default", "", "/mcp/address", "alice", "agent", "address private"},
		{"group before client", asking, "default", "", "/mcp", "alice", "agent", "group private"},
		{"client", asking, "default", "", "/mcp", "bob", "agent-7", "client private"},
		{"client of nobody", asking, "default", "", "/mcp", "", "agent", "client private"},
		{"default, where others have others", asking, "default", "", "/mcp", "", "x", "default private"},
		{"default of all", all, "default", "", "/mcp", "", "agent", "default public"},
		{"none", all, "", "", "/mcp", "", "agent", "address,group,client,default public"},
		{"none, where others have one", asking, "", "", "/mcp", "", "x", "address,group,client,default private"},
		{"no views", nil, "", "", "/mcp", "", "x", "address,group,client,default public"},
		{"unknown path", asking, "default", "", "/mcp/none", "alice", "x", "404"},
		{"unknown query", asking, "default", "", "/mcp?view=none", "alice", "x", "404"},
		{"unknown path, no views", nil, "", "", "/mcp/none", "alice", "x", "404"},
		{"unknown path, refused", asking, "default", "", "/mcp/none", "nobody", "x", "401"},
		{"path, refused", asking, "default", "", "/mcp/address", "nobody", "x", "401"},
		{"flag", asking, "default", "address", "", "", "agent", "address public"},
		{"flag of no view", asking, "default", "none", "", "", "agent", " private"},
		{"no flag", asking, "default", "", "", "", "agent", "client private"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			p, err := proxy.New(proxy.Options{Servers: proxy.Named("s"), Dial: stubs{"s": public}.dial, Gate: gated(t, allowAll), View: tc.flag, Views: viewsOf(t, tc.fallback, tc.views)})
			require.NoError(t, err)
			defer p.Close()
			meta := fmt.Sprintf(`,"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"}`, tc.client)
			body, head := request("1", "tools/list", `{}`, `{}`, meta)
			got, status := "", http.StatusOK
			if tc.at == "" { // standard input and output
				c := attach(t, p)
				defer c.end()
				answer := c.expect("1")
				c.send(body)
				got = <-answer
			} else {
				var o proxy.HTTPOptions
				o.Path = "/mcp"
				if tc.token != "" {
					d, alice, bob, _, _ := newAuthenticator(t)
					o.Authenticator = d
					head.Set("Authorization", "Bearer "+map[string]string{"alice": alice, "bob": bob, "nobody": "mcpctl_x"}[tc.token])
				}
				handler := p.NewHTTPHandler(o)
				defer handler.Close()
				s := serveHTTP(t, handler)
				defer s.close()
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+tc.at, strings.NewReader(body))
				require.NoError(t, err)
				req.Header = head
				resp, err := s.client().Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				out, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				got, status = string(out), resp.StatusCode
			}
			var tools []string
			for _, m := range name.FindAllStringSubmatch(got, -1) {
				tools = append(tools, m[1])
			}
			said := strings.Join(tools, ",") + map[bool]string{true: " public", false: " private"}[strings.Contains(got, `"cacheScope":"public"`)]
			if status != http.StatusOK {
				said = fmt.Sprint(status)
			}
			if said != tc.want {
				t.Errorf("got %q, want %q: %s", said, tc.want, got)
			}
		})
	}
}
