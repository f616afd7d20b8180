//go:build unix

package main_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

var formField = regexp.MustCompile(`name="form" value="([^"]*)"`)

// TestServeApprove: a client that shows no forms is led to the page of serve, where its
// person allows the call that then passes once. test/login does it in a browser. The audit
// log has the answer of the page, and what came of each call.
func TestServeApprove(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte("audit: {}\nserve:\n  auth: [token: {}]\naccess:\n  default: allow\n  rules: [{ask: '*', to: a/echo}]\n"), 0o600))
	d := wire.Serve(t, wire.Setup{Program: "mcpctl", Home: home, Config: filepath.Join(home, "servers.json"), Servers: wire.Servers{"a": {"command": "fake-mcp"}}})
	token := newToken(t, home, "alice")
	call := func() (answer, page string) {
		t.Helper()
		body := wire.Request("1", "tools/call", `{"name":"a__echo","arguments":{"message":"hi"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`)
		c := &wire.Client{URL: d.URL, HTTP: &http.Client{Transport: &http.Transport{}}}
		defer c.Close()
		resp, err := c.Do(t.Context(), http.MethodPost, []byte(body), http.Header{"Authorization": {"Bearer " + token}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"a__echo"}})
		require.NoError(t, err)
		got, err := wire.Read(resp)
		require.NoError(t, err)
		var m struct {
			Error struct{ Data struct{ URL string } }
		}
		require.NoError(t, json.Unmarshal([]byte(got.Message()), &m))
		return got.Message(), m.Error.Data.URL
	}
	answer, page := call()
	origin := strings.TrimSuffix(d.URL, "/mcp")
	if !strings.HasPrefix(page, origin+"/approve?s=") || !strings.Contains(answer, `"code":-31009`) {
		t.Fatalf("got %s", answer)
	}
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	show := func(resp *http.Response, err error) string {
		t.Helper()
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(text)
	}
	send := func(path, shown string, more url.Values) string {
		t.Helper()
		_, after, _ := strings.Cut(shown, `action="`+path+`"`)
		field := formField.FindStringSubmatch(after)
		if field == nil {
			t.Fatalf("no form goes to %s: %s", path, shown)
		}
		more.Set("form", html.UnescapeString(field[1]))
		return show(browser.PostForm(origin+path, more))
	}
	shown := send("/connect/-/token", show(browser.Get(page)), url.Values{"token": {token}})
	if !strings.Contains(shown, "Allow this call?") || !strings.Contains(shown, "&#34;message&#34;: &#34;hi&#34;") {
		t.Fatalf("the page is %s", shown)
	}
	if shown = send("/approve", shown, url.Values{"answer": {"yes"}}); !strings.Contains(shown, "The call is allowed") {
		t.Errorf("the page is %s", shown)
	}
	if answer, _ := call(); !strings.Contains(answer, `"text":"hi"`) {
		t.Errorf("got %s", answer)
	}
	if answer, again := call(); again == "" {
		t.Errorf("it passes again: %s", answer)
	}
	d.Stop(t)
	var told []string
	for line := range strings.Lines(mcpctl(t, home, "audit", "--server", "a", "--tool", "echo", "--json")) {
		var r struct {
			Kind, Name, Verdict, Text string
			By                        []string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Kind != "done" {
			told = append(told, strings.Join([]string{r.Kind, r.Name, r.Verdict, strings.Join(r.By, ","), r.Text}, " "))
		}
	}
	if want := []string{"call alice deny rule-1 ", "approve alice allow rule-1 page", "call alice allow default,rule-1 ", "call alice deny rule-1 "}; !slices.Equal(told, want) {
		t.Errorf("the log has %q", told)
	}
}
