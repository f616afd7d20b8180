package eras_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func changeLines() []line {
	stream := func(f endpoint, b backend) string {
		switch {
		case !f.stream:
			return noStream
		case !b.stream:
			return backStream
		}
		return ""
	}
	return []line{
		{name: "list-change", title: "A change of a list", check: checkListChange, impossible: stream},
		{name: "update", title: "A change of a resource", check: checkUpdate, impossible: stream},
	}
}

// listening opens a modern client's subscriptions/listen and waits for the
// acknowledgement; a client of the handshake era needs none.
func listening(p *pair, filter string) (*call, error) {
	if !p.endpoint.modern {
		return nil, nil
	}
	k := p.c.start(ask{method: "subscriptions/listen", members: `"notifications":` + filter, id: `"listen é"`})
	const ack = "notifications/subscriptions/acknowledged"
	if err := p.c.await(p.ctx, "the acknowledgement", func() bool {
		select {
		case <-k.answered:
			return true
		default:
			return p.c.count(k, ack) == 1
		}
	}); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil || k.answer.Error != nil {
		return nil, fmt.Errorf("listen ended: %s %w", k.answer.Error, k.err)
	}
	if len(k.notes) != 1 || str(k.notes[0].Params, "_meta", subscription) != "listen é" {
		return nil, fmt.Errorf("the first message is no acknowledgement of this listen: %s", k.notes[0].Params)
	}
	if err := same(at(k.notes[0].Params, "notifications"), json.RawMessage(filter)); err != nil {
		return nil, fmt.Errorf("acknowledged: %w", err)
	}
	return k, nil
}

// unlisten ends a listen in the way of its wire.
func unlisten(p *pair, k *call) error {
	if k == nil {
		return nil
	}
	defer p.c.forget(k)
	if p.endpoint.http {
		return nil
	}
	return p.c.notify("notifications/cancelled", `"requestId":"listen é"`)
}

func (p *pair) hasLater() bool {
	return slices.ContainsFunc(must(p.c.list(p.ctx, "tools")), func(t json.RawMessage) bool { return strings.HasSuffix(str(t, "name"), "later") })
}

func checkListChange(p *pair) {
	const changed = "notifications/tools/list_changed"
	had := p.hasLater()
	k := must(listening(p, `{"toolsListChanged":true}`))
	check(p.backListens())
	before := p.c.count(k, changed)
	p.world.do("change tools")
	check(p.c.await(p.ctx, changed, func() bool { return p.c.count(k, changed) > before }))
	failIf(p.hasLater() == had, "the list is as it was")
	p.world.do("change tools")
	check(p.c.await(p.ctx, changed+" again", func() bool { return p.c.count(k, changed) > before+1 }))
	check(unlisten(p, k))
}

// backListens waits until the backend has somebody to tell.
func (p *pair) backListens() error {
	if !p.back.http || p.back.sse {
		if !p.modern() {
			return nil // the connection is the stream
		}
	}
	return until(p.ctx, p.world, "a listener", func(s runtimetest.Status) bool { return s.Listens > 0 })
}

func checkUpdate(p *pair) {
	const updated = "notifications/resources/updated"
	uri := "fake://note"
	k := must(listening(p, `{"resourceSubscriptions":["`+uri+`"]}`))
	if !p.endpoint.modern {
		must(p.c.roundTrip(p.ctx, ask{method: "resources/subscribe", members: `"uri":"` + uri + `"`}))
	}
	watched := func(s runtimetest.Status) bool { return slices.Contains(s.Watched, uri) }
	check(until(p.ctx, p.world, "a subscription", watched))
	check(p.backListens())
	before := p.c.count(k, updated)
	p.world.do("touch fake://blob") // nobody has asked for this one
	p.world.do("touch " + uri)
	check(p.c.await(p.ctx, updated, func() bool { return p.c.count(k, updated) > before }))
	var err error
	p.c.mu.Lock()
	notes := p.c.notes
	if k != nil {
		notes = k.notes
	}
	var last message
	for _, n := range notes {
		if n.Method == updated {
			if str(n.Params, "uri") != uri {
				err = fmt.Errorf("updated: %s", n.Params)
			}
			last = n
		}
	}
	p.c.mu.Unlock()
	check(err)
	failIf(p.endpoint.modern && str(last.Params, "_meta", subscription) != "listen é", "not stamped: %s", last.Params)
	if !p.endpoint.modern {
		failIf(at(last.Params, "_meta", subscription) != nil, "a stamp of 2026-07-28: %s", last.Params)
		must(p.c.roundTrip(p.ctx, ask{method: "resources/unsubscribe", members: `"uri":"` + uri + `"`}))
	}
	check(unlisten(p, k))
	if p.modern() && !p.back.http {
		// Over stdio a listen that asks for too much is left as it is: servers
		// are known that end both when one of two ends. Nobody hears of it.
		before = p.c.count(k, updated)
		p.world.do("touch " + uri)
		must(p.c.use(p.ctx, "echo", `{"message":""}`))
		if n := p.c.count(k, updated); n != before {
			failf("told of a resource after the end of the subscription")
		}
		return
	}
	check(until(p.ctx, p.world, "an end of the subscription", func(s runtimetest.Status) bool { return !watched(s) }))
}
