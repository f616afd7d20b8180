//go:build integration

package login_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/issuer"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// call calls a tool as a client of 2026-07-28 that opens pages. It returns the answer,
// and the page that it is sent to, "" for none.
func (x *team) call(t *testing.T, token string) (answer, page string) {
	t.Helper()
	c := &wire.Client{URL: x.URL, HTTP: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}} //nolint:gosec // the test's own
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
	wire.Eventually(t, wire.Limit, "the account of alice is not used", func() bool { return works("alice", alice) != "" })
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
