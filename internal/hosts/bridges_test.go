package hosts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestBridges: a command that only reaches a remote server is imported as the server; one with
// anything else in it stays as it is.
func TestBridges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ entry, want string }{
		{`{"command":"npx","args":["-y","mcp-remote@latest","https://a.example.com/mcp"]}`, `{"url":"https://a.example.com/mcp"}`},
		{`{"command":"npx","args":["mcp-remote","https://a.example.com/sse","9696","--transport","sse-only","--debug","--host","127.0.0.1"]}`, `{"type":"sse","url":"https://a.example.com/sse"}`},
		{
			`{"command":"npx","args":["mcp-remote","https://a.example.com/mcp","--header","Authorization:${AUTH_HEADER}"],"env":{"AUTH_HEADER":"Bearer abc"}}`,
			`{"url":"https://a.example.com/mcp","headers":{"Authorization":"Bearer abc"}}`,
		},
		{`{"command":"npx","args":["mcp-remote","https://a.example.com/mcp","--header","X-A: ${FROM_SHELL}"]}`, `{"url":"https://a.example.com/mcp","headers":{"X-A":"${FROM_SHELL}"}}`},
		{`{"command":"npx","args":["mcp-remote","http://box:8080/mcp","--allow-http","--ignore-tool","delete*"]}`, `{"url":"http://box:8080/mcp","tools":{"deny":["delete*"]},"allowInsecureHttp":true}`},
		{`{"command":"npx","args":["mcp-remote","https://a.example.com/mcp","--static-oauth-client-info","{\"client_id\":\"abc\"}","--resource","https://a.example.com/"]}`, `{"url":"https://a.example.com/mcp","auth":{"clientId":"abc","resource":"https://a.example.com/"}}`},
		{`{"command":"cmd","args":["/c","npx","-y","mcp-remote","https://a.example.com/mcp"]}`, `{"url":"https://a.example.com/mcp"}`},
		{`{"command":"npx","args":["-y","supergateway","--sse","https://a.example.com/sse","--oauth2Bearer","abc","--header","X-B: c"]}`, `{"type":"sse","url":"https://a.example.com/sse","headers":{"Authorization":"Bearer abc","X-B":"c"}}`},
		{`{"command":"npx","args":["-y","supergateway","--streamableHttp","https://a.example.com/mcp"]}`, `{"url":"https://a.example.com/mcp"}`},
		{`{"command":"mcp-proxy","args":["http://localhost:8000/sse"],"env":{"API_ACCESS_TOKEN":"abc"}}`, `{"type":"sse","url":"http://localhost:8000/sse","headers":{"Authorization":"Bearer abc"}}`},
		{`{"command":"uvx","args":["mcp-proxy","--transport","streamablehttp","-H","X-A","b","https://a.example.com/mcp"]}`, `{"url":"https://a.example.com/mcp","headers":{"X-A":"b"}}`},
		{
			`{"command":"mcp-proxy","args":["--client-id","a","--client-secret","b","--token-url","https://l.example.com/token","https://a.example.com/mcp"]}`,
			`{"type":"sse","url":"https://a.example.com/mcp","auth":{"clientId":"a","clientSecret":"b","tokenEndpoint":"https://l.example.com/token","grant":"client_credentials"}}`,
		},
		// What stays.
		{entry: `{"command":"npx","args":["mcp-remote","https://a.example.com/mcp","--unknown"]}`},
		{entry: `{"command":"npx","args":["mcp-remote","https://a.example.com/mcp","extra"]}`},
		{entry: `{"command":"npx","args":["mcp-remote","https://a.example.com/mcp","--header"]}`},
		{entry: `{"command":"npx","args":["mcp-remote","https://a.example.com/mcp","--static-oauth-client-info","@/file"]}`},
		{entry: `{"command":"npx","args":["mcp-remote","https://a.example.com/mcp"],"env":{"NODE_EXTRA_CA_CERTS":"/ca.pem"}}`},
		{entry: `{"command":"npx","args":["-y","supergateway","--stdio","npx -y server","--port","8000"]}`},
		{entry: `{"command":"mcp-proxy","args":["--port=8080","uvx","mcp-server-fetch"]}`},
		{entry: `{"command":"mcp-proxy","args":["uvx"]}`},
		{entry: `{"command":"npx","args":["-y"]}`},
		{entry: `{"command":"npx","args":["mcp-remote"]}`},
	} {
		f, err := hosts.OpenText("standard input", fmt.Appendf(nil, `{"mcpServers":{"x":%s}}`, c.entry), hosts.Find("claude-desktop"), place())
		require.NoError(t, err)
		in := f.Import("x", "")
		switch {
		case c.want == "" && (!strings.Contains(string(in.Entry), `"command"`) || strings.Contains(string(in.Entry), `"url"`)):
			t.Errorf("%s\nbecomes %s", c.entry, in.Entry)
		case c.want != "" && string(in.Entry) != c.want:
			t.Errorf("%s\nbecomes %s\nwant    %s", c.entry, in.Entry, c.want)
		}
	}
}
