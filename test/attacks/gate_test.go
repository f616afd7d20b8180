//go:build attacks && linux

package attacks_test

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// gate is a serve that asks who comes, before a server that notes all that it gets.
type gate struct {
	*wire.Daemon
	home   *home
	heard  string            // the file with that
	tokens map[string]string // by what they are
	ca     *pki.Authority    // nil without TLS
}

// badTokens are what a gate has beside those of alice and bob.
const (
	expiredToken = "expired"
	revokedToken = "revoked"
)

// newGate starts one with the settings given, which are those below serve, a line each.
// It has static tokens if the settings do.
func newGate(t testing.TB, settings ...string) *gate {
	t.Helper()
	g := &gate{home: newHome(t, ""), tokens: map[string]string{}}
	g.heard = filepath.Join(t.TempDir(), "heard")
	text := "serve:\n"
	for _, line := range settings {
		text += "  " + line + "\n"
	}
	if strings.Contains(text, "tls:") {
		g.ca = pki.New(t, "root")
		g.ca.Localhost(t, g.home.dir)
		g.home.write(t, "ca.pem", string(g.ca.PEM()))
	}
	g.home.write(t, "config.yaml", text)
	servers := wire.Servers{
		"good":  rogue(t, spec{Name: "good", Heard: g.heard, Prompts: []string{prompt("p")}, Resources: []string{`{"uri":"x:y","name":"y"}`}}),
		"many":  rogue(t, many("many")),
		"apart": rogue(t, spec{Name: "apart"}),
	}
	servers["apart"]["isolation"] = "principal"
	for _, server := range servers {
		server["start"] = "cached" // none is started but by what a case does
	}
	if strings.Contains(text, "token:") {
		g.addToken(t, expiredToken, "--expires", "1ms")
		g.addToken(t, revokedToken)
		for _, name := range []string{"alice", "bob"} {
			g.addToken(t, name, "--expires", "1d")
		}
		expectExit(t, g.home.mcpctl(t, "", "access", "token", "revoke", revokedToken), "0")
	}
	g.Daemon = wire.Serve(t, wire.Setup{Program: *program, Servers: servers, Config: g.home.config, Home: g.home.dir, Each: addMark, Args: []string{"-vvv"}})
	return g
}

// addToken makes a token, as a person would.
func (g *gate) addToken(t testing.TB, name string, words ...string) {
	t.Helper()
	o := g.home.mcpctl(t, "", append([]string{"access", "token", "add", name, "-o", "text"}, words...)...)
	expectExit(t, o, "0 mcpctl_")
	g.tokens[name] = strings.TrimSpace(o.stdout)
}

// gate returns the one of a name that cases of a class share.
func (s *stage) gate(name string, settings ...string) *gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gates == nil {
		s.gates = map[string]*gate{}
	}
	if s.gates[name] == nil {
		s.gates[name] = newGate(s.t, settings...)
	}
	return s.gates[name]
}

// tokenGate is one with static tokens.
func (s *stage) tokenGate() *gate { return s.gate("tokens", "auth: [token: {}]") }

// as is the header line of a principal.
func (g *gate) as(who string) string {
	return "Authorization: Bearer " + cmp.Or(g.tokens[who], who)
}

// size is how much the server has been sent.
func (g *gate) size() int64 {
	info, err := os.Stat(g.heard)
	if err != nil {
		return 0 // it has not been started
	}
	return info.Size()
}

// untouched checks that what a case does reaches no server, and starts none.
func (g *gate) untouched(t testing.TB, do func()) {
	t.Helper()
	before := g.size()
	do()
	if now := g.size(); now != before {
		t.Errorf("the server has been sent %d bytes", now-before)
	}
}

// refuses sends a request that has to be refused, before anything else is done with it.
func (g *gate) refuses(t testing.TB, request, want string) {
	t.Helper()
	g.untouched(t, func() { expectRefusal(t, g.exchange(t, request), want) })
}

// exchange sends bytes over a connection of its own, with TLS where the gate has it.
func (g *gate) exchange(t testing.TB, request string) wire.Response {
	t.Helper()
	if g.ca == nil {
		return exchangeBriefly(t, g.Daemon, request)
	}
	res, err := g.overTLS(request, g.ca.Client())
	require.NoError(t, err)
	return res
}

func (g *gate) overTLS(request string, config *tls.Config) (wire.Response, error) {
	u, err := url.Parse(g.URL)
	if err != nil {
		return wire.Response{}, err
	}
	config.ServerName = "127.0.0.1"
	d := &tls.Dialer{NetDialer: &net.Dialer{Timeout: wire.Limit}, Config: config}
	c, err := d.Dial("tcp", u.Host)
	if err != nil {
		return wire.Response{}, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(wire.Limit))
	if _, err := io.WriteString(c, request); err != nil {
		return wire.Response{}, err
	}
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return wire.Response{}, err
	}
	_ = c.SetReadDeadline(time.Now().Add(quiet)) // it may be a stream
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return wire.Response{Status: res.StatusCode, Header: res.Header, Body: string(body)}, nil
}

// expectRefusal compares a refusal with what is wanted: the status, or several with |
// between, then the error of RFC 6750, "none" for none, then a part of the description.
// "any" is the plain answer of a server of HTTP.
func expectRefusal(t testing.TB, res wire.Response, want string) {
	t.Helper()
	status, rest, _ := strings.Cut(want, " ")
	code, description, _ := strings.Cut(rest, " ")
	expect(t, res, status)
	if code == "any" {
		return
	}
	challenge := res.Header.Get("WWW-Authenticate")
	if code == "none" {
		code = ""
	}
	if code != "" && !strings.Contains(res.Body, `"error":"`+code+`"`) || code == "" && strings.Contains(res.Body, `"error":`) {
		t.Errorf("want error %q: %s", code, res.Body)
	}
	if res.Status == http.StatusServiceUnavailable {
		if challenge != "" || res.Header.Get("Retry-After") == "" {
			t.Errorf("headers of 503: %v", res.Header)
		}
	} else if !strings.HasPrefix(challenge, "Bearer ") || code != "" && !strings.Contains(challenge, `error="`+code+`"`) {
		t.Errorf("challenge %q, want error %q", challenge, code)
	}
	if !strings.Contains(res.Body, description) || strings.Contains(res.Body, "jsonrpc") {
		t.Errorf("want %q and no message: %s", description, res.Body)
	}
	if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Mcp-Session-Id") != "" || res.Header.Get("Set-Cookie") != "" {
		t.Errorf("headers %v", res.Header)
	}
}

// knock is a request on one transport of one era.
type knock struct {
	name    string
	request func(headers ...string) string
}

// knocks are all of them.
func knocks() []knock {
	message := func(path, body string, more ...string) func(...string) string {
		return func(headers ...string) string {
			return wire.RawPost(path, body, slices.Concat([]string{local, isJSON, accepts}, more, headers)...)
		}
	}
	head := func(method, path string, more ...string) func(...string) string {
		return func(headers ...string) string {
			return wire.RawHead(method, path, slices.Concat([]string{local, "Accept: text/event-stream"}, more, headers)...)
		}
	}
	session := "Mcp-Session-Id: x"
	return []knock{
		{"initialize", message("/mcp", wire.Request("0", "initialize", wire.Hello))},
		{"a call", message("/mcp", tool("1", "good__echo", `{}`))},
		{"a call in a session", message("/mcp", tool("1", "good__echo", `{}`), session)},
		{"a modern call", message("/mcp", modern("tools/call", `"name":"good__echo","arguments":{}`), mirrorsOf("tools/call", "good__echo")...)},
		{"a modern listen", message("/mcp", modern("subscriptions/listen", `"notifications":{"toolsListChanged":true}`), mirrorsOf("subscriptions/listen", "x")[:2]...)},
		{"rubbish", message("/mcp", "{")},
		{"GET", head("GET", "/mcp", session)},
		{"GET to resume", head("GET", "/mcp", session, "Last-Event-ID: 1")},
		{"DELETE", head("DELETE", "/mcp", session)},
		{"GET sse", head("GET", "/sse")},
		{"POST messages", message("/messages?sessionId=x", ping)},
		{"a path that is not there", head("GET", "/nothing")},
	}
}

// forms are all forms in which a text of this gate would still let somebody in.
func (g *gate) secretForms() map[string][]string {
	out := map[string][]string{}
	for who, token := range maps.All(g.tokens) {
		secret := token
		if parts := strings.Split(token, "_"); len(parts) == 3 {
			secret = parts[2][:43]
		}
		out[who] = []string{secret, base64.StdEncoding.EncodeToString([]byte(token)), base64.RawURLEncoding.EncodeToString([]byte(token)), hex.EncodeToString([]byte(token)), strings.ToLower(secret)}
	}
	return out
}

// keeps checks that a text has no token in it.
func (g *gate) keeps(t testing.TB, where, text string) {
	t.Helper()
	for who, all := range g.secretForms() {
		for _, form := range all {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s has the token of %s: …%.80q…", where, who, text[max(0, i-40):i])
			}
		}
	}
}
