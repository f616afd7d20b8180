//go:build attacks && linux

package attacks_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// authenticators is what comes without a credential that is good, on each transport of each era:
// it gets one answer whatever it asks for, and no server hears of it.
func entrances() class {
	c := class{name: "doors"}
	for _, row := range []struct{ name, who, want string }{
		{"no credential", "", "401 none"},
		{"another scheme", "Authorization: Basic YWxpY2U6YQ==", "401 none"},
		{"no token", "Authorization: Bearer", "400 invalid_request"},
		{"a token of nobody", "nobody", "401 invalid_token"},
		{"an expired token", expiredToken, "401 invalid_token expired"},
		{"a revoked token", revokedToken, "401 invalid_token"},
		{"two lines", "Authorization: Bearer x|Authorization: Bearer y", "400 invalid_request"},
		{"a host of others", "Host: attacker.example", "400|403 any"},
		{"an origin of others", "Origin: https://attacker.example", "403 any"},
	} {
		for _, k := range knocks() {
			c.cases = append(c.cases, attack{name: row.name + ": " + k.name, do: func(t *testing.T, s *stage) {
				g := s.tokenGate()
				lines := strings.Split(row.who, "|")
				switch {
				case row.who == "":
					lines = nil
				case !strings.Contains(row.who, ": "):
					lines = []string{g.as(row.who)}
				}
				request := k.request(lines...)
				if strings.HasPrefix(row.who, "Host") {
					request = strings.Replace(k.request(), local, row.who, 1)
				}
				g.refuses(t, request, row.want)
				if k.name == "initialize" || strings.HasSuffix(row.want, "any") {
					return
				}
				first := g.exchange(t, knocks()[0].request(lines...))
				if res := g.exchange(t, request); res.Body != first.Body || res.Header.Get("WWW-Authenticate") != first.Header.Get("WWW-Authenticate") || len(res.Header) != len(first.Header) {
					t.Errorf("it can be told from another request:\n%v %s\n%v %s", res.Header, res.Body, first.Header, first.Body)
				}
			}})
		}
	}
	c.cases = append(c.cases, openEntrances()...)
	return c
}

// openEntrances are ways around, and what is let in.
func openEntrances() (all []attack) {
	add := func(name string, do func(t *testing.T, g *gate)) {
		all = append(all, attack{name: name, do: func(t *testing.T, s *stage) { do(t, s.tokenGate()) }})
	}
	for _, target := range []string{
		"/healthz/../mcp", "/readyz/../mcp", "/./mcp", "//mcp", "/mcp/", "/MCP", "/%6dcp", "/mcp%00", "/mcp;x=/healthz", "/mcp?/healthz", "/healthz%2f..%2fmcp", "/healthz/", "/healthzz",
		"/sse/", "/messages/", "/debug/pprof/", "/metrics", "/access-tokens.json", "/config.yaml", "/../../etc/passwd", "/.well-known/oauth-authorization-server", "*",
		"http://127.0.0.1/mcp", "http://127.0.0.1/healthz/../mcp",
	} {
		for _, method := range []string{"GET", "POST"} {
			name := "path " + strings.ReplaceAll(target, "/", "-") + ", " + method
			add(name, func(t *testing.T, g *gate) {
				// 400: no request of HTTP, 307 and 301 never come before the question.
				g.refuses(t, wire.RawHead(method, target, local, isJSON, accepts, "Content-Length: 0"), map[bool]string{true: "400|401 any", false: "401 none"}[target == "*"])
			})
		}
	}
	for _, method := range []string{"PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT", "PROPFIND", "post", "GETT"} {
		add("method "+method, func(t *testing.T, g *gate) {
			g.refuses(t, wire.RawHead(method, "/mcp", local, "Content-Length: 0"), "400|401|405|501 any")
		})
	}
	for _, line := range []string{
		"X-HTTP-Method-Override: GET", "X-Original-URL: /healthz", "X-Rewrite-URL: /healthz", "X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1;proto=https",
		"X-Forwarded-User: alice", "X-Forwarded_User: alice", "X-Remote-User: alice", "Remote-User: alice", "X-Auth-Request-User: alice", "X-Forwarded-Client-Cert: Hash=x;URI=spiffe://corp/a",
		"X-Client-Verify: SUCCESS", "X-SSL-Client-S-DN: CN=alice", "X-Pomerium-Jwt-Assertion: a.b.c", "X-Real-IP: 127.0.0.1", "X-Principal: token|alice", "Upgrade: websocket",
		"Upgrade: h2c", "Sec-WebSocket-Protocol: bearer", "Max-Forwards: 0", "Mcp-Session-Id: alice", "X-Amzn-Oidc-Data: a.b.c", "Cf-Access-Jwt-Assertion: a.b.c", "Sec-Fetch-Site: none",
	} {
		add("header "+strings.ReplaceAll(line, "/", "-"), func(t *testing.T, g *gate) {
			g.refuses(t, wire.RawPost("/mcp", tool("1", "good__echo", `{}`), local, isJSON, accepts, line), "401 none")
		})
	}
	add("alice is let in", func(t *testing.T, g *gate) {
		before := g.size()
		expect(t, post(t, g.Daemon, tool("1", "good__echo", `{}`), g.as("alice")), "200 result good ")
		if g.size() == before {
			t.Error("the server has been sent nothing: what counts for the others counts nothing")
		}
	})
	add("the scheme in capitals is the same", func(t *testing.T, g *gate) {
		expect(t, post(t, g.Daemon, ping, strings.Replace(g.as("alice"), "Bearer", "BEARER", 1)), "200 result")
	})
	add("probes need none, and tell nothing", func(t *testing.T, g *gate) {
		for _, path := range []string{"/healthz", "/readyz"} {
			res := g.exchange(t, wire.RawHead("GET", path, local))
			if res.Status != 200 || strings.Contains(res.Body, "good") || strings.Contains(res.Body, "alice") {
				t.Errorf("%s: %d %s", path, res.Status, res.Body)
			}
		}
	})
	all = append(all, sameConnection()...)
	return all
}

// sameConnection is what comes on a connection that has been let in before.
func sameConnection() []attack {
	call := tool("1", "good__echo", `{}`)
	statuses := func(t *testing.T, g *gate, requests ...string) (got []int) {
		t.Helper()
		c, err := wire.Dial(g.URL)
		require.NoError(t, err)
		defer c.Close()
		_ = c.SetDeadline(wait.Deadline(t))
		_, err = io.WriteString(c, strings.Join(requests, ""))
		require.NoError(t, err)
		r := bufio.NewReader(c)
		for range requests {
			res, err := http.ReadResponse(r, &http.Request{Method: http.MethodPost})
			if err != nil {
				return append(got, 0)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			got = append(got, res.StatusCode)
			if res.Close {
				break
			}
		}
		return got
	}
	request := func(lines ...string) string {
		return wire.RawPost("/mcp", call, append([]string{local, isJSON, accepts}, lines...)...)
	}
	type row struct {
		name  string
		lines func(g *gate) []string
	}
	rows := []row{
		{"none", func(*gate) []string { return nil }},
		{"an empty one", func(*gate) []string { return []string{"Authorization:"} }},
		{"one letter less", func(g *gate) []string { h := g.as("alice"); return []string{h[:len(h)-1]} }},
		{"another last letter", func(g *gate) []string { h := g.as("alice"); return []string{change(h, len(h)-1)} }},
		{"another letter of the secret", func(g *gate) []string { h := g.as("alice"); return []string{change(h, len(h)-20)} }},
		{"twice the same", func(g *gate) []string { return []string{g.as("alice"), g.as("alice")} }},
		{"a revoked one", func(g *gate) []string { return []string{g.as(revokedToken)} }},
		{"an expired one", func(g *gate) []string { return []string{g.as(expiredToken)} }},
		{"in small letters", func(g *gate) []string { return []string{strings.ToLower(g.as("alice"))} }},
	}
	var all []attack
	for _, r := range rows {
		all = append(all, attack{name: "behind a good request on its connection: " + r.name, do: func(t *testing.T, s *stage) {
			g := s.tokenGate()
			got := statuses(t, g, request(g.as("alice")), request(r.lines(g)...), request(g.as("alice")))
			if len(got) < 2 || got[0] != 200 || got[1] != 401 && got[1] != 400 {
				t.Errorf("got %v", got)
			}
		}})
	}
	smuggled := map[string]func(g *gate) string{
		"two lengths": func(g *gate) string {
			return wire.RawHead("POST", "/mcp", local, isJSON, accepts, "Content-Length: 0", fmt.Sprintf("Content-Length: %d", len(call))) + call
		},
		"a length and chunks": func(g *gate) string {
			return wire.RawHead("POST", "/mcp", local, isJSON, accepts, "Content-Length: 5", "Transfer-Encoding: chunked", g.as("alice")) + "0\r\n\r\n" + request()
		},
		"a folded header": func(g *gate) string {
			return wire.RawPost("/mcp", call, local, isJSON, accepts, "X-A: b\r\n "+g.as("alice"))
		},
		"a bare line feed": func(g *gate) string {
			return wire.RawPost("/mcp", call, local, isJSON, accepts, "X-A: b\n"+g.as(revokedToken))
		},
		"a credential in a trailer": func(g *gate) string {
			return wire.RawHead("POST", "/mcp", local, isJSON, accepts, "Transfer-Encoding: chunked", "Trailer: Authorization") + fmt.Sprintf("%x\r\n%s\r\n0\r\n%s\r\n\r\n", len(call), call, g.as("alice"))
		},
		"a name with a space behind": func(g *gate) string {
			return wire.RawPost("/mcp", call, local, isJSON, accepts, strings.Replace(g.as("alice"), ":", " :", 1))
		},
		"a name with an underscore": func(g *gate) string {
			return wire.RawPost("/mcp", call, local, isJSON, accepts, "X_"+g.as("alice"))
		},
		"HTTP/1.0": func(*gate) string {
			return strings.Replace(request(), "HTTP/1.1", "HTTP/1.0", 1)
		},
		"HTTP/0.9": func(*gate) string { return "GET /mcp\r\n\r\n" },
		"a connection that names its header": func(g *gate) string {
			return request("Connection: Authorization", g.as(revokedToken))
		},
	}
	for name, build := range smuggled {
		all = append(all, attack{name: "smuggled: " + name, do: func(t *testing.T, s *stage) {
			g := s.tokenGate()
			g.untouched(t, func() {
				res, err := wire.RawExchange(g.URL, build(g), quiet)
				if err == nil && res.Status != 400 && res.Status != 401 && res.Status != 501 && res.Status != 505 {
					t.Errorf("status %d: %s", res.Status, res.Body)
				}
			})
		}})
	}
	return all
}

// places is a token that is good, in a place or form in which it counts for nothing.
func places() class {
	c := class{name: "places"}
	type row struct {
		name  string
		build func(token string) (path string, lines []string)
		want  string
	}
	at := func(path string, lines ...string) (string, []string) { return path, lines }
	for _, r := range []row{
		{"in the query", func(k string) (string, []string) { return at("/mcp?access_token=" + k) }, "400 invalid_request"},
		{"in the query, escaped name", func(k string) (string, []string) { return at("/mcp?access%5Ftoken=" + k) }, "400|401 any"},
		{"in the query, in capitals", func(k string) (string, []string) { return at("/mcp?ACCESS_TOKEN=" + k) }, "400|401 any"},
		{"in the query behind others", func(k string) (string, []string) { return at("/mcp?a=b&access_token=" + k) }, "400 invalid_request"},
		{"in the query with a semicolon", func(k string) (string, []string) { return at("/mcp?a=b;access_token=" + k) }, "400|401 any"},
		{"in the query as token", func(k string) (string, []string) { return at("/mcp?token=" + k) }, "401 none"},
		{"in the query as api_key", func(k string) (string, []string) { return at("/mcp?api_key=" + k) }, "401 none"},
		{"in the query and the header", func(k string) (string, []string) {
			return at("/mcp?access_token="+k, "Authorization: Bearer "+k)
		}, "400 invalid_request"},
		{"in the path", func(k string) (string, []string) { return at("/mcp/" + k) }, "401 none"},
		{"as the user of the URL", func(k string) (string, []string) { return at("http://alice:" + k + "@127.0.0.1/mcp") }, "400|401 any"},
		{"in a cookie", func(k string) (string, []string) { return at("/mcp", "Cookie: Authorization="+k+"; token="+k) }, "401 none"},
		{"in the cookie of our pages", func(k string) (string, []string) { return at("/mcp", "Cookie: __Host-mcpctl="+k) }, "401 none"},
		{"as a password", func(string) (string, []string) { return at("/mcp", "Authorization: Basic YWxpY2U6YQ==") }, "401 none"},
		{"as a digest", func(k string) (string, []string) { return at("/mcp", "Authorization: Digest "+k) }, "401 none"},
		{"with the scheme Token", func(k string) (string, []string) { return at("/mcp", "Authorization: Token "+k) }, "401 none"},
		{"with the scheme DPoP", func(k string) (string, []string) { return at("/mcp", "Authorization: DPoP "+k) }, "401 none"},
		{"without a scheme", func(k string) (string, []string) { return at("/mcp", "Authorization: "+k) }, "401 none"},
		{"with a scheme that begins like it", func(k string) (string, []string) { return at("/mcp", "Authorization: BearerX "+k) }, "401 none"},
		{"without a space", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer"+k) }, "401 none"},
		{"behind a tab", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer\t"+k) }, "400|401 any"},
		{"behind a colon", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer: "+k) }, "401 none"},
		{"in quotes", func(k string) (string, []string) { return at("/mcp", `Authorization: Bearer "`+k+`"`) }, "401 invalid_token"},
		{"as a parameter", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer token="+k) }, "401 invalid_token"},
		{"twice in one line", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k+" "+k) }, "400 invalid_request"},
		{"twice with a comma", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k+", Bearer "+k) }, "400 invalid_request"},
		{"twice with a comma and no space", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k+","+k) }, "400 invalid_request"},
		{"a good one last", func(k string) (string, []string) {
			return at("/mcp", "Authorization: Bearer x", "Authorization: Bearer "+k)
		}, "400 invalid_request"},
		{"a good one first", func(k string) (string, []string) {
			return at("/mcp", "Authorization: Bearer "+k, "Authorization: Bearer x")
		}, "400 invalid_request"},
		{"with a line in small letters", func(k string) (string, []string) {
			return at("/mcp", "Authorization: Bearer "+k, "authorization: Bearer "+k)
		}, "400 invalid_request"},
		{"beside another scheme", func(k string) (string, []string) {
			return at("/mcp", "Authorization: Basic YTpi", "Authorization: Bearer "+k)
		}, "400 invalid_request"},
		{"as Proxy-Authorization", func(k string) (string, []string) { return at("/mcp", "Proxy-Authorization: Bearer "+k) }, "401 none"},
		{"as X-Authorization", func(k string) (string, []string) { return at("/mcp", "X-Authorization: Bearer "+k) }, "401 none"},
		{"as X-Forwarded-Authorization", func(k string) (string, []string) { return at("/mcp", "X-Forwarded-Authorization: Bearer "+k) }, "401 none"},
		{"as X-Api-Key", func(k string) (string, []string) { return at("/mcp", "X-Api-Key: "+k) }, "401 none"},
		{"as a session", func(k string) (string, []string) { return at("/mcp", "Mcp-Session-Id: "+k) }, "401 none"},
		{"as a parameter of a tool", func(k string) (string, []string) { return at("/mcp", "Mcp-Param-Authorization: Bearer "+k) }, "401 none"},
		{"as a protocol of a web socket", func(k string) (string, []string) { return at("/mcp", "Sec-WebSocket-Protocol: bearer, "+k) }, "401 none"},
		{"its beginning", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k[:16]) }, "401 invalid_token"},
		{"without its checksum", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k[:len(k)-6]) }, "401 invalid_token"},
		{"with a letter more", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k+"A") }, "401 invalid_token"},
		{"with a NUL behind", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k+"\x00") }, "400|401 any"},
		{"with letters of others", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k+"\u00e9") }, "400|401 any"},
		{"escaped", func(k string) (string, []string) {
			return at("/mcp", "Authorization: Bearer "+strings.ReplaceAll(k, "_", "%5F"))
		}, "401 invalid_token"},
		{"in capitals", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+strings.ToUpper(k)) }, "401 invalid_token"},
		{"with the id of another", func(k string) (string, []string) { return at("/mcp", "Authorization: Bearer "+k[:7]+"00000000"+k[15:]) }, "401 invalid_token"},
		{"of 17 KiB", func(k string) (string, []string) {
			return at("/mcp", "Authorization: Bearer "+k+strings.Repeat("A", 17<<10))
		}, "400|401|431 any"},
		{"of 100 KiB", func(k string) (string, []string) {
			return at("/mcp", "Authorization: Bearer "+k+strings.Repeat("A", 100<<10))
		}, "400|401|431 any"},
		{"a path as a token", func(string) (string, []string) { return at("/mcp", "Authorization: Bearer ../../access-tokens.json") }, "401 invalid_token"},
		{"an expression as a token", func(string) (string, []string) { return at("/mcp", "Authorization: Bearer 'OR'1'='1") }, "401 invalid_token"},
		{"a JWT without a signature", func(string) (string, []string) {
			return at("/mcp", "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.")
		}, "401 invalid_token"},
	} {
		c.cases = append(c.cases, attack{name: r.name, do: func(t *testing.T, s *stage) {
			g := s.tokenGate()
			path, lines := r.build(g.tokens["alice"])
			request := wire.RawPost(path, tool("1", "good__echo", `{}`), append([]string{local, isJSON, accepts}, lines...)...)
			g.untouched(t, func() {
				res, err := wire.RawExchange(g.URL, request, quiet)
				require.NoError(t, err)
				expectRefusal(t, res, r.want)
				g.keeps(t, "the answer", fmt.Sprint(res.Header, res.Body))
			})
			g.keeps(t, "the log", g.Stderr.String())
		}})
	}
	body := func(name, contentType, text string) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			g := s.tokenGate()
			text := strings.ReplaceAll(text, "$TOKEN", g.tokens["alice"])
			g.refuses(t, wire.RawPost("/mcp", text, local, "Content-Type: "+contentType, accepts), "401 none")
		}})
	}
	body("in a form", "application/x-www-form-urlencoded", "access_token=$TOKEN")
	body("in the message", "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo","_meta":{"authorization":"Bearer $TOKEN"}},"access_token":"$TOKEN"}`)
	body("in the clientInfo", "application/json", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"$TOKEN","version":"1"}}}`)
	for name, build := range map[string]func(token string) string{
		"another secret of the same id":         func(k string) string { return k[:16] + strings.Repeat("A", 43) },
		"the secret of bob with the same id":    nil,
		"one letter of the secret changed":      func(k string) string { return change(k[:59], 40) },
		"the last letter of the secret changed": func(k string) string { return change(k[:59], 58) },
		"another id with the same secret":       func(k string) string { return k[:7] + "AAAAAAAA" + k[15:59] },
	} {
		c.cases = append(c.cases, attack{name: "forged with a right checksum: " + name, do: func(t *testing.T, s *stage) {
			g := s.tokenGate()
			k := g.tokens["alice"]
			forged := k[:16] + g.tokens["bob"][16:59]
			if build != nil {
				forged = build(k)
			}
			if k != checked(k[:59]) {
				t.Fatal("this is not how tokens are made")
			}
			g.refuses(t, knocks()[1].request("Authorization: Bearer "+checked(forged)), "401 invalid_token")
		}})
	}
	c.cases = append(c.cases, attack{name: "the hash that is kept", do: func(t *testing.T, s *stage) {
		g := s.tokenGate()
		_, rest, _ := strings.Cut(g.home.read(t, "access-tokens.json"), `"sha256": "`)
		g.refuses(t, knocks()[1].request("Authorization: Bearer "+rest[:64]), "401 invalid_token")
	}})
	return c
}

// checked adds the checksum to a static token without one.
func checked(text string) string { return idp.StaticToken(text[7:15], text[16:]) }

// encrypted is a gate with TLS, over HTTP/1.1 and HTTP/2.
func encrypted() class {
	c := class{name: "encrypted"}
	world := func(s *stage) *gate {
		return s.gate("tls", "auth: [token: {}]", "tls: {cert: cert.pem, key: key.pem}", "hosts: [mcp.example.com]")
	}
	for _, who := range []string{"", revokedToken} {
		for _, k := range knocks() {
			name, want := k.name+" without a credential", "401 none"
			if who != "" {
				name, want = k.name+" with a revoked token", "401 invalid_token"
			}
			c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
				g := world(s)
				var lines []string
				if who != "" {
					lines = append(lines, g.as(who))
				}
				g.refuses(t, k.request(lines...), want)
			}}, attack{name: name + ", HTTP/2", do: func(t *testing.T, s *stage) {
				g := world(s)
				var lines []string
				if who != "" {
					lines = append(lines, g.as(who))
				}
				g.untouched(t, func() { expectRefusal(t, g.overHTTP2(t, k.request(lines...))[0], want) })
			}})
		}
	}
	add := func(name string, do func(t *testing.T, g *gate)) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) { do(t, world(s)) }})
	}
	call := func(g *gate, lines ...string) string {
		return wire.RawPost("/mcp", tool("1", "good__echo", `{}`), append([]string{local, isJSON, accepts}, lines...)...)
	}
	add("alice is let in", func(t *testing.T, g *gate) {
		expect(t, g.exchange(t, call(g, g.as("alice"))), "200 result good ")
	})
	add("alice is let in, HTTP/2", func(t *testing.T, g *gate) {
		expect(t, g.overHTTP2(t, call(g, g.as("alice")))[0], "200 result good ")
	})
	add("streams of one connection each have their own credential, HTTP/2", func(t *testing.T, g *gate) {
		got := g.overHTTP2(t, call(g, g.as("alice")), call(g), call(g, g.as(revokedToken)), call(g, g.as("bob")))
		for i, want := range []int{200, 401, 401, 200} {
			if got[i].Status != want {
				t.Errorf("request %d: %d %s", i, got[i].Status, got[i].Body)
			}
		}
	})
	add("a request without TLS", func(t *testing.T, g *gate) {
		g.untouched(t, func() {
			res, err := wire.RawExchange(g.URL, call(g, g.as("alice")), quiet)
			if err == nil && res.Status != http.StatusBadRequest {
				t.Errorf("status %d: %s", res.Status, res.Body)
			}
		})
	})
	for name, version := range map[string]uint16{"TLS 1.0": tls.VersionTLS10, "TLS 1.1": tls.VersionTLS11} {
		add(name+" is refused", func(t *testing.T, g *gate) {
			config := g.ca.Client()
			config.MinVersion, config.MaxVersion = version, version
			if res, err := g.overTLS(call(g, g.as("alice")), config); err == nil {
				t.Errorf("status %d", res.Status)
			}
		})
	}
	add("a suite without forward secrecy is refused", func(t *testing.T, g *gate) {
		config := g.ca.Client()
		config.MaxVersion, config.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}
		if res, err := g.overTLS(call(g, g.as("alice")), config); err == nil {
			t.Errorf("status %d", res.Status)
		}
	})
	add("a name of others in the URL", func(t *testing.T, g *gate) {
		g.untouched(t, func() {
			expect(t, g.exchange(t, strings.Replace(call(g, g.as("alice")), local, "Host: attacker.example", 1)), "403")
		})
	})
	add("our name in the URL", func(t *testing.T, g *gate) {
		expect(t, g.exchange(t, strings.Replace(call(g, g.as("alice")), local, "Host: mcp.example.com", 1)), "200 result")
	})
	add("a certificate of nobody's is no credential", func(t *testing.T, g *gate) {
		g.untouched(t, func() {
			res, err := g.overTLS(call(g), g.ca.Client(g.ca.Issue(t, pki.Leaf{DNS: []string{"alice.example"}})))
			require.NoError(t, err)
			expectRefusal(t, res, "401 none")
		})
	})
	add("the log has no token", func(t *testing.T, g *gate) { g.keeps(t, "the log", g.Stderr.String()) })
	return c
}

// overHTTP2 sends requests at once over one connection of HTTP/2, and returns the answers.
func (g *gate) overHTTP2(t testing.TB, requests ...string) []wire.Response {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: g.ca.Client(), ForceAttemptHTTP2: true}
	defer tr.CloseIdleConnections()
	base := strings.TrimSuffix(g.URL, "/mcp")
	connections := map[string]bool{}
	var out []wire.Response
	for _, text := range requests {
		read, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(i httptrace.GotConnInfo) { connections[i.Conn.LocalAddr().String()] = true },
		}), read.Method, base+read.URL.String(), read.Body)
		require.NoError(t, err)
		req.Header, req.ContentLength = read.Header, read.ContentLength
		res, err := tr.RoundTrip(req)
		require.NoError(t, err)
		if res.ProtoMajor != 2 {
			t.Fatalf("it is %s", res.Proto)
		}
		got, err := wire.Read(res)
		require.NoError(t, err)
		out = append(out, got)
	}
	if len(connections) != 1 {
		t.Fatalf("%d connections, want one", len(connections))
	}
	return out
}
