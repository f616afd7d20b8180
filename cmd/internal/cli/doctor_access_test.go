package cli

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/test/openid"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
)

// world has the files of settings.
type world struct {
	dir  string
	a    settings.Access
	root *pki.Authority
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), root: pki.New(t, "root")}
	w.a.TLS = settings.TLS{Cert: w.path("cert.pem"), Key: w.path("key.pem")}
	w.serve(t, time.Now().Add(90*24*time.Hour))
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) serve(t *testing.T, ends time.Time) {
	t.Helper()
	pki.Write(t, w.root.Issue(t, pki.Leaf{DNS: []string{"mcp.example.com"}, Server: true, Begins: time.Now().Add(-48 * time.Hour), Ends: ends}), w.a.TLS.Cert, w.a.TLS.Key)
}

func (w *world) tokens(t *testing.T, all ...access.Token) {
	t.Helper()
	w.a.Providers.Token = &settings.TokenProvider{}
	err := authn.NewTokenFile(w.path(authn.TokenFileName)).Change(t.Context(), func([]access.Token) ([]access.Token, error) { return all, nil })
	require.NoError(t, err)
}

func (w *world) policies(t *testing.T, text string) {
	t.Helper()
	w.a.Rules = true
	require.NoError(t, os.WriteFile(w.path("config.yaml"), []byte(text), 0o600))
}

// reports returns what is found.
func (w *world) reports() []*doctor.Report {
	s := settings.Settings{ConfigPath: w.path("servers.json"), Serve: settings.Serve{Access: w.a}}
	return accessReports(context.Background(), "servers.json", s, func(name string) string { return map[string]string{"MCPCTL_HOME": w.dir}[name] }, nil)
}

func TestReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world)
		ok     bool
		want   []string // in the JSON
	}{
		"a certificate": {func(*world) {}, true, []string{`"tls","ok":true,"message":"the certificate is valid until`}},
		"no policies":   {func(w *world) { w.tokens(t) }, true, []string{`"access","ok":true,"message":"whoever has a credential may use every server and tool"`}},
		"policies": {func(w *world) {
			w.tokens(t)
			w.policies(t, "access: {rules: [{allow: '*', to: '*'}]}\n")
		}, true, []string{`"access","ok":true,"message":"2 policies, generation `}},
		"broken policies": {func(w *world) { w.policies(t, "access: {rules: [{allow: '*'}]}\n") }, false, []string{`"access","ok":false,"message":"`, `config.yaml:1:18: rule-1`, "mcpctl policy check"}},
		"soon over":       {func(w *world) { w.serve(t, time.Now().Add(time.Hour)) }, true, []string{`"the certificate ends on `, "openssl x509 -in "}},
		"over":            {func(w *world) { w.serve(t, time.Now().Add(-time.Hour)) }, false, []string{`"the certificate has ended on `}},
		"not there":       {func(w *world) { w.a.TLS.Key = w.path("none") }, false, []string{`"tls","ok":false`, "none: no such file", "mcpctl config sources"}},
		"open key":        {func(w *world) { require.NoError(t, os.Chmod(w.a.TLS.Key, 0o644)) }, goruntime.GOOS == "windows", nil},
		"another name":    {func(w *world) { w.a.Hosts = []string{"mcp.example.com:8443", "other.example.com"} }, true, []string{`the certificate is not for other.example.com, which`}},
		"clients": {func(w *world) {
			w.a.TLS.ClientCA, w.a.TLS.CRL = w.path("ca.pem"), w.path("crl.pem")
			require.NoError(t, os.WriteFile(w.a.TLS.ClientCA, w.root.PEM(), 0o600))
			require.NoError(t, os.WriteFile(w.a.TLS.CRL, w.root.Revoke(t, time.Now().Add(time.Hour)), 0o600))
		}, true, []string{"the authority root ends on", "a list of revoked certificates ends on", "openssl crl -in"}},
		"no token": {func(w *world) { w.tokens(t) }, true, []string{`"no token is valid","fix":"mcpctl access token add NAME"`}},
		"a token":  {func(w *world) { w.tokens(t, newTestToken("a", time.Time{})) }, true, []string{`"tokens","ok":true,"message":"1 token","fix":""`}},
		"expired tokens": {func(w *world) {
			w.tokens(t, newTestToken("a", time.Time{}), newTestToken("b", time.Now().Add(-time.Hour)))
		}, true, []string{`1 token expired","fix":"mcpctl access token revoke `}},
		"broken tokens": {func(w *world) {
			w.tokens(t)
			require.NoError(t, os.WriteFile(w.path(authn.TokenFileName), []byte("{"), 0o600))
		}, false, []string{"is not a file of tokens"}},
		"writable tokens": {func(w *world) {
			w.tokens(t, newTestToken("a", time.Time{}))
			require.NoError(t, os.Chmod(w.path(authn.TokenFileName), 0o620))
		}, goruntime.GOOS == "windows", []string{"1 token"}},
		"listed tokens": {func(w *world) { w.a.Providers.Token = &settings.TokenProvider{List: []access.Token{{Name: "a"}}} }, true, []string{"tls"}},
		"proxies": {func(w *world) {
			w.a.Providers.Proxy = &settings.ProxyProvider{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.5/32")}}
		}, true, []string{"proxy.from has 127.0.0.1/32"}},
	} {
		w := newWorld(t)
		c.change(w)
		reports := w.reports()
		if len(reports) != 1 || reports[0].OK != c.ok {
			t.Errorf("%s: got %+v", name, reports)
			continue
		}
		text, err := json.Marshal(reports[0])
		require.NoError(t, err)
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: got %s, want %s in it", name, text, want)
			}
		}
		if strings.Contains(string(text), "10.0.0.5") {
			t.Errorf("%s: got %s", name, text)
		}
	}
}

func newTestToken(name string, expires time.Time) access.Token {
	t, _ := access.NewToken(name, nil, time.Now(), expires)
	return t
}

// TestLogin: the provider of the pages is asked for its document.
func TestLogin(t *testing.T) {
	t.Parallel()
	p := openid.New(t)
	w := newWorld(t)
	w.a.Login = settings.Login{Issuer: p.URL, ClientID: openid.ClientID}
	login := func() doctor.Check {
		t.Helper()
		for _, r := range w.reports() {
			for _, c := range r.Checks {
				if c.ID == "login" {
					return c
				}
			}
		}
		t.Fatal("nothing is said of the login")
		return doctor.Check{}
	}
	if c := login(); !c.OK || !strings.Contains(c.Message, p.URL) {
		t.Errorf("got %+v", c)
	}
	w.a.Login.Issuer += "/"
	if c := login(); c.OK || c.Kind != "connect" || !strings.Contains(c.Message, "did not match") {
		t.Errorf("with a slash: got %+v", c)
	}
}

// TestNothing: where nobody is let in over the network there is nothing to check.
func TestNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.a = settings.Access{}
	if got := w.reports(); got != nil {
		t.Errorf("got %+v", got)
	}
	w = newWorld(t)
	if got := accessReports(t.Context(), "", settings.Settings{Serve: settings.Serve{Access: w.a}}, os.Getenv, nil); got != nil {
		t.Errorf("no file of servers: got %+v", got)
	}
}
