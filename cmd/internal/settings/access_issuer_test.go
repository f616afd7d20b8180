package settings_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// wrongIssuers are providers that would accept other tokens than their writer thinks, or
// none.
var wrongIssuers = []string{
	"jwt: {}",
	"jwt: https://idp.example.com",
	"jwt: {issuer: }",
	"jwt: {issuer: idp.example.com}",
	"jwt: {issuer: http://idp.example.com}",
	"jwt: {issuer: ftp://idp.example.com}",
	"jwt: {issuer: https://u:p@idp.example.com}",
	"jwt: {issuer: https://idp.example.com|a}",
	"jwt: {isuer: https://idp.example.com}",
	"jwt: {issuer: https://idp.example.com, audience: x}",
	"jwt: {issuer: https://idp.example.com, audiences: x}",
	"jwt: {issuer: https://idp.example.com, audiences: ['']}",
	"jwt: {issuer: https://idp.example.com, scopes: [a b]}",
	"jwt: {issuer: https://idp.example.com, scopes: ['a\"']}",
	"jwt: {issuer: https://idp.example.com, scopes: [offline_access]}",
	"jwt: {issuer: https://idp.example.com, name: 'a:b'}",
	"jwt: {issuer: https://idp.example.com, groupPrefix: a}",
	"jwt: {issuer: https://idp.example.com, emailDomains: ['@example.com']}",
	"jwt: {issuer: https://idp.example.com, subjectClaim: email}",
	"jwt: {issuer: https://idp.example.com, jwks: http://idp.example.com/keys}",
	"jwt: {issuer: https://idp.example.com, endpoint: https://idp.example.com/introspect}",
	"jwt: {issuer: https://idp.example.com}\n- jwt: {issuer: https://idp.example.com, name: other}",
	"jwt: {issuer: https://idp.example.com}\n- jwt: {issuer: https://idp.example.com/tenant}",
	"introspect: {issuer: https://idp.example.com}",
	"introspect: {issuer: https://idp.example.com, endpoint: https://idp.example.com/i, clientId: c, clientSecret: hunter2}",
	"introspect: {issuer: https://idp.example.com, endpoint: http://idp.example.com/i, clientId: c, clientSecret: '${S}'}",
	"introspect: {issuer: https://i.example, endpoint: https://i.example/i, clientId: c, clientSecret: '${S}'}\n- introspect: {issuer: https://j.example, endpoint: https://j.example/i, clientId: c, clientSecret: '${S}'}",
	"jwt: {issuer: https://i.example}\n- introspect: {name: j, issuer: https://i.example, endpoint: https://i.example/i, clientId: c, clientSecret: '${S}'}",
}

// TestIssuersRefused: testdata/issuers.txt has what is said of each.
func TestIssuersRefused(t *testing.T) {
	var got strings.Builder
	for _, provider := range wrongIssuers {
		fmt.Fprintf(&got, "%s\n%s\n", provider, shown(t, "serve:\n  auth:\n    - "+strings.ReplaceAll(provider, "\n", "\n    ")+"\n"))
	}
	for _, url := range []string{"", "mcp.example.com", "http://mcp.example.com/mcp", "https://mcp.example.com/mcp?x=1", "https://mcp.example.com/mcp#x", "[https://mcp.example.com/mcp]"} {
		fmt.Fprintf(&got, "url: %s\n%s\n", url, shown(t, "serve:\n  url: "+url+"\n"))
	}
	for _, text := range []string{"oauthAs: {}", "acl: []", "serverAuth: {provider: bearer}"} {
		fmt.Fprintf(&got, "%s\n%s\n", text, shown(t, text+"\n"))
	}
	if strings.Contains(got.String(), "u:p@idp.example.com\"") {
		t.Error("a secret is shown")
	}
	const golden = "testdata/issuers.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if got.String() != string(want) {
		t.Errorf("%s is not current (-update): got\n%s", golden, got.String())
	}
}

// TestIssuers: what is accepted is read as it is written.
func TestIssuers(t *testing.T) {
	s, err := run{file: `serve:
  url: HTTPS://MCP.Example.com:443/mcp/
  hosts: [other.example.com]
  auth:
    - jwt: {name: idp, issuer: https://idp.example.com/, scopes: [mcp, "read:x"], groupsClaim: roles, groupPrefix: mcp-, emailDomains: [Example.com], tags: [team], audiences: ["api://x"], clientClaim: app, subjectClaim: oid, jwks: https://keys.example.com}
    - jwt: {issuer: "http://127.0.0.1:8080"}
    - introspect: {issuer: https://old.example.com, endpoint: https://old.example.com/introspect, clientId: mcpctl, clientSecret: "${OLD}", scopes: [x]}
    - token: {}
`}.load(t)
	require.NoError(t, err)
	a := s.Serve.Access
	if a.URL != "https://mcp.example.com/mcp" || strings.Join(a.Hosts, " ") != "other.example.com MCP.Example.com:443" || !a.Required() {
		t.Errorf("got %q, %q", a.URL, a.Hosts)
	}
	if len(a.Providers.JWT) != 2 || a.Providers.Token == nil {
		t.Fatalf("got %+v", a.Providers)
	}
	const want = "{{https://idp.example.com/ idp [api://x] [mcp read:x] oid app roles mcp- [example.com] [team]} https://keys.example.com}"
	if got := fmt.Sprint(*a.Providers.JWT[0]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := a.Providers.JWT[1].Name; got != "127.0.0.1" {
		t.Errorf("got %q", got)
	}
	if i := a.Providers.Introspect; i == nil || i.ClientSecret != "${OLD}" || i.Name != "old.example.com" {
		t.Errorf("got %+v", i)
	}
	if all := a.Providers.Issuers(); len(all) != 3 {
		t.Errorf("got %v", all)
	}
}
