//go:build integration

package login_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// picturesEnv names a folder for pictures of the pages that a login ends at.
const picturesEnv = "LOGIN_PICTURES"

// TestWindow: logging in with Chromium, which clicks what there is to be clicked. It sees
// each page that mcpctl has.
func TestWindow(t *testing.T) {
	t.Parallel()
	b := newChromium(t)
	p := newPair(t, settings{})
	u := newUser(t, notes(p.Server, nil))

	login := u.window(t)
	b.open(login.URL)
	b.enter("input[name=login]", person)
	b.enter("input[name=password]", person)
	b.click("button[type=submit]")
	b.await("document.querySelector('input[value=consent]') != null")
	consent, _ := b.value("location.href").(string)
	b.open(callback(t, login.URL) + "?code=stolen&state=wrong")
	b.lookAt("This is no answer to a login")
	b.open(consent)
	b.click("a[href$='/abort']")
	b.lookAt("mcpctl is not authorised")
	if err := login.Wait(); err == nil || login.Cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("denied: %v\n%s", err, login.Stderr)
	}

	login = u.window(t)
	b.open(login.URL) // the browser knows who it is now
	b.click("button[type=submit]")
	b.lookAt("mcpctl is authorised")
	require.NoError(t, login.Wait())
	u.calls(t, nobody)
}

// TestServeWindow: a client's page of serve leads Chromium to the login and back.
func TestServeWindow(t *testing.T) {
	t.Parallel()
	b := newChromium(t)
	p := newPair(t, settings{})
	u := newUser(t, notes(p.Server, nil))
	d := wire.Serve(t, wire.Setup{Program: binary, Config: u.config, Home: u.home, Env: []string{"BROWSER="}})
	pages, answer := make(chan string, 1), make(chan string, 1)
	go func() { answer <- callOfSession(t, d.URL, pages) }()
	server, err := url.Parse(p.Server)
	require.NoError(t, err)
	b.open(shown(t, pages))
	b.lookAt("Log in to " + server.Host)
	b.click("button")
	b.enter("input[name=login]", person)
	b.enter("input[name=password]", person)
	b.click("button[type=submit]")
	b.await("document.querySelector('input[value=consent]') != null")
	b.click("button[type=submit]")
	b.lookAt("mcpctl is authorised")
	if got := <-answer; !strings.Contains(got, "you are "+person) {
		t.Errorf("got %s", got)
	}
}

// window starts a login that leaves the page to the test.
func (u *user) window(t *testing.T) *wire.Process {
	t.Helper()
	login, err := wire.Launch(u.command(context.WithoutCancel(t.Context()), t, nobody, "auth", "login", "notes", "--no-browser"), "  ")
	require.NoError(t, err)
	t.Cleanup(func() { login.Stop(wire.Limit) })
	return login
}

// callback returns where a login's page leads back to.
func callback(t *testing.T, page string) string {
	t.Helper()
	u, err := url.Parse(page)
	require.NoError(t, err)
	return u.Query().Get("redirect_uri")
}

// contrast is the least contrast of a text with what it stands on (WCAG 2.2, 1.4.3).
const contrast = `(() => {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (text) => {
    const [r, g, b] = rgb(text).map((v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => (rgb(getComputedStyle(e).backgroundColor)[3] === 0 ? behind(e.parentElement) : getComputedStyle(e).backgroundColor);
  return Math.min(...[...document.querySelectorAll('h1, p, b, button, a, dt, dd, label, small, header span')].map((e) => {
    const both = [light(getComputedStyle(e).color), light(behind(e))];
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  }));
})()`

// lookAt checks one of mcpctl's pages, light and dark, wide and narrow.
func (b *chromium) lookAt(title string) {
	b.t.Helper()
	b.await("document.readyState == 'complete' && document.title == " + wire.Quote(title))
	for _, width := range []int{900, 320} {
		for _, scheme := range []string{"light", "dark"} {
			b.show(width, scheme)
			if folder := os.Getenv(picturesEnv); folder != "" {
				b.picture(folder, fmt.Sprintf("%s, %s, %d", title, scheme, width))
			}
			if c, ok := b.value(contrast).(float64); !ok || c < 4.5 {
				b.t.Errorf("%s, %s: contrast %v, want 4.5", title, scheme, c)
			}
			if b.value("document.documentElement.scrollWidth <= innerWidth") != true {
				b.t.Errorf("%s is wider than %d", title, width)
			}
		}
	}
	if got := b.value("document.querySelector('h1').textContent"); got != title {
		b.t.Errorf("the page's heading is %v, its title %s", got, title)
	}
	wrong := slices.ContainsFunc([]string{"no answer", " not ", "somebody else", "no such"}, func(words string) bool { return strings.Contains(title, words) })
	if failed := b.value("document.querySelector('main.failed') != null"); failed != wrong {
		b.t.Errorf("%s: it looks like a failure: %v", title, failed)
	}
	if got := b.value("performance.getEntriesByType('resource').filter((e) => e.name != origin + '/connect/-/style.css').length"); got != 0.0 {
		b.t.Errorf("%s loads %v other resources", title, got)
	}
}
