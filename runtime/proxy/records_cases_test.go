package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestRecordsOfSingle: a proxy that stands for its server records the server's own names, and
// of methods that it passes on the method.
func TestRecordsOfSingle(t *testing.T) {
	t.Parallel()
	j, log := journaled(t, recording.Options{})
	s := pinnedServer()
	s.answers["x/own"] = `{"own":1}`
	p, err := proxy.New(proxy.Options{Single: true, Servers: proxy.Named("a"), Dial: stubs{"a": s}.dial, Gate: gated(t, allowAll+`@id("not") forbid (principal, action == Action::"call", resource == Tool::"a/held1") when {context.front != "none"};`), Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	c := attach(t, p)
	c.note = func(string) {}
	c.result("initialize", greeting)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, ask := range []string{`tools/call {"name":"kept"}`, `tools/call {"name":"held1"}`, `tools/call {"name":"nothing"}`, `prompts/get {"name":"kept"}`, `resources/read {"uri":"a:kept"}`, `x/own {}`} {
		method, params, _ := strings.Cut(ask, " ")
		checkRef(t, j, c.call(method, params))
	}
	c.end()
	_ = p.Close()
	checkTold(t, j, log, "call a/kept allow all ok", "call a/held1 deny not", "call a/nothing allow all ok", "get a/kept allow all ok", "read a/a:kept allow all ok", "operate a/x/own allow all ok")
}

// checkTold closes a journal, and checks what it has told.
func checkTold(t *testing.T, j *recording.Journal, log *stored, want ...string) {
	t.Helper()
	closeJournal(t, j)
	if got := told(log.all()); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRecordsOfLogins: that a client is shown a page to link an account is recorded, and what
// came of it.
func TestRecordsOfLogins(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]string{
		"accept":  {"link a/ ok", "call a/echo ok"},
		"decline": {"link a/ error", "call /a__echo error"},
		"":        {"link a/ error", "call /a__echo error"}, // nobody is asked
	} {
		d := &authenticator{}
		if answer == "" {
			d.none = errors.New("no port")
		}
		j, log := journaled(t, recording.Options{})
		c := d.recorded(t, j)
		c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"c","version":"1"}}`)
		c.mu.Lock()
		c.answer = func(message) string {
			if answer == "accept" {
				time.AfterFunc(10*time.Millisecond, func() { d.logIn(nil) })
			}
			return fmt.Sprintf(`{"action":%q}`, answer)
		}
		c.note = func(string) {}
		c.mu.Unlock()
		c.call("tools/call", echoOfA)
		c.end()
		checkTold(t, j, log, want...)
	}
}

// TestRecordsOfAnswers: a call that a person is asked about has one record with what they
// said, by the policy that asks.
func TestRecordsOfAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"allow":true}}`:  "call a/steps allow all,asks ok",
		`{"action":"accept","content":{"allow":false}}`: "call a/steps deny asks",
		`{"action":"accept","content":{"answer":"x"}}`:  "call a/steps deny asks",
		`{"action":"decline"}`:                          "call a/steps deny asks",
		`{"action":"cancel"}`:                           "call a/steps deny asks",
	} {
		j, log := journaled(t, recording.Options{})
		p := newPool(map[string]*runtimetest.Server{"a": runtimetest.Full("2025-11-25")}).serve(t, proxy.Options{Gate: gated(t, recordedPolicies), Journal: j})
		c := attach(t, p)
		c.note = func(string) {}
		c.answer = func(message) string { return answer }
		c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+canElicit+`,"clientInfo":{"name":"c","version":"1"}}`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		checkRef(t, j, c.call("tools/call", `{"name":"a__steps","arguments":{"n":1}}`))
		c.end()
		_ = p.Close()
		checkTold(t, j, log, want)
	}
}

// TestRecordsOfPins: a call of what is not as it was locked, or as the client was shown it.
func TestRecordsOfPins(t *testing.T) {
	t.Parallel()
	j, log := journaled(t, recording.Options{})
	a := pinnedServer()
	policies := map[string]lockfile.Policy{"a": {Mode: lockfile.Hold, Locked: lock(t)}}
	g := guard(&journal{}, policies)
	c, p := world(t, stubs{"a": a}, proxy.Options{Servers: proxy.Named("a"), Pins: g, Gate: gated(t, allowAll), Journal: j})
	c.result("tools/list", `{}`)
	c.result("tools/call", `{"name":"a__held1"}`)
	a.change()
	a.changed(c, "tools")
	checkRef(t, j, c.call("tools/call", `{"name":"a__held1"}`))
	approved := lock(t)
	for _, change := range g.Verdict("a").Changes {
		approved.TakeChange(&change)
	}
	policies["a"] = lockfile.Policy{Mode: lockfile.Hold, Locked: approved}
	p.Repin(g.Set(policies))
	<-c.notes // the list has changed
	checkRef(t, j, c.call("tools/call", `{"name":"a__held1"}`))
	c.end()
	_ = p.Close()
	checkTold(t, j, log, "call a/held1 allow all ok", "call /a__held1 deny", "call a/held1 deny mcpctl.pin")
}

// TestRecordsOfDeliveries: the result of a task is delivered in a record of its own.
func TestRecordsOfDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for policies, want := range map[string]string{
			allowAll: "deliver a/work allow all ok",
			allowAll + `@id("withheld") forbid (principal, action == Action::"deliver", resource == Tool::"a/work");`: "deliver a/work deny withheld",
		} {
			s, tasks := taskServer([]string{runtimetest.RevJuly}, "required")
			j, log := journaled(t, recording.Options{})
			p := tasksEndpoint(t, map[string]*runtimetest.Server{"a": s}, proxy.Options{Gate: gated(t, policies), Journal: j})
			c := attach(t, p)
			ask := func(method, members string) string { return c.call(method, modern(takesTasks, members)) }
			id := startTask(ask)
			time.Sleep(2 * time.Minute)
			for range 2 {
				checkRef(t, j, ask("tasks/get", `,"taskId":"`+id+`"`))
			}
			c.end()
			_ = p.Close()
			tasks.Close()
			checkTold(t, j, log, "call a/work allow all ok", want, want)
		}
	})
}

// TestUnrecordedOutcome: an answer whose outcome cannot be recorded does not reach the client.
func TestUnrecordedOutcome(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stdio", "stdio, stateless", "session", "sse", "http, stateless"} {
		for _, optional := range []bool{false, true} {
			a := runtimetest.Full("2025-11-25")
			j, log := journaled(t, recording.Options{Durability: recording.Logged, Optional: optional})
			a.Seen = func(frame []byte) {
				if strings.Contains(string(frame), `"tools/call"`) {
					log.mu.Lock()
					log.err = io.ErrShortWrite // its decision is in the log
					log.mu.Unlock()
				}
			}
			p := newPool(map[string]*runtimetest.Server{"a": a}).serve(t, proxy.Options{Journal: j})
			w := waysTo(t, p)[name]()
			got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"secret"}}`)
			if refused := strings.Contains(got, `"code":-31050`) && !strings.Contains(got, "secret"); refused == optional {
				t.Errorf("%s, optional %t: got %s", name, optional, got)
			}
			log.mu.Lock()
			log.err = nil
			log.mu.Unlock()
			w.end()
		}
	}
}

// TestRecordsOfTraces: a record has the trace that the client says the request is of, and
// nothing else that stands in its place.
func TestRecordsOfTraces(t *testing.T) {
	t.Parallel()
	const id = "0af7651916cd43dd8448eb211c80319c"
	for _, tt := range []struct{ parent, want string }{
		{`"00-` + id + `-b7ad6b7169203331-01"`, id},
		{`"00-` + strings.ToUpper(id) + `-b7ad6b7169203331-01"`, ""},
		{`"00-` + id[1:] + `-b7ad6b7169203331-01"`, ""},
		{`"canary-5512"`, ""},
		{`{"a":"00-` + id + `-b7ad6b7169203331-01"}`, ""},
	} {
		for _, name := range []string{"stdio", "stdio, stateless", "session", "sse", "http, stateless"} {
			j, log := journaled(t, recording.Options{})
			p := newPool(map[string]*runtimetest.Server{"a": runtimetest.Full("2025-11-25")}).serve(t, proxy.Options{Journal: j})
			w := waysTo(t, p)[name]()
			got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"m"},"_meta":{"traceparent":`+tt.parent+`}}`)
			w.end()
			_ = p.Close()
			closeJournal(t, j)
			calls := slices.DeleteFunc(log.all(), func(r audit.Record) bool { return r.Kind != audit.KindCall })
			if len(calls) != 1 || calls[0].Target.Trace != tt.want {
				t.Errorf("%s, %s: got %s and %+v", name, tt.parent, got, calls)
			}
		}
	}
}
