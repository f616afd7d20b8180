//go:build attacks && linux

package attacks_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// lobby is a serve with pages, and two people who are logged in.
type lobby struct {
	*wire.Daemon
	root, token string // the token is alice's
	alice, bob  *http.Client
	cookie      string // of alice
}

// newLobby returns the one that the cases of a class share.
var newLobby = func() func(s *stage) *lobby {
	var mu sync.Mutex // guards all
	all := map[*stage]*lobby{}
	return func(s *stage) *lobby {
		mu.Lock()
		defer mu.Unlock()
		if all[s] == nil {
			all[s] = openLobby(s.t)
		}
		return all[s]
	}
}()

func openLobby(t testing.TB) *lobby {
	h := newHome(t, string(wire.Servers{"good": rogue(t, spec{Name: "good"})}.JSON()))
	h.write(t, "config.yaml", "serve: {auth: [token: {}]}\n")
	l := &lobby{Daemon: wire.Serve(t, wire.Setup{Program: *program, Config: h.config, Home: h.dir})}
	l.root = strings.TrimSuffix(l.URL, "/mcp")
	enter := func(name string) (*http.Client, string) {
		o := h.mcpctl(t, "", "access", "token", "add", name, "-o", "text")
		token := strings.TrimSpace(o.stdout)
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		c := &http.Client{Jar: jar, Timeout: time.Until(wait.Deadline(t)), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		var res pageAnswer
		wait.Until(t, "the token counts", func() bool {
			_, page := l.page(t, c, "GET", "/connect", "")
			res, _ = l.page(t, c, "POST", "/connect/-/token", "token="+token+"&form="+url.QueryEscape(field(page)))
			return res.status == http.StatusSeeOther
		})
		return c, token
	}
	l.alice, l.token = enter("alice")
	l.bob, _ = enter("bob")
	u, err := url.Parse(l.root)
	require.NoError(t, err)
	for _, c := range l.alice.Jar.Cookies(u) {
		l.cookie = c.Name + "=" + c.Value
	}
	return l
}

// field returns the token of the last form of a page.
func field(page string) string {
	all := regexp.MustCompile(`name="form" value="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if all == nil {
		return ""
	}
	return html.UnescapeString(all[len(all)-1][1])
}

type pageAnswer struct {
	status int
	header http.Header
}

// page sends a request as a browser does.
func (l *lobby) page(t testing.TB, c *http.Client, method, path, form string, headers ...string) (pageAnswer, string) {
	t.Helper()
	req, err := http.NewRequest(method, l.root+path, strings.NewReader(form))
	require.NoError(t, err)
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	res, err := c.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return pageAnswer{res.StatusCode, res.Header}, string(body)
}

// pages is what the pages for people must not do.
func pages() class {
	c := class{name: "pages"}
	add := func(name string, do func(t *testing.T, l *lobby)) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			l := newLobby(s)
			do(t, l)
			if a, page := l.page(t, l.alice, "GET", "/connect", ""); a.status != 200 || !strings.Contains(page, "<b>alice</b>") {
				t.Errorf("alice is not logged in any more: HTTP %d", a.status)
			}
		}})
	}
	stranger := &http.Client{Timeout: wire.Limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	// Who is not logged in.
	for _, path := range []string{"/connect", "/connect/", "/connect/good", "/connect/other", "/connect/good/other", "/connect/-/other", "/connect/good?s=x", "/connect/../mcp", "/connect/%2e%2e/mcp", "/connect//", "/connect/good%00"} {
		add("nobody opens "+strings.ReplaceAll(path, "/", "|"), func(t *testing.T, l *lobby) {
			a, page := l.page(t, stranger, "GET", path, "")
			if a.status != 200 || !strings.Contains(page, "<title>Log in to mcpctl</title>") || strings.Contains(page, "good") || strings.Contains(page, "alice") {
				t.Errorf("HTTP %d: %s", a.status, page)
			}
		})
	}
	for _, path := range []string{"/connectx", "/Connect", "/connect%2f", "/conn%65ct/../mcp", "/x/connect", "//connect", "/./connect"} {
		add("nobody asks for "+strings.ReplaceAll(path, "/", "|"), func(t *testing.T, l *lobby) {
			res, err := wire.RawExchange(l.URL, wire.RawHead("GET", path, local), quiet)
			require.NoError(t, err)
			if res.Status != 401 && res.Status != 403 && !strings.Contains(res.Body, "Log in to mcpctl") {
				t.Errorf("HTTP %d: %s", res.Status, res.Body)
			}
		})
	}
	for _, path := range []string{"/connect/good", "/connect/good/unlink", "/connect/-/logout", "/connect/-/token", "/connect/-/login", "/connect", "/connect/../mcp"} {
		for name, form := range map[string]string{"nothing": "", "a form": "form=x&token=x"} {
			add("nobody sends "+name+" to "+strings.ReplaceAll(path, "/", "|"), func(t *testing.T, l *lobby) {
				if a, _ := l.page(t, stranger, "POST", path, form); a.status != 403 || a.header.Get("Location") != "" {
					t.Errorf("HTTP %d", a.status)
				}
			})
		}
	}
	for name, cookie := range map[string]string{"empty": "mcpctl=", "a word": "mcpctl=alice", "a name": "mcpctl=token|alice", "a path": "mcpctl=../../access-tokens.json", "long": "mcpctl=" + strings.Repeat("A", 8000)} {
		add("a cookie that is "+name, func(t *testing.T, l *lobby) {
			if _, page := l.page(t, stranger, "GET", "/connect", "", "Cookie: "+cookie); !strings.Contains(page, "Log in to mcpctl") {
				t.Errorf("got %s", page)
			}
		})
	}
	add("two cookies", func(t *testing.T, l *lobby) {
		if _, page := l.page(t, stranger, "GET", "/connect", "", "Cookie: "+l.cookie+"; mcpctl=x"); !strings.Contains(page, "Log in to mcpctl") {
			t.Errorf("got %s", page)
		}
	})
	add("a token as a cookie", func(t *testing.T, l *lobby) {
		if _, page := l.page(t, stranger, "GET", "/connect", "", "Cookie: mcpctl="+l.token); !strings.Contains(page, "Log in to mcpctl") {
			t.Errorf("got %s", page)
		}
	})
	add("a token as a header", func(t *testing.T, l *lobby) {
		if _, page := l.page(t, stranger, "GET", "/connect", "", "Authorization: Bearer "+l.token); !strings.Contains(page, "Log in to mcpctl") {
			t.Errorf("got %s", page)
		}
	})

	// The cookie is for the pages.
	for _, k := range [][2]string{{"POST", "/mcp"}, {"GET", "/mcp"}, {"DELETE", "/mcp"}, {"GET", "/sse"}, {"POST", "/messages?sessionId=x"}, {"GET", "/nothing"}} {
		add("the cookie at "+k[0]+" "+strings.ReplaceAll(k[1], "/", "|"), func(t *testing.T, l *lobby) {
			if a, body := l.page(t, stranger, k[0], k[1], "", "Cookie: "+l.cookie, "Content-Type: application/json"); a.status != 401 {
				t.Errorf("HTTP %d: %s", a.status, body)
			}
		})
	}

	// Forms of others.
	for name, headers := range map[string][]string{
		"of another site":   {"Origin: https://evil.example"},
		"of another port":   {"Origin: http://127.0.0.1:1"},
		"of a sister":       {"Sec-Fetch-Site: same-site"},
		"across sites":      {"Origin: null", "Sec-Fetch-Site: cross-site"},
		"with two origins":  {"Origin: null", "Origin: null"},
		"by another name":   {"Host: evil.example"},
		"by localhost":      {"Host: localhost"},
		"without a port":    {"Host: 127.0.0.1"},
		"by the name of us": {"Host: 127.0.0.1.evil.example"},
	} {
		add("a form "+name, func(t *testing.T, l *lobby) {
			_, page := l.page(t, l.alice, "GET", "/connect", "")
			if a, _ := l.page(t, l.alice, "POST", "/connect/-/logout", "form="+url.QueryEscape(field(page)), headers...); a.status != 403 {
				t.Errorf("HTTP %d", a.status)
			}
		})
	}
	for name, form := range map[string]func(t *testing.T, l *lobby) string{
		"without a token":     func(*testing.T, *lobby) string { return "a=b" },
		"with an empty token": func(*testing.T, *lobby) string { return "form=" },
		"with the cookie": func(_ *testing.T, l *lobby) string {
			return "form=" + url.QueryEscape(strings.TrimPrefix(l.cookie, "mcpctl="))
		},
		"of bob": func(t *testing.T, l *lobby) string {
			_, page := l.page(t, l.bob, "GET", "/connect", "")
			return "form=" + url.QueryEscape(field(page))
		},
		"of the login": func(t *testing.T, l *lobby) string {
			_, page := l.page(t, stranger, "GET", "/connect", "")
			return "form=" + url.QueryEscape(field(page))
		},
		"of 1 MiB": func(*testing.T, *lobby) string { return "form=" + strings.Repeat("x", 1<<20) },
	} {
		add("a form "+name, func(t *testing.T, l *lobby) {
			if a, _ := l.page(t, l.alice, "POST", "/connect/-/logout", form(t, l)); a.status != 403 && a.status != 400 {
				t.Errorf("HTTP %d", a.status)
			}
		})
	}
	add("a form for another page", func(t *testing.T, l *lobby) {
		_, page := l.page(t, l.alice, "GET", "/connect", "")
		if a, _ := l.page(t, l.alice, "POST", "/connect/good/unlink", "form="+url.QueryEscape(field(page))); a.status != 403 {
			t.Errorf("HTTP %d", a.status)
		}
	})
	for _, dest := range []string{"iframe", "frame", "embed", "object", "image", "script", "empty", "worker"} {
		add("a page in another, as "+dest, func(t *testing.T, l *lobby) {
			if a, page := l.page(t, l.alice, "GET", "/connect", "", "Sec-Fetch-Dest: "+dest, "Sec-Fetch-Site: cross-site"); a.status != 403 || strings.Contains(page, "alice") {
				t.Errorf("HTTP %d", a.status)
			}
		})
	}
	for _, path := range []string{"/connect//evil.example", "/connect/%2F%2Fevil.example", "/connect/%5Cevil.example", "/connect/%0d%0aLocation:x", "/connect?back=//evil.example", "/connect/@evil.example"} {
		add("a login that leads to "+strings.ReplaceAll(path, "/", "|"), func(t *testing.T, l *lobby) {
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			c := &http.Client{Jar: jar, Timeout: time.Until(wait.Deadline(t)), CheckRedirect: stranger.CheckRedirect}
			_, page := l.page(t, c, "GET", path, "")
			a, _ := l.page(t, c, "POST", "/connect/-/token", "token="+l.token+"&form="+url.QueryEscape(field(page)))
			if to := a.header.Get("Location"); a.status != 303 || !strings.HasPrefix(to, l.root+"/connect") {
				t.Errorf("HTTP %d to %q", a.status, to)
			}
		})
	}
	return c
}
