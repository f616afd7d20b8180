//go:build attacks && linux

package attacks_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// originShapes are what a browser says of the page that sends a request, and the
// status for it: a page of this machine may, no other.
func originShapes() [][3]string {
	return [][3]string{
		// name, header lines with | between, status
		{"none", "X-None: x", "200"},
		{"localhost", "Origin: http://localhost", "200"},
		{"localhost with a port", "Origin: http://localhost:3000", "200"},
		{"loopback over https", "Origin: https://127.0.0.1:8443", "200"},
		{"IPv6 loopback", "Origin: http://[::1]:3000", "200"},
		{"localhost in capitals", "Origin: HTTP://LOCALHOST:1", "200"},

		{"another", "Origin: https://attacker.example", "403"},
		{"another with our port", "Origin: http://attacker.example:$PORT", "403"},
		{"null", "Origin: null", "403"},
		{"null in capitals", "Origin: NULL", "403"},
		{"of a file", "Origin: file://", "403"},
		{"of a file of localhost", "Origin: file:///etc/passwd", "403"},
		{"localhost as a part", "Origin: http://localhost.attacker.example", "403"},
		{"127.0.0.1 as a part", "Origin: http://127.0.0.1.attacker.example", "403"},
		{"localhost as an end", "Origin: http://attackerlocalhost", "403"},
		{"a name below localhost", "Origin: http://attacker.localhost", "403"},
		{"localhost with a dot", "Origin: http://localhost.", "403"},
		{"as user information", "Origin: http://localhost@attacker.example", "403"},
		{"as user and password", "Origin: http://localhost:80@attacker.example", "403"},
		{"in the path", "Origin: http://attacker.example/localhost", "403"},
		{"in the query", "Origin: http://attacker.example?localhost", "403"},
		{"in the fragment", "Origin: http://attacker.example#localhost", "403"},
		{"behind a backslash", "Origin: http://attacker.example\\@localhost", "403"},
		{"no scheme", "Origin: localhost", "403"},
		{"no scheme but a port", "Origin: localhost:3000", "403"},
		{"slashes alone", "Origin: //attacker.example", "403"},
		{"two in one header", "Origin: http://localhost https://attacker.example", "403"},
		{"two with a comma", "Origin: http://localhost, https://attacker.example", "403"},
		{"an address of the net", "Origin: http://192.168.1.10", "403"},
		{"all interfaces", "Origin: http://0.0.0.0", "403"},
		{"all interfaces, IPv6", "Origin: http://[::]", "403"},
		{"decimal form of 127.0.0.1", "Origin: http://2130706433", "403"},
		{"short form of 127.0.0.1", "Origin: http://127.1", "403"},
		{"octal form of 127.0.0.1", "Origin: http://0177.0.0.1", "403"},
		{"letters that fold to ASCII", "Origin: http://loca\u017fho\u017ft", "403"},
		{"full-width digits", "Origin: http://\uff11\uff12\uff17.0.0.1", "403"},
		{"escaped", "Origin: http://localhost%2eattacker.example", "403"},
		{"an extension of a browser", "Origin: chrome-extension://abcdefghijklmnop", "403"},
		{"an extension of Firefox", "Origin: moz-extension://0123-4567", "403"},
		{"a sandboxed frame", "Origin: null|Sec-Fetch-Site: cross-site", "403"},
		{"garbage", "Origin: %%%", "403"},
		{"a page of data", "Origin: data:text/html,localhost", "403"},
		{"a script", "Origin: javascript:localhost", "403"},
		{"IPv6 link-local", "Origin: http://[fe80::1]", "403"},
		{"brackets around a name", "Origin: http://[attacker.example]", "403"},
		{"two headers, another's last", "Origin: http://localhost|Origin: https://attacker.example", "403"},
		{"two headers, another's first", "Origin: https://attacker.example|Origin: http://localhost", "403"},
		{"empty and another's", "Origin: |Origin: https://attacker.example", "403"},
		{"small letters", "origin: https://attacker.example", "403"},
		{"as referer too", "Origin: https://attacker.example|Referer: http://localhost/", "403"},

		{"fetch: same origin", "Sec-Fetch-Site: same-origin", "200"},
		{"fetch: typed by the user", "Sec-Fetch-Site: none", "200"},
		{"fetch: cross-site without an origin", "Sec-Fetch-Site: cross-site", "403"},
		{"fetch: cross-site in capitals", "Sec-Fetch-Site: Cross-Site", "403"},
		{"fetch: cross-site, no cors", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors", "403"},
		{"fetch: cross-site twice told", "Sec-Fetch-Site: same-origin|Sec-Fetch-Site: cross-site", "403"},
	}
}

func origins() class {
	c := class{name: "origins"}
	for _, row := range originShapes() {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			d := s.pair()
			lines := strings.Split(strings.ReplaceAll(row[1], "$PORT", port(d)), "|")
			expect(t, post(t, d, ping, lines...), row[2])
		}})
	}
	// A page cannot be kept from sending these without asking first.
	for _, path := range otherPaths() {
		for _, row := range [][2]string{{"another's page", "Origin: https://attacker.example"}, {"a page in a sandbox", "Origin: null"}} {
			c.cases = append(c.cases, attack{name: row[0] + " asks for " + path[1] + " " + strings.TrimPrefix(path[0], "/"), do: func(t *testing.T, s *stage) {
				expect(t, exchangeBriefly(t, s.pair(), wire.RawHead(path[1], path[0], local, row[1], "Accept: */*", "Content-Length: 0")), "403")
			}})
		}
	}
	for _, row := range [][3]string{
		{"image of the old transport's stream", "GET", "/sse"},
		{"link to the old transport's stream", "GET", "/sse?x=localhost"},
		{"form to the old transport", "POST", "/messages?sessionId=x"},
		{"link to a stream", "GET", "/mcp"},
	} {
		c.cases = append(c.cases, attack{name: "fetch: " + row[0], do: func(t *testing.T, s *stage) {
			res := exchangeBriefly(t, s.pair(), wire.RawHead(row[1], row[2], local, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Accept: */*", isJSON, "Content-Length: 0"))
			expect(t, res, "403")
		}})
	}
	for _, row := range [][2]string{
		{"preflight of another's page", "Origin: https://attacker.example"},
		{"preflight of our page", "Origin: http://localhost:3000"},
		{"request of our page", "Origin: http://localhost:3000"},
	} {
		c.cases = append(c.cases, attack{name: row[0] + " allows nobody to read", do: func(t *testing.T, s *stage) {
			method := "OPTIONS"
			if strings.HasPrefix(row[0], "request") {
				method = "POST"
			}
			res := exchange(t, s.pair(), wire.RawHead(method, "/mcp", local, row[1], isJSON, accepts, "Access-Control-Request-Method: POST", "Access-Control-Request-Private-Network: true", "Content-Length: 0"))
			for name := range res.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: %s", name, res.Header[name])
				}
			}
		}})
	}
	return c
}

// contents are what a page can send without asking first: forms of three types,
// and beacons. Only JSON is taken.
func contents() class {
	c := class{name: "contents"}
	for _, row := range [][3]string{
		{"JSON", isJSON, "200"},
		{"JSON with a charset", "Content-Type: application/json; charset=utf-8", "200"},
		{"JSON in capitals", "Content-Type: Application/JSON", "200"},
		{"text, as of a form", "Content-Type: text/plain", "415"},
		{"text that claims to be JSON", "Content-Type: text/plain; application/json", "415"},
		{"fields of a form", "Content-Type: application/x-www-form-urlencoded", "415"},
		{"files of a form", "Content-Type: multipart/form-data; boundary=application/json", "415"},
		{"none", "X-Content-Type: application/json", "415"},
		{"empty", "Content-Type:", "415"},
		{"anything", "Content-Type: */*", "415"},
		{"another JSON", "Content-Type: application/json-patch+json", "415"},
		{"JSON as an end", "Content-Type: text/application/json", "415"},
		{"JSON of text", "Content-Type: text/json", "415"},
		{"two in one", "Content-Type: text/plain, application/json", "415"},
		{"two in one, JSON first", "Content-Type: application/json, text/plain", "415"},
		{"a parameter that is none", "Content-Type: application/json; =", "415"},
		{"XML", "Content-Type: application/xml", "415"},
		{"a blob without a type", "Content-Type: application/octet-stream", "415"},
		{"a page's PDF", "Content-Type: application/pdf", "415"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			expect(t, exchange(t, s.pair(), wire.RawPost("/mcp", ping, local, accepts, row[1])), row[2])
		}})
	}
	for _, row := range [][2]string{
		{"text to the old transport", "Content-Type: text/plain"},
		{"a form to the old transport", "Content-Type: application/x-www-form-urlencoded"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			d := s.pair()
			o := openSSE(t, d)
			expect(t, exchange(t, d, wire.RawPost(o.endpoint, ping, local, accepts, row[1])), "415")
		}})
	}
	return c
}

// listening is where mcpctl may listen: without authentication on loopback only.
func listening() class {
	c := class{name: "listening", apart: true}
	for _, row := range [][2]string{
		{"all interfaces", "0.0.0.0:0"},
		{"all interfaces, no host", ":0"},
		{"all interfaces, IPv6", "[::]:0"},
		{"all interfaces, short", "0:0"},
		{"IPv4 in IPv6", "[::ffff:0.0.0.0]:0"},
		{"an address of the net", "192.168.1.10:0"},
		{"a public address", "93.184.216.34:0"},
		{"IPv6 elsewhere", "[2001:db8::1]:0"},
		{"link-local", "169.254.169.254:0"},
		{"another name", "attacker.example:0"},
		{"a name that begins like loopback", "127.0.0.1.attacker.example:0"},
		{"localhost as a part", "localhost.attacker.example:0"},
		{"decimal form of all", "2130706432:0"},
	} {
		c.cases = append(c.cases, attack{name: row[0] + " is refused", do: func(t *testing.T, _ *stage) {
			o := newHome(t, `{"mcpServers":{"x":{"command":"true"}}}`).mcpctl(t, "", "serve", "--http="+row[1])
			expectExit(t, o, "2 !listening on")
			expectExit(t, o, "2 --insecure")
		}})
	}
	c.cases = append(c.cases, attack{name: "a variable cannot be half a yes", do: func(t *testing.T, _ *stage) {
		h := newHome(t, `{"mcpServers":{"x":{"command":"true"}}}`)
		h.env = []string{"MCPCTL_INSECURE=maybe"}
		expectExit(t, h.mcpctl(t, "", "serve", "--http=0.0.0.0:0"), "2 MCPCTL_INSECURE")
	}}, attack{name: "a settings file cannot allow it", do: func(t *testing.T, _ *stage) {
		h := newHome(t, `{"mcpServers":{"x":{"command":"true"}}}`)
		h.write(t, "config.yaml", "insecure: true\nserve:\n  insecure: true\n")
		expectExit(t, h.mcpctl(t, "", "serve", "--http=0.0.0.0:0"), "5 !listening on")
	}})
	return c
}
