//go:build attacks && linux

package attacks_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// mirrored are requests of the stateless era whose headers say something else
// than the body: what lies between believes the headers, a server the body.
func mirrored() class {
	c := class{name: "mirrored"}
	const (
		version = "MCP-Protocol-Version: " + revision
		method  = "Mcp-Method: tools/call"
		name    = "Mcp-Name: good__region"
		region  = "Mcp-Param-Region: eu"
	)
	call := modern("tools/call", `"name":"good__region","arguments":{"region":"eu"}`)
	for _, row := range [][3]string{
		{"in order", version + "|" + method + "|" + name + "|" + region, "200 result good "},
		{"name in base64", version + "|" + method + "|Mcp-Name: =?base64?Z29vZF9fcmVnaW9u?=|" + region, "200 result good "},

		{"no revision", method + "|" + name + "|" + region, "400 -32020"},
		{"a revision with a handshake", "MCP-Protocol-Version: 2025-11-25|" + method + "|" + name + "|" + region, "400 -32020"},
		{"a revision that is not there", "MCP-Protocol-Version: 2099-01-01|" + method + "|" + name + "|" + region, "400 -32020"},
		{"two revisions", version + "|MCP-Protocol-Version: 2025-11-25|" + method + "|" + name + "|" + region, "400 -32020"},
		{"two revisions, the right one last", "MCP-Protocol-Version: 2025-11-25|" + version + "|" + method + "|" + name + "|" + region, "400 -32020"},
		{"an empty revision", "MCP-Protocol-Version:|" + method + "|" + name + "|" + region, "400 -32020"},
		{"no method", version + "|" + name + "|" + region, "400 -32020"},
		{"another method", version + "|Mcp-Method: tools/list|" + name + "|" + region, "400 -32020"},
		{"a harmless method", version + "|Mcp-Method: ping|" + name + "|" + region, "400 -32020"},
		{"the method in capitals", version + "|Mcp-Method: TOOLS/CALL|" + name + "|" + region, "400 -32020"},
		{"two methods", version + "|" + method + "|Mcp-Method: ping|" + name + "|" + region, "400 -32020"},
		{"two methods in one", version + "|Mcp-Method: ping, tools/call|" + name + "|" + region, "400 -32020"},
		{"no name", version + "|" + method + "|" + region, "400 -32020"},
		{"another name", version + "|" + method + "|Mcp-Name: good__echo|" + region, "400 -32020"},
		{"another server's name", version + "|" + method + "|Mcp-Name: bad__region|" + region, "400 -32020"},
		{"the server's own name", version + "|" + method + "|Mcp-Name: region|" + region, "400 -32020"},
		{"the name in capitals", version + "|" + method + "|Mcp-Name: GOOD__REGION|" + region, "400 -32020"},
		{"an empty name", version + "|" + method + "|Mcp-Name:|" + region, "400 -32020"},
		{"two names", version + "|" + method + "|" + name + "|Mcp-Name: good__echo|" + region, "400 -32020"},
		{"two names, the right one last", version + "|" + method + "|Mcp-Name: good__echo|" + name + "|" + region, "400 -32020"},
		{"another name in base64", version + "|" + method + "|Mcp-Name: =?base64?Z29vZF9fZWNobw==?=|" + region, "400 -32020"},
		{"a name in base64 that is none", version + "|" + method + "|Mcp-Name: =?base64?%%%?=|" + region, "400 -32020"},
		{"a name in base64 of another alphabet", version + "|" + method + "|Mcp-Name: =?base64?Z29vZF9fcmVnaW9u_-?=|" + region, "400 -32020"},
		{"a name in base64 inside of base64", version + "|" + method + "|Mcp-Name: =?base64?PT9iYXNlNjQ/WjI5dlpGOWZjbVZuYVc5dT89?=|" + region, "400 -32020"},
		{"no parameter", version + "|" + method + "|" + name, "400 -32020"},
		{"another parameter", version + "|" + method + "|" + name + "|Mcp-Param-Region: us", "400 -32020"},
		{"two parameters", version + "|" + method + "|" + name + "|" + region + "|Mcp-Param-Region: us", "400 -32020"},
		{"an empty parameter", version + "|" + method + "|" + name + "|Mcp-Param-Region:", "400 -32020"},
		{"another parameter in base64", version + "|" + method + "|" + name + "|Mcp-Param-Region: =?base64?dXM=?=", "400 -32020"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			expect(t, post(t, mirroredWorld(s), call, strings.Split(row[1], "|")...), row[2])
		}})
	}
	meta := func(text string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{` + text + `},"name":"good__echo","arguments":{}}}`
	}
	const claim = `"io.modelcontextprotocol/protocolVersion":"` + revision + `"`
	headers := mirrorsOf("tools/call", "good__echo")
	for _, row := range []struct {
		name, body string
		headers    []string
		want       string
	}{
		{"a body without a revision", meta(``), headers, "400 -32602"},
		{"a body with a revision with a handshake", meta(`"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}`), headers, "400 -32022"},
		{"a body with a revision that is a number", meta(`"io.modelcontextprotocol/protocolVersion":20260728`), headers, "400 -32602"},
		{"a body without capabilities", meta(claim), headers, "400 -32602"},
		{"a body with capabilities that are a list", meta(claim + `,"io.modelcontextprotocol/clientCapabilities":[]`), headers, "400 -32602"},
		{"a body with capabilities that are a text", meta(claim + `,"io.modelcontextprotocol/clientCapabilities":"{}"`), headers, "400 -32602"},
		{"a body with a revision in capitals", meta(`"IO.MODELCONTEXTPROTOCOL/PROTOCOLVERSION":"` + revision + `"`), headers, "400 -32602"},
		{"a method of the handshake era", modern("initialize", ``), mirrorsOf("initialize", "x"), "400|404 "},
		{"a subscription of the handshake era", modern("resources/subscribe", `"uri":"x:y"`), mirrorsOf("resources/subscribe", "x:y"), "404 -32601"},
		{"a log level of the handshake era", modern("logging/setLevel", `"level":"debug"`), mirrorsOf("logging/setLevel", "x"), "404 -32601"},
		{"a batch", `[` + modern("tools/list", ``) + `]`, mirrorsOf("tools/list", "x"), "400 -32600"},
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, mirrorsOf("tools/list", "x"), "400 -32600"},
		{"a resource under another's URI", modern("resources/read", `"uri":"file:///secret"`), mirrorsOf("resources/read", "file:///public"), "400 -32020"},
		{"a prompt under another's name", modern("prompts/get", `"name":"good__ask"`), mirrorsOf("prompts/get", "good__other"), "400 -32020"},
		{"a task under another's id", modern("tasks/get", `"taskId":"1"`), mirrorsOf("tasks/get", "2"), "400 -32020"},
		{"a task that nobody has", modern("tasks/get", `"taskId":"guess"`), mirrorsOf("tasks/get", "guess"), "400 -32021"},
		{"a session beside it is no session", modern("tools/list", ``), append(mirrorsOf("tools/list", "x")[:2], "Mcp-Session-Id: guess"), "200 result"},
	} {
		c.cases = append(c.cases, attack{name: row.name, do: func(t *testing.T, s *stage) {
			expect(t, post(t, mirroredWorld(s), row.body, row.headers...), row.want)
		}})
	}
	for _, row := range [][2]string{
		{"GET", "405"}, {"DELETE", "405"}, {"PUT", "405"}, {"PATCH", "405"},
	} {
		c.cases = append(c.cases, attack{name: "method " + row[0] + " of the stateless era", do: func(t *testing.T, s *stage) {
			res := exchangeBriefly(t, mirroredWorld(s), wire.RawHead(row[0], "/mcp", local, accepts, version, "Content-Length: 0"))
			expect(t, res, row[1])
			if allow := res.Header.Get("Allow"); !strings.Contains(allow, "POST") {
				t.Errorf("Allow is %q", allow)
			}
		}})
	}
	return c
}

// mirroredWorld is a server with a tool that has a header of its own.
func mirroredWorld(s *stage) *wire.Daemon {
	good := spec{Name: "good", Tools: []string{
		plainTool("echo"), `{"name":"region","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}`,
	}}
	return s.serve("mirrored", wire.Servers{"good": rogue(s.t, good), "bad": rogue(s.t, spec{Name: "bad"})})
}

// bounds are requests that want more than there is, or that two parsers of HTTP
// take for different ones.
func bounds() class {
	c := class{name: "bounds"}
	head := "POST /mcp HTTP/1.1\r\n" + local + "\r\n" + isJSON + "\r\n" + accepts + "\r\n"
	for _, row := range [][3]string{
		{"a header of 100 KiB", head + "X: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", "431"},
		{"ten thousand headers", head + strings.Repeat("X: y\r\n", 20_000) + "\r\n", "431"},
		{"an address of 100 KiB", "GET /mcp?" + strings.Repeat("x", 100<<10) + " HTTP/1.1\r\n" + local + "\r\n\r\n", "414|431"},
		{"a body that is said to be of 100 GB", head + "Content-Length: 100000000000\r\n\r\n{", "413"},
		{"a length that is negative", head + "Content-Length: -1\r\n\r\n" + ping, "400"},
		{"a length with a sign", head + "Content-Length: +40\r\n\r\n" + ping, "400"},
		{"a length that is no number", head + "Content-Length: 4 0\r\n\r\n" + ping, "400"},
		{"a length beyond 64 bits", head + "Content-Length: 18446744073709551656\r\n\r\n" + ping, "400"},
		{"two lengths", head + "Content-Length: 40\r\nContent-Length: 10\r\n\r\n" + ping, "400"},
		{"two lengths in one", head + "Content-Length: 40, 10\r\n\r\n" + ping, "400"},
		{"a coding that nobody knows", head + "Transfer-Encoding: gzip\r\n\r\n" + ping, "400|501"},
		{"two codings", head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", "400|501"},
		{"a coding with a tab", head + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", "400|501"},
		{"a chunk of a negative size", head + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + ping + "\r\n0\r\n\r\n", "400"},
		{"a chunk of a size that is none", head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + ping + "\r\n0\r\n\r\n", "400"},
		{"a chunk beyond 64 bits", head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + ping, "400"},
		{"a header without a name", head + ": x\r\nContent-Length: 40\r\n\r\n" + ping, "400"},
		{"a header with a NUL", head + "X: a\x00b\r\nContent-Length: 40\r\n\r\n" + ping, "400"},
		{"a request of HTTP/2 in clear", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400|403|404|405|505"},
		{"a version that is none", "GET /mcp HTTP/9.9\r\n" + local + "\r\n\r\n", "400|505"},
		{"another protocol", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		{"an upgrade", "GET /mcp HTTP/1.1\r\n" + local + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAccept: */*\r\n\r\n", "400|405|426"},
		{"a body in a coding", head + "Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00", "400|415"},
		{"trailers", head + "Transfer-Encoding: chunked\r\nTrailer: Host\r\n\r\n28\r\n" + ping + "\r\n0\r\nHost: attacker.example\r\n\r\n", "200|400"},
		{"method TRACE", "TRACE /mcp HTTP/1.1\r\n" + local + "\r\nCookie: x\r\n\r\n", "405"},
		{"a method of its own", "EVIL /mcp HTTP/1.1\r\n" + local + "\r\n\r\n", "405"},
		{"a method that is overridden", "GET /mcp HTTP/1.1\r\n" + local + "\r\nX-HTTP-Method-Override: POST\r\nAccept: text/event-stream\r\n\r\n", "400|405"},
		{"an answer that is nothing one can read", "POST /mcp HTTP/1.1\r\n" + local + "\r\n" + isJSON + "\r\nAccept: text/html\r\nContent-Length: 40\r\n\r\n" + ping, "406"},
	} {
		c.cases = append(c.cases, attack{name: row[0], do: func(t *testing.T, s *stage) {
			d := s.pair()
			expect(t, exchange(t, d, row[1]), row[2])
			expect(t, post(t, d, ping), "200 result")
		}})
	}
	add := func(name string, slow bool, do func(t *testing.T, d *wire.Daemon)) {
		c.cases = append(c.cases, attack{name: name, slow: slow, do: func(t *testing.T, s *stage) { do(t, s.pair()) }})
	}
	add("a second request behind the first", false, func(t *testing.T, d *wire.Daemon) {
		// With both, what lies between may see one request where the server sees two.
		smuggled := head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: attacker.example\r\n\r\n"
		expect(t, exchange(t, d, smuggled), "400")
	})
	add("a batch of 101", false, func(t *testing.T, d *wire.Daemon) {
		expect(t, post(t, d, `[`+strings.Repeat(ping+",", 100)+ping+`]`, "MCP-Protocol-Version: 2025-03-26"), "200|400 -32600")
	})
	add("a seventeenth stream of a session", false, func(t *testing.T, d *wire.Daemon) {
		h := openSession(t, d, `{}`)
		for range 16 {
			stream(t, d, "/mcp", h)
		}
		res := exchangeBriefly(t, d, wire.RawHead("GET", "/mcp", local, accepts, h))
		expect(t, res, "429")
	})
	add("a subscription beyond a thousand", false, func(t *testing.T, d *wire.Daemon) {
		h := openSession(t, d, `{}`)
		for i := range 1000 {
			post(t, d, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"mcpctl+x://good/x:%d"}}`, i), h)
		}
		res := post(t, d, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"mcpctl+x://good/x:last"}}`, h)
		if !strings.Contains(res.Body, `"error"`) {
			t.Errorf("got %s", res.Body)
		}
	})
	add("more requests than a session may have", false, func(t *testing.T, d *wire.Daemon) {
		h := openSession(t, d, `{}`)
		var refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 1100 {
			wg.Go(func() {
				if res := post(t, d, acting(fmt.Sprint(i), "bad", "!sleep 3s", rightAnswer), h); res.Status == 429 {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if n := refused.Load(); n == 0 {
			t.Error("none is refused")
		}
		expect(t, post(t, d, acting("1", "good", rightAnswer), h), "200 result good right")
	})
	add("an id of a megabyte", false, func(t *testing.T, d *wire.Daemon) {
		id := `"` + strings.Repeat("i", 1<<20) + `"`
		if res := post(t, d, tool(id, "good__echo", `{}`)); res.Status != 200 || !strings.Contains(res.Message(), id) {
			t.Errorf("status %d, %d bytes", res.Status, len(res.Body))
		}
	})
	return c
}
