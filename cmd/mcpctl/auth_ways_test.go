//go:build unix

package main_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// authRequest is a request on one transport of one era.
type authRequest struct {
	name, method, path string
	headers            []string
	body               string
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}`

// authRequests are all of them.
func authRequests() []authRequest {
	message := []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}
	stream := []string{"Accept: text/event-stream"}
	with := func(list []string, more ...string) []string { return slices.Concat(list, more) }
	modern := func(method, members string, more ...string) authRequest {
		return authRequest{
			"2026-07-28: " + method, "POST", "/mcp", with(message, append(more, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: "+method)...),
			wire.Request("1", method, `{`+members+modernMeta+`}`),
		}
	}
	const session = "Mcp-Session-Id: x"
	return []authRequest{
		{"2025-11-25: initialize", "POST", "/mcp", message, wire.Request("1", "initialize", wire.Hello)},
		{"2025-11-25: tools/list in a session", "POST", "/mcp", with(message, session), wire.Request("1", "tools/list", `{}`)},
		{"2025-11-25: tools/call, answered as JSON", "POST", "/mcp", []string{message[0], "Accept: application/json", session}, wire.Request("1", "tools/call", `{"name":"a__b"}`)},
		{"2025-11-25: tools/call, answered as a stream", "POST", "/mcp", []string{message[0], stream[0], session}, wire.Request("1", "tools/call", `{"name":"a__b"}`)},
		{"2025-11-25: GET, the session's stream", "GET", "/mcp", with(stream, session), ""},
		{"2025-11-25: GET, a stream resumed", "GET", "/mcp", with(stream, session, "Last-Event-ID: 1"), ""},
		{"2025-11-25: DELETE", "DELETE", "/mcp", []string{session}, ""},
		{"2025-03-26: a batch", "POST", "/mcp", with(message, session), `[` + wire.Request("1", "ping", `{}`) + `]`},
		{"2024-11-05: GET /sse", "GET", "/sse", stream, ""},
		{"2024-11-05: POST /messages", "POST", "/messages?sessionId=x", message[:1], wire.Request("1", "ping", `{}`)},
		modern("tools/list", ""),
		modern("tools/call", `"name":"a__b","arguments":{},`, "Mcp-Name: a__b"),
		modern("subscriptions/listen", `"notifications":{"toolsListChanged":true},`),
		{"no JSON", "POST", "/mcp", message, "{"},
		{"another method", "PUT", "/mcp", nil, ""},
		{"another path", "GET", "/nothing", nil, ""},
		{"a path with two slashes", "GET", "//mcp", nil, ""},
	}
}

// authWay is how requests reach a serve.
type authWay struct {
	name string
	// send returns the status, the headers and the body of the answer.
	send func(t *testing.T, k authRequest, c credentialCase) string
}

// text is a request of HTTP/1.1.
func (k authRequest) text(c credentialCase) string {
	path := k.path
	if c.query != "" {
		path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + c.query
	}
	lines := slices.Concat(k.headers, c.lines)
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Host:") }) {
		lines = append([]string{"Host: 127.0.0.1"}, lines...)
	}
	if k.method == "POST" {
		return wire.RawPost(path, k.body, lines...)
	}
	return wire.RawHead(k.method, path, lines...)
}

// overHTTP1 sends over HTTP/1.1.
func overHTTP1(d *wire.Daemon) authWay {
	return authWay{"HTTP/1.1", func(t *testing.T, k authRequest, c credentialCase) string {
		t.Helper()
		conn, err := wire.Dial(d.URL)
		require.NoError(t, err)
		return transcript(t, conn, k.text(c))
	}}
}

// overTLS sends over HTTP/1.1 with TLS.
func overTLS(d *wire.Daemon, ca *pki.Authority) authWay {
	return authWay{"HTTP/1.1 with TLS", func(t *testing.T, k authRequest, c credentialCase) string {
		t.Helper()
		u, err := url.Parse(d.URL)
		require.NoError(t, err)
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: wire.Limit}, "tcp", u.Host, ca.Client())
		require.NoError(t, err)
		return transcript(t, conn, k.text(c))
	}}
}

// overHTTP2 sends over HTTP/2, on a connection that all requests share.
func overHTTP2(t *testing.T, d *wire.Daemon, ca *pki.Authority) authWay {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: ca.Client(), ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return authWay{"HTTP/2", func(t *testing.T, k authRequest, c credentialCase) string {
		t.Helper()
		read, err := http.ReadRequest(bufio.NewReader(strings.NewReader(k.text(c))))
		require.NoError(t, err)
		to := strings.TrimSuffix(d.URL, "/mcp") + strings.TrimPrefix(read.RequestURI, "http://127.0.0.1")
		req, err := http.NewRequestWithContext(t.Context(), read.Method, to, read.Body)
		require.NoError(t, err)
		req.Header, req.ContentLength, req.Host = read.Header, read.ContentLength, read.Host
		res, err := tr.RoundTrip(req)
		require.NoError(t, err)
		if res.ProtoMajor != 2 {
			t.Fatalf("it is %s", res.Proto)
		}
		return shown(t, res)
	}}
}

func transcript(t *testing.T, conn net.Conn, request string) string {
	t.Helper()
	defer conn.Close()
	_ = conn.SetDeadline(wait.Deadline(t))
	_, err := io.WriteString(conn, request)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	return shown(t, res)
}

// shown returns an answer as text. Its date is left out.
func shown(t *testing.T, res *http.Response) string {
	t.Helper()
	got, err := wire.Read(res)
	require.NoError(t, err)
	got.Header.Del("Date")
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", got.Status, http.StatusText(got.Status))
	require.NoError(t, got.Header.Write(&b))
	return strings.ReplaceAll(b.String(), "\r", "") + "\n" + got.Body
}
