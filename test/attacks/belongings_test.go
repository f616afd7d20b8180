//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// belongings is what alice has, in the hands of bob: it is to him what is not there, to
// the byte.
func belongings() class {
	c := class{name: "belongings"}
	add := func(name string, do func(t *testing.T, g *gate)) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) { do(t, s.tokenGate()) }})
	}
	// A session, in every request that names one.
	session := func(build func(header string) string) func(t *testing.T, g *gate) {
		return func(t *testing.T, g *gate) {
			t.Helper()
			hers := g.session(t, "alice", `{"elicitation":{}}`)
			same(t, g, build(hers), build("Mcp-Session-Id: "+unknownLike(hers)))
			expect(t, post(t, g.Daemon, ping, hers, g.as("alice")), "200 result") // it is still there
		}
	}
	for _, message := range [][2]string{
		{"a ping", ping},
		{"a call", tool("1", "good__echo", `{}`)},
		{"a list", wire.Request("1", "tools/list", `{}`)},
		{"a read", wire.Request("1", "resources/read", `{"uri":"x:y"}`)},
		{"a prompt", wire.Request("1", "prompts/get", `{"name":"good__p"}`)},
		{"a completion", wire.Request("1", "completion/complete", `{"ref":{"type":"ref/prompt","name":"good__p"},"argument":{"name":"a","value":""}}`)},
		{"a subscription", wire.Request("1", "resources/subscribe", `{"uri":"x:y"}`)},
		{"the end of a subscription", wire.Request("1", "resources/unsubscribe", `{"uri":"x:y"}`)},
		{"a log level", wire.Request("1", "logging/setLevel", `{"level":"debug"}`)},
		{"a second initialize", wire.Request("1", "initialize", wire.Hello)},
		{"the notification of initialization", wire.Notification("notifications/initialized", `{}`)},
		{"a cancellation", wire.Notification("notifications/cancelled", `{"requestId":"1"}`)},
		{"a change of roots", wire.Notification("notifications/roots/list_changed", `{}`)},
		{"progress", wire.Notification("notifications/progress", `{"progressToken":1,"progress":1}`)},
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`},
		{"a task", wire.Request("1", "tasks/get", `{"taskId":"1"}`)},
		{"rubbish", "{"},
	} {
		add("a session: "+message[0], session(func(h string) string {
			return wire.RawPost("/mcp", message[1], local, isJSON, accepts, h, "Authorization: Bearer $BOB")
		}))
	}
	add("a session: its stream", session(func(h string) string {
		return wire.RawHead("GET", "/mcp", local, accepts, h, "Authorization: Bearer $BOB")
	}))
	add("a session: a stream taken up", session(func(h string) string {
		return wire.RawHead("GET", "/mcp", local, accepts, h, "Last-Event-ID: 1", "Authorization: Bearer $BOB")
	}))
	add("a session: its end", session(func(h string) string {
		return wire.RawHead("DELETE", "/mcp", local, h, "Authorization: Bearer $BOB")
	}))
	for who, want := range map[string]string{"nobody": "401 none", expiredToken: "401 invalid_token", revokedToken: "401 invalid_token"} {
		add("a session without its token: "+who, func(t *testing.T, g *gate) {
			hers := g.session(t, "alice", `{}`)
			lines := []string{local, isJSON, accepts, hers}
			if who != "nobody" {
				lines = append(lines, g.as(who))
			}
			g.refuses(t, wire.RawPost("/mcp", tool("1", "good__echo", `{}`), lines...), want)
			g.refuses(t, wire.RawHead("GET", "/mcp", lines...), want)
			g.refuses(t, wire.RawHead("DELETE", "/mcp", lines...), want)
			expect(t, post(t, g.Daemon, ping, hers, g.as("alice")), "200 result")
		})
	}
	add("a stream of the old transport", func(t *testing.T, g *gate) {
		o := stream(t, g.Daemon, "/sse", g.as("alice"))
		endpoint := o.out.Await(t, "endpoint", func(text string) string {
			_, rest, _ := strings.Cut(text, "event: endpoint\ndata: ")
			at, _, _ := strings.Cut(rest, "\n")
			return at
		})
		path, id, _ := strings.Cut(endpoint, "sessionId=")
		post := func(id string) string {
			return wire.RawPost(path+"sessionId="+id, tool("1", "good__echo", `{}`), local, isJSON, "Authorization: Bearer $BOB")
		}
		g.untouched(t, func() { same(t, g, post(id), post(strings.Repeat("A", len(id)))) })
		if text := o.out.String(); strings.Contains(text, "jsonrpc") {
			t.Errorf("her stream has %s", text)
		}
	})
	add("a resume id", func(t *testing.T, g *gate) {
		hers, his := g.session(t, "alice", `{}`), g.session(t, "bob", `{}`)
		res := post(t, g.Daemon, acting("79", "good", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"message":"HERS"}}`, rightAnswer), hers, g.as("alice"))
		expect(t, res, "200 result good right")
		ids := []string{"0", "1", "2"}
		for line := range strings.Lines(res.Body) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "id: "); ok {
				ids = append(ids, id)
			}
		}
		for _, id := range ids {
			got := exchangeBriefly(t, g.Daemon, wire.RawHead("GET", "/mcp", local, accepts, his, "Last-Event-ID: "+id, g.as("bob")))
			if strings.Contains(got.Body, "HERS") || strings.Contains(got.Body, "good right") {
				t.Errorf("bob gets %s", got.Body)
			}
		}
	})
	add("a call, cancelled", func(t *testing.T, g *gate) {
		hers, his := g.session(t, "alice", `{}`), g.session(t, "bob", `{}`)
		done := make(chan wire.Response, 1)
		go func() {
			done <- post(t, g.Daemon, acting("77", "good", "!sleep 400ms", rightAnswer), hers, g.as("alice"))
		}()
		time.Sleep(150 * time.Millisecond) // by then it is under way
		for _, header := range []string{hers, his, ""} {
			for _, id := range []string{"77", `"77"`, "1", "2"} {
				lines := []string{g.as("bob")}
				if header != "" {
					lines = append(lines, header)
				}
				post(t, g.Daemon, wire.Notification("notifications/cancelled", `{"requestId":`+id+`}`), lines...)
			}
		}
		expect(t, <-done, "200 result good right")
	})
	add("a question, answered", func(t *testing.T, g *gate) {
		hers, his := g.session(t, "alice", `{"elicitation":{}}`), g.session(t, "bob", `{"elicitation":{}}`)
		done := make(chan wire.Response, 1)
		ask := `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`
		go func() {
			done <- post(t, g.Daemon, acting("78", "good", ask, "!sleep 500ms", rightAnswer), hers, g.as("alice"))
		}()
		time.Sleep(250 * time.Millisecond) // by then she has been asked
		for _, header := range []string{hers, his} {
			for _, id := range []string{"1", "2", "3", `"1"`, `"q"`, "0"} {
				post(t, g.Daemon, `{"jsonrpc":"2.0","id":`+id+`,"result":{"action":"accept","content":{"x":"WRONG"}}}`, header, g.as("bob"))
			}
		}
		res := <-done
		expect(t, res, "200 result good right")
		raw, err := os.ReadFile(g.heard)
		require.NoError(t, err)
		if strings.Contains(string(raw), "WRONG") {
			t.Error("his answer has reached the server")
		}
	})
	add("a state of a call that waits", func(t *testing.T, g *gate) {
		a := g.asked(t, "alice")
		same(t, g, a.request(g, "bob", a.state), a.request(g, "bob", strings.Repeat("A", len(a.state))))
		expect(t, exchange(t, g.Daemon, a.request(g, "alice", a.state)), "200 result good right") // it has waited for her
	})
	add("a state without a credential", func(t *testing.T, g *gate) {
		a := g.asked(t, "alice")
		request := strings.Replace(a.request(g, "alice", a.state), g.as("alice")+"\r\n", "", 1)
		g.refuses(t, request, "401 none")
		expect(t, exchange(t, g.Daemon, a.request(g, "alice", a.state)), "200 result good right")
	})
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		add("a cursor, "+era, func(t *testing.T, g *gate) {
			list := func(who, params string) string {
				if era == "2026-07-28" {
					return wire.RawPost("/mcp", modern("tools/list", strings.Trim(params, "{}")), append(mirrorsOf("tools/list", "x")[:2], local, isJSON, accepts, g.as(who))...)
				}
				return wire.RawPost("/mcp", wire.Request("1", "tools/list", params), local, isJSON, accepts, g.as(who))
			}
			cursor := member(t, exchange(t, g.Daemon, list("alice", `{}`)).Message(), "nextCursor")
			same(t, g, list("bob", `{"cursor":`+wire.Quote(cursor)+`}`), list("bob", `{"cursor":`+wire.Quote(strings.Repeat("A", len(cursor)))+`}`))
			expect(t, exchange(t, g.Daemon, list("alice", `{"cursor":`+wire.Quote(cursor)+`}`)), "200 result")
		})
	}
	c.cases = append(c.cases, endings()...)
	return c
}

// endings are credentials that end while they are in use.
func endings() (all []attack) {
	for name, revoke := range map[string]bool{"is revoked": true, "ends": false} {
		all = append(all, attack{name: "a token that " + name + " in the middle of everything", do: func(t *testing.T, _ *stage) {
			g := newGate(t, "auth: [token: {}]")
			who := "carol"
			if revoke {
				g.addToken(t, who)
			} else {
				g.addToken(t, who, "--expires", "2s")
			}
			hers := g.session(t, who, `{}`)
			streams := []*sse{stream(t, g.Daemon, "/sse", g.as(who))}
			post(t, g.Daemon, tool("1", "good__echo", `{}`), g.as(who)) // the server runs now
			done := make(chan wire.Response, 1)
			go func() { done <- post(t, g.Daemon, acting("77", "good", "!sleep 2500ms", rightAnswer), hers, g.as(who)) }()
			time.Sleep(100 * time.Millisecond) // it is under way
			if revoke {
				expectExit(t, g.home.mcpctl(t, "", "access", "token", "revoke", who), "0")
			}
			wait.Until(t, "401", func() bool { return post(t, g.Daemon, ping, g.as(who)).Status == 401 })
			for _, header := range []string{hers, "X-None: x"} {
				g.refuses(t, wire.RawPost("/mcp", tool("1", "good__echo", `{}`), local, isJSON, accepts, header, g.as(who)), "401 invalid_token")
				g.refuses(t, wire.RawHead("GET", "/mcp", local, accepts, header, g.as(who)), "401 invalid_token")
			}
			for _, s := range streams {
				wait.For(t, "the end of the stream", s.ended)
			}
			if res := <-done; res.Status != 200 || !strings.Contains(res.Body, "good right") {
				t.Errorf("the call that was being answered: %d %s", res.Status, res.Body)
			}
		}, slow: !revoke})
	}
	all = append(all, attack{name: "a file of tokens that cannot be read", do: func(t *testing.T, _ *stage) {
		g := newGate(t, "auth: [token: {}]")
		expect(t, post(t, g.Daemon, ping, g.as("alice")), "200 result")
		stored := g.home.read(t, "access-tokens.json")
		for name, text := range map[string]string{"half": stored[:len(stored)/2], "empty": "", "a list": "[]", "no tokens": "{}", "unknown members": `{"tokens":[],"admins":["bob"]}`, "a hash that is none": strings.Replace(stored, `"sha256": "`, `"sha256": "x`, 1)} {
			g.home.write(t, "access-tokens.json", text)
			wait.Until(t, name+": 503", func() bool { return post(t, g.Daemon, ping, g.as("alice")).Status == 503 })
			g.refuses(t, knocks()[1].request(g.as("alice")), "503 temporarily_unavailable")
			g.refuses(t, knocks()[1].request(), "401 none")
			g.home.write(t, "access-tokens.json", stored)
			wait.Until(t, name+": 200 again", func() bool { return post(t, g.Daemon, ping, g.as("alice")).Status == 200 })
		}
	}}, attack{name: "the id of a session of a serve before", do: func(t *testing.T, s *stage) {
		g, before := s.tokenGate(), ""
		t.Run("before", func(t *testing.T) { before = newGate(t, "auth: [token: {}]").session(t, "alice", `{}`) })
		expect(t, post(t, g.Daemon, ping, before, g.as("alice")), "404")
	}})
	return all
}

// leaks is where a token that has been sent must not show up.
func leaks() class {
	c := class{name: "leaks"}
	// used has the token of alice sent in all ways, to servers of both kinds.
	type used struct {
		*gate
		remote *remote
		bodies []string // what came back
	}
	make1 := func(t testing.TB) *used {
		u := &used{gate: &gate{home: newHome(t, ""), tokens: map[string]string{}}}
		u.heard = filepath.Join(t.TempDir(), "heard")
		u.remote = newRemote(t, nil)
		u.home.write(t, "config.yaml", "serve:\n  auth: [token: {}]\n")
		u.addToken(t, "alice")
		u.addToken(t, revokedToken)
		expectExit(t, u.home.mcpctl(t, "", "access", "token", "revoke", revokedToken), "0")
		remote := u.remote.entry()
		delete(remote, "headers")
		u.Daemon = wire.Serve(t, wire.Setup{Program: *program, Config: u.home.config, Home: u.home.dir, Each: addMark, Args: []string{"-vvv"}, Servers: wire.Servers{
			"good": rogue(t, spec{Name: "good", Heard: u.heard}), "remote": remote, "gone": {"url": "http://127.0.0.1:1/mcp"}, "broken": rogue(t, spec{Name: "broken", Exits: true}),
		}})
		keep := func(res wire.Response) { u.bodies = append(u.bodies, fmt.Sprint(res.Header, res.Body)) }
		hers := u.session(t, "alice", `{}`)
		for _, who := range []string{"alice", revokedToken} {
			for _, server := range []string{"good", "remote", "gone", "broken", "nosuch"} {
				keep(post(t, u.Daemon, tool("1", server+"__echo", `{}`), hers, u.as(who)))
				keep(post(t, u.Daemon, modern("tools/call", `"name":"`+server+`__echo","arguments":{}`), append(mirrorsOf("tools/call", server+"__echo"), u.as(who))...))
			}
			keep(post(t, u.Daemon, ping, hers, u.as(who), "Mcp-Param-Authorization: Bearer "+u.tokens[who]))
			for _, k := range knocks() {
				keep(exchangeBriefly(t, u.Daemon, k.request(u.as(who))))
			}
			keep(exchangeBriefly(t, u.Daemon, wire.RawHead("GET", "/mcp?access_token="+u.tokens[who], local)))
			keep(exchangeBriefly(t, u.Daemon, wire.RawHead("GET", "/"+u.tokens[who], local, u.as("alice"))))
			keep(exchangeBriefly(t, u.Daemon, wire.RawHead("GET", "/mcp", "Host: "+u.tokens[who]+".example", u.as(who))))
			keep(exchangeBriefly(t, u.Daemon, wire.RawHead("GET", "/mcp", local, "Origin: https://"+u.tokens[who], u.as(who))))
		}
		return u
	}
	var shared *used
	add := func(name string, do func(t *testing.T, u *used)) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			if shared == nil {
				shared = make1(s.t)
			}
			do(t, shared)
		}})
	}
	add("what a program gets", func(t *testing.T, u *used) {
		raw, err := os.ReadFile(u.heard)
		require.NoError(t, err)
		if !strings.Contains(string(raw), "tools/call") || !strings.Contains(string(raw), "PATH=") {
			t.Fatalf("it has got nothing: %s", raw)
		}
		u.keeps(t, "a program", string(raw))
	})
	add("what a server over HTTP gets", func(t *testing.T, u *used) {
		all := u.remote.requests()
		if len(all) == 0 {
			t.Fatal("it has got nothing")
		}
		for _, r := range all {
			u.keeps(t, "a request", fmt.Sprint(r.Method, r.URL, r.Header))
			if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
				t.Errorf("a request has %v", r.Header)
			}
		}
	})
	add("answers", func(t *testing.T, u *used) {
		for _, body := range u.bodies {
			if !strings.Contains(body, "https://mcpctl_") && !strings.Contains(body, ".example") { // a client's own Host and Origin are said back to it alone
				u.keeps(t, "an answer", body)
			}
		}
	})
	add("the log", func(t *testing.T, u *used) {
		if !strings.Contains(u.Stderr.String(), "level=DEBUG") {
			t.Fatal("there is no log")
		}
		u.keeps(t, "the log", u.Stderr.String())
	})
	for _, words := range []string{"status", "status --json", "doctor", "doctor --json", "access token list", "access token list -o text", "list --json", "config validate", "access token rotate nobody", "ping good -vvv"} {
		add("mcpctl "+words, func(t *testing.T, u *used) {
			u.keeps(t, words, u.home.mcpctl(t, "", strings.Fields(words)...).output())
		})
	}
	add("files", func(t *testing.T, u *used) {
		require.NoError(t, filepath.WalkDir(u.home.dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil //nolint:nilerr // it has just gone
			}
			raw, err := os.ReadFile(path)
			if err == nil {
				u.keeps(t, path, string(raw))
			}
			return nil
		}))
	})
	add("the file of tokens is its owner's", func(t *testing.T, u *used) {
		info, err := os.Stat(filepath.Join(u.home.dir, "access-tokens.json"))
		require.NoError(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Error(info.Mode())
		}
	})
	add("the command line and the variables of serve", func(t *testing.T, u *used) {
		for _, name := range []string{"cmdline", "environ"} {
			raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", u.Cmd.Process.Pid, name))
			require.NoError(t, err)
			u.keeps(t, name, string(raw))
		}
	})
	c.cases = append(c.cases, attack{name: "a report of all goroutines", do: func(t *testing.T, _ *stage) {
		u := make1(t)
		u.Signal(syscall.SIGQUIT)
		<-u.Exited
		u.Stopped = true // it ends with a report
		u.keeps(t, "the report", u.Stderr.String())
	}})
	return c
}

// session begins a session of a principal, and returns its header.
func (g *gate) session(t testing.TB, who, capabilities string) string {
	t.Helper()
	res := post(t, g.Daemon, wire.Request("0", "initialize", helloOf(capabilities)), g.as(who))
	id := res.Header.Get("Mcp-Session-Id")
	if res.Status != http.StatusOK || id == "" {
		t.Fatalf("initialize: status %d, %s", res.Status, res.Body)
	}
	return "Mcp-Session-Id: " + id
}

// unknownLike returns an id of the form of that of a header, which nobody has.
func unknownLike(header string) string {
	_, id, _ := strings.Cut(header, ": ")
	return strings.Repeat("A", len(id))
}

// same checks that two requests of bob's get the same answer, and reach no server.
func same(t testing.TB, g *gate, hers, unknown string) {
	t.Helper()
	read := func(request string) string {
		res := exchangeBriefly(t, g.Daemon, strings.ReplaceAll(request, "$BOB", g.tokens["bob"]))
		res.Header.Del("Date")
		return fmt.Sprint(res.Status, res.Header, res.Body)
	}
	g.untouched(t, func() {
		one, other := read(hers), read(unknown)
		if one != other {
			t.Errorf("hers gets\n%.300s\nan unknown one\n%.300s", one, other)
		}
	})
}

// parked is a modern call of somebody that waits for an answer.
type parked struct{ frames, key, state string }

func (g *gate) asked(t testing.TB, who string) *parked {
	t.Helper()
	raw, err := json.Marshal([]string{
		`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`, "!wait", rightAnswer,
	})
	require.NoError(t, err)
	p := &parked{frames: string(raw)}
	res := post(t, g.Daemon, modern("tools/call", `"name":"good__act","arguments":{"frames":`+p.frames+`}`), append(mirrorsOf("tools/call", "good__act"), g.as(who))...)
	var m struct {
		Result struct {
			InputRequests map[string]json.RawMessage
			RequestState  string
		}
	}
	if err := json.Unmarshal([]byte(res.Message()), &m); err != nil || m.Result.RequestState == "" || len(m.Result.InputRequests) != 1 {
		t.Fatalf("%v: %s", err, res.Body)
	}
	p.state = m.Result.RequestState
	for p.key = range m.Result.InputRequests {
		break
	}
	return p
}

// request comes back with an answer, as somebody.
func (p *parked) request(g *gate, who, state string) string {
	body := modern("tools/call", `"name":"good__act","arguments":{"frames":`+p.frames+`},"inputResponses":{`+wire.Quote(p.key)+`:{"action":"accept","content":{"name":"x"}}},"requestState":`+wire.Quote(state))
	return wire.RawPost("/mcp", body, append(mirrorsOf("tools/call", "good__act"), local, isJSON, accepts, g.as(who))...)
}
