//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// policed is a serve with policies, before servers that note all that they get.
type policed struct {
	*gate
	noted string // the folder with what servers have got, a file of each
	mu    sync.Mutex
	pipe  *stdio
	long  string // see hidden
}

// newPoliced starts one: config is its config.yaml. Alice and bob have tokens if it asks
// for them. The specs of servers get the file that they note in.
func newPoliced(t testing.TB, config string, servers map[string]spec, args ...string) *policed {
	t.Helper()
	p := &policed{gate: &gate{home: newHome(t, ""), tokens: map[string]string{}}, noted: t.TempDir()}
	entries := wire.Servers{}
	for name, s := range servers {
		s.Name, s.Heard = name, filepath.Join(p.noted, name)
		entries[name] = rogue(t, s)
	}
	if recorded {
		config += "\naudit: {keep: 90d}\n"
	}
	p.home.write(t, "config.yaml", config)
	if strings.Contains(config, "token:") {
		for _, who := range []string{"alice", "bob"} {
			p.addToken(t, who)
		}
	}
	p.Daemon = wire.Serve(t, wire.Setup{Program: *program, Servers: entries, Config: p.home.config, Home: p.home.dir, Each: addMark, Args: args})
	if recorded {
		t.Cleanup(func() { p.checkRefusals(t) })
	}
	return p
}

// connect has servers called: from then on calls take the fast way.
func (p *policed) connect(t testing.TB, tools ...string) {
	t.Helper()
	for _, name := range tools {
		expect(t, post(t, p.Daemon, tool("1", name, `{"to":"bob"}`)), "200 result")
		expect(t, p.alone(t, "", "tools/call", `{"name":"`+name+`","arguments":{"to":"bob"}}`), "200 result")
	}
}

// uses is how many requests servers have got that a policy decides about.
func (p *policed) uses(t testing.TB) int { return len(p.used(t)) }

// used are these requests.
func (p *policed) used(t testing.TB) (all []string) {
	t.Helper()
	files, err := os.ReadDir(p.noted)
	require.NoError(t, err)
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(p.noted, f.Name()))
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			var m incoming
			if json.Unmarshal([]byte(line), &m) == nil && slices.Contains([]string{"tools/call", "prompts/get", "resources/read", "resources/subscribe", "completion/complete"}, m.Method) {
				all = append(all, f.Name()+" "+line)
			}
		}
	}
	return all
}

// unused checks that what a case does is used by no server.
func (p *policed) unused(t testing.TB, do func()) {
	t.Helper()
	before := p.used(t)
	do()
	for _, line := range p.used(t) {
		if i := slices.Index(before, line); i >= 0 {
			before = slices.Delete(before, i, i+1)
			continue
		}
		t.Errorf("a server has got %.500s", line)
	}
}

// line is the program's client on standard input, who is local.
func (p *policed) line(t testing.TB) *stdio {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pipe == nil {
		p.pipe = &stdio{Daemon: wire.Serve(t, wire.Setup{Program: *program, Config: p.home.config, Home: p.home.dir, Stdio: true}), out: wire.NewOutput()}
		pipe := p.pipe
		go func() { _, _ = io.Copy(pipe.out, pipe.Out) }() // until it ends
		p.pipe.initialize(t, `{}`)
	}
	return p.pipe
}

// way is how a request gets to serve.
type way struct {
	name  string
	stdio bool
	ask   func(t testing.TB, s *stage, p *policed, who, method, params string) string
}

// ways are all: each era over each transport. What they return has the status, the headers
// and the message. who is "" for nobody in particular.
func ways() []way {
	return []way{
		{name: "2025-11-25", ask: func(t testing.TB, _ *stage, p *policed, who, method, params string) string {
			return shownAnswer(post(t, p.Daemon, wire.Request("1", method, params), p.lines(who)...))
		}},
		{name: "2026-07-28", ask: func(t testing.TB, _ *stage, p *policed, who, method, params string) string {
			return shownAnswer(p.alone(t, who, method, params))
		}},
		{name: "2025-11-25, stdio", stdio: true, ask: func(t testing.TB, s *stage, p *policed, _, method, params string) string {
			return p.line(s.t).reply(t, wire.Request("1", method, params))
		}},
		{name: "2026-07-28, stdio", stdio: true, ask: func(t testing.TB, s *stage, p *policed, _, method, params string) string {
			return p.line(s.t).reply(t, modern(method, membersOf(params)))
		}},
	}
}

func (p *policed) lines(who string) []string {
	if who == "" {
		return nil
	}
	return []string{p.as(who)}
}

// membersOf are those of an object, as they are written.
func membersOf(params string) string {
	return strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")
}

// alone sends a request of the stateless era, with the headers that repeat it.
func (p *policed) alone(t testing.TB, who, method, params string) wire.Response {
	t.Helper()
	var named struct{ Name, URI string }
	_ = json.Unmarshal([]byte(params), &named) // neither then
	head := mirrorsOf(method, nameHeader(named.Name+named.URI))
	if !slices.Contains([]string{"tools/call", "prompts/get", "resources/read"}, method) {
		head = head[:2]
	}
	return post(t, p.Daemon, modern(method, membersOf(params)), append(head, p.lines(who)...)...)
}

// shownAnswer is all of an answer that a client can tell from another.
func shownAnswer(res wire.Response) string {
	for _, name := range []string{"Date", "Mcp-Session-Id", "Content-Length"} {
		res.Header.Del(name)
	}
	return fmt.Sprint(res.Status, " ", res.Header, " ", res.Body)
}

// refusedBy checks that an answer is an error that policies give, or, where instead has
// something, one that says that.
func refusedBy(t testing.TB, answer string, instead ...string) {
	t.Helper()
	noteRefusal(t, answer)
	if strings.Contains(answer, `"result":`) {
		t.Errorf("it is let through: %.500s", answer)
	}
	want := `"code":-31009`
	if len(instead) > 0 {
		want = instead[0]
	}
	if !strings.Contains(answer, want) {
		t.Errorf("want %s: %.500s", want, answer)
	}
}
