//go:build integration

package login_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/issuer"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// call calls a tool as a client of 2026-07-28 that opens pages. It returns the answer,
// and the page that it is sent to, "" for none.
func (x *team) call(t *testing.T, token string) (answer, page string) {
	t.Helper()
	c := &wire.Client{URL: x.URL, HTTP: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	defer c.Close()
	resp, err := c.Do(t.Context(), http.MethodPost, []byte(wire.Request("1", "tools/call", `{"name":"notes__echo","arguments":{"message":"hello"},"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}}}`)),
		http.Header{"Authorization": {"Bearer " + token}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"notes__echo"}})
	require.NoError(t, err)
	got, err := wire.Read(resp)
	require.NoError(t, err)
	var m struct {
		Result struct {
			Inputs map[string]struct{ Params struct{ Mode, URL string } } `json:"inputRequests"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.Message()), &m))
	for _, in := range m.Result.Inputs {
		page = in.Params.URL
	}
	return got.Message(), page
}

// TestPagesLink: a call leads a person to the page on which they link their own account.
// With Chromium they do. The tool then works for them, and for nobody else.
func TestPagesLink(t *testing.T) {
	t.Parallel()
	if !wire.Nightly() {
		t.Skip("one browser more: make nightly")
	}
	b := newTeamBrowser(t)
	backend := issuer.New(runtimetest.New().Handler(runtimetest.HTTPOptions{}))
	t.Cleanup(backend.Close)
	x := newTeam(t, wire.Servers{"notes": {"url": backend.URL + "/mcp", "auth": map[string]any{"as": "principal"}}}, "  auth: [token: {}]\n")
	alice, bob := x.token(t, "alice"), x.token(t, "bob")
	works := func(who, token string) string {
		t.Helper()
		answer, page := x.call(t, token)
		if page == "" && !strings.Contains(answer, `"text":"hello"`) || page != "" && !strings.HasPrefix(page, x.origin+"/connect/notes?s=") {
			t.Errorf("%s gets %s", who, answer)
		}
		return page
	}
	mine, theirs := works("alice", alice), works("bob", bob)
	if mine == "" || theirs == "" {
		t.Fatal("nobody has to link an account")
	}

	b.enterToken(mine, alice)
	b.lookAt("Link notes with your account")
	if got, _ := b.value("document.body.innerText").(string); !strings.Contains(got, backend.URL) || !strings.Contains(got, "alice") {
		t.Errorf("the page says %q", got)
	}
	b.open(theirs)
	b.lookAt("This link is for somebody else")
	b.open(mine)
	b.click("main form button")
	b.lookAt("notes is linked")
	if page := works("alice", alice); page != "" {
		t.Errorf("alice has to link an account again: %s", page)
	}
	if page := works("bob", bob); page == "" {
		t.Error("bob uses the account of alice")
	}

	back := b.sentTo(t, x.origin+"/connect/notes/callback")
	b.open(x.origin + "/connect/notes/callback?" + back.Encode())
	b.expectText("This is not an answer to a login", "used before")
	b.open(x.origin + "/connect")
	b.lookAt("Your linked accounts")
	b.click("li button")
	b.await("document.querySelector('li a') != null")
	b.lookAt("Your linked accounts")
	wait.Until(t, "the account of alice is used", func() bool { return works("alice", alice) != "" })
	b.calm()
	said := x.Stderr.String()
	for secret, what := range map[string]string{alice: "alice's token", bob: "bob's token", back.Get("code"): "the code", back.Get("state"): "the state"} {
		if strings.Contains(said, secret) {
			t.Errorf("the log has %s", what)
		}
	}
	if shown := backend.Shown(said); len(shown) > 0 {
		t.Errorf("the log has %q", shown)
	}
}

// TestPagesMixedUp: the login page of one server leads a person to that of another, which
// answers for the first. The answer is refused, and its code is given to neither.
func TestPagesMixedUp(t *testing.T) {
	t.Parallel()
	if !wire.Nightly() {
		t.Skip("one browser more: make nightly")
	}
	b := newTeamBrowser(t)
	honest, liar := issuer.New(runtimetest.New().Handler(runtimetest.HTTPOptions{})), issuer.New(runtimetest.New().Handler(runtimetest.HTTPOptions{}))
	t.Cleanup(honest.Close)
	t.Cleanup(liar.Close)
	honest.SaysIssuer, liar.Elsewhere = true, honest.URL
	own := map[string]any{"as": "principal"}
	x := newTeam(t, wire.Servers{"notes": {"url": honest.URL + "/mcp", "auth": own}, "liar": {"url": liar.URL + "/mcp", "auth": own}}, "  auth: [token: {}]\n")
	b.enterToken(x.origin+"/connect/liar", x.token(t, "alice"))
	b.at("Link liar with your account")
	b.click("main form button")
	b.expectText("liar is not linked", "another issuer than "+liar.URL)
	if back := b.sentTo(t, x.origin+"/connect/liar/callback"); back.Get("iss") != honest.URL || back.Get("code") == "" {
		t.Errorf("the browser has come back with %v", back)
	}
	for name, s := range map[string]*issuer.Server{"the liar": liar, "the other": honest} {
		for _, what := range s.Secrets() {
			if what == "verifier" || what == "access token" {
				t.Errorf("%s was asked for a token", name)
			}
		}
	}
	b.open(x.origin + "/connect/notes") // it is as good as before
	b.at("Link notes with your account")
	b.click("main form button")
	b.lookAt("notes is linked")
	b.calm()
}

// TestPagesProvider: mcpctl, which has logged in at oidc-provider for serve, is led to a
// page. The person logs in there at the same provider, and is the same principal: the
// account that they link is used by their call.
func TestPagesProvider(t *testing.T) {
	t.Parallel()
	b := newTeamBrowser(t)
	p := newPair(t, settings{})
	backend := issuer.New(runtimetest.New().Handler(runtimetest.HTTPOptions{}))
	t.Cleanup(backend.Close)
	host := newUser(t, wire.Servers{"notes": {"url": backend.URL + "/mcp", "auth": map[string]any{"as": "principal"}}})
	config := fmt.Sprintf("serve:\n  auth: [jwt: {issuer: %[1]q}]\n  login: {issuer: %[1]q, clientId: pages, clientSecret: \"${PAGES_SECRET}\"}\n", p.Issuer)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(host.config), "config.yaml"), []byte(config), 0o600))
	d := wire.Serve(t, wire.Setup{Program: binary, Config: host.config, Home: host.home, Env: []string{"BROWSER=", "PAGES_SECRET=" + pagesSecret}})
	origin := strings.TrimSuffix(d.URL, "/mcp")
	post(t, p.Control+"/party", map[string]string{"id": "pages", "secret": pagesSecret, "redirect": origin + "/connect/-/login", "resource": d.URL})

	ada := newUser(t, wire.Servers{"team": {"url": d.URL, "auth": map[string]any{"callbackPort": 0}}})
	o := ada.run(t, approve, "call", "team", "notes__echo", "message=hello")
	_, page, found := strings.Cut(o.stdout, `"url":"`)
	page, _, _ = strings.Cut(page, `"`)
	if o.code == 0 || !found || !strings.HasPrefix(page, origin+"/connect/notes?s=") {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	b.open(page)
	b.at("Log in to mcpctl")
	b.click("form[action$=login] button")
	b.enter("input[name=login]", person)
	b.enter("input[name=password]", person)
	b.click("button[type=submit]")
	b.await("document.querySelector('input[value=consent]') != null")
	b.click("button[type=submit]")
	b.at("Link notes with your account")
	b.click("main form button")
	b.at("notes is linked")
	if got := ada.ok(t, nobody, "call", "team", "notes__echo", "message=hello"); !strings.Contains(got, "hello") {
		t.Errorf("got %s", got)
	}
	b.calm()
}

// TestPagesApprove: a call that policies ask about leads a person to the page on which they
// read it and allow it, once. Nobody else can.
func TestPagesApprove(t *testing.T) {
	t.Parallel()
	b := newTeamBrowser(t)
	backend := httptest.NewServer(runtimetest.New().Handler(runtimetest.HTTPOptions{}))
	t.Cleanup(backend.Close)
	x := newTeam(t, wire.Servers{"notes": {"url": backend.URL + "/mcp"}}, "  auth: [token: {}]\naccess:\n  default: allow\n  rules: [{ask: '*', to: notes/echo, question: 'Send it to {server}?'}]\n")
	alice, bob := x.token(t, "alice"), x.token(t, "bob")
	denied := func(token string) (page string) {
		t.Helper()
		answer, _ := x.call(t, token)
		var m struct {
			Error struct {
				Code int
				Data struct{ URL string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &m))
		if m.Error.Code != -31009 || !strings.HasPrefix(m.Error.Data.URL, x.origin+"/approve?s=") {
			t.Fatalf("got %s", answer)
		}
		return m.Error.Data.URL
	}
	mine, theirs := denied(alice), denied(bob)
	b.enterToken(mine, alice)
	b.lookAt("Allow this call?")
	if got, _ := b.value("document.body.innerText").(string); !strings.Contains(got, "Send it to notes?") || !strings.Contains(got, `"message": "hello"`) || !strings.Contains(got, "alice") {
		t.Errorf("the page says %q", got)
	}
	b.click("button.quiet[name=answer]")
	b.expectText("The call is not allowed", "close this page")
	mine = denied(alice)
	b.open(theirs)
	b.lookAt("This link is for somebody else")
	b.open(mine)
	b.at("Allow this call?")
	b.click("button[value=yes]")
	b.lookAt("The call is allowed")
	denied(bob)
	if answer, _ := x.call(t, alice); !strings.Contains(answer, `"text":"hello"`) {
		t.Errorf("got %s", answer)
	}
	denied(alice)
	b.open(mine)
	b.at("This question is not open any more")
	b.calm()
}
