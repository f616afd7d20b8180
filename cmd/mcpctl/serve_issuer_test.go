package main_test

import (
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestServeIssuer: a serve with an identity provider leads clients to it, accepts its
// tokens in each era, and takes a new key over.
func TestServeIssuer(t *testing.T) {
	t.Parallel()
	old, renewed := idp.NewKey("old", "ES256"), idp.NewKey("new", "EdDSA")
	s := idp.NewServer(old, renewed)
	defer s.Close()
	dir := t.TempDir()
	servers := filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(servers, []byte(`{"mcpServers":{"fake":{"command":"fake-mcp"}}}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(
		"serve:\n  url: https://mcp.example.com/mcp\n  auth:\n    - jwt: {name: idp, issuer: \""+s.URL+"\", scopes: [mcp], audiences: [\"api://x\"]}\naccess: {default: allow}\n"), 0o600))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), noRaceSleep}
	cmd := exec.Command("mcpctl", "serve", "--config", servers, "--http", "127.0.0.1:0")
	cmd.Env = env
	p, err := wire.Launch(cmd, "listening on ")
	require.NoError(t, err)
	defer p.Stop(0)
	post := func(token string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
		require.NoError(t, err)
		req.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}, "Authorization": {"Bearer " + token},
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, resp.Header.Get("WWW-Authenticate") + string(body)
	}
	token := func(k *idp.Key, change idp.Claims) string {
		c := idp.Claims{"iss": s.URL, "aud": "https://mcp.example.com/mcp", "sub": "ann", "scope": "mcp", "exp": time.Now().Add(time.Hour).Unix()}
		maps.Copy(c, change)
		return k.Sign(c, nil)
	}
	for name, c := range map[string]struct {
		token  string
		status int
		want   string
	}{
		"a token":             {token(old, nil), 200, "fake__echo"},
		"of the other key":    {token(renewed, nil), 200, "fake__echo"},
		"of another audience": {token(old, idp.Claims{"aud": "api://x"}), 200, "fake__echo"},
		"expired":             {token(old, idp.Claims{"exp": 1}), 401, `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp", error="invalid_token"`},
		"without a scope":     {token(old, idp.Claims{"scope": "x"}), 403, `scope="mcp", error="insufficient_scope"`},
		"of another key":      {token(idp.NewKey("old", "ES256"), nil), 401, "invalid_token"},
	} {
		if status, got := post(c.token); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %d %s", name, status, got)
		}
	}

	// mcpctl as the client, in the era of sessions.
	client := exec.Command("mcpctl", "call", "--url", p.URL, "fake__echo", "message=hi", "--protocol-version", "2025-11-25", "-o", "text")
	client.Env = append(env, "MCPCTL_HEADER=Authorization=Bearer "+token(old, nil))
	if out, err := client.CombinedOutput(); err != nil || !strings.Contains(string(out), "hi") {
		t.Errorf("got %s, %v", out, err)
	}

	doctor := func() string {
		cmd := exec.Command("mcpctl", "doctor", "--config", servers, "--json")
		cmd.Env = env
		out, _ := cmd.Output() // what it finds is in its output
		return string(out)
	}
	if got := doctor(); !strings.Contains(got, "idp: 2 keys") || !strings.Contains(got, "idp: tokens for api://x are accepted, too") {
		t.Errorf("doctor finds %s", got)
	}
	s.Set(func(s *idp.Server) { s.Status = http.StatusBadGateway })
	if got := doctor(); !strings.Contains(got, "the keys cannot be fetched") || !strings.Contains(got, `"ok":false`) {
		t.Errorf("doctor finds %s", got)
	}
	if status, got := post(token(old, nil)); status != http.StatusOK {
		t.Errorf("while the issuer is down: got %d %s", status, got)
	}
}
