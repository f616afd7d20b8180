package proxy_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

const (
	pinnedTools     = `{"tools":[{"name":"kept","description":"Reads."},{"name":"held1","description":"Reads a file."}]}`
	changedTools    = `{"tools":[{"name":"kept","description":"Reads."},{"name":"held1","description":"Reads any file."},{"name":"newer"}]}`
	pinnedPrompts   = `{"prompts":[{"name":"kept"},{"name":"held1"}]}`
	changedPrompts  = `{"prompts":[{"name":"kept"},{"name":"held1","title":"x"}]}`
	pinnedResources = `{"resources":[{"uri":"a:kept","name":"n"}]}`
	moreResources   = `{"resources":[{"uri":"a:kept","name":"n"},{"uri":"a:held","name":"n"}]}`
)

// pinnedServer is one that offers what is locked of it.
func pinnedServer() *stub {
	return &stub{version: "2025-11-25", answers: map[string]string{
		"tools/list": pinnedTools, "prompts/list": pinnedPrompts, "resources/list": pinnedResources, "resources/templates/list": `{"resourceTemplates":[]}`,
		"tools/call": `{"content":[]}`, "prompts/get": `{"messages":[]}`, "resources/read": `{"contents":[]}`, "completion/complete": `{"completion":{"values":[]}}`,
	}}
}

// change makes it offer something else.
func (s *stub) change() {
	s.answer("tools/list", changedTools)
	s.answer("prompts/list", changedPrompts)
	s.answer("resources/list", moreResources)
	s.answer("resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"b:{x}","name":"n"}]}`)
}

// lock returns what is locked of such a server: what it offers at first.
func lock(t *testing.T) *lockfile.Server {
	t.Helper()
	o := &lockfile.Offer{About: &lockfile.About{}}
	for l, page := range []string{pinnedTools, pinnedPrompts, pinnedResources, `{"resourceTemplates":[]}`} {
		var members map[string][]json.RawMessage
		if err := json.Unmarshal([]byte(page), &members); err != nil {
			t.Fatal(err)
		}
		o.Items[l] = lockfile.Items(lockfile.List(l), members[lockfile.List(l).Member()])
	}
	s := &lockfile.Server{}
	s.Take(o)
	return s
}

func guard(log *journal, policies map[string]lockfile.Policy) *lockfile.Guard {
	g := &lockfile.Guard{Log: slog.New(slog.NewTextHandler(log, nil))}
	g.Set(policies)
	return g
}

// sameAsUnknown checks that requests for what is held are answered as those for what
// there is not, to the byte, and that the server hears of neither. names pairs a held
// name with an unknown one of the same length.
func sameAsUnknown(t *testing.T, s *stub, ask func(method, params string) string, names [][3]string) {
	t.Helper()
	before := s.calls()
	for _, n := range names {
		held, unknown := ask(n[0], n[1]), ask(n[0], n[2])
		without := func(answer, params string) string {
			name := strings.Trim(params[strings.LastIndexByte(params, ':')+1:], `"}`)
			_, answer, _ = strings.Cut(answer, `"id":`)
			_, answer, _ = strings.Cut(answer, ",")
			return strings.ReplaceAll(answer, name, "NAME")
		}
		if a := without(held, n[1]); a == "" || a != without(unknown, n[2]) {
			t.Errorf("%s: what is held is answered otherwise than what there is not:\n%s\n%s", n[0], held, unknown)
		}
		if !strings.Contains(held, `"error"`) && !strings.Contains(held, `"isError":true`) {
			t.Errorf("%s: got %s", n[0], held)
		}
	}
	if after := s.calls(); after != before {
		t.Errorf("the server was called: %s", s.last())
	}
}

// TestPinHold: what is new or changed is in no list and is answered as what there is
// not, to clients of both eras; the rest of the server goes on. Approving it has it
// appear, with a notification and without a restart.
func TestPinHold(t *testing.T) {
	a, b := pinnedServer(), pinnedServer()
	a.change()
	log := &journal{}
	policies := map[string]lockfile.Policy{"a": {Mode: lockfile.Hold, Locked: lock(t)}, "b": {Mode: lockfile.Hold, Locked: lock(t)}}
	g := guard(log, policies)
	c, p := world(t, stubs{"a": a, "b": b}, proxy.Options{Servers: proxy.Named("a", "b"), Pins: g})
	if got, want := c.result("tools/list", `{}`), `{"tools":[{"name":"a__kept","description":"Reads."},{"name":"b__kept","description":"Reads."},{"name":"b__held1","description":"Reads a file."}]}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for method, lacks := range map[string]string{"prompts/list": "a__held1", "resources/list": "a:held", "resources/templates/list": "b:"} {
		if got := c.result(method, `{}`); strings.Contains(got, lacks) {
			t.Errorf("%s: got %s", method, got)
		}
	}
	names := [][3]string{
		{"tools/call", `{"name":"a__held1"}`, `{"name":"a__other"}`},
		{"tools/call", `{"name":"a__newer"}`, `{"name":"a__never"}`},
		{"prompts/get", `{"name":"a__held1"}`, `{"name":"a__other"}`},
	}
	sameAsUnknown(t, a, c.call, names)
	sameAsUnknown(t, a, func(method, params string) string { return c.july(`"x"`, method, params, `{}`) }, names)
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	s := serveHTTP(t, handler)
	w := &july{t: t, p: p, handler: handler, url: s.url, hc: s.client()}
	sameAsUnknown(t, a, func(method, params string) string {
		body, head := request(`"x"`, method, params, `{}`, "")
		resp := w.open(t.Context(), body, head)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSuffix(string(answer), "\n") + resp.Status
	}, names)
	handler.Close()
	s.close()
	for method, params := range map[string]string{
		"resources/read": `{"uri":"mcp+a:a:held"}`, "resources/subscribe": `{"uri":"a:held"}`,
		"completion/complete": `{"ref":{"type":"ref/prompt","name":"a__held1"},"argument":{"name":"x","value":""}}`,
	} {
		if got := c.call(method, params); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s", method, got)
		}
	}
	for _, uri := range []string{"a:held", "b:anything"} {
		if got := c.call("resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s", uri, got)
		}
	}
	if n := a.calls(); n > 0 {
		t.Errorf("the server was called: %s", a.last())
	}
	c.result("tools/call", `{"name":"a__kept"}`)
	c.result("tools/call", `{"name":"b__held1"}`)
	pin := p.Status().Backends[0].Catalog.Pin
	if pin == nil || pin.Mode != "hold" || pin.Changed != 2 || pin.New != 3 || !strings.Contains(pin.Difference, "changed: tool held1, prompt held1") || pin.Fix != "mcpctl lock diff a" {
		t.Errorf("got %+v", pin)
	}
	if p.Status().Backends[1].Catalog.Pin != nil {
		t.Error("a server that is as it was locked differs")
	}
	if n := strings.Count(log.String(), "server does not offer what is locked"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, log)
	}

	approved := lock(t)
	for _, change := range g.Verdict("a").Changes {
		approved.TakeChange(&change)
	}
	policies["a"] = lockfile.Policy{Mode: lockfile.Hold, Locked: approved}
	p.Repin(g.Set(policies))
	if got := <-c.notes; !strings.Contains(got, "list_changed") {
		t.Errorf("got %s", got)
	}
	c.result("tools/call", `{"name":"a__held1"}`)
	if got := c.result("tools/list", `{}`); !strings.Contains(got, `{"name":"a__newer"}`) || !strings.Contains(got, "Reads any file.") {
		t.Errorf("got %s", got)
	}
	if p.Status().Backends[0].Catalog.Pin != nil {
		t.Error("what was approved differs still")
	}
}

// TestPinHoldNothingLocked: a server of which nothing is locked has everything held,
// and that is said once with the command that mends it.
func TestPinHoldNothingLocked(t *testing.T) {
	log := &journal{}
	a := pinnedServer()
	c, _ := world(t, stubs{"a": a}, proxy.Options{Servers: proxy.Named("a"), Pins: guard(log, map[string]lockfile.Policy{"a": {Mode: lockfile.Hold}})})
	if got := c.result("tools/list", `{}`); got != `{"tools":[]}` {
		t.Errorf("got %s", got)
	}
	sameAsUnknown(t, a, c.call, [][3]string{{"tools/call", `{"name":"a__kept"}`, `{"name":"a__none"}`}})
	if got := log.String(); strings.Count(got, "everything is held") != 1 || !strings.Contains(got, `hint="mcpctl lock a"`) {
		t.Errorf("got %s", got)
	}
}

// TestPinWarn: everything goes on, and the difference is said once, also when the server
// is listed again.
func TestPinWarn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &journal{}
		a, b, off := pinnedServer(), pinnedServer(), pinnedServer()
		a.change()
		b.change()
		off.change()
		g := guard(log, map[string]lockfile.Policy{"a": {Locked: lock(t)}, "b": {}, "off": {Mode: lockfile.Off, Locked: lock(t)}})
		c, p, end := run(t, stubs{"a": a, "b": b, "off": off}.dial, proxy.Options{Servers: cached("a", "b", "off"), Pins: g})
		c.result("initialize", greeting)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if got := c.result("tools/list", `{}`); strings.Count(got, "Reads any file.") != 3 {
			t.Errorf("got %s", got)
		}
		c.result("tools/call", `{"name":"a__newer"}`)
		a.changed(c, "tools")
		synctest.Wait()
		if got := log.String(); strings.Count(got, "server does not offer what is locked") != 1 || !strings.Contains(got, "server=a pin=warn") {
			t.Errorf("got %s", got)
		}
		for i, want := range []bool{true, false, false} {
			if got := p.Status().Backends[i].Catalog.Pin != nil; got != want {
				t.Errorf("backend %d: a difference is reported: %t", i, got)
			}
		}
		end()
	})
}

// TestPinRugPull: a server that changes in the middle of a session loses what it has
// changed as soon as it says so.
func TestPinRugPull(t *testing.T) {
	a := pinnedServer()
	c, _ := world(t, stubs{"a": a}, proxy.Options{Servers: proxy.Named("a"), Pins: guard(&journal{}, map[string]lockfile.Policy{"a": {Mode: lockfile.Hold, Locked: lock(t)}})})
	c.result("tools/list", `{}`)
	c.result("tools/call", `{"name":"a__held1"}`)
	a.change()
	a.changed(c, "tools")
	if got, want := c.result("tools/list", `{}`), `{"tools":[{"name":"a__kept","description":"Reads."}]}`; got != want {
		t.Errorf("got %s", got)
	}
	sameAsUnknown(t, a, c.call, [][3]string{{"tools/call", `{"name":"a__held1"}`, `{"name":"a__other"}`}})
	a.answer("tools/list", pinnedTools)
	a.changed(c, "tools")
	c.result("tools/call", `{"name":"a__held1"}`)
}

// TestPinStored: what is stored of a server is no reason to call what it has changed
// since: the first call of a process waits for its lists.
func TestPinStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := &memory{}
		a := pinnedServer()
		o := proxy.Options{Servers: digested("a"), Store: stored, Pins: guard(&journal{}, map[string]lockfile.Policy{"a": {Mode: lockfile.Hold, Locked: lock(t)}})}
		o.Servers[0].Connection = "the same"
		c, _, end := run(t, stubs{"a": a}.dial, o)
		ask(c)
		end()
		a.change()
		c, p, end := run(t, stubs{"a": a}.dial, o)
		c.result("initialize", greeting)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		sameAsUnknown(t, a, c.call, [][3]string{{"tools/call", `{"name":"a__held1"}`, `{"name":"a__other"}`}})
		// A new setting has everything stored again, what is held too.
		o.Servers[0].Digest = "another"
		if _, err := p.Reconfigure(o.Servers); err != nil {
			t.Error(err)
		}
		end()
		// What is held was stored with the rest: once approved, it is there at the start.
		o.Pins = guard(&journal{}, map[string]lockfile.Policy{"a": {Mode: lockfile.Off}})
		never := &dialled{to: stubs{}.dial}
		c, _, end = run(t, never.dial, o)
		if answers := ask(c); !strings.Contains(answers[1], "Reads any file.") {
			t.Errorf("got %s", answers[1])
		}
		end()
	})
}

// TestPinSingle: a proxy that stands for one server passes unknown names on to it, but
// none that are held.
func TestPinSingle(t *testing.T) {
	a := pinnedServer()
	a.change()
	c := between(t, "2025-11-25", stubs{"a": a}, proxy.Options{Servers: proxy.Named("a"), Single: true, Pins: guard(&journal{}, map[string]lockfile.Policy{"a": {Mode: lockfile.Hold, Locked: lock(t)}})})
	if got := c.result("tools/list", `{}`); got != `{"tools":[{"name":"kept","description":"Reads."}]}` {
		t.Errorf("got %s", got)
	}
	for method, params := range map[string]string{
		"tools/call": `{"name":"held1"}`, "prompts/get": `{"name":"held1"}`, "resources/read": `{"uri":"a:held"}`,
		"completion/complete": `{"ref":{"type":"ref/resource","uri":"b:{x}"},"argument":{"name":"x","value":""}}`,
	} {
		before := a.calls()
		if got := c.call(method, params); !strings.Contains(got, `"error"`) || a.calls() != before {
			t.Errorf("%s: got %s", method, got)
		}
	}
	c.result("tools/call", `{"name":"unlisted"}`)
	c.result("tools/call", `{"name":"kept"}`)
}
