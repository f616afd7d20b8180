package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// knownTokens is an authenticator that knows tokens.
type knownTokens struct {
	tokens atomic.Pointer[access.Tokens]
	now    time.Time
}

// Who implements [proxy.Authenticator]. "unavailable" stands for tokens that cannot be read.
func (d *knownTokens) Who(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	switch c.Bearer {
	case "":
		return nil, access.ErrNoCredential
	case "unavailable":
		return nil, access.ErrUnavailable
	}
	return d.tokens.Load().Principal(c.Bearer, d.now)
}

// Challenge implements [proxy.Authenticator].
func (*knownTokens) Challenge(*access.Refusal) string { return `realm="mcpctl"` }

// newAuthenticator returns an authenticator and tokens for it: two principals', an expired and a revoked
// one.
func newAuthenticator(t testing.TB) (d *knownTokens, alice, bob, expired, revoked string) {
	t.Helper()
	now := time.Now()
	a, alice := access.NewToken("alice", nil, now, time.Time{})
	b, bob := access.NewToken("bob", nil, now, time.Time{})
	c, expired := access.NewToken("carol", nil, now, now.Add(-time.Hour))
	_, revoked = access.NewToken("alice", nil, now, time.Time{})
	tokens, err := access.NewTokens([]access.Token{a, b, c})
	require.NoError(t, err)
	d = &knownTokens{now: now}
	d.tokens.Store(tokens)
	return d, alice, bob, expired, revoked
}

// authServer is what serve has over HTTP, behind an authenticator, and how often servers were
// connected.
func authServer(t *testing.T, d proxy.Authenticator) (addr string, dials func() int64) {
	t.Helper()
	servers := two()
	p, _ := start(t, servers, proxy.Options{Servers: cached("a", "b")})
	o := proxy.HTTPOptions{Authenticator: d, Hosts: []string{"mcp.example.com"}}
	handler, old := p.NewHTTPHandler(o), p.NewSSEHandler(proxy.SSEOptions{HTTPOptions: o})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/sse", old)
	mux.Handle("/messages", old.Messages())
	mux.Handle("/healthz", p.Health(o))
	s := serveHTTP(t, proxy.Guard(o, mux, "/mcp", "/sse", "/messages", "/healthz"))
	t.Cleanup(func() {
		handler.Close()
		old.Close()
		s.close()
	})
	return s.address, servers.dials.Load
}

// exchange sends a request and returns the whole answer, without its date; of a stream
// what comes at once.
func exchange(t *testing.T, addr, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	_ = c.SetDeadline(wait.Deadline(t))
	_, err = io.WriteString(c, request)
	require.NoError(t, err)
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	resp.Header.Del("Date")
	var out strings.Builder
	fmt.Fprintln(&out, resp.Status)
	_ = resp.Header.Write(&out)
	if !strings.Contains(resp.Header.Get("Content-Type"), "event-stream") {
		body, _ := io.ReadAll(resp.Body)
		out.WriteString("\n" + strings.TrimSpace(string(body)) + "\n")
	}
	return strings.ReplaceAll(out.String(), "\r", "")
}

// credentials are what a request has instead of a credential that is accepted.
func badCredentials(expired, revoked string) [][2]string {
	return [][2]string{
		{"no credential", ""},
		{"another scheme", "Authorization: Basic YTpi\r\n"},
		{"no token", "Authorization: Bearer\r\n"},
		{"an empty token", "Authorization: Bearer \r\n"},
		{"two tokens in one line", "Authorization: Bearer a, Bearer b\r\n"},
		{"two lines", "Authorization: Bearer " + revoked + "\r\nAuthorization: Bearer " + revoked + "\r\n"},
		{"expired", "Authorization: Bearer " + expired + "\r\n"},
		{"revoked", "authorization: bearer  " + revoked + "\r\n"},
		{"changed", "Authorization: Bearer " + revoked[:60] + "00000\r\n"},
		{"a JWT", "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.\r\n"},
		{"not to be checked now", "Authorization: Bearer unavailable\r\n"},
		{"a host of others", "Host: evil.example.com\r\n"},
	}
}

// knocks are requests on all transports and in both eras.
var knocks = [][2]string{
	{"POST /mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
	{"POST /mcp initialize", ""},
	{"POST /mcp modern", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}`},
	{"POST /mcp rubbish", "{"},
	{"GET /mcp", ""},
	{"DELETE /mcp", ""},
	{"PUT /mcp", ""},
	{"GET /sse", ""},
	{"POST /messages?sessionId=x", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
	{"GET /", ""},
	{"GET /nothing", ""},
	{"GET //mcp", ""},
	{"GET /.well-known/oauth-protected-resource/mcp", ""},
}

func knockWith(t *testing.T, addr string, k [2]string, lines string) string {
	t.Helper()
	words, body := strings.Fields(k[0]), k[1]
	if len(words) > 2 && words[2] == "initialize" {
		body = hello("2025-11-25")
	}
	if body != "" {
		lines += fmt.Sprintf("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n", len(body))
	}
	if len(words) > 2 && words[2] == "modern" {
		lines += "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n"
	}
	if words[0] != "POST" {
		lines += "Mcp-Session-Id: x\r\nAccept: text/event-stream\r\n"
	}
	if !strings.Contains(lines, "Host:") {
		lines = "Host: localhost\r\n" + lines
	}
	return exchange(t, addr, words[0]+" "+words[1]+" HTTP/1.1\r\n"+lines+"\r\n"+body)
}

// TestAuthenticator: without a credential that is accepted, every request gets the same answer
// whatever it asks for, to the byte, and no server is connected. testdata/authenticator.txt has
// the answers; MCPCTL_UPDATE=1 writes them again.
func TestAuthenticator(t *testing.T) {
	t.Parallel()
	d, alice, _, expired, revoked := newAuthenticator(t)
	addr, dials := authServer(t, d)
	var got strings.Builder
	for _, bad := range badCredentials(expired, revoked) {
		first := knockWith(t, addr, knocks[0], bad[1])
		fmt.Fprintf(&got, "== %s\n%s\n", bad[0], first)
		for _, k := range knocks[1:] {
			if answer := knockWith(t, addr, k, bad[1]); answer != first {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", bad[0], k[0], answer, first)
			}
		}
	}
	for _, secret := range []string{alice, expired, revoked} {
		if strings.Contains(got.String(), secret[16:]) {
			t.Error("an answer has a token in it")
		}
	}
	if n := dials(); n > 0 {
		t.Errorf("servers were connected %d times", n)
	}
	const golden = "testdata/authenticator.txt"
	if os.Getenv("MCPCTL_UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if got.String() != string(want) {
		t.Errorf("got\n%s", got.String())
	}
}

// TestAuthenticatorOpens for a credential that is accepted, and probes need none.
func TestAuthenticatorOpens(t *testing.T) {
	t.Parallel()
	d, alice, _, _, _ := newAuthenticator(t)
	addr, dials := authServer(t, d)
	in := "Authorization: Bearer " + alice + "\r\n"
	for i, want := range []string{"200", "200", "200", "400", "404", "404", "405", "200", "404", "404", "404", "307", "404"} {
		if got := knockWith(t, addr, knocks[i], in); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", knocks[i][0], got)
		}
	}
	if got := knockWith(t, addr, knocks[0], "Host: mcp.example.com:8443\r\n"+in); !strings.HasPrefix(got, "200") {
		t.Errorf("by a name of ours: got %s", got)
	}
	if got := knockWith(t, addr, [2]string{"GET /healthz", ""}, ""); !strings.HasPrefix(got, "200") {
		t.Errorf("a probe: got %s", got)
	}
	if got := knockWith(t, addr, [2]string{"POST /mcp?access_token=" + alice, `{}`}, in); !strings.HasPrefix(got, "400") || strings.Contains(got, alice) {
		t.Errorf("a token in the URL: got %s", got)
	}
	if dials() == 0 {
		t.Error("no server was connected: the counter counts nothing")
	}
}

// TestAuthenticatorBinds: what belongs to one principal is to another what is not there.
func TestAuthenticatorBinds(t *testing.T) {
	t.Parallel()
	d, alice, bob, _, _ := newAuthenticator(t)
	addr, _ := authServer(t, d)
	as := func(token string) string { return "Authorization: Bearer " + token + "\r\n" }
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

	opened := knockWith(t, addr, knocks[1], as(alice))
	id := regexp.MustCompile(`Mcp-Session-Id: (\S+)`).FindStringSubmatch(opened)
	if id == nil {
		t.Fatalf("no session: %s", opened)
	}
	in := func(session, token string) string { return as(token) + "Mcp-Session-Id: " + session + "\r\n" }
	for _, authenticator := range [][2]string{{"POST /mcp", ping}, {"GET /mcp", ""}, {"DELETE /mcp", ""}} {
		request := func(session, token string) string {
			if authenticator[0] != "POST /mcp" { // knockWith adds a session there
				return exchange(t, addr, authenticator[0]+" HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"+in(session, token)+"\r\n")
			}
			return knockWith(t, addr, authenticator, in(session, token))
		}
		if theirs, unknown := request(id[1], bob), request("unknown", bob); theirs != unknown {
			t.Errorf("%s: another's session gets\n%s\nan unknown one\n%s", authenticator[0], theirs, unknown)
		}
	}
	if got := knockWith(t, addr, [2]string{"POST /mcp", ping}, in(id[1], alice)); !strings.HasPrefix(got, "200") {
		t.Errorf("its own session: got %s", got)
	}

	// HTTP+SSE, whose session is its stream.
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	_ = c.SetDeadline(wait.Deadline(t))
	_, err = io.WriteString(c, "GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"+as(alice)+"\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	buf := make([]byte, 1<<10)
	n, _ := resp.Body.Read(buf)
	path := regexp.MustCompile(`/messages\S+`).FindString(string(buf[:n]))
	theirs := knockWith(t, addr, [2]string{"POST " + path, ping}, as(bob))
	unknown := knockWith(t, addr, [2]string{"POST /messages?sessionId=unknown", ping}, as(bob))
	if theirs != unknown {
		t.Errorf("another's stream gets\n%s\nan unknown one\n%s", theirs, unknown)
	}
	if got := knockWith(t, addr, [2]string{"POST " + path, ping}, as(alice)); !strings.HasPrefix(got, "202") {
		t.Errorf("its own stream: got %s", got)
	}
}

// TestExpel ends the streams of one principal and of nobody else: those of GET, of
// HTTP+SSE, and of subscriptions/listen.
func TestExpel(t *testing.T) {
	t.Parallel()
	d, alice, bob, _, _ := newAuthenticator(t)
	p, _ := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	o := proxy.HTTPOptions{Authenticator: d}
	handler, old := p.NewHTTPHandler(o), p.NewSSEHandler(proxy.SSEOptions{HTTPOptions: o})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/sse", old)
	s := serveHTTP(t, mux)
	t.Cleanup(func() {
		handler.Close()
		old.Close()
		s.close()
	})
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}`
	open := func(token string) (ended []<-chan struct{}) {
		auth := "Host: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer " + token + "\r\n"
		opened := knockWith(t, s.address, knocks[1], "Authorization: Bearer "+token+"\r\n")
		id := regexp.MustCompile(`Mcp-Session-Id: (\S+)`).FindStringSubmatch(opened)
		for _, request := range []string{
			"GET /mcp HTTP/1.1\r\n" + auth + "Mcp-Session-Id: " + id[1] + "\r\n\r\n",
			"GET /sse HTTP/1.1\r\n" + auth + "\r\n",
			fmt.Sprintf("POST /mcp HTTP/1.1\r\n%sContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", auth, len(listen), listen),
		} {
			c, err := net.Dial("tcp", s.address)
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			_ = c.SetDeadline(wait.Deadline(t))
			_, err = io.WriteString(c, request)
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%q: got %s", request, resp.Status)
			}
			done := make(chan struct{})
			go func() { // ends with the connection
				defer close(done)
				_, _ = io.Copy(io.Discard, resp.Body)
			}()
			ended = append(ended, done)
		}
		return ended
	}
	hers, his := open(alice), open(bob)
	gone := func(p *access.Principal) bool { return p.Name == "alice" }
	handler.Expel(gone)
	old.Expel(gone)
	for i, ended := range hers {
		wait.For(t, fmt.Sprintf("the end of stream %d", i), ended)
	}
	for i, ended := range his {
		select {
		case <-ended:
			t.Errorf("stream %d of another has ended", i)
		default:
		}
	}
}
