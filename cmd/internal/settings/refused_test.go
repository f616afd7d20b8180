package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// sum is a hash.
const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// refused are files of settings that would let in somebody else than their writer
// thinks.
var refused = []string{
	"mtls: {}",
	"mtls: {form: [uri]}",
	"mtls: {from: [cn]}",
	"mtls: {from: [uri, uri]}",
	"mtls: {groups: {'*[a]': x}}",
	"mtls: {groups: {'*': ''}}",
	"mtls: {groups: [a]}",
	"token: []",
	"token: [ci]",
	"token: {name: ci}",
	"token: [{name: ci}]",
	"token: [{name: ci, hash: mcpctl_00000000_0000000000000000000000000000000000000000000000000}]",
	"token: [{name: ci, hash: changeme}]",
	"token: [{name: ci, hash: 'sha256:changeme'}]",
	"token: [{name: ci, hash: 'md5:" + sum + "'}]",
	"token: [{name: 'a b', hash: 'sha256:" + sum + "'}]",
	"token: [{hash: 'sha256:" + sum + "'}]",
	"token: [{name: ci, hash: 'sha256:" + sum + "', group: a}]",
	"token: [{name: ci, hash: 'sha256:" + sum + "', groups: ['a b']}]",
	"token: [{name: ci, hash: 'sha256:" + sum + "', expires: soon}]",
	"token: [{name: ci, token: secret}]",
	"token: [{name: ci, hash: 'sha256:" + sum + "'}, {name: two, hash: 'sha256:" + sum + "'}]",
	"proxy: {}",
	"proxy: {user: X-Forwarded-User}",
	"proxy: {from: [], user: X-Forwarded-User}",
	"proxy: {from: [10.0.0.5]}",
	"proxy: {from: [0.0.0.0/0], user: X-Forwarded-User}",
	"proxy: {from: [10.0.0.5, '::/0'], user: X-Forwarded-User}",
	"proxy: {from: [0.0.0.0/1, 128.0.0.0/1], user: X-Forwarded-User}",
	"proxy: {from: ['::ffff:10.0.0.5'], user: X-Forwarded-User}",
	"proxy: {from: [10.0.0.256], user: X-Forwarded-User}",
	"proxy: {from: [10.0.0.0/33], user: X-Forwarded-User}",
	"proxy: {from: [localhost], user: X-Forwarded-User}",
	"proxy: {from: ['*.example.com'], user: X-Forwarded-User}",
	"proxy: {from: [''], user: X-Forwarded-User}",
	"proxy: {from: 10.0.0.5, user: X-Forwarded-User}",
	"proxy: {from: [10.0.0.5], user: X_Forwarded_User}",
	"proxy: {from: [10.0.0.5], user: Authorization}",
	"proxy: {from: [10.0.0.5], user: X-Forwarded-For}",
	"proxy: {from: [10.0.0.5], user: X-User, groups: x-user}",
	"proxy: {from: [10.0.0.5], user: X-User, group: X-Groups}",
	"proxy: {jwt: {}}",
	"proxy: {jwt: {header: X-Assertion, issuer: https://auth.example.com}}",
	"proxy: {user: X-User, jwt: {header: X-Assertion, issuer: https://auth.example.com, audience: a}}",
	"proxy: {jwt: {header: Authorization, issuer: https://auth.example.com, audience: a}}",
	"proxy: {jwt: {header: X-Assertion, issuer: http://auth.example.com, audience: a}}",
	"proxy: {jwt: {header: X-Assertion, issuer: auth.example.com, audience: a}}",
	"proxy: {jwt: {header: X-Assertion, issuer: auth.example.com, audience: a, jwks: http://auth.example.com/keys}}",
	"proxy: {jwt: {header: X-Assertion, issuer: 'a|b', audience: a, jwks: https://auth.example.com/keys}}",
	"proxy: {jwt: {header: X-Assertion, issuer: https://auth.example.com, audiences: [a]}}",
	"proxy: {from: [0.0.0.0/0], jwt: {header: X-Assertion, issuer: https://auth.example.com, audience: a}}",
}

// TestRefused: testdata/refused.txt has what is said of each.
func TestRefused(t *testing.T) {
	var got strings.Builder
	for _, provider := range refused {
		text := "serve:\n  auth:\n    - " + strings.ReplaceAll(provider, "\n", "\n      ") + "\n"
		if !strings.Contains(provider, "mtls: {}") {
			text = "serve:\n  tls: {cert: c, key: k, clientCA: a}\n" + strings.TrimPrefix(text, "serve:\n")
		}
		fmt.Fprintf(&got, "%s\n%s\n", provider, shown(t, text))
	}
	const name = "proxy: {from: [proxy.example.com], user: X-User}" // without clientCA
	fmt.Fprintf(&got, "%s\n%s\n", name, shown(t, "serve:\n  auth:\n    - "+name+"\n"))
	for _, tls := range []string{"{cert: c}", "{cert: c, key: k, crl: l}", "{cert: c, key: k, minVersion: 1.1}", "{cert: c, key: k, clientCa: a}", "{cert: c, key: k, clientCA: }"} {
		fmt.Fprintf(&got, "tls: %s\n%s\n", tls, shown(t, "serve:\n  tls: "+tls+"\n"))
	}
	const golden = "testdata/refused.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if got.String() != string(want) {
		t.Errorf("%s is not current (-update): got\n%s", golden, got.String())
	}
}

// shown returns what is said of a file of settings: where, what, and the remedy.
func shown(t *testing.T, text string) string {
	t.Helper()
	_, err := run{file: text}.load(t)
	var p *config.Problem
	if !errors.As(err, &p) {
		t.Errorf("%q is accepted: %v", text, err)
		return ""
	}
	return fmt.Sprintf("  %d:%d: %s\n  %s\n", p.Line, p.Column, p.Message, p.Hint())
}

// TestAssertion: an issuer that has no URL needs the one of its keys.
func TestAssertion(t *testing.T) {
	s, err := run{file: `serve:
  auth:
    - proxy: {jwt: {header: x-pomerium-jwt-assertion, issuer: auth.example.com, audience: mcp.example.com, jwks: https://mcp.example.com/keys, groupsClaim: groups}}
`}.load(t)
	require.NoError(t, err)
	if got, want := fmt.Sprintf("%+v", *s.Serve.Access.Providers.Proxy.JWT), "{Header:X-Pomerium-Jwt-Assertion Issuer:auth.example.com Audience:mcp.example.com JWKS:https://mcp.example.com/keys GroupsClaim:groups Name:auth.example.com}"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestProviders: what is accepted is read as it is written.
func TestProviders(t *testing.T) {
	s, err := run{file: `serve:
  tls: {cert: c, key: k, clientCA: a, crl: l, minVersion: 1.2}
  auth:
    - mtls: {from: [dns], groups: {"*.corp": staff}}
    - token: [{name: ci, hash: "sha256:` + strings.ToUpper(sum) + `", groups: [b, a], expires: 2027-01-31}]
    - proxy: {from: [10.0.0.5, 10.1.2.3/16, "fd00::/8", unix, "spiffe://corp/proxy1"], user: x-user, groups: X-Groups}
`}.load(t)
	require.NoError(t, err)
	a := s.Serve.Access
	for path, name := range map[string]string{a.TLS.Cert: "c", a.TLS.Key: "k", a.TLS.ClientCA: "a", a.TLS.CRL: "l"} {
		if !filepath.IsAbs(path) || filepath.Base(path) != name {
			t.Errorf("got %q for %s", path, name)
		}
	}
	if a.TLS.MinVersion != "1.2" {
		t.Errorf("got %+v", a.TLS)
	}
	if m := a.Providers.MTLS; m == nil || len(m.From) != 1 || m.Groups["*.corp"] != "staff" || !a.Required() {
		t.Errorf("got %+v", m)
	}
	if got, want := fmt.Sprint(a.Providers.Token.List), "[{ ci "+sum+" [a b] 0001-01-01 00:00:00 +0000 UTC 2027-01-31 00:00:00 +0000 UTC}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	x := a.Providers.Proxy
	if got, want := fmt.Sprintln(x.Networks, x.Names, x.Unix, x.User, x.Groups), "[10.0.0.5/32 10.1.0.0/16 fd00::/8] [spiffe://corp/proxy1] true X-User X-Groups\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
