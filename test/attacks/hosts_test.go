//go:build attacks && linux

package attacks_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// hostShapes are Host headers and what they get on the endpoint. A web page
// reaches this port under any name that leads here (DNS rebinding), so all names
// but those of loopback are refused; 400 is net/http's, for what no client sends.
func hostShapes() [][3]string {
	return [][3]string{
		// name, header lines with | between, status
		{"127.0.0.1", "Host: 127.0.0.1", "200"},
		{"127.0.0.1 with a port", "Host: 127.0.0.1:8080", "200"},
		{"another address of loopback", "Host: 127.255.255.254", "200"},
		{"localhost", "Host: localhost", "200"},
		{"localhost in capitals", "Host: LOCALHOST:80", "200"},
		{"IPv6 loopback", "Host: [::1]", "200"},
		{"IPv6 loopback with a port", "Host: [::1]:8080", "200"},
		{"IPv6 loopback written out", "Host: [0:0:0:0:0:0:0:1]:1", "200"},
		{"IPv4 in IPv6", "Host: [::ffff:127.0.0.1]", "200"},

		{"another name", "Host: attacker.example", "403"},
		{"another name with our port", "Host: attacker.example:$PORT", "403"},
		{"an address of the net", "Host: 192.168.1.10", "403"},
		{"a public address", "Host: 93.184.216.34", "403"},
		{"IPv6 elsewhere", "Host: [2001:db8::1]", "403"},
		{"IPv6 link-local", "Host: [fe80::1]", "403"},
		{"the address of all interfaces", "Host: 0.0.0.0", "403"},
		{"IPv6 of all interfaces", "Host: [::]", "403"},
		{"IPv4 elsewhere in IPv6", "Host: [::ffff:10.0.0.1]", "403"},
		{"localhost as a part", "Host: localhost.attacker.example", "403"},
		{"127.0.0.1 as a part", "Host: 127.0.0.1.attacker.example", "403"},
		{"127.0.0.1 by a service", "Host: 127.0.0.1.nip.io", "403"},
		{"hyphenated address by a service", "Host: 127-0-0-1.nip.io", "403"},
		{"localhost as an end", "Host: attackerlocalhost", "403"},
		{"a name below localhost", "Host: app.localhost", "403"},
		{"localhost with a dot", "Host: localhost.", "403"},
		{"localhost.localdomain", "Host: localhost.localdomain", "403"},
		{"127.0.0.1 with a dot", "Host: 127.0.0.1.", "403"},
		{"a name that begins with 127", "Host: 127.attacker.example", "403"},
		{"short form of 127.0.0.1", "Host: 127.1", "403"},
		{"decimal form of 127.0.0.1", "Host: 2130706433", "403"},
		{"hexadecimal form of 127.0.0.1", "Host: 0x7f000001", "403"},
		{"octal form of 127.0.0.1", "Host: 0177.0.0.1", "403"},
		{"octets with zeros in front", "Host: 127.000.000.001", "403"},
		{"zero", "Host: 0", "403"},
		{"user information", "Host: localhost@attacker.example", "400|403"},
		{"user information before localhost", "Host: attacker.example@localhost", "400|403"},
		{"path behind", "Host: localhost/attacker.example", "400|403"},
		{"backslash behind", "Host: localhost\\attacker.example", "400|403"},
		{"fragment behind", "Host: attacker.example#localhost", "400|403"},
		{"query behind", "Host: attacker.example?localhost", "400|403"},
		{"two names with a comma", "Host: localhost,attacker.example", "400|403"},
		{"two names with a space", "Host: localhost attacker.example", "400|403"},
		{"two names with a tab", "Host: localhost\tattacker.example", "400|403"},
		{"two names with a semicolon", "Host: localhost;attacker.example", "400|403"},
		{"a NUL", "Host: localhost\x00.attacker.example", "400|403"},
		{"an escaped dot", "Host: localhost%2eattacker.example", "400|403"},
		{"an escaped NUL", "Host: localhost%00.attacker.example", "400|403"},
		{"letters that look alike", "Host: l\u043ecalhost", "400|403"},
		{"full-width letters", "Host: \uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54", "400|403"},
		{"full-width digits", "Host: \uff11\uff12\uff17.0.0.1", "400|403"},
		{"letters that fold to ASCII", "Host: loca\u017fho\u017ft", "400|403"},
		{"ideographic dots", "Host: 127\u30020\u30020\u30021", "400|403"},
		{"invalid UTF-8", "Host: local\xffhost", "400|403"},
		{"a soft hyphen", "Host: local\u00adhost", "400|403"},
		{"empty", "Host:", "400|403"},
		{"a port alone", "Host: :8080", "400|403"},
		{"none", "X-Host: localhost", "400"},
		{"two headers", "Host: localhost|Host: attacker.example", "400"},
		{"two headers, ours last", "Host: attacker.example|Host: localhost", "400"},
		{"two equal headers", "Host: localhost|Host: localhost", "400"},
		{"folded header", "Host: attacker.example|\tlocalhost", "400|403"},
		{"space before the colon", "Host : localhost", "400"},
		{"forwarded host", "Host: attacker.example|X-Forwarded-Host: localhost", "403"},
		{"forwarded", "Host: attacker.example|Forwarded: host=localhost", "403"},
		{"original host", "Host: attacker.example|X-Original-Host: localhost|X-Host: localhost", "403"},
		{"real address", "Host: attacker.example|X-Real-IP: 127.0.0.1|X-Forwarded-For: 127.0.0.1", "403"},

		{"IPv6 with a zone", "Host: [::1%25lo]", "400|403"},
		{"IPv6 without brackets", "Host: ::1", "400|403"},
		{"bracket open", "Host: [::1", "400|403"},
		{"bracket closed", "Host: ::1]", "400|403"},
		{"brackets around a name", "Host: [localhost]", "400|403"},
		{"brackets around IPv4", "Host: [127.0.0.1]", "400|403"},
		{"brackets the wrong way", "Host: ]127.0.0.1[", "400|403"},
		{"two pairs of brackets", "Host: [[::1]]", "400|403"},
		{"text behind the bracket", "Host: [::1]attacker.example", "400|403"},
		{"a port that is a name", "Host: localhost:attacker", "400|403"},
		{"a port with an at sign", "Host: localhost:80@attacker.example", "400|403"},
		{"a port too large", "Host: localhost:99999", "400|403"},
		{"a negative port", "Host: localhost:-1", "400|403"},
		{"no port behind the colon", "Host: localhost:", "400|403"},
		{"two ports", "Host: localhost:80:80", "400|403"},
	}
}

// otherPaths are those of the other listeners: each has the wall of its own.
func otherPaths() [][2]string {
	return [][2]string{
		{"/sse", "GET"}, {"/messages?sessionId=x", "POST"}, {"/healthz", "GET"}, {"/readyz", "GET"}, {"/mcp", "GET"}, {"/mcp", "DELETE"}, {"/mcp", "OPTIONS"},
	}
}

func hosts() class {
	c := class{name: "hosts"}
	for _, row := range hostShapes() {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			d := s.pair()
			lines := strings.Split(strings.ReplaceAll(row[1], "$PORT", port(d)), "|")
			expect(t, exchange(t, d, wire.RawPost("/mcp", ping, append(lines, isJSON, accepts)...)), row[2])
		}})
	}
	for _, path := range otherPaths() {
		for _, host := range []string{"attacker.example", "localhost.attacker.example", "192.168.1.10", "127.0.0.1.nip.io"} {
			c.cases = append(c.cases, attack{name: host + " asks for " + path[1] + " " + strings.TrimPrefix(path[0], "/"), do: func(t *testing.T, s *stage) {
				expect(t, exchangeBriefly(t, s.pair(), wire.RawHead(path[1], path[0], "Host: "+host, "Accept: */*", "Content-Length: 0")), "403")
			}})
		}
	}
	for _, row := range [][3]string{
		{"whole address of another in the request line", "POST http://attacker.example/mcp HTTP/1.1", "403"},
		{"whole address of another with https", "POST https://attacker.example:443/mcp HTTP/1.1", "403"},
		{"address with user information in the request line", "POST http://localhost@attacker.example/mcp HTTP/1.1", "400|403"},
		{"tunnel", "CONNECT attacker.example:443 HTTP/1.1", "400|403|404|405"},
		{"path that climbs", "POST /x/../mcp HTTP/1.1", "301|307|400|404"},
		{"path that climbs out", "GET /../../etc/passwd HTTP/1.1", "301|307|400|404"},
		{"path with two slashes", "POST //attacker.example/mcp HTTP/1.1", "301|307|400|404"},
		{"another path", "GET /debug/pprof/ HTTP/1.1", "404"},
		{"metrics, which are not there", "GET /metrics HTTP/1.1", "404"},
		{"path below the endpoint", "POST /mcp/x HTTP/1.1", "404"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			head := row[1] + "\r\n" + local + "\r\n" + isJSON + "\r\n" + accepts + "\r\nContent-Length: 40\r\n\r\n" + ping
			res := exchange(t, s.pair(), head)
			expect(t, res, row[2])
			if u, err := url.Parse(res.Header.Get("Location")); err != nil || u.Host != "" {
				t.Errorf("it leads to %s", res.Header.Get("Location"))
			}
		}})
	}
	c.cases = append(c.cases, attack{name: "HTTP 1.0 without a host", do: func(t *testing.T, s *stage) {
		expect(t, exchange(t, s.pair(), "GET /healthz HTTP/1.0\r\n\r\n"), "400|403")
	}})
	return c
}

func port(d *wire.Daemon) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(d.URL, "http://"), ":")
	p, _, _ := strings.Cut(rest, "/")
	return p
}
