package eras_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wire"
)

// steps is the client's side of every transcript, as far as its revision has it.
func (t *transcript) steps() {
	p := t.p
	c := newClient(p.endpoint.modern, "one")
	c.revision = t.c.revision
	c.capabilities = map[string]string{
		runtimetest.Rev2024: `{"sampling":{},"roots":{}}`, runtimetest.RevMar: `{"sampling":{},"roots":{}}`,
		runtimetest.RevJune: `{"elicitation":{}}`, runtimetest.RevNov: `{"elicitation":{"form":{},"url":{}}}`, runtimetest.RevJuly: `{"elicitation":{"form":{},"url":{}}}`,
	}[t.c.revision]
	p.c = c
	call := func(tool, arguments, meta string) ask {
		return ask{method: "tools/call", members: fmt.Sprintf(`"name":"b__%s","arguments":%s`, tool, arguments), meta: meta}
	}
	use := func(a ask) func() { return func() { must(c.request(p.ctx, a)) } }
	t.step("open", func() {
		check(p.endpoint.open(p, c))
		if c.modern {
			use(ask{method: "server/discover"})()
		}
	})
	t.step("list", use(ask{method: "tools/list"}))
	meta := `"progressToken":"p"`
	if t.c.bridge == "S" {
		t.searchSteps(c, use)
		return
	}
	if c.modern {
		meta += `,"` + metaPrefix + `logLevel":"info"`
	} else {
		t.step("log level", use(ask{method: "logging/setLevel", members: `"level":"info"`}))
	}
	t.step("call with progress and log", use(call("tell", `{"label":"x"}`, meta)))
	if t.c.revision >= runtimetest.RevJune {
		t.step("question", use(call("ask_form", `{}`, "")))
	} else {
		t.step("question", use(call("ask_sample", `{}`, "")))
	}
	if t.c.revision >= runtimetest.RevNov {
		t.step("question with a link", use(call("ask_url", `{}`, "")))
	}
	listen := t.changes()
	t.step("cancel", func() {
		k := c.start(call("wait", `{}`, ""))
		check(until(p.ctx, p.world, "the call", func(s runtimetest.Status) bool { return s.Running == 1 }))
		defer c.forget(k)
		if p.endpoint.http && c.modern {
			k.hangUp()
		} else {
			check(c.notify("notifications/cancelled", `"requestId":`+k.id+`,"reason":"enough"`))
		}
		if _, ok := c.wire.(*httpTransport); ok {
			_, _ = k.wait(p.ctx) // its exchange ends, without an answer
		}
		check(until(p.ctx, p.world, "a cancellation", func(s runtimetest.Status) bool { return s.Running == 0 }))
	})
	t.step("error of the server", fails(use(call("refuse", `{"code":-32050}`, ""))))
	t.step("error of mcpctl", fails(use(call("nope", `{}`, ""))))
	t.step("unsubscribe", func() {
		if !c.modern {
			use(ask{method: "resources/unsubscribe", members: `"uri":"fake://note"`})()
			return
		}
		check(unlisten(p, listen))
		if !p.back.modern {
			check(until(p.ctx, p.world, "an end of the subscription", func(s runtimetest.Status) bool { return len(s.Watched) == 0 }))
		}
	})
	t.close(c)
}

// searchSteps are those of a transcript in which tools are found instead of listed.
func (t *transcript) searchSteps(c *client, use func(ask) func()) {
	call := func(name, arguments string) ask {
		return ask{method: "tools/call", members: fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments), meta: `"progressToken":"p"`}
	}
	t.step("search", use(call("search_tools", `{"queries":["tell","ask for a form"],"limit":2}`)))
	t.step("list again", use(ask{method: "tools/list"})) // with what a session has found
	t.step("call inside, with progress", use(call("call_tool", `{"name":"b__tell","arguments":{"label":"x"}}`)))
	t.step("question inside", use(call("call_tool", `{"name":"b__`+map[bool]string{true: "ask_form", false: "ask_sample"}[t.c.revision >= runtimetest.RevJune]+`"}`)))
	t.step("refused", use(call("call_read_tool", `{"name":"b__tell","arguments":{"label":"x"}}`)))
	t.step("error of the server", fails(use(call("call_tool", `{"name":"b__refuse","arguments":{"code":-32050}}`))))
	t.step("error of mcpctl", fails(use(call("call_tool", `{"name":"b__nope"}`))))
	t.close(c)
}

// close ends everything.
func (t *transcript) close(c *client) {
	p := t.p
	t.step("close", func() {
		if w, ok := c.wire.(*httpTransport); ok && w.Session != "" {
			check(w.End(p.ctx))
		}
		c.close()
		if p.srv != nil {
			p.stopServing()
		}
		check(p.proxy.Close())
	})
}

// fails checks that a step ends with an error of JSON-RPC.
func fails(do func()) func() {
	return func() {
		_, ok := errors.AsType[*wire.RPCError](attempt(do))
		failIf(!ok, "no error")
	}
}

// changes subscribes and has the server change; it returns the subscription of a
// client of 2026-07-28.
func (t *transcript) changes() (listen *call) {
	p, c := t.p, t.p.c
	const uri = "fake://note"
	t.step("subscribe", func() {
		listen = must(listening(p, `{"toolsListChanged":true,"resourceSubscriptions":["`+uri+`"]}`))
		if !c.modern {
			must(c.roundTrip(p.ctx, ask{method: "resources/subscribe", members: `"uri":"` + uri + `"`}))
		}
		check(until(p.ctx, p.world, "a subscription", func(s runtimetest.Status) bool {
			// Over HTTP the listen that asked for less ends when this one is there.
			return slices.Contains(s.Watched, uri) && (!p.back.modern || !p.back.http || s.Listens == 1)
		}))
		check(p.backListens())
	})
	await := func(command, method string) func() {
		return func() {
			before := c.count(listen, method)
			p.world.do(command)
			check(c.await(p.ctx, method, func() bool { return c.count(listen, method) > before }))
		}
	}
	t.step("resource changes", await("touch "+uri, "notifications/resources/updated"))
	t.step("list changes", await("change tools", "notifications/tools/list_changed"))
	return listen
}
