//go:build integration

package login_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// team is a serve over TLS that asks for credentials.
type team struct {
	*user
	*wire.Daemon
	origin string
}

// newTeam starts a serve with more settings, indented below serve.
func newTeam(t *testing.T, servers wire.Servers, settings string, env ...string) *team {
	t.Helper()
	u := newUser(t, servers)
	dir := filepath.Dir(u.config)
	pki.Write(t, pki.New(t, "team").Issue(t, pki.Leaf{Common: "serve", DNS: []string{"localhost"}, Server: true}), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("serve:\n  tls: {cert: cert.pem, key: key.pem}\n"+settings), 0o600))
	d := wire.Serve(t, wire.Setup{Program: binary, Config: u.config, Home: u.home, Env: slices.Concat([]string{"BROWSER="}, env)})
	return &team{u, d, strings.TrimSuffix(d.URL, "/mcp")}
}

// token returns a new static token of somebody.
func (x *team) token(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(x.ok(t, nobody, "access", "token", "add", name, "-o", "text"))
}

// newTeamBrowser is Chromium, which does not know who has signed the team's certificate.
func newTeamBrowser(t *testing.T) *chromium {
	t.Helper()
	return newChromium(t, "--ignore-certificate-errors")
}

// at waits for a page with a title.
func (b *chromium) at(title string) {
	b.t.Helper()
	b.await("document.readyState == 'complete' && document.title == " + wire.Quote(title))
}

// calm checks that no page has violated its policy.
func (b *chromium) calm() {
	b.t.Helper()
	for _, c := range b.complaints {
		if strings.Contains(c, "ContentSecurityPolicy") {
			b.t.Errorf("a page has violated its policy: %s", c)
		}
	}
}

// enterToken logs in with a static token.
func (b *chromium) enterToken(page, token string) {
	b.t.Helper()
	b.open(page)
	b.at("Log in to mcpctl")
	b.enter("#token", token)
	b.click("form[action$=token] button")
}

// expectText waits for a page with a title, and looks for words in it.
func (b *chromium) expectText(title, words string) {
	b.t.Helper()
	b.at(title)
	if got, _ := b.value("document.body.innerText").(string); !strings.Contains(got, words) {
		b.t.Errorf("%s: want %q in %q", title, words, got)
	}
}

// sentTo returns the query with which the browser has last asked for an address.
func (b *chromium) sentTo(t *testing.T, address string) url.Values {
	t.Helper()
	for _, asked := range slices.Backward(b.asked) {
		if query, ok := strings.CutPrefix(asked, address+"?"); ok {
			values, err := url.ParseQuery(query)
			require.NoError(t, err)
			return values
		}
	}
	t.Fatalf("the browser has not been to %s, but to %q", address, b.asked)
	return nil
}

// pagesSecret is that of the pages, at the provider.
const pagesSecret = "correct horse battery staple"

// TestPagesLogin: people log in with Chromium, at oidc-provider or with a static token,
// and log out.
func TestPagesLogin(t *testing.T) {
	t.Parallel()
	if !wire.Nightly() {
		t.Skip("one browser more: make nightly")
	}
	b := newTeamBrowser(t)
	p := newPair(t, settings{})
	x := newTeam(t, notes(p.Server, nil), fmt.Sprintf("  auth: [token: {}, jwt: {issuer: %[1]q}]\n  login: {issuer: %[1]q, clientId: pages, clientSecret: \"${PAGES_SECRET}\"}\n", p.Issuer), "PAGES_SECRET="+pagesSecret)
	post(t, p.Control+"/party", map[string]string{"id": "pages", "secret": pagesSecret, "redirect": x.origin + "/connect/-/login"})

	b.open(x.origin + "/connect")
	b.lookAt("Log in to mcpctl")
	begin := func() (state string) {
		b.open(x.origin + "/connect")
		b.click("form[action$=login] button")
		b.await("document.querySelector('input[name=login]') != null")
		return b.sentTo(t, p.Issuer+"/auth").Get("state")
	}
	state := begin()
	for answer, why := range map[string]string{
		"state=x&iss=" + p.Issuer: "belongs to no login", "state=" + state + "x&iss=" + p.Issuer: "belongs to no login",
	} {
		b.open(x.origin + "/connect/-/login?code=stolen&" + answer)
		b.expectText("You are not logged in", why)
	}
	b.open(x.origin + "/connect/-/login?code=stolen&state=" + state + "&iss=https://" + evil)
	b.expectText("You are not logged in", "not of the login provider")
	begin()
	b.enter("input[name=login]", person)
	b.enter("input[name=password]", person)
	b.click("button[type=submit]")
	b.await("document.querySelector('input[value=consent]') != null")
	b.click("button[type=submit]")
	b.lookAt("Your linked accounts")
	if got := b.value("document.querySelector('header b').textContent"); got != person {
		t.Errorf("logged in as %v", got)
	}
	if got := b.value("document.cookie"); got != "" {
		t.Errorf("scripts see the cookie %v", got)
	}
	back := b.sentTo(t, x.origin+"/connect/-/login")
	b.open(x.origin + "/connect/-/login?" + back.Encode())
	b.expectText("You are not logged in", "belongs to no login") // it was used
	b.open(x.origin + "/connect")
	b.at("Your linked accounts")
	b.click("header button")
	b.lookAt("You are logged out")

	b.enterToken(x.origin+"/connect", "mcpctl_no")
	b.lookAt("You are not logged in")
	b.enterToken(x.origin+"/connect", x.token(t, "alice"))
	b.at("Your linked accounts")
	if got := b.value("document.querySelector('header b').textContent"); got != "alice" {
		t.Errorf("logged in as %v", got)
	}
	b.calm()
	if strings.Contains(x.Stderr.Tail(), pagesSecret) {
		t.Error("the secret is logged")
	}
}
