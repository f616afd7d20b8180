//go:build attacks && linux

package attacks_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// trustedPeer is the address of the proxy that is trusted: another of loopback.
const trustedPeer = "127.0.0.9"

// from sends bytes from an address.
func (g *gate) from(t testing.TB, address, request string) wire.Response {
	t.Helper()
	u, err := url.Parse(g.URL)
	require.NoError(t, err)
	d := net.Dialer{Timeout: wire.Limit, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := d.DialContext(t.Context(), "tcp", u.Host)
	require.NoError(t, err)
	defer c.Close()
	_ = c.SetDeadline(wait.Deadline(t))
	_, err = io.WriteString(c, request)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	_ = c.SetReadDeadline(time.Now().Add(quiet)) // it may be a stream
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return wire.Response{Status: res.StatusCode, Header: res.Header, Body: string(body)}
}

// forwarded are headers that say who asks, from a proxy and from others.
func forwarded() class {
	c := class{name: "forwarded"}
	world := func(s *stage) *gate {
		return s.gate("forwarded", "auth:", "  - proxy: {from: ["+trustedPeer+"], user: X-Forwarded-User, groups: X-Forwarded-Groups}", "  - token: {}")
	}
	add := func(name, peer, want string, lines ...string) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			g := world(s)
			all := append([]string{}, lines...)
			for i, l := range all {
				all[i] = strings.ReplaceAll(l, "$ALICE", g.tokens["alice"])
			}
			if strings.HasPrefix(want, "200") {
				expect(t, g.from(t, peer, call(all...)), want)
				return
			}
			g.untouched(t, func() { expectRefusal(t, g.from(t, peer, call(all...)), want) })
		}})
	}
	const user, other = "X-Forwarded-User: alice", "127.0.0.1"
	add("let in: the proxy names a user", trustedPeer, "200 result", user, "X-Forwarded-Groups: a, b")
	add("let in: a token through the proxy", trustedPeer, "200 result", "Authorization: Bearer $ALICE")
	add("let in: small letters", trustedPeer, "200 result", "x-forwarded-user: alice")
	// From others.
	for _, lines := range [][]string{
		{user},
		{user, "X-Forwarded-Groups: admins"},
		{user, "X-Forwarded-For: " + trustedPeer},
		{user, "X-Real-IP: " + trustedPeer},
		{user, "Forwarded: for=" + trustedPeer + ";by=" + trustedPeer},
		{user, "X-Forwarded-Host: " + trustedPeer},
		{user, "Via: 1.1 " + trustedPeer},
		{user, "X-Client-IP: " + trustedPeer},
		{user, "True-Client-IP: " + trustedPeer},
		{user, "X-Envoy-External-Address: " + trustedPeer},
		{"X-Forwarded_User: alice"},
		{"X_Forwarded_User: alice"},
		{user, user},
		{"X-Forwarded-User: alice, root"},
	} {
		add("not the proxy: "+strings.Join(lines, ", "), other, "401 none", lines...)
	}
	add("not the proxy, with a token of nobody", other, "401 invalid_token", user, "Authorization: Bearer nobody")
	add("not the proxy, with a revoked token", other, "401 invalid_token", user, "Authorization: Bearer mcpctl_00000000_"+strings.Repeat("0", 49))
	c.cases = append(c.cases, attack{name: "not the proxy: the line of a proxy in front of the request", do: func(t *testing.T, s *stage) {
		g := world(s)
		g.untouched(t, func() {
			expect(t, g.from(t, other, "PROXY TCP4 "+trustedPeer+" 127.0.0.1 1 2\r\n"+call(user)), "400")
		})
	}}, attack{name: "not the proxy: a token is that of its owner, whatever a header says", do: func(t *testing.T, s *stage) {
		g := world(s)
		hers := g.session(t, "bob", `{}`)
		expect(t, g.from(t, other, call(g.as("bob"), hers, user)), "200 result")
		expect(t, g.from(t, trustedPeer, call(user, hers)), "404") // the alice of the proxy has no session
	}})
	// From the proxy, which has let something through.
	for _, row := range []struct {
		name, want string
		lines      []string
	}{
		{"nothing", "401 none", nil},
		{"an empty user", "401 none", []string{"X-Forwarded-User:"}},
		{"two users", "400 invalid_request", []string{user, "X-Forwarded-User: root"}},
		{"two users, the second in small letters", "400 invalid_request", []string{user, "x-forwarded-user: root"}},
		{"one user twice", "400 invalid_request", []string{user, user}},
		{"two users with a comma", "400 invalid_request", []string{"X-Forwarded-User: alice, root"}},
		{"another with an underscore", "400 invalid_request", []string{user, "X-Forwarded_User: root"}},
		{"another with underscores", "400 invalid_request", []string{user, "X_Forwarded_User: root"}},
		{"one with an underscore alone", "400 invalid_request", []string{"X-Forwarded_User: root"}},
		{"groups with an underscore", "400 invalid_request", []string{user, "X-Forwarded_Groups: admins"}},
		{"groups twice", "400 invalid_request", []string{user, "X-Forwarded-Groups: a", "X-Forwarded-Groups: admins"}},
		{"groups without a user", "400 invalid_request", []string{"X-Forwarded-Groups: admins"}},
		{"a user and a token", "400 invalid_request", []string{user, "Authorization: Bearer $ALICE"}},
		{"a user and a token of nobody", "400 invalid_request", []string{user, "Authorization: Bearer nobody"}},
		{"a user of 1,000 letters", "400 invalid_request", []string{"X-Forwarded-User: " + strings.Repeat("a", 1000)}},
		{"a user with a tab", "400 invalid_request", []string{"X-Forwarded-User: al\tice"}},
		{"a user with letters that cannot be seen", "400 invalid_request", []string{"X-Forwarded-User: alice\u200b"}},
		{"a user that is not UTF-8", "400 invalid_request", []string{"X-Forwarded-User: alice\xff"}},
		{"a group with an escape", "400 any", []string{user, "X-Forwarded-Groups: a\u202e"}},
	} {
		add("the proxy lets through: "+row.name, trustedPeer, row.want, row.lines...)
	}
	for _, k := range knocks() {
		c.cases = append(c.cases, attack{name: "not the proxy: " + k.name, do: func(t *testing.T, s *stage) {
			g := world(s)
			g.untouched(t, func() { expectRefusal(t, g.from(t, other, k.request(user)), "401 none") })
		}})
	}
	return c
}

// apart is a server that must not be shared among principals.
func apart() class {
	c := class{name: "apart"}
	process := func(t *testing.T, g *gate, server, who string) string {
		t.Helper()
		res := post(t, g.Daemon, acting("1", server, "!pid"), g.as(who))
		expect(t, res, "200 result process ")
		_, rest, _ := strings.Cut(res.Message(), "process ")
		pid, _, _ := strings.Cut(rest, ".")
		return pid
	}
	c.cases = append(c.cases, attack{name: "each principal has a process", do: func(t *testing.T, s *stage) {
		g := s.tokenGate()
		hers, his := process(t, g, "apart", "alice"), process(t, g, "apart", "bob")
		if hers == his || hers == "" {
			t.Errorf("processes %q and %q", hers, his)
		}
		if again := process(t, g, "apart", "alice"); again != hers {
			t.Errorf("process %q, then %q", hers, again)
		}
		if one, other := process(t, g, "good", "alice"), process(t, g, "good", "bob"); one != other {
			t.Errorf("a server that is shared has processes %q and %q", one, other)
		}
	}}, attack{name: "in each era", do: func(t *testing.T, s *stage) {
		g := s.tokenGate()
		pid := func(who string) string {
			raw := `{"frames":["!pid"]}`
			res := post(t, g.Daemon, modern("tools/call", `"name":"apart__act","arguments":`+raw), append(mirrorsOf("tools/call", "apart__act"), g.as(who))...)
			expect(t, res, "200 result process ")
			_, rest, _ := strings.Cut(res.Message(), "process ")
			return fmt.Sprint(strings.SplitN(rest, ".", 2)[0])
		}
		if hers, his := pid("alice"), pid("bob"); hers == his {
			t.Errorf("one process %q for both", hers)
		}
	}})
	return c
}
