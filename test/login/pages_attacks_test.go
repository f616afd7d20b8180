//go:build integration

package login_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/issuer"
	"github.com/mcpctl/mcpctl/test/wire"
)

// evilSite is a web page of somebody else. Its address is one of a name of its own.
func evilSite(t *testing.T, page string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>evil</title>%s", page)
	}))
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "127.0.0.1", evil, 1)
}

// TestPagesAttacked: Chromium, in which a person is logged in, opens pages of somebody
// else. Nothing is done in the person's name, no page is shown in another, and no server
// is reached.
func TestPagesAttacked(t *testing.T) {
	t.Parallel()
	b := newTeamBrowser(t)
	backend := issuer.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the server was reached: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	}))
	t.Cleanup(backend.Close)
	x := newTeam(t, wire.Servers{"notes": {"url": backend.URL + "/mcp"}}, "  auth: [token: {}]\n")
	b.enterToken(x.origin+"/connect", x.token(t, "alice"))
	b.at("Your linked accounts")
	stillIn := func(what string) {
		t.Helper()
		b.open(x.origin + "/connect")
		b.await("document.readyState == 'complete' && location.origin == " + wire.Quote(x.origin))
		if got := b.value("document.title"); got != "Your linked accounts" {
			t.Errorf("%s: the person sees %v", what, got)
		}
	}

	for name, target := range map[string]string{
		"logout": "/connect/-/logout", "login": "/connect/-/login", "token": "/connect/-/token", "link": "/connect/notes", "unlink": "/connect/notes/unlink",
	} {
		form := fmt.Sprintf(`<form method="post" action="%s%s"><input name="form" value="x"><input name="token" value="x"></form><script>document.forms[0].submit()</script>`, x.origin, target)
		b.open(evilSite(t, form))
		b.await("document.readyState == 'complete' && location.origin == " + wire.Quote(x.origin))
		if got, _ := b.value("document.body.innerText").(string); strings.TrimSpace(got) != "a page of another site has sent this" {
			t.Errorf("%s: the form of another site gets %q", name, got)
		}
		stillIn(name)
	}

	for name, tag := range map[string]string{"frame": "<iframe src=%q></iframe>", "object": "<object data=%q></object>", "embed": "<embed src=%q>"} {
		b.open(evilSite(t, fmt.Sprintf(tag, x.origin+"/connect")))
		b.await("document.readyState == 'complete' && document.title == 'evil'")
		if shown := b.framed(); strings.Contains(shown, x.origin) {
			t.Errorf("%s: a page is shown in another: %s", name, shown)
		}
	}

	if !strings.Contains(strings.Join(b.complaints, ""), "frame-ancestors") {
		t.Error("the browser has not refused to show a frame")
	}
	b.complaints = nil

	// What a page of others can send to the servers, with the cookie of the person.
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	post := fmt.Sprintf(`<script>
		Promise.all(['text/plain', 'application/json'].flatMap((type) => ['no-cors', 'cors'].map((mode) => fetch(%q, {method: 'POST', mode, credentials: 'include', headers: {'Content-Type': type}, body: %q})
			.then((r) => r.type + ' ' + r.status, (e) => 'refused'))).concat([fetch(%q, {mode: 'cors', credentials: 'include'}).then((r) => 'read', () => 'refused')]))
			.then((all) => { window.got = all.join(', ') })
	</script>`, x.URL, call, x.origin+"/connect")
	b.open(evilSite(t, post))
	b.await("window.got !== undefined")
	if got, _ := b.value("window.got").(string); strings.Contains(got, "read") || strings.Contains(got, "200") || strings.Contains(got, "cors 2") {
		t.Errorf("a page of others gets %s", got)
	}
	form := fmt.Sprintf(`<form method="post" action="%s" enctype="text/plain"><input name='%s' value="x"></form><script>document.forms[0].submit()</script>`, x.URL, html.EscapeString(call))
	b.open(evilSite(t, form))
	b.await("document.readyState == 'complete' && location.origin == " + wire.Quote(x.origin))
	if got := b.value("performance.getEntriesByType('navigation')[0].responseStatus"); got != 403.0 {
		t.Errorf("a form to /mcp gets %v", got)
	}
	b.open(x.URL) // with the cookie, and from nowhere
	b.await("document.readyState == 'complete' && location.pathname == '/mcp'")
	if got := b.value("performance.getEntriesByType('navigation')[0].responseStatus"); got != 401.0 {
		t.Errorf("/mcp with the cookie gets %v", got)
	}

	// A name of somebody else's that leads here (DNS rebinding).
	rebound := strings.Replace(x.origin, "127.0.0.1", evil, 1)
	for _, path := range []string{
		"/mcp", "/sse", "/messages?sessionId=x", "/healthz", "/readyz", "/", "/nothing", "/connect", "/connect/notes", "/connect/notes/callback?state=x", "/connect/-/login", "/connect/-/style.css",
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
	} {
		b.open(rebound + path)
		b.await("document.readyState == 'complete' && location.href == " + wire.Quote(rebound+path))
		if got := b.value("performance.getEntriesByType('navigation')[0].responseStatus"); got != 403.0 {
			t.Errorf("%s by another name: HTTP %v, %v", path, got, b.value("document.body.innerText"))
		}
	}

	// Addresses that others may have a person open.
	for path, title := range map[string]string{
		"/connect/" + url.PathEscape("<script>document.title='evil'</script>"): "There is no such page",
		"/connect//" + evil:                                   "There is no such page",
		"/connect/notes/callback?code=x&state=x":              "This is not an answer to a login",
		"/connect/-/login?code=x&state=x&iss=https://" + evil: "You are not logged in",
		"/connect/notes?s=x":                                  "This link is not valid any more",
	} {
		b.open(x.origin + path)
		b.lookAt(title)
		if got := b.value("location.origin"); got != x.origin {
			t.Errorf("%s leads to %v", path, got)
		}
		stillIn(path)
	}
	b.calm()
}

// framed returns the addresses of the frames in a page.
func (b *chromium) framed() string {
	b.t.Helper()
	var got struct {
		FrameTree struct {
			ChildFrames []struct {
				Frame struct{ URL, UnreachableURL string }
			}
		}
	}
	b.ask("Page.getFrameTree", nil, &got)
	var all []string
	for _, f := range got.FrameTree.ChildFrames {
		all = append(all, f.Frame.URL)
	}
	return strings.Join(all, " ")
}
