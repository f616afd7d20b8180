//go:build attacks && linux

package attacks_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// quiet is how long a stream has to be silent to be taken for said.
const quiet = 300 * time.Millisecond

// sse is a session of the old transport.
type sse struct {
	endpoint, id string
	out          *wire.Output
	ended        chan struct{} // closed at its end
}

// openSSE opens one, which lasts as long as the test.
func openSSE(t testing.TB, d *wire.Daemon) *sse {
	t.Helper()
	s := stream(t, d, "/sse", "")
	s.endpoint = s.out.Await(t, "endpoint", func(text string) string {
		_, rest, _ := strings.Cut(text, "event: endpoint\ndata: ")
		at, _, _ := strings.Cut(rest, "\n")
		return at
	})
	_, s.id, _ = strings.Cut(s.endpoint, "sessionId=")
	return s
}

// stream opens a GET and reads it until the test ends.
func stream(t testing.TB, d *wire.Daemon, path, header string) *sse {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	headers := http.Header{"Accept": {"text/event-stream"}}
	if name, value, ok := strings.Cut(header, ": "); ok {
		headers.Set(name, value)
	}
	c := wire.NewClient(strings.TrimSuffix(d.URL, "/mcp") + path)
	res, err := c.Do(ctx, http.MethodGet, nil, headers)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	s := &sse{out: wire.NewOutput(), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_, _ = bufio.NewReader(res.Body).WriteTo(s.out) // until the test ends it
	}()
	t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
		<-s.ended
		c.Close()
	})
	return s
}

// guesses turn an id that is good into one that somebody else has not got.
func guesses() map[string]func(id string) string {
	set := func(text string) func(string) string { return func(string) string { return text } }
	return map[string]func(string) string{
		"a word":                   set("session"),
		"a number":                 set("1"),
		"null":                     set("null"),
		"undefined":                set("undefined"),
		"a star":                   set("*"),
		"a percent sign":           set("%"),
		"an expression":            set("' OR '1'='1"),
		"an object":                set(`{"$ne":null}`),
		"a path":                   set("../../sessions/0"),
		"a nil UUID":               set("00000000-0000-0000-0000-000000000000"),
		"spaces inside":            set("a b"),
		"letters of other scripts": set("\u0441\u0435\u0441\u0441\u0438\u044f"),
		"very long":                set(strings.Repeat("A", 16<<10)),
		"all letters alike":        func(id string) string { return strings.Repeat("A", len(id)) },
		"small letters":            strings.ToLower,
		"one letter less":          func(id string) string { return id[:len(id)-1] },
		"one letter more":          func(id string) string { return id + "A" },
		"first letter changed":     func(id string) string { return change(id, 0) },
		"last letter changed":      func(id string) string { return change(id, len(id)-1) },
		"first half":               func(id string) string { return id[:len(id)/2] },
		"second half":              func(id string) string { return id[len(id)/2:] },
		"twice":                    func(id string) string { return id + id },
		"in quotes":                func(id string) string { return `"` + id + `"` },
		"in brackets":              func(id string) string { return "<" + id + ">" },
		"escaped":                  func(id string) string { return "%" + "4" + id },
		"with another":             func(id string) string { return id + "," + id },
		"another's in front":       func(id string) string { return "x, " + id },
		"a parameter behind":       func(id string) string { return id + ";a=b" },
		"a star behind":            func(id string) string { return id + "*" },
	}
}

func change(id string, at int) string {
	c := byte('A')
	if id[at] == c {
		c = 'B'
	}
	return id[:at] + string(c) + id[at+1:]
}

func sessions() class {
	c := class{name: "sessions"}
	for name, guess := range guesses() {
		c.cases = append(c.cases, attack{name: "guessed: " + name, do: func(t *testing.T, s *stage) {
			d := s.pair()
			_, id, _ := strings.Cut(openSession(t, d, `{}`), ": ")
			header := "Mcp-Session-Id: " + guess(id)
			expect(t, post(t, d, tool("1", "good__echo", `{}`), header), "404")
			expect(t, exchangeBriefly(t, d, wire.RawHead("DELETE", "/mcp", local, header)), "404")
			expect(t, exchangeBriefly(t, d, wire.RawHead("GET", "/mcp", local, header, accepts)), "404")
			expect(t, exchange(t, d, wire.RawPost("/messages?sessionId="+url.QueryEscape(guess(id)), ping, local, isJSON)), "404")
			expect(t, post(t, d, ping, "Mcp-Session-Id: "+id), "200 result")
		}})
	}
	add := c.with((*stage).pair)
	add("ids do not repeat and cannot be told ahead", func(t *testing.T, d *wire.Daemon) {
		seen, first := map[string]bool{}, ""
		for range 200 {
			_, id, _ := strings.Cut(openSession(t, d, `{}`), ": ")
			if seen[id] || len(id) < 26 { // 128 bits in base32
				t.Fatalf("id %q", id)
			}
			if first == "" {
				first = id
			} else if id[:8] == first[:8] {
				t.Errorf("%q begins like %q", id, first)
			}
			seen[id] = true
		}
	})
	add("the id of one that has ended", func(t *testing.T, d *wire.Daemon) {
		h := openSession(t, d, `{}`)
		expect(t, exchangeBriefly(t, d, wire.RawHead("DELETE", "/mcp", local, h)), "204")
		expect(t, post(t, d, ping, h), "404")
		expect(t, exchangeBriefly(t, d, wire.RawHead("GET", "/mcp", local, h, accepts)), "404")
		expect(t, exchangeBriefly(t, d, wire.RawHead("DELETE", "/mcp", local, h)), "404")
	})
	add("the id of the old transport's session", func(t *testing.T, d *wire.Daemon) {
		expect(t, post(t, d, ping, "Mcp-Session-Id: "+openSSE(t, d).id), "404")
	})
	add("a session's id on the old transport", func(t *testing.T, d *wire.Daemon) {
		_, id, _ := strings.Cut(openSession(t, d, `{}`), ": ")
		expect(t, exchange(t, d, wire.RawPost("/messages?sessionId="+id, ping, local, isJSON)), "404")
	})
	add("the old transport without an id", func(t *testing.T, d *wire.Daemon) {
		openSSE(t, d)
		expect(t, exchange(t, d, wire.RawPost("/messages", ping, local, isJSON)), "400")
	})
	add("an id in the query of the endpoint is none", func(t *testing.T, d *wire.Daemon) {
		_, id, _ := strings.Cut(openSession(t, d, `{}`), ": ")
		expect(t, exchangeBriefly(t, d, wire.RawHead("GET", "/mcp?Mcp-Session-Id="+id+"&sessionId="+id, local, accepts)), "400|405")
	})
	add("an id in a cookie is none", func(t *testing.T, d *wire.Daemon) {
		_, id, _ := strings.Cut(openSession(t, d, `{}`), ": ")
		expect(t, exchangeBriefly(t, d, wire.RawHead("GET", "/mcp", local, accepts, "Cookie: Mcp-Session-Id="+id)), "400|405")
	})
	add("no answer sets a cookie", func(t *testing.T, d *wire.Daemon) {
		if res := post(t, d, ping); res.Header.Get("Set-Cookie") != "" {
			t.Error(res.Header)
		}
	})
	add("the old session ends with its stream", func(t *testing.T, d *wire.Daemon) {
		var endpoint string
		t.Run("stream", func(t *testing.T) { endpoint = openSSE(t, d).endpoint })
		wait.Until(t, "404", func() bool { return exchange(t, d, wire.RawPost(endpoint, ping, local, isJSON)).Status == 404 })
	})
	for name, other := range map[string]bool{"another session": true, "nobody's session": false} {
		add("a call cancelled from "+name+" continues", func(t *testing.T, d *wire.Daemon) {
			mine, theirs := openSession(t, d, `{}`), []string{}
			if other {
				theirs = append(theirs, openSession(t, d, `{}`))
			}
			post(t, d, tool("1", "good__echo", `{}`)) // the server runs now
			done := make(chan wire.Response, 1)
			go func() { done <- post(t, d, acting("77", "good", "!sleep 400ms", rightAnswer), mine) }()
			time.Sleep(150 * time.Millisecond) // by then it is under way
			for _, id := range []string{"77", `"77"`, "1", "2", "3"} {
				post(t, d, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, theirs...)
			}
			expect(t, <-done, "200 result good right")
		})
		add("a question answered from "+name+" stays open", func(t *testing.T, d *wire.Daemon) {
			mine, theirs := openSession(t, d, `{"elicitation":{}}`), []string{}
			if other {
				theirs = append(theirs, openSession(t, d, `{"elicitation":{}}`))
			}
			done := make(chan wire.Response, 1)
			ask := `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`
			go func() { done <- post(t, d, acting("78", "good", ask, "!sleep 600ms", rightAnswer), mine) }()
			time.Sleep(250 * time.Millisecond) // by then it has been asked
			for _, id := range []string{"1", "2", "3", `"1"`, `"2"`, `"q"`, "0", "null"} {
				post(t, d, `{"jsonrpc":"2.0","id":`+id+`,"result":{"action":"accept","content":{"x":"WRONG"}}}`, theirs...)
			}
			res := <-done
			expect(t, res, "200 result good right")
			if strings.Contains(res.Body, "WRONG") {
				t.Error(res.Body)
			}
		})
	}
	add("a stream of another session is not taken up", func(t *testing.T, d *wire.Daemon) {
		mine, theirs := openSession(t, d, `{}`), openSession(t, d, `{}`)
		res := post(t, d, acting("79", "good", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"message":"MINE"}}`, rightAnswer), mine)
		expect(t, res, "200 result good right")
		for line := range strings.Lines(res.Body) {
			id, ok := strings.CutPrefix(strings.TrimSpace(line), "id: ")
			if !ok {
				continue
			}
			got := exchangeBriefly(t, d, wire.RawHead("GET", "/mcp", local, accepts, theirs, "Last-Event-ID: "+id))
			if strings.Contains(got.Body, "MINE") || strings.Contains(got.Body, "good right") {
				t.Errorf("another session gets %s", got.Body)
			}
		}
	})
	add("a second initialize in a session is refused", func(t *testing.T, d *wire.Daemon) {
		h := openSession(t, d, `{}`)
		res := post(t, d, `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}`, h)
		expect(t, res, "200|400 -32600")
		if res.Header.Get("Mcp-Session-Id") != "" {
			t.Error("another session was made")
		}
	})
	c.cases = append(c.cases, attack{name: "a second initialize on standard input is refused", do: func(t *testing.T, _ *stage) {
		p := pipe(t, wire.Servers{"good": rogue(t, spec{Name: "good"})})
		p.initialize(t, `{}`)
		got := p.exchange(t, `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}`)
		expectMessage(t, got[0], "-32600")
	}}, attack{name: "the id of a process before", do: func(t *testing.T, _ *stage) {
		servers := wire.Servers{"good": rogue(t, spec{Name: "good"})}
		var h string
		t.Run("before", func(t *testing.T) { h = openSession(t, serve(t, servers), `{}`) })
		expect(t, post(t, serve(t, servers), ping, h), "404")
	}})
	return c
}

// rightAnswer is what act is to answer in the end.
const rightAnswer = `{"jsonrpc":"2.0","id":$ID,"result":$OK}`
