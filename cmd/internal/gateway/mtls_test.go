package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// protected is a serve over TLS that asks for credentials, in front of a handler that
// answers with a greeting. It returns its entrance and a function that sends a request
// with the lines of a header.
func protected(t *testing.T, a settings.Access) (d *authenticator, knock func(c *http.Client, lines ...string) string) {
	t.Helper()
	home := t.TempDir()
	g := &gateway{o: Options{Command: "serve", HTTP: "127.0.0.1:0", asks: true}, h: Host{
		Log: slog.New(slog.DiscardHandler), UI: &ui.UI{Err: io.Discard}, Settings: settings.Settings{Serve: settings.Serve{Access: a}},
		Getenv: func(name string) string { return map[string]string{"MCPCTL_HOME": home}[name] },
	}}
	files, err := g.openTLS()
	require.NoError(t, err)
	d, err = g.newAuthenticator(files, "")
	require.NoError(t, err)
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	srv := g.newServer(proxy.Guard(proxy.HTTPOptions{Authenticator: d, Refused: d.refused(g.h.Log)}, hello), files)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-served
	})
	url := map[bool]string{true: "https://", false: "http://"}[files != nil] + l.Addr().String()
	return d, func(c *http.Client, lines ...string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			req.Header[name] = append(req.Header[name], value)
		}
		resp, err := c.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.Status[:4] + strings.TrimSpace(string(body))
	}
}

// TestWhoAllocates nothing for a credential that was seen before: it is on the path of
// each request.
func TestWhoAllocates(t *testing.T) {
	d, credentials := seen(t)
	for kind, c := range credentials {
		if n := testing.AllocsPerRun(100, func() { _, _ = d.Who(context.Background(), c) }); n > 0 {
			t.Errorf("%s: got %v allocations", kind, n)
		}
	}
}

func BenchmarkWho(b *testing.B) {
	d, credentials := seen(b)
	for kind, c := range credentials {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, no := d.Who(context.Background(), c); no != nil {
					b.Fatal(no)
				}
			}
		})
	}
}

// seen returns an entrance, and a credential of each kind that it has let in.
func seen(tb testing.TB) (*authenticator, map[string]access.Credential) {
	tb.Helper()
	dir, root := tb.TempDir(), pki.New(tb, "root")
	path := func(name string) string { return filepath.Join(dir, name) }
	token, text := access.NewToken("ci", nil, time.Now(), time.Time{})
	token.ID = ""
	a := settings.Access{
		TLS: settings.TLS{Cert: path("cert.pem"), Key: path("key.pem"), ClientCA: path("ca.pem")},
		Providers: settings.Providers{
			Token: &settings.TokenProvider{List: []access.Token{token}}, MTLS: &settings.MTLSProvider{},
			Proxy: &settings.ProxyProvider{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32")}, User: "X-User", Groups: "X-Groups"},
		},
	}
	pki.Write(tb, root.Issue(tb, pki.Leaf{Server: true}), a.TLS.Cert, a.TLS.Key)
	require.NoError(tb, os.WriteFile(a.TLS.ClientCA, root.PEM(), 0o600))
	g := &gateway{o: Options{Command: "serve", asks: true}, h: Host{
		Log: slog.New(slog.DiscardHandler), UI: &ui.UI{Err: io.Discard}, Settings: settings.Settings{Serve: settings.Serve{Access: a}}, Getenv: func(string) string { return "" },
	}}
	files, err := g.openTLS()
	require.NoError(tb, err)
	d, err := g.newAuthenticator(files, "")
	require.NoError(tb, err)
	usual := map[string][]string{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "Mcp-Session-Id": {"x"}, "User-Agent": {"y"}}
	proxied := maps.Clone(usual)
	proxied["X-User"], proxied["X-Groups"] = []string{"alice"}, []string{"a, b"}
	leaf := root.Issue(tb, pki.Leaf{DNS: []string{"ci.corp"}})
	credentials := map[string]access.Credential{
		"token": {Bearer: text, Peer: "10.0.0.9:1", Header: usual},
		"mtls":  {Certificate: leaf.Leaf, Chains: chain(leaf, root), Peer: "10.0.0.9:1", Header: usual},
		"proxy": {Peer: "10.0.0.5:1", Header: proxied},
	}
	for kind, c := range credentials {
		if who, no := d.Who(context.Background(), c); no != nil || who.Provider != kind {
			tb.Fatalf("%s: got %v, %v", kind, who, no)
		}
	}
	return d, credentials
}

// client returns one that keeps its connection, with a certificate or none.
func client(t *testing.T, certificates ...tls.Certificate) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: time.Until(wait.Deadline(t))}
}

// TestMTLS: a certificate lets in, until it is revoked: also in a connection that is
// open, and streams end.
func TestMTLS(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), pki.New(t, "root")
	path := func(name string) string { return filepath.Join(dir, name) }
	a := settings.Access{
		TLS:       settings.TLS{Cert: path("cert.pem"), Key: path("key.pem"), ClientCA: path("ca.pem"), CRL: path("crl.pem")},
		Providers: settings.Providers{Token: &settings.TokenProvider{}, MTLS: &settings.MTLSProvider{Groups: map[string]string{"*": "staff"}}},
	}
	pki.Write(t, root.Issue(t, pki.Leaf{Server: true}), a.TLS.Cert, a.TLS.Key)
	revoke := func(all ...tls.Certificate) {
		t.Helper()
		require.NoError(t, os.WriteFile(a.TLS.CRL, root.Revoke(t, time.Now().Add(time.Hour), all...), 0o600))
	}
	require.NoError(t, os.WriteFile(a.TLS.ClientCA, root.PEM(), 0o600))
	revoke()
	d, knock := protected(t, a)
	alice, bob := root.Issue(t, pki.Leaf{DNS: []string{"alice.corp"}}), root.Issue(t, pki.Leaf{DNS: []string{"bob.corp"}})
	hers, his := client(t, alice), client(t, bob)
	for name, c := range map[string]struct{ got, want string }{
		"alice":                   {knock(hers), "200 hello"},
		"bob":                     {knock(his), "200 hello"},
		"nobody":                  {knock(client(t)), `401 {"error_description":`},
		"a common name":           {knock(client(t, root.Issue(t, pki.Leaf{Common: "alice.corp"}))), `401 {"error":"invalid_token","error_description":"the certificate has no name that is accepted"}`},
		"a token that is none":    {knock(hers, "Authorization: Bearer x"), `401 {"error":"invalid_token"`},
		"certificates in headers": {knock(client(t), "X-Forwarded-Client-Cert: Subject=\"CN=alice\";URI=spiffe://corp/alice", "X-Client-Cert: x"), `401 {"error_description":`},
	} {
		if !strings.HasPrefix(c.got, c.want) {
			t.Errorf("%s: got %s", name, c.got)
		}
	}
	who, no := d.Who(t.Context(), access.Credential{Certificate: alice.Leaf, Chains: chain(alice, root)})
	if no != nil || who.ID != "cert|alice.corp" || !d.Valid(who) || len(who.Groups) != 1 {
		t.Fatalf("got %+v, %v", who, no)
	}
	g := &gateway{h: Host{Log: slog.New(slog.DiscardHandler), UI: &ui.UI{Err: io.Discard}}}
	streams := &expelled{who: who}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.follow(ctx, g, streams)
	}()
	revoke(alice)
	wait.Until(t, "the end of the streams", streams.gone.Load)
	if got, want := knock(hers), `401 {"error":"invalid_token","error_description":"the certificate has been revoked"}`; got != want {
		t.Errorf("revoked: got %s", got)
	}
	if got := knock(hers, "Authorization: Bearer x"); !strings.Contains(got, "revoked") {
		t.Errorf("revoked, with a token: got %s", got)
	}
	if got := knock(his); got != "200 hello" {
		t.Errorf("bob: got %s", got)
	}
	cancel()
	<-done
}

// chain returns what TLS verifies of a certificate.
func chain(c tls.Certificate, root *pki.Authority) [][]*x509.Certificate {
	return [][]*x509.Certificate{{c.Leaf, root.Cert}}
}
