//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// browser returns one in which somebody is logged in.
func (p *policed) browser(t testing.TB, who string) (*lobby, *http.Client) {
	t.Helper()
	l := &lobby{Daemon: p.Daemon, root: strings.TrimSuffix(p.URL, "/mcp")}
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	c := &http.Client{Jar: jar, Timeout: time.Until(wait.Deadline(t)), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, page := l.page(t, c, "GET", "/connect", "")
	res, _ := l.page(t, c, "POST", "/connect/-/token", "token="+p.tokens[who]+"&form="+url.QueryEscape(field(page)))
	if res.status != http.StatusSeeOther {
		t.Fatalf("%s is not logged in: %d", who, res.status)
	}
	return l, c
}

// approved has a person say yes to a call on the page that its refusal names, or try to: it
// returns the status that they get.
func (p *policed) approved(t testing.TB, who, refusal, answer string) int {
	t.Helper()
	var m struct {
		Error struct{ Data struct{ URL string } }
	}
	require.NoError(t, json.Unmarshal([]byte(refusal), &m))
	l, c := p.browser(t, who)
	at := strings.TrimPrefix(m.Error.Data.URL, l.root)
	if at == m.Error.Data.URL {
		t.Fatalf("no page: %s", refusal)
	}
	res, page := l.page(t, c, "GET", at, "")
	if res.status != http.StatusOK {
		return res.status
	}
	res, _ = l.page(t, c, "POST", "/approve", "answer="+answer+"&form="+url.QueryEscape(field(page)))
	return res.status
}

// approvals are calls that somebody has allowed on a page, for others than that.
func approvals() (all []attack) {
	for _, era := range []string{"2025-11-25", revision} {
		call := func(t testing.TB, p *policed, who, name, arguments string) string {
			if era == revision {
				body := strings.Replace(modern("tools/call", `"name":"`+name+`","arguments":`+arguments), `{"elicitation":{"form":{}}}`, `{}`, 1)
				return post(t, p.Daemon, body, append(mirrorsOf("tools/call", name), p.as(who))...).Message()
			}
			return post(t, p.Daemon, tool("1", name, arguments), p.as(who)).Message()
		}
		add := func(name, arguments string, do func(t *testing.T, p *policed, refusal string)) {
			all = append(all, attack{name: "approved on a page: " + name + ", " + era, do: func(t *testing.T, s *stage) {
				// One for each era: what is allowed is so in both.
				p := s.policed("approvals, "+era, func() *policed { return newPoliced(s.t, flowsConfig, flowServers()) })
				refusal := ""
				p.unused(t, func() {
					refusal = call(t, p, "alice", "mail__ask", arguments)
					refusedBy(t, refusal)
				})
				do(t, p, refusal)
			}})
		}
		for name, row := range map[string][3]string{
			"other arguments":              {`{"a":1}`, "mail__ask", `{"a":2}`},
			"the same, and more":           {`{"b":1}`, "mail__ask", `{"b":1,"to":"eve"}`},
			"the same, written otherwise":  {`{"c":1}`, "mail__ask", `{ "c":1}`},
			"a member that is there twice": {`{"d":1}`, "mail__ask", `{"d":1,"d":2}`},
			"none":                         {`{"e":1}`, "mail__ask", `{}`},
		} {
			add(name, row[0], func(t *testing.T, p *policed, refusal string) {
				if status := p.approved(t, "alice", refusal, "yes"); status != http.StatusOK {
					t.Fatalf("status %d", status)
				}
				p.unused(t, func() { refusedBy(t, call(t, p, "alice", row[1], row[2]), `"error":`) })
			})
		}
		add("another's call", `{"f":1}`, func(t *testing.T, p *policed, refusal string) {
			p.approved(t, "alice", refusal, "yes")
			p.unused(t, func() { refusedBy(t, call(t, p, "bob", "mail__ask", `{"f":1}`)) })
		})
		add("by another", `{"g":1}`, func(t *testing.T, p *policed, refusal string) {
			if status := p.approved(t, "bob", refusal, "yes"); status != http.StatusForbidden {
				t.Errorf("status %d", status)
			}
			p.unused(t, func() { refusedBy(t, call(t, p, "alice", "mail__ask", `{"g":1}`)) })
		})
		add("again and again", `{"h":1}`, func(t *testing.T, p *policed, refusal string) {
			p.approved(t, "alice", refusal, "yes")
			before := p.uses(t)
			if got := call(t, p, "alice", "mail__ask", `{"h":1}`); !strings.Contains(got, `"result":`) {
				t.Errorf("got %s", got)
			}
			refusedBy(t, call(t, p, "alice", "mail__ask", `{"h":1}`))
			if n := p.uses(t) - before; n != 1 {
				t.Errorf("%d calls for one yes", n)
			}
		})
		add("by a page that was open before", `{"i":1}`, func(t *testing.T, p *policed, refusal string) {
			p.approved(t, "alice", refusal, "yes")
			call(t, p, "alice", "mail__ask", `{"i":1}`)
			if status := p.approved(t, "alice", refusal, "yes"); status == http.StatusOK {
				t.Error("it can be said again")
			}
			p.unused(t, func() { refusedBy(t, call(t, p, "alice", "mail__ask", `{"i":1}`)) })
		})
		add("with a no", `{"j":1}`, func(t *testing.T, p *policed, refusal string) {
			p.approved(t, "alice", refusal, "no")
			p.unused(t, func() { refusedBy(t, call(t, p, "alice", "mail__ask", `{"j":1}`)) })
		})
	}
	return all
}
