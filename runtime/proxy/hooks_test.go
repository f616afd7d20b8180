package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/audit"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// spy is a hook of functions; nil does nothing.
type spy struct {
	wants             func(proxy.Target) proxy.Phases // nil: both
	request, response func(*proxy.HookCall) error
}

func (s spy) Wants(t proxy.Target) proxy.Phases {
	if s.wants == nil {
		return proxy.PhaseRequest | proxy.PhaseResponse
	}
	return s.wants(t)
}

func (s spy) Request(_ context.Context, c *proxy.HookCall) error {
	if s.request == nil {
		return nil
	}
	return s.request(c)
}

func (s spy) Response(_ context.Context, c *proxy.HookCall) error {
	if s.response == nil {
		return nil
	}
	return s.response(c)
}

func hookNamed(name string, h proxy.Hook) []proxy.NamedHook {
	return []proxy.NamedHook{{Name: name, Hook: h}}
}

func rule(tb testing.TB, r proxy.HookRule, pattern string) []proxy.NamedHook {
	tb.Helper()
	r.Pattern = regexp.MustCompile(pattern)
	h, err := proxy.NewRule(r)
	require.NoError(tb, err)
	return hookNamed(r.Name, h)
}

// ways are those of waysTo.
var ways = []string{"stdio", "stdio, stateless", "session", "http, stateless"}

// hookedServer is a server that notes the params of calls, and what tests need around it.
type hookedServer struct {
	*proxy.Proxy
	mu     sync.Mutex // guards got
	got    []string
	log    *wire.Output
	stored *stored
	j      *recording.Journal
}

func newHooked(t *testing.T, s *runtimetest.Server, policies string, all []proxy.NamedHook) *hookedServer {
	t.Helper()
	h := &hookedServer{log: wire.NewOutput()}
	s.Seen = func(frame []byte) {
		var m message
		if json.Unmarshal(frame, &m) == nil && m.Method == "tools/call" {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.got = append(h.got, string(m.Params))
		}
	}
	h.j, h.stored = journaled(t, recording.Options{})
	o := proxy.Options{Journal: h.j, Logger: slog.New(slog.NewTextHandler(h.log, nil))}
	if policies != "" {
		o.Gate = gated(t, policies)
	}
	h.Proxy = newPool(map[string]*runtimetest.Server{"a": s}).serve(t, o)
	require.NoError(t, h.SetHooks(all))
	return h
}

func (h *hookedServer) last() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.got) == 0 {
		return ""
	}
	return h.got[len(h.got)-1]
}

// end closes all, and returns the records.
func (h *hookedServer) end(t *testing.T) []audit.Record {
	t.Helper()
	_ = h.Close()
	closeJournal(t, h.j)
	return h.stored.all()
}

// TestHooksChangeCalls: on each way, cold and warm, arguments and result are those of the
// hooks, in their order; both phases are of one call.
func TestHooksChangeCalls(t *testing.T) {
	t.Parallel()
	for _, name := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var calls []proxy.HookCall
			see := func(c *proxy.HookCall) error {
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, *c)
				return nil
			}
			h := newHooked(t, runtimetest.Full("2025-11-25"), "", []proxy.NamedHook{
				{Name: "first", Hook: spy{request: func(c *proxy.HookCall) error {
					c.Params = bytes.ReplaceAll(c.Params, []byte("hello"), []byte("changed"))
					return nil
				}, response: func(c *proxy.HookCall) error {
					c.Result = bytes.ReplaceAll(c.Result, []byte("twice"), []byte("answered"))
					return nil
				}}},
				{Name: "second", Hook: spy{request: func(c *proxy.HookCall) error {
					c.Params = bytes.ReplaceAll(c.Params, []byte("changed"), []byte("twice"))
					return see(c)
				}, response: see}},
			})
			w := waysTo(t, h.Proxy)[name]()
			for _, temperature := range []string{"cold", "warm", "hot"} {
				got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"hello"}`+map[bool]string{false: `,"_meta":{"x":1}`}[strings.HasSuffix(name, "stateless")]+`}`)
				if !strings.Contains(got, `"answered"`) || strings.Contains(got, "twice") {
					t.Errorf("%s: got %s", temperature, got)
				}
				if sent := h.last(); !strings.Contains(sent, `"arguments":{"message":"twice"}`) {
					t.Errorf("%s: sent %s", temperature, sent)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(calls) != 6 {
				t.Fatalf("asked %d times", len(calls))
			}
			for i, c := range calls {
				if len(c.ID) != 36 || c.ID != calls[i/2*2].ID || i >= 2 && c.ID == calls[i-2].ID {
					t.Errorf("%d: id %s", i, c.ID)
				}
				if c.Target.Server != "a" || c.Target.Tool != "echo" || c.Target.Exposed != "a__echo" || c.Start.IsZero() || (c.Result == nil) != (i%2 == 0) {
					t.Errorf("%d: %+v", i, c)
				}
				if c.Client != "c" && !strings.HasSuffix(name, "stateless") {
					t.Errorf("%d: client %q", i, c.Client)
				}
				if bytes.Contains(c.Params, []byte("_meta")) {
					t.Errorf("%d: params %s", i, c.Params)
				}
			}
			w.end()
			h.end(t)
		})
	}
}

// TestHooksLeaveBytes: with hooks that look and change nothing, what the server and the
// client get are the bytes of the same without hooks.
func TestHooksLeaveBytes(t *testing.T) {
	t.Parallel()
	odd := `{ "name" :"a__echo","arguments":{"message":"\u0068i\/ \ud83d\ude00","big":9007199254740993 , "e":1e2,"n":{"a":[]}}, "more":1}`
	result := []byte(`{"content":[{"type":"text","text":"\u0068\/"}],"x-big":9007199254740993,  "e":1.0e2}`)
	for _, name := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent, got [3]string
			for i, all := range [][]proxy.NamedHook{
				nil, hookNamed("nothing", spy{}), rule(t, proxy.HookRule{Name: "none", In: proxy.InArguments, Action: proxy.Redact}, "is in no text"),
			} {
				s := runtimetest.New()
				s.Methods = map[string]runtimetest.Func{"tools/call": func(context.Context, *runtimetest.Call) (json.RawMessage, error) { return result, nil }}
				h := newHooked(t, s, "", all)
				w := waysTo(t, h.Proxy)[name]()
				for range 2 {
					got[i] = w.ask(t.Context(), "tools/call", odd)
				}
				sent[i] = h.last()
				w.end()
				h.end(t)
			}
			cut := regexp.MustCompile(`"progressToken":"?[p0-9]+"?`)
			for i := range sent {
				sent[i] = cut.ReplaceAllString(sent[i], "")
			}
			if sent[1] != sent[0] || sent[2] != sent[0] {
				t.Errorf("sent\n%s\n%s\n%s", sent[0], sent[1], sent[2])
			}
			if got[1] != got[0] || got[2] != got[0] || !strings.Contains(got[0], "9007199254740993") {
				t.Errorf("got\n%s\n%s\n%s", got[0], got[1], got[2])
			}
		})
	}
}

// TestHooksEndCalls: a refusal is what a denial is, anything else a fault that says the
// name of the hook and nothing more; both are recorded, and nothing refused is sent.
func TestHooksEndCalls(t *testing.T) {
	t.Parallel()
	const canary = "canary-7731"
	panics := func(*proxy.HookCall) error { panic(canary) }
	refuses := func(*proxy.HookCall) error { return &proxy.Refusal{Reason: "not today"} }
	fails := func(*proxy.HookCall) error { return errors.New("no disk") }
	renames := func(c *proxy.HookCall) error {
		c.Params = json.RawMessage(`{"name":"a__other","arguments":{}}`)
		return nil
	}
	breaks := func(c *proxy.HookCall) error {
		c.Params, c.Result = json.RawMessage(`{"name":`), json.RawMessage(`{"x":`)
		return nil
	}
	const denied, fault = `"kind":"denied"`, `hook \"h\" has failed`
	for _, row := range []struct {
		name   string
		hook   spy
		want   string
		sent   bool
		record []string
	}{
		{"refuses the request", spy{request: refuses}, denied, false, []string{"call a/echo deny hook.h"}},
		{"refuses the result", spy{response: refuses}, denied, true, []string{"call a/echo ok", "deliver a/echo deny hook.h"}},
		{"fails at the request", spy{request: fails}, fault, false, []string{"call a/echo error"}},
		{"fails at the result", spy{response: fails}, fault, true, []string{"call a/echo ok"}},
		{"panics at the request", spy{request: panics}, fault, false, []string{"call a/echo error"}},
		{"panics at the result", spy{response: panics}, fault, true, []string{"call a/echo ok"}},
		{"names another tool", spy{request: renames}, fault, false, []string{"call a/echo error"}},
		{"breaks the request", spy{request: breaks}, fault, false, []string{"call a/echo error"}},
		{"breaks the result", spy{response: breaks}, fault, true, []string{"call a/echo ok"}},
		{"panics when asked what it wants", spy{wants: func(proxy.Target) proxy.Phases { panic(canary) }, request: refuses}, denied, false, []string{"call a/echo deny hook.h"}},
	} {
		for _, name := range ways {
			t.Run(row.name+", "+name, func(t *testing.T) {
				t.Parallel()
				h := newHooked(t, runtimetest.Full("2025-11-25"), "", hookNamed("h", row.hook))
				w := waysTo(t, h.Proxy)[name]()
				got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"hello"}}`)
				if !strings.Contains(got, row.want) {
					t.Errorf("got %s", got)
				}
				if row.want == denied && (!strings.Contains(got, `"code":-31009`) || !strings.Contains(got, `"hook":"h"`) || !strings.Contains(got, `"record":`)) {
					t.Errorf("got %s", got)
				}
				if sent := h.last() != ""; sent != row.sent {
					t.Errorf("sent: %t", sent)
				}
				w.end()
				records := told(h.end(t))
				if !slices.Equal(records, row.record) {
					t.Errorf("records %q, want %q", records, row.record)
				}
				if all := got + h.log.String() + fmt.Sprint(records); strings.Contains(all, canary) {
					t.Errorf("the canary is in %s", all)
				}
				if row.want == fault && !strings.Contains(h.log.String(), "a hook has failed") {
					t.Errorf("log: %s", h.log.String())
				}
			})
		}
	}
}

// TestHooksAndPolicies: policies decide about the arguments that the server gets, and read the
// labels of hooks; limits count a call once.
func TestHooksAndPolicies(t *testing.T) {
	t.Parallel()
	const text = allowAll + `
@id("no") forbid (principal, action == Action::"call", resource == Tool::"a/echo") when {context.args has message && context.args.message == "bad"};
@id("labelled") forbid (principal, action == Action::"call", resource == Tool::"a/echo") when {context.found.contains("secret-plan")};
@id("result") forbid (principal, action == Action::"deliver", resource == Tool::"a/echo") when {context.found.contains("found-there")};
@id("after") forbid (principal, action == Action::"call", resource == Tool::"a/add") when {context.seen.contains("seen-it")};
@id("two") @over("2/h") forbid (principal, action == Action::"call", resource == Tool::"a/echo");
`
	replaces := func(c *proxy.HookCall) error {
		c.Params = bytes.ReplaceAll(c.Params, []byte("good"), []byte("bad"))
		return nil
	}
	for _, name := range ways {
		for _, row := range []struct {
			hook spy
			want string
			sent bool
		}{
			{spy{}, `"result"`, true},
			{spy{request: replaces}, `"policy":"no"`, false},
			{spy{request: func(c *proxy.HookCall) error { c.Label("secret-plan"); return nil }}, `"policy":"labelled"`, false},
			{spy{response: func(c *proxy.HookCall) error { c.Label("found-there"); return nil }}, `"policy":"result"`, true},
		} {
			t.Run(name+" "+row.want, func(t *testing.T) {
				t.Parallel()
				h := newHooked(t, runtimetest.Full("2025-11-25"), text, hookNamed("h", row.hook))
				w := waysTo(t, h.Proxy)[name]()
				got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"good"}}`)
				if !strings.Contains(got, row.want) || (h.last() != "") != row.sent {
					t.Errorf("got %s, sent %s", got, h.last())
				}
				w.end()
				h.end(t)
			})
		}
	}
	t.Run("a label stays with the conversation", func(t *testing.T) {
		t.Parallel()
		h := newHooked(t, runtimetest.Full("2025-11-25"), text, hookNamed("h", spy{
			wants: func(to proxy.Target) proxy.Phases {
				return map[bool]proxy.Phases{true: proxy.PhaseResponse}[to.Tool == "refuse" || to.Tool == "reflect"]
			},
			response: func(c *proxy.HookCall) error { c.Label("seen-it"); return nil },
		}))
		w := waysTo(t, h.Proxy)["session"]()
		if got := w.ask(t.Context(), "tools/call", `{"name":"a__add","arguments":{"a":1,"b":2}}`); !strings.Contains(got, `"result"`) {
			t.Errorf("got %s", got)
		}
		w.ask(t.Context(), "tools/call", `{"name":"a__reflect","arguments":{}}`)
		if got := w.ask(t.Context(), "tools/call", `{"name":"a__add","arguments":{"a":1,"b":2}}`); !strings.Contains(got, `"policy":"after"`) {
			t.Errorf("got %s", got)
		}
		w.end()
		h.end(t)
	})
	t.Run("limits count once", func(t *testing.T) {
		t.Parallel()
		h := newHooked(t, runtimetest.Full("2025-11-25"), text, hookNamed("h", spy{request: func(c *proxy.HookCall) error {
			c.Params = bytes.ReplaceAll(c.Params, []byte("good"), []byte("better"))
			return nil
		}}))
		w := waysTo(t, h.Proxy)["stdio"]()
		for i, want := range []string{`"result"`, `"result"`, "-31029"} {
			if got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"good"}}`); !strings.Contains(got, want) {
				t.Errorf("%d: got %s", i, got)
			}
		}
		w.end()
		h.end(t)
	})
}

// TestRules: what a rule finds is blocked, taken away, recorded or labelled, in arguments and
// results, and its pattern is nowhere.
func TestRules(t *testing.T) {
	t.Parallel()
	const pattern = `zebra-\d+|canary-patt?ern`
	for _, row := range []struct {
		in     string
		action string
		ask    string
		want   []string // in the answer
		sent   string   // to the server, "" for nothing
		found  bool     // in a record
	}{
		{"arguments", "block", "a zebra-17", []string{`"hook":"stripes"`, "/message", "policy hook.stripes"}, "", false},
		{"arguments", "block", "a horse", []string{`a horse`}, `a horse`, false},
		{"arguments", "redact", `a zebra-17 and \u007aebra-18!`, []string{`a [stripes removed] and [stripes removed]!`}, `"message":"a [stripes removed] and [stripes removed]!"`, true},
		{"arguments", "audit", "a zebra-17", []string{`a zebra-17`}, `a zebra-17`, true},
		{"arguments", "label", "a zebra-17", []string{`"policy":"labelled"`}, "", true},
		{"result", "block", "a zebra-17", []string{`"hook":"stripes"`}, `a zebra-17`, false},
		{"result", "redact", "a zebra-17", []string{`a [stripes removed]`}, `a zebra-17`, true},
		{"result", "audit", "a zebra-17", []string{`a zebra-17`}, `a zebra-17`, true},
		{"result", "label", "a zebra-17", []string{`"policy":"result"`}, `a zebra-17`, true},
	} {
		for _, name := range ways {
			t.Run(strings.Join([]string{row.in, row.action, row.ask, name}, ", "), func(t *testing.T) {
				t.Parallel()
				r := proxy.HookRule{Name: "stripes", Tools: []string{"a__*", "!a__other"}}
				r.In = map[string]proxy.HookPart{"arguments": proxy.InArguments, "result": proxy.InResult}[row.in]
				r.Action = map[string]proxy.HookAction{"block": proxy.Block, "redact": proxy.Redact, "audit": proxy.Audit, "label": proxy.Label}[row.action]
				h := newHooked(t, runtimetest.Full("2025-11-25"), allowAll+`
@id("labelled") forbid (principal, action == Action::"call", resource == Tool::"a/echo") when {context.found.contains("stripes")};
@id("result") forbid (principal, action == Action::"deliver", resource == Tool::"a/echo") when {context.found.contains("stripes")};`, rule(t, r, pattern))
				w := waysTo(t, h.Proxy)[name]()
				got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"`+row.ask+`"}}`)
				for _, want := range row.want {
					if !strings.Contains(got, want) {
						t.Errorf("got %s, want %s", got, want)
					}
				}
				if sent := h.last(); (sent == "") != (row.sent == "") || !strings.Contains(sent, row.sent) {
					t.Errorf("sent %s", sent)
				}
				if row.action == "redact" && strings.Contains(got, "zebra") {
					t.Errorf("got %s", got)
				}
				w.end()
				found := false
				for _, rec := range h.end(t) {
					found = found || slices.Contains(rec.Decision.Found, "stripes")
				}
				if found != row.found {
					t.Errorf("recorded: %t", found)
				}
				if all := got + h.log.String() + fmt.Sprint(h.stored.all()); strings.Contains(all, "patt") {
					t.Errorf("the pattern is in %s", all)
				}
			})
		}
	}
}

// TestRulesLookAtErrors: the text of a server's error can hold what a result can.
func TestRulesLookAtErrors(t *testing.T) {
	t.Parallel()
	for _, name := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := runtimetest.New()
			s.Methods = map[string]runtimetest.Func{"tools/call": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
				return nil, &runtime.Error{Code: -32602, Message: "no zebra-17 here", Data: json.RawMessage(`{"a":"zebra-18"}`)}
			}}
			h := newHooked(t, s, "", rule(t, proxy.HookRule{Name: "stripes", In: proxy.InResult, Action: proxy.Redact}, `zebra-\d+`))
			w := waysTo(t, h.Proxy)[name]()
			if got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{}}`); strings.Contains(got, "zebra") || !strings.Contains(got, "no [stripes removed] here") {
				t.Errorf("got %s", got)
			}
			w.end()
			h.end(t)
		})
	}
}

// TestHooksOfTasks: what a task has come to goes past the hooks of its tool.
func TestHooksOfTasks(t *testing.T) {
	eachTaskServer(t, func(t *testing.T, version, support string) {
		s, tasks := taskServer([]string{version}, support)
		defer tasks.Close()
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"a": s}, proxy.Options{})
		require.NoError(t, p.SetHooks(rule(t, proxy.HookRule{Name: "count", Tools: []string{"a__work"}, In: proxy.InResult, Action: proxy.Redact}, `\d+ answers`)))
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		created := c.result("tools/call", modern(takesTasks, `,"name":"a__work","arguments":{}`))
		id := member(t, created, "taskId")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		got := c.result("tasks/get", modern(takesTasks, `,"taskId":"`+id+`"`))
		if !strings.Contains(got, "done with [count removed]") || !strings.Contains(got, `"x-big":9007199254740993`) {
			t.Errorf("got %s", got)
		}
		require.NoError(t, p.SetHooks(hookNamed("no", spy{response: func(*proxy.HookCall) error { return &proxy.Refusal{} }})))
		if got := c.call("tasks/get", modern(takesTasks, `,"taskId":"`+id+`"`)); !strings.Contains(got, `"hook":"no"`) {
			t.Errorf("got %s", got)
		}
	})
}

// TestHooksAreReplaced: other hooks count from the next call on, on each way, while calls
// are made; each answer is that of one set.
func TestHooksAreReplaced(t *testing.T) {
	t.Parallel()
	h := newHooked(t, runtimetest.Full("2025-11-25"), "", nil)
	sets := make([][]proxy.NamedHook, 3) // the first has none
	for i := 1; i < len(sets); i++ {
		sets[i] = hookNamed("h", spy{response: func(c *proxy.HookCall) error {
			c.Result = bytes.ReplaceAll(c.Result, []byte("hello"), fmt.Appendf(nil, "set %d", i))
			return nil
		}})
	}
	var all []*way
	for _, begin := range waysTo(t, h.Proxy) {
		all = append(all, begin())
	}
	for round := range 9 {
		n := round % 3
		require.NoError(t, h.SetHooks(sets[n]))
		for _, w := range all {
			got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"hello"}}`)
			if want := []string{"hello", "set 1", "set 2"}[n]; !strings.Contains(got, want) {
				t.Errorf("round %d, %s: got %s", round, w.name, got)
			}
		}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"hello"}}`)
				if !strings.Contains(got, "hello") && !strings.Contains(got, "set ") {
					t.Errorf("%s: got %s", w.name, got)
					return
				}
			}
		})
	}
	for n := range 60 {
		require.NoError(t, h.SetHooks(sets[n%3]))
	}
	close(done)
	wg.Wait()
	if err := h.SetHooks(append(hookNamed("x", spy{}), hookNamed("x", spy{})...)); err == nil {
		t.Error("two of one name are taken")
	}
	for _, w := range all {
		w.end()
	}
	h.end(t)
}

// TestHooksOfUnlistedTools: a proxy that stands for one server passes on what that does not
// list, past hooks.
func TestHooksOfUnlistedTools(t *testing.T) {
	t.Parallel()
	s := runtimetest.New()
	p := newPool(map[string]*runtimetest.Server{"a": s}).serve(t, proxy.Options{Single: true})
	require.NoError(t, p.SetHooks(hookNamed("no", spy{request: func(*proxy.HookCall) error { return &proxy.Refusal{} }})))
	c := attach(t, p)
	c.result("tools/list", `{}`)
	if got := c.call("tools/call", `{"name":"not-listed","arguments":{}}`); !strings.Contains(got, `"hook":"no"`) {
		t.Errorf("got %s", got)
	}
}

// TestHooksOfPassedTasks: what a task of the handshake era has come to is looked at where the
// proxy stands for its server.
func TestHooksOfPassedTasks(t *testing.T) {
	t.Parallel()
	s := runtimetest.New()
	s.Methods = map[string]runtimetest.Func{"tasks/result": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"zebra-17"}]}`), nil
	}}
	p := newPool(map[string]*runtimetest.Server{"a": s}).serve(t, proxy.Options{Single: true})
	c := attach(t, p)
	if got := c.call("tasks/result", `{"taskId":"1"}`); !strings.Contains(got, "zebra-17") {
		t.Errorf("got %s", got)
	}
	require.NoError(t, p.SetHooks(rule(t, proxy.HookRule{Name: "stripes", In: proxy.InResult, Action: proxy.Redact}, `zebra-\d+`)))
	if got := c.call("tasks/result", `{"taskId":"1"}`); !strings.Contains(got, "[stripes removed]") {
		t.Errorf("got %s", got)
	}
}

// TestHookRefusalsTellNothing: where who is denied is told nothing, a hook is not named.
func TestHookRefusalsTellNothing(t *testing.T) {
	t.Parallel()
	g := gate.New(gate.Config{Set: policies(t, allowAll), Quiet: true})
	p := newPool(map[string]*runtimetest.Server{"a": runtimetest.New()}).serve(t, proxy.Options{Gate: g})
	require.NoError(t, p.SetHooks(hookNamed("plan", spy{request: func(*proxy.HookCall) error { return &proxy.Refusal{Reason: "the plan"} }})))
	if got := attach(t, p).call("tools/call", `{"name":"a__echo","arguments":{}}`); strings.Contains(got, "plan") || !strings.Contains(got, `"code":-31009`) {
		t.Errorf("got %s", got)
	}
}

// TestHooksAreAskedOnce: a call that its server has sent again is one call, with what the
// hooks have made of it each time.
func TestHooksAreAskedOnce(t *testing.T) {
	t.Parallel()
	s := runtimetest.New()
	s.Versions = []string{runtimetest.RevJuly}
	rounds := 0
	s.Methods = map[string]runtimetest.Func{"tools/call": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		if rounds++; rounds < 3 {
			return json.RawMessage(`{"resultType":"input_required","requestState":"busy"}`), nil
		}
		return json.RawMessage(`{"resultType":"complete","content":[]}`), nil
	}}
	var asked [2]int
	h := newHooked(t, s, "", hookNamed("h", spy{request: func(c *proxy.HookCall) error {
		asked[0]++
		c.Params = bytes.ReplaceAll(c.Params, []byte("hello"), []byte("changed"))
		return nil
	}, response: func(*proxy.HookCall) error { asked[1]++; return nil }}))
	w := waysTo(t, h.Proxy)["stdio, stateless"]()
	if got := w.ask(t.Context(), "tools/call", `{"name":"a__echo","arguments":{"message":"hello"}}`); !strings.Contains(got, `"content":[]`) {
		t.Errorf("got %s", got)
	}
	w.end()
	records := told(h.end(t))
	if asked != [2]int{1, 1} || rounds != 3 || len(h.got) != 3 || !slices.Equal(records, []string{"call a/echo ok"}) {
		t.Errorf("asked %v in %d rounds, records %q", asked, rounds, records)
	}
	for _, sent := range h.got {
		if !strings.Contains(sent, `"arguments":{"message":"changed"}`) {
			t.Errorf("sent %s", sent)
		}
	}
}
