package main_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestServeCORS: browsers let the pages of listed origins call serve, and read its refusals;
// others get what they did.
func TestServeCORS(t *testing.T) {
	t.Parallel()
	const page, stranger = "https://app.example.com", "https://evil.example.com"
	dir := t.TempDir()
	servers := filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(servers, []byte(`{"mcpServers":{"fake":{"command":"fake-mcp"}}}`), 0o600))
	serve := func(settings string) string {
		t.Helper()
		home := t.TempDir()
		config := filepath.Join(home, "servers.json")
		require.NoError(t, os.Link(servers, config))
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte(settings), 0o600))
		cmd := exec.CommandContext(t.Context(), "mcpctl", "serve", "--config", config, "--http", "127.0.0.1:0")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), noRaceSleep}
		p, err := wire.Launch(cmd, "listening on ")
		require.NoError(t, err)
		t.Cleanup(func() { p.Stop(0) })
		return p.URL
	}
	send := func(method, url, origin string, header ...string) (status int, head http.Header, body string) {
		t.Helper()
		text := ""
		if method == http.MethodPost {
			text = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"page","version":"1"}}}`
		}
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(text))
		require.NoError(t, err)
		req.Header = http.Header{"Origin": {origin}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
			if header[i] == "Host" {
				req.Host = header[i+1]
			}
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, resp.Header, string(b)
	}
	preflight := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,mcp-param-region"}
	open, asking, none := serve("serve: {cors: ["+page+"]}\n"), serve("serve: {cors: ["+page+", http://localhost:5173], auth: [token: {}]}\n"), serve("")
	for _, c := range []struct {
		name, method, url, origin string
		header                    []string
		status                    int
		allowed                   string // Access-Control-Allow-Origin
		headers                   string // others, and their beginnings
	}{
		{"a page", "POST", open, page, nil, 200, page, "Access-Control-Expose-Headers=Mcp-Session-Id, Vary=Origin, Mcp-Session-Id="},
		{"before it", "OPTIONS", open, page, preflight, 204, page, "Access-Control-Allow-Methods=POST, Access-Control-Allow-Headers=authorization,content-type,mcp-param-region"},
		{"the end of its session", "OPTIONS", open, page, []string{"Access-Control-Request-Method", "DELETE"}, 204, page, "Access-Control-Allow-Methods=DELETE"},
		{"a method that there is not", "OPTIONS", open, page, []string{"Access-Control-Request-Method", "PUT"}, 204, "", ""},
		{"capital letters", "POST", open, "https://APP.example.com", nil, 200, "https://APP.example.com", ""},
		{"a stranger", "POST", open, stranger, nil, 403, "", ""},
		{"before a stranger", "OPTIONS", open, stranger, preflight, 403, "", ""},
		{"another scheme", "POST", open, "http://app.example.com", nil, 403, "", ""},
		{"another port", "POST", open, page + ":8443", nil, 403, "", ""},
		{"a longer name", "POST", open, page + ".evil.example", nil, 403, "", ""},
		{"a page without an origin", "POST", open, "null", nil, 403, "", ""},
		{"another host", "POST", open, page, []string{"Host", "evil.example.com"}, 403, page, ""},
		{"no endpoint", "GET", strings.TrimSuffix(open, "/mcp") + "/healthz", page, nil, 200, "", ""},
		{"without a token", "POST", asking, page, nil, 401, page, "Access-Control-Expose-Headers=Mcp-Session-Id, Www-Authenticate=Bearer"},
		{"before it, without a token", "OPTIONS", asking, "http://localhost:5173", preflight, 204, "http://localhost:5173", ""},
		{"a stranger without a token", "POST", asking, stranger, nil, 403, "", ""},
		{"no origins", "POST", none, page, nil, 403, "", ""},
		{"no origins, this machine", "POST", none, "http://localhost:5173", nil, 200, "", ""},
	} {
		status, head, body := send(c.method, c.url, c.origin, c.header...)
		if status != c.status || head.Get("Access-Control-Allow-Origin") != c.allowed || head.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: got %d, %v, %s", c.name, status, head, body)
		}
		for want := range strings.SplitSeq(c.headers, ", ") {
			name, value, _ := strings.Cut(want, "=")
			if got := head.Get(name); name != "" && (got == "" || !strings.HasPrefix(strings.ToLower(got), strings.ToLower(value))) {
				t.Errorf("%s: %s is %q, want %s…", c.name, name, got, value)
			}
		}
	}
	for _, origin := range []string{"*", "https://app.example.com/", "app.example.com", "https://*.example.com", "null", "https://u@app.example.com", "https://"} {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte("serve: {cors: [\""+origin+"\"]}\n"), 0o600))
		cmd := exec.CommandContext(t.Context(), "mcpctl", "serve", "--http", "127.0.0.1:0")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "MCPCTL_HOME=" + home, noRaceSleep}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 5 || !strings.Contains(string(out), "want origins such as https://app.example.com") {
			t.Errorf("%s: got %v, %s", origin, err, out)
		}
	}
}
