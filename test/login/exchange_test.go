//go:build integration

package login_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestExchange: oidc-provider exchanges the token of who calls serve for one of the same
// subject for the server behind it, and the token of who calls goes nowhere else.
func TestExchange(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{JWT: true})
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte("serve:\n  auth:\n    - jwt: {issuer: "+p.Issuer+", subjectClaim: client_id, scopes: [notes]}\n"), 0o600))
	serve := wire.Serve(t, wire.Setup{
		Program: binary, Home: home, Config: filepath.Join(home, "servers.json"), Env: []string{"BROWSER=", "EXCHANGER=" + p.ClientSecret},
		Servers: wire.Servers{"notes": {"url": p.Server, "auth": map[string]any{
			"as": "principal", "grant": "token_exchange", "issuer": p.Issuer, "resource": p.Server, "clientId": "exchanger", "clientSecret": "${EXCHANGER}", "scopes": []string{"notes"},
		}}},
	})
	post(t, p.Control+"/accept", map[string]string{"resource": serve.URL})
	token := p.machine(t, serve.URL, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, serve.URL, strings.NewReader(wire.Request("1", "tools/call",
		`{"name":"notes__whoami","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`)))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "notes__whoami",
	} {
		req.Header.Set(name, value)
	}
	status, body := send(t, req)
	if status != http.StatusOK || !strings.Contains(string(body), "you are machine") {
		t.Fatalf("HTTP %d: %s", status, body)
	}
	if n := p.seen(t).Grants["urn:ietf:params:oauth:grant-type:token-exchange"]; n != 1 {
		t.Errorf("%d tokens were exchanged", n)
	}
}
