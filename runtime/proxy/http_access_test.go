package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// except is what serve has over HTTP, at an address.
func except(t *testing.T, o proxy.HTTPOptions) (addr string) {
	t.Helper()
	p, _ := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	handler, old := p.NewHTTPHandler(o), p.NewSSEHandler(proxy.SSEOptions{HTTPOptions: o})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/sse", old)
	mux.Handle("/messages", old.Messages())
	mux.Handle("/healthz", p.Health(o))
	mux.Handle("/readyz", p.Health(o))
	s := serveHTTP(t, mux)
	t.Cleanup(func() {
		handler.Close()
		old.Close()
		s.close()
	})
	return s.address
}

// raw sends bytes on a connection of their own and gives status and headers of
// the answer.
func raw(t *testing.T, addr, text string) *http.Response {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	_ = c.SetDeadline(wait.Deadline(t))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r // its body ends with the connection: a stream's has no end
}

// authenticators are requests that are let in, with their statuses.
var admitted = map[string]int{
	"POST /mcp":                  200,
	"POST /mcp initialize":       200,
	"GET /mcp":                   404, // no such session
	"DELETE /mcp":                404,
	"GET /sse":                   200,
	"POST /messages?sessionId=x": 404,
	"GET /healthz":               200,
	"GET /readyz":                200,
}

// knock makes a request with some header lines, each with its line's end, and
// gives its status.
func knock(t *testing.T, addr, authenticator, lines string) int {
	t.Helper()
	words, body := strings.Fields(authenticator), ""
	if words[0] == "POST" {
		body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		if len(words) > 2 {
			body = hello("2025-11-25")
		}
		lines += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	if words[1] == "/mcp" && words[0] != "POST" {
		lines += "Mcp-Session-Id: x\r\n"
	}
	return raw(t, addr, words[0]+" "+words[1]+" HTTP/1.1\r\n"+lines+"\r\n"+body).StatusCode
}

// TestHostAndOrigin: what names another host than this machine's loopback, or is not
// clear about it, is let in nowhere; nor is what another site's page has sent.
func TestHostAndOrigin(t *testing.T) {
	addr := except(t, proxy.HTTPOptions{})
	const here = "Host: localhost\r\n"
	try := func(what, lines string, in bool) {
		t.Helper()
		for authenticator, status := range admitted {
			got := knock(t, addr, authenticator, lines)
			if in && got != status || !in && got != 403 && got != 400 {
				t.Errorf("%s, %s: got %d", what, authenticator, got)
			}
		}
	}
	for host, in := range hostShapes {
		try(fmt.Sprintf("host %q", host), "Host: "+host+"\r\n", in)
	}
	for origin, in := range originShapes {
		try(fmt.Sprintf("origin %q", origin), here+"Origin: "+origin+"\r\n", in)
	}
	for lines, in := range map[string]bool{
		"":                                true,
		"Sec-Fetch-Site: none\r\n":        true, // a person, in the address bar
		"Sec-Fetch-Site: same-origin\r\n": true,
		"Sec-Fetch-Site: cross-site\r\n":  false,
		"Sec-Fetch-Site: same-site\r\n":   false,
		"Sec-Fetch-Site: Cross-Site\r\n":  false,
		"Sec-Fetch-Site: \r\n":            false,
		"Sec-Fetch-Site: unheard-of\r\n":  false,
		"Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n":                        false,
		"Sec-Fetch-Site: none, cross-site\r\n":                                          false,
		"sec-fetch-site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n":                     false,
		"Origin: http://localhost:6274\r\nSec-Fetch-Site: cross-site\r\n":               true, // a page of this machine
		"Origin: http://localhost:6274\r\nSec-Fetch-Site: same-site\r\n":                true,
		"Origin: https://evil.example.com\r\nSec-Fetch-Site: same-origin\r\n":           false,
		"Origin: http://localhost:1\r\nOrigin: https://evil.example.com\r\n":            false,
		"Origin: https://evil.example.com\r\nOrigin: http://localhost:1\r\n":            false,
		"Origin: http://localhost:1\r\nOrigin: http://localhost:1\r\n":                  false,
		"Origin: http://localhost:1\r\norigin: null\r\nSec-Fetch-Site: same-origin\r\n": false,
	} {
		try(fmt.Sprintf("%q", lines), here+lines, in)
	}
	for lines, in := range map[string]bool{
		"":                                       false, // no Host at all
		"Host:\r\n":                              false,
		"Host: localhost\r\nHost: localhost\r\n": false,
		"Host: localhost\r\nHost: evil.example\r\n":             false,
		"Host: evil.example\r\nHost: localhost\r\n":             false,
		"Host : localhost\r\n":                                  false,
		" Host: localhost\r\n":                                  false,
		"Host: localhost\r\nX-Forwarded-Host: evil.example\r\n": true, // nobody reads it
	} {
		try(fmt.Sprintf("%q", lines), lines, in)
	}
	for target, status := range map[string]int{
		"http://evil.example/mcp":           403, // goes before Host (RFC 9112, 3.2.2)
		"http://localhost@evil.example/mcp": 403,
		"http://evil.example:80/mcp":        403,
		"//evil.example/mcp":                307, // a path, which is cleaned
	} {
		if got := raw(t, addr, "DELETE "+target+" HTTP/1.1\r\n"+here+"\r\n").StatusCode; got != status {
			t.Errorf("target %s: got %d, want %d", target, got, status)
		}
	}
	if got := raw(t, addr, "GET /healthz HTTP/1.0\r\n\r\n").StatusCode; got != 403 {
		t.Errorf("HTTP/1.0 without Host: got %d", got)
	}
	if n := len(hostShapes) + 8; n < 60 {
		t.Errorf("%d shapes of Host", n)
	}
	if n := len(originShapes) + 8; n < 40 {
		t.Errorf("%d shapes of Origin", n)
	}
}

// TestAnyHost: with AnyHost there is none.
func TestAnyHost(t *testing.T) {
	addr := except(t, proxy.HTTPOptions{AnyHost: true})
	for authenticator, status := range admitted {
		if got := knock(t, addr, authenticator, "Host: example.com\r\nOrigin: https://example.org\r\nSec-Fetch-Site: cross-site\r\n"); got != status {
			t.Errorf("%s: got %d", authenticator, got)
		}
	}
}

var hostShapes = map[string]bool{
	"localhost":               true,
	"LocalHost":               true,
	"localhost:8080":          true,
	"localhost:65535":         true,
	"127.0.0.1":               true,
	"127.0.0.1:1":             true,
	"127.9.8.7:8080":          true,
	"[::1]":                   true,
	"[::1]:8080":              true,
	"[0:0:0:0:0:0:0:1]:8080":  true,
	"[::ffff:127.0.0.1]:8080": true, // the same address, written otherwise

	"localhost:":                     false,
	"localhost:0":                    false,
	"localhost:65536":                false,
	"localhost:99999999999999999999": false,
	"localhost:http":                 false,
	"localhost:-1":                   false,
	"localhost:+80":                  false,
	"localhost:8 0":                  false,
	"localhost:80:80":                false,
	"localhost:80:":                  false,
	"localhost::80":                  false,
	":80":                            false,
	":":                              false,
	"localhost.":                     false,
	"localhost.:80":                  false,
	"localhost..":                    false,
	".localhost":                     false,
	"localhost.evil.com":             false,
	"localhost.evil.com:80":          false,
	"evil.localhost":                 false,
	"localhostevil.com":              false,
	"evil.com":                       false,
	"evil.com:80":                    false,
	"localhost.localdomain":          false,
	"localhost,evil.com":             false,
	"localhost evil.com":             false,
	"evil.com localhost":             false,
	"localhost\tx":                   false,
	"localhost/":                     false,
	"localhost/evil.com":             false,
	"localhost?":                     false,
	"localhost#":                     false,
	"localhost\\evil.com":            false,
	"user@localhost":                 false,
	"user:pw@localhost":              false,
	"localhost@evil.com":             false,
	"localhost:80@evil.com":          false,
	"evil.com@localhost:80":          false,
	"http://localhost":               false,
	"%6cocalhost":                    false,
	"localhost%00.evil.com":          false,
	"localhost%2eevil.com":           false,
	"127.0.0.1%2eevil.com":           false,
	"l\u00f6calhost":                 false,
	"\uff4cocalhost":                 false, // wide letters
	"localho\u017ft":                 false, // folds to an s
	"127.0.0.1.":                     false,
	"127.0.0.1.nip.io":               false,
	"127.0.0.1.evil.com:80":          false,
	"127.1":                          false,
	"127.0.1":                        false,
	"127.0.0.01":                     false,
	"0177.0.0.1":                     false,
	"0x7f.0.0.1":                     false,
	"0x7f000001":                     false,
	"2130706433":                     false,
	"017700000001":                   false,
	"127.0.0.256":                    false,
	"127.0.0.1:":                     false,
	"128.0.0.1":                      false,
	"0.0.0.0":                        false,
	"0":                              false,
	"10.0.0.1":                       false,
	"169.254.169.254":                false,
	"[127.0.0.1]":                    false,
	"[localhost]":                    false,
	"[localhost]:80":                 false,
	"[::1":                           false,
	"::1]":                           false,
	"::1":                            false,
	"[[::1]]":                        false,
	"[::1]]":                         false,
	"[::1]80":                        false,
	"[::1].evil.com":                 false,
	"[::1]:":                         false,
	"[::1]:80:80":                    false,
	"[::1%25lo]":                     false,
	"[::1%lo]":                       false,
	"[::]":                           false,
	"[::2]":                          false,
	"[fe80::1]":                      false,
	"[]":                             false,
	"[]:80":                          false,
	"[":                              false,
	"]":                              false,
	"*":                              false,
	"localhost;":                     false,
	"\"localhost\"":                  false,
}

var originShapes = map[string]bool{
	"http://localhost":       true,
	"http://localhost:6274":  true,
	"https://LOCALHOST:6274": true,
	"http://127.0.0.1":       true,
	"http://127.0.0.1:5173":  true,
	"https://127.3.2.1:1":    true,
	"http://[::1]":           true,
	"http://[::1]:3000":      true,
	"capacitor://localhost":  true, // an app's web view

	"":                                      false,
	"null":                                  false,
	"Null":                                  false,
	"*":                                     false,
	"localhost":                             false,
	"localhost:6274":                        false,
	"//localhost":                           false,
	"://localhost":                          false,
	"http:localhost":                        false,
	"http:/localhost":                       false,
	"http:///localhost":                     false,
	"http://":                               false,
	"http://localhost/":                     false,
	"http://localhost/path":                 false,
	"http://localhost?x":                    false,
	"http://localhost#x":                    false,
	"http://localhost:":                     false,
	"http://localhost:0":                    false,
	"http://localhost:x":                    false,
	"http://localhost:1:2":                  false,
	"http://localhost.":                     false,
	"http://localhost.evil.com":             false,
	"http://evil.localhost":                 false,
	"http://evil.com":                       false,
	"https://evil.com:443":                  false,
	"http://user@localhost":                 false,
	"http://evil.com@localhost":             false,
	"http://localhost@evil.com":             false,
	"http://localhost:80@evil.com":          false,
	"http://localhost\\.evil.com":           false,
	"http://localhost%2eevil.com":           false,
	"http://localhost http://evil.com":      false,
	"http://evil.com http://localhost":      false,
	"http://localhost, http://evil.com":     false,
	"http://localhost,http://localhost":     false,
	"http://127.0.0.1.nip.io":               false,
	"http://127.1":                          false,
	"http://2130706433":                     false,
	"http://0x7f.1":                         false,
	"http://0.0.0.0":                        false,
	"http://192.168.0.1":                    false,
	"http://[::1":                           false,
	"http://::1":                            false,
	"http://[::1%25lo]":                     false,
	"http://[::2]":                          false,
	"file://":                               false,
	"data:text/html,x":                      false,
	"chrome-extension://abcdefghijklmnopab": false,
	"http://localho\u017ft":                 false,
	"ht tp://localhost":                     false,
	"javascript:http://localhost":           false,
}

// TestMethodsThereAreNot: each 405 names the methods that there are. A client of
// the stateless era has POST alone.
func TestMethodsThereAreNot(t *testing.T) {
	addr := except(t, proxy.HTTPOptions{})
	for path, allow := range map[string]string{"/mcp": "GET, POST, DELETE", "/sse": "GET", "/messages": "POST", "/healthz": "GET, HEAD", "/readyz": "GET, HEAD"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
			for _, version := range []string{"", "2025-11-25", "2026-07-28", "1999-01-01"} {
				r := raw(t, addr, method+" "+path+" HTTP/1.1\r\nHost: localhost\r\nMcp-Protocol-Version: "+version+"\r\nMcp-Session-Id: x\r\n\r\n")
				want := allow
				if path == "/mcp" && version == "2026-07-28" {
					want = "POST"
				}
				there := false
				for m := range strings.SplitSeq(want, ", ") {
					there = there || m == method
				}
				switch {
				case there && r.StatusCode == 405:
					t.Errorf("%s %s, version %q: got 405", method, path, version)
				case !there && (r.StatusCode != 405 || r.Header.Get("Allow") != want):
					t.Errorf("%s %s, version %q: got %d, Allow %q, want %q", method, path, version, r.StatusCode, r.Header.Get("Allow"), want)
				}
			}
		}
	}
}

// TestRefusedBodyIsRead: a client that sends all of its request before it reads
// gets the answer that refuses it.
func TestRefusedBodyIsRead(t *testing.T) {
	const most = 4 << 20
	addr := except(t, proxy.HTTPOptions{MaxBody: most})
	const accepts = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	for name, tt := range map[string]struct {
		head   string
		status int
	}{
		"too large":          {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + accepts, 413},
		"too large, old":     {"POST /messages?sessionId=x HTTP/1.1\r\nHost: localhost\r\n" + accepts, 404},
		"foreign host":       {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\n" + accepts, 403},
		"content type":       {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n", 415},
		"accept":             {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: text/html\r\n", 406},
		"no session":         {"POST /messages HTTP/1.1\r\nHost: localhost\r\n" + accepts, 400},
		"method":             {"PUT /mcp HTTP/1.1\r\nHost: localhost\r\n" + accepts, 405},
		"method of a stream": {"POST /sse HTTP/1.1\r\nHost: localhost\r\n" + accepts, 405},
		"method of health":   {"POST /healthz HTTP/1.1\r\nHost: localhost\r\n" + accepts, 405},
	} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, chunked %v", name, chunked), func(t *testing.T) {
				t.Parallel()
				c, err := net.Dial("tcp", addr)
				require.NoError(t, err)
				defer c.Close()
				_ = c.SetDeadline(wait.Deadline(t))
				size := most + 1<<20
				begin, end := fmt.Sprintf("Content-Length: %d\r\n\r\n", size), ""
				if chunked {
					begin, end = fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size), "\r\n0\r\n\r\n"
				}
				if _, err := io.WriteString(c, tt.head+begin); err != nil {
					t.Fatal(err)
				}
				// In parts, as what sends does that does not hold all of it: the
				// reset would come in between.
				for sent := 0; sent < size; sent += 64 << 10 {
					if _, err := io.WriteString(c, strings.Repeat(" ", 64<<10)); err != nil {
						t.Fatalf("after %d of %d bytes: %v", sent, size, err)
					}
				}
				if _, err := io.WriteString(c, end); err != nil {
					t.Fatal(err)
				}
				r, err := http.ReadResponse(bufio.NewReader(c), nil)
				require.NoError(t, err)
				defer r.Body.Close()
				if _, err := io.ReadAll(r.Body); err != nil || r.StatusCode != tt.status {
					t.Errorf("got %d, %v, want %d", r.StatusCode, err, tt.status)
				}
			})
		}
	}
	t.Run("not made to send", func(t *testing.T) {
		began := time.Now()
		r := raw(t, addr, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"+accepts+"Expect: 100-continue\r\nContent-Length: 5000000\r\n\r\n")
		if d := time.Since(began); r.StatusCode != 413 || d > 4*time.Second {
			t.Errorf("got %d after %v, want 413 at once", r.StatusCode, d)
		}
	})
}
