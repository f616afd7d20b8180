//go:build attacks && linux

package attacks_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// uris are addresses of resources as a client may ask for them. Nothing reads a
// file but a server, and of two only the one whose it is.
func uris() class {
	c := class{name: "uris"}
	world := func(s *stage) *wire.Daemon {
		return s.serve("uris", wire.Servers{
			"good": rogue(s.t, spec{Name: "good", Resources: []string{resource("file:///secret"), resource("good:own")}}),
			"bad":  rogue(s.t, spec{Name: "bad", Resources: []string{resource("file:///public"), resource("bad:own")}}),
		})
	}
	for _, row := range [][3]string{
		{"the wrapped form", "mcpctl+file://good////secret", "200 result good read file:///secret"},
		{"the server's own form", "file:///secret", "200 result good read file:///secret"},
		{"its own scheme", "good:own", "200 result good read good:own"},

		{"a file that no server lists", "file:///etc/passwd", "200 -32002"},
		{"a path that climbs", "file:///public/../secret", "200 -32002"},
		{"capitals", "FILE:///secret", "200 -32002"},
		{"an escaped letter", "file:///%73ecret", "200 -32002"},
		{"a host", "file://localhost/secret", "200 -32002"},
		{"no slashes", "file:secret", "200 -32002"},
		{"a space behind", "file:///secret ", "200 -32002"},
		{"a NUL behind", "file:///secret\x00", "200 -32002"},
		{"a line end behind", "file:///secret\n", "200 -32002"},
		{"a query behind", "file:///secret?x", "200 -32002"},
		{"a fragment behind", "file:///secret#x", "200 -32002"},
		{"a scheme of nobody", "gopher://x/y", "200 -32002"},
		{"the metadata of a cloud", "http://169.254.169.254/latest/meta-data/", "200 -32002"},
		{"a page", "https://attacker.example/", "200 -32002"},
		{"a script", "javascript:alert(1)", "200 -32002"},
		{"data", "data:text/plain,x", "200 -32002"},
		{"a path", "/etc/passwd", "200 -32002"},
		{"nothing", "", "200 -32002"},
		{"very long", "file:///" + strings.Repeat("x", 1<<20), "200 -32002"},
		{"wrapped for a server that is not there", "mcpctl+file://ghost////secret", "200 -32002"},
		{"wrapped for two", "mcpctl+file://good,bad////secret", "200 -32002"},
		{"wrapped for a server in capitals", "mcpctl+file://GOOD////secret", "200 -32002"},
		{"wrapped with user information", "mcpctl+file://x@good////secret", "200 -32002"},
		{"wrapped with a port", "mcpctl+file://good:80////secret", "200 -32002"},
		{"wrapped for nobody", "mcpctl+file://////secret", "200 -32002"},
		{"wrapped with a pattern", "mcpctl+file://*////secret", "200 -32002"},
		{"half wrapped", "mcpctl+file:///secret", "200 -32002"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			res := post(t, world(s), readOf(row[1]))
			expect(t, res, row[2])
			if strings.Contains(res.Body, `"bad read`) {
				t.Errorf("bad was asked: %s", res.Body)
			}
		}})
	}
	for _, row := range [][2]string{
		{"a number", "1"}, {"null", "null"}, {"a list", `["file:///secret"]`}, {"an object", `{"uri":"file:///secret"}`},
	} {
		c.cases = append(c.cases, attack{name: row[0] + " in place of a URI", do: func(t *testing.T, s *stage) {
			expect(t, post(t, world(s), `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":`+row[1]+`}}`), "200 -32602")
		}})
	}
	for _, row := range [][3]string{
		{"a completion for another's prompt", `{"type":"ref/prompt","name":"good__none"}`, "200 -32602"},
		{"a completion for a bare prompt", `{"type":"ref/prompt","name":"none"}`, "200 -32602"},
		{"a completion for no resource", `{"type":"ref/resource","uri":"file:///etc/{x}"}`, "200 -32002"},
		{"a completion for nothing", `{}`, "200 -32602"},
		{"a completion for a text", `"good__none"`, "200 -32602"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			expect(t, post(t, world(s), `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":`+row[1]+`,"argument":{"name":"x","value":""}}}`), row[2])
		}})
	}
	for _, row := range [][2]string{
		{"a subscription to a file of nobody", "file:///etc/passwd"},
		{"a subscription to a page", "https://attacker.example/"},
		{"a subscription to a server that is not there", "mcpctl+file://ghost////x"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			d := world(s)
			res := post(t, d, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":`+wire.Quote(row[1])+`}}`, openSession(t, d, `{}`))
			expect(t, res, `200 "error"`)
		}})
	}
	return c
}
