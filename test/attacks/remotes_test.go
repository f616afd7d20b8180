//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// remote is a server over HTTP whose calls do what a case says.
type remote struct {
	*httptest.Server
	mu   sync.Mutex // guards the rest
	call func(w http.ResponseWriter, r *http.Request, id string)
	seen []*http.Request
}

// newRemote starts one; nil calls are answered rightly.
func newRemote(t testing.TB, call func(w http.ResponseWriter, r *http.Request, id string)) *remote {
	t.Helper()
	s := &remote{call: call}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *remote) entry() map[string]any {
	return map[string]any{"url": s.URL + "/mcp", "requestTimeout": "3s", "connectTimeout": "5s", "headers": map[string]string{"Authorization": "Bearer " + canary("remote")}}
}

// requests returns what has come so far.
func (s *remote) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// ServeHTTP implements [http.Handler].
func (s *remote) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // the client may be gone
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.mu.Unlock()
	var m incoming
	if r.Method != http.MethodPost || json.Unmarshal(raw, &m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"remote","version":"1"}}`
	case "tools/list":
		result = `{"tools":[` + plainTool("echo") + `]}`
	case "tools/call":
		if s.call != nil {
			s.call(w, r, string(m.ID))
			return
		}
		result = said("remote", string(m.Params))
	}
	switch {
	case result != "":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID)
	}
}

// remotes are answers over HTTP that must not be taken for the right one, nor
// cost more than they are worth.
func remotes() class {
	c := class{name: "remotes", apart: true}
	const wrong = `"result":{"content":[{"type":"text","text":"WRONG"}]}}`
	write := func(status int, contentType, body string) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "$ID", id)) // the client may be gone
		}
	}
	for _, row := range []struct {
		name, want string
		call       func(w http.ResponseWriter, r *http.Request, id string)
	}{
		{"another id", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":999,`+wrong)},
		{"a negative id", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":-$ID,`+wrong)},
		{"null in place of the id", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":null,`+wrong)},
		{"no id", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0",`+wrong)},
		{"an id twice", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":999,"id":$ID,`+wrong)},
		{"a request in place of an answer", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"method":"ping"}`)},
		{"a batch in place of an answer", "200 isError", write(200, "application/json", `[{"jsonrpc":"2.0","id":999,`+wrong+`]`)},
		{"a page", "200 isError", write(200, "text/html", `<html>WRONG<script>`)},
		{"a page that is JSON by its type", "200 isError", write(200, "application/json", `<html>WRONG<script>`)},
		{"an answer with a status of an error", "200 isError", write(500, "text/plain", `WRONG`)},
		{"nothing", "200 isError", write(200, "application/json", ``)},
		{"half an answer", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"WRONG`)},
		{"two answers", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":$ID,`+wrong+`{"jsonrpc":"2.0","id":$ID,`+wrong)},
		{"invalid UTF-8", "200 isError", write(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"WRONG`+"\xff"+`"}]}}`)},
		{"a stream of another's answer", "200 isError", write(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":999,"+wrong+"\n\n")},
		{"a stream without an answer", "200 isError", write(200, "text/event-stream", ": WRONG\n\n")},
		{"a stream of an event of another name", "200 isError", write(200, "text/event-stream", "event: endpoint\ndata: http://attacker.example/WRONG\n\n")},
		{"a session that another has", "200 result", func(w http.ResponseWriter, r *http.Request, id string) {
			w.Header().Set("Mcp-Session-Id", "stolen")
			write(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}]}}`)(w, r, id)
		}},
		{"a cookie", "200 result", func(w http.ResponseWriter, r *http.Request, id string) {
			w.Header().Set("Set-Cookie", "session=canary; Path=/")
			write(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}]}}`)(w, r, id)
		}},
		{"permission to read for every page", "200 result", func(w http.ResponseWriter, r *http.Request, id string) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			write(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}]}}`)(w, r, id)
		}},
		{"a challenge", "200 isError", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://attacker.example/WRONG"`)
			w.WriteHeader(http.StatusUnauthorized)
		}},
		{"a body that is larger than all messages", "200 isError", func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"WRONG`, id) // the client may be gone
			for block := strings.Repeat("x", 1<<20); ; {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}},
		{"an event that does not end", "200 isError", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: WRONG")
			for block := strings.Repeat("x", 1<<20); ; {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}},
		{"a small body that unpacks to a large one", "200 isError", func(w http.ResponseWriter, r *http.Request, id string) {
			w.Header().Set("Content-Encoding", "gzip")
			write(200, "application/json", "\x1f\x8b\x08\x00WRONG")(w, r, id)
		}},
	} {
		c.cases = append(c.cases, attack{name: row.name, do: func(t *testing.T, _ *stage) {
			bad := newRemote(t, row.call)
			d := serve(t, wire.Servers{"bad": bad.entry(), "good": rogue(t, spec{Name: "good"})})
			res := post(t, d, tool("7", "bad__echo", `{}`))
			expect(t, res, row.want)
			if strings.Contains(res.Message(), `"text":"WRONG`) || res.Header.Get("Set-Cookie") != "" || res.Header.Get("Access-Control-Allow-Origin") != "" || res.Header.Get("Mcp-Session-Id") != "" {
				t.Errorf("the client gets %v\n%.300s", res.Header, res.Body)
			}
			if strings.Contains(res.Body, canary("remote")) {
				t.Errorf("the client gets the credential: %.300s", res.Body)
			}
			expect(t, post(t, d, tool("8", "good__echo", `{}`)), "200 result good ")
			post(t, d, tool("9", "bad__echo", `{}`))
			for _, r := range bad.requests() {
				if r.Header.Get("Cookie") != "" || r.Header.Get("Mcp-Session-Id") == "stolen" && row.name != "a session that another has" {
					t.Errorf("the server gets back %v", r.Header)
				}
			}
		}})
	}
	// What a client says of itself stays between it and mcpctl.
	for _, header := range []string{
		"Authorization: Bearer canary-of-the-client", "Cookie: session=canary-of-the-client", "X-Api-Key: canary-of-the-client", "Proxy-Authorization: Basic canary-of-the-client",
		"X-Forwarded-Host: canary-of-the-client", "X-Forwarded-For: canary-of-the-client", "Forwarded: for=canary-of-the-client", "User-Agent: canary-of-the-client", "Referer: http://localhost/canary-of-the-client",
		"Traceparent: canary-of-the-client", "X-Upstream: canary-of-the-client", "Via: canary-of-the-client", "Last-Event-ID: canary-of-the-client", "X-Original-URL: canary-of-the-client", "Connection: canary-of-the-client",
	} {
		name, _, _ := strings.Cut(header, ":")
		c.cases = append(c.cases, attack{name: "a client's " + name + " goes no further", do: func(t *testing.T, s *stage) {
			s.mu.Lock()
			if s.remote == nil {
				s.remote = newRemote(s.t, nil)
			}
			s.mu.Unlock()
			d := s.serve("remote", wire.Servers{"remote": s.remote.entry()})
			from := len(s.remote.requests())
			expect(t, post(t, d, tool("1", "remote__echo", `{}`), header), "200 result remote ")
			seen := s.remote.requests()[from:]
			for _, r := range seen {
				if strings.Contains(fmt.Sprint(r.Header, r.Host, r.URL), "canary-of-the-client") {
					t.Errorf("the server gets %v", r.Header)
				}
			}
		}})
	}
	return c
}

// redirects are answers that lead elsewhere. A credential follows to the same
// origin only, and a request only where it stays what it is.
func redirects() class {
	c := class{name: "redirects", apart: true}
	for _, row := range []struct {
		name   string
		status int
		to     string // $SELF is the server, $PORT another port of this machine, $HOST another name of it
		fails  bool
	}{
		{"to the same origin, 307", 307, "$SELF/other", false},
		{"to the same origin, 308", 308, "$SELF/other", false},
		{"to the same origin as a GET, 301", 301, "$SELF/other", true},
		{"to the same origin as a GET, 302", 302, "$SELF/other", true},
		{"to the same origin as a GET, 303", 303, "$SELF/other", true},
		{"to another port, 307", 307, "$PORT/mcp", true},
		{"to another port, 308", 308, "$PORT/mcp", true},
		{"to another port as a GET, 302", 302, "$PORT/mcp", true},
		{"to another name, 307", 307, "$HOST/mcp", true},
		{"to another name as a GET, 303", 303, "$HOST/mcp", true},
		{"to another name with user information", 307, "http://127.0.0.1@attacker.invalid/mcp", true},
		{"to https", 307, "https://127.0.0.1:1/mcp", true},
		{"to a file", 307, "file:///etc/passwd", true},
		{"to another protocol", 307, "gopher://127.0.0.1:1/x", true},
		{"to the metadata of a cloud", 307, "http://169.254.169.254/latest/meta-data/", true},
		{"to nowhere", 307, "", true},
		{"to garbage", 307, "http://[::1", true},
		{"without end", 307, "$SELF/mcp", true},
	} {
		c.cases = append(c.cases, attack{name: row.name, do: func(t *testing.T, _ *stage) {
			thief := newRemote(t, nil)
			var bad *remote
			bad = newRemote(t, func(w http.ResponseWriter, r *http.Request, id string) {
				if r.URL.Path == "/other" {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, said("other", "place"))
					return
				}
				to := strings.NewReplacer("$SELF", bad.URL, "$PORT", thief.URL, "$HOST", strings.Replace(thief.URL, "127.0.0.1", "localhost", 1)).Replace(row.to)
				if to != "" {
					w.Header().Set("Location", to)
				}
				w.WriteHeader(row.status)
			})
			d := serve(t, wire.Servers{"bad": bad.entry()})
			want := "200 result other place"
			if row.fails {
				want = "200 isError"
			}
			res := post(t, d, tool("1", "bad__echo", `{"secret":"x"}`))
			expect(t, res, want)
			for _, r := range bad.requests() {
				if r.Method != http.MethodPost && r.URL.Path == "/other" {
					t.Errorf("it is followed as %s", r.Method)
				}
			}
			if n := len(thief.requests()); n > 0 {
				t.Errorf("another server got %d requests: %v", n, thief.requests()[0].Header)
			}
			if strings.Contains(res.Body+d.Stderr.String(), canary("remote")) {
				t.Errorf("the credential is told: %s", res.Body)
			}
		}})
	}
	return c
}

// canary is a credential that nothing may show.
func canary(of string) string { return "canary-8d1f02c7-" + of }
