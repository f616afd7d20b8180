package main_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// elsewhere returns an address of loopback for which serve has the rules of other
// addresses, since it has a zone, and the host by which clients reach it. Without IPv6 it
// is that of all interfaces.
func elsewhere(t *testing.T) (address, host string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "[::1]:0")
	if err != nil {
		return "0.0.0.0:0", "127.0.0.1"
	}
	require.NoError(t, l.Close())
	return "[::1%lo]:0", "[::1]"
}

// TestNewcomer puts three servers on a network over TLS for two people: one command a
// person, six lines of settings at most, and serve.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, "servers.json")
	servers := wire.Servers{"one": {"command": "fake-mcp"}, "two": {"command": "fake-mcp"}, "three": {"command": "fake-mcp"}}
	require.NoError(t, os.WriteFile(config, servers.JSON(), 0o600))
	ca := pki.New(t, "root")
	ca.Localhost(t, home)
	require.NoError(t, os.WriteFile(filepath.Join(home, "ca.pem"), ca.PEM(), 0o600))
	address, host := elsewhere(t)
	serve := func() (*wire.Process, error) {
		return wire.Launch(mcpctlIn(t, home, nil, "serve", "--http", address), "listening on ")
	}

	// Without settings they learn what to do.
	if p, err := serve(); err == nil {
		p.Stop(wire.Limit)
		t.Fatal("other addresses need nothing")
	} else if text := err.Error(); !strings.Contains(text, "there is no authentication") || !strings.Contains(text, "mcpctl access --help") {
		t.Errorf("serve says: %v", err)
	}
	if help, err := mcpctlIn(t, home, nil, "access", "--help").Output(); err != nil || !strings.Contains(string(help), "token: {}") {
		t.Errorf("help says: %s %v", help, err)
	}

	const settings = `serve:
  auth: [token: {}]
  tls: {cert: cert.pem, key: key.pem}
  hosts: [mcp.example.com]
`
	if lines := strings.Count(settings, "\n"); lines > 6 {
		t.Fatalf("%d lines of settings", lines)
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte(settings), 0o600))
	alice, bob := newToken(t, home, "alice"), newToken(t, home, "bob")
	p, err := serve()
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(wire.Limit) })
	if text := p.Stderr.String(); strings.Count(text, "warning") != 1 || !strings.Contains(text, "config.yaml has no section access") {
		t.Errorf("serve says: %s", text)
	}
	url := "https://" + host + p.URL[strings.LastIndex(p.URL, ":"):] // as in a client's settings
	trust := []string{"SSL_CERT_FILE=" + filepath.Join(home, "ca.pem")}
	for name, token := range map[string]string{"alice": alice, "bob": bob} {
		for _, server := range []string{"one", "two", "three"} {
			out, err := mcpctlIn(t, t.TempDir(), trust, "--url", url, "-H", "Authorization=Bearer "+token, "call", server+"__echo", "message=hello").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "hello") {
				t.Errorf("%s, %s: %v\n%s", name, server, err, out)
			}
		}
	}
	out, err := mcpctlIn(t, t.TempDir(), trust, "--url", url, "ping").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "HTTP 401") {
		t.Errorf("without a token: %v\n%s", err, out)
	}
}
