package eras_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func changeLines() []line {
	stream := func(f front, b backend) string {
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
	if !p.front.modern {
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
	if p.front.http {
		p.c.forget(k)
		return nil
	}
	if err := p.c.notify("notifications/cancelled", `"requestId":"listen é"`); err != nil {
		return err
	}
	p.c.forget(k)
	return nil
}

func hasLater(p *pair) (bool, error) {
	list, err := p.c.list(p.ctx, "tools")
	return slices.ContainsFunc(list, func(t json.RawMessage) bool { return strings.HasSuffix(str(t, "name"), "later") }), err
}

func checkListChange(p *pair) error {
	const changed = "notifications/tools/list_changed"
	had, err := hasLater(p)
	if err != nil {
		return err
	}
	k, err := listening(p, `{"toolsListChanged":true}`)
	if err != nil {
		return err
	}
	if err := p.backListens(); err != nil {
		return err
	}
	before := p.c.count(k, changed)
	p.world.do("change tools")
	if err := p.c.await(p.ctx, changed, func() bool { return p.c.count(k, changed) > before }); err != nil {
		return err
	}
	has, err := hasLater(p)
	if err != nil {
		return err
	}
	if has == had {
		return fmt.Errorf("the list is as it was")
	}
	p.world.do("change tools")
	if err := p.c.await(p.ctx, changed+" again", func() bool { return p.c.count(k, changed) > before+1 }); err != nil {
		return err
	}
	return unlisten(p, k)
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

func checkUpdate(p *pair) error {
	const updated = "notifications/resources/updated"
	uri := "fake://note"
	k, err := listening(p, `{"resourceSubscriptions":["`+uri+`"]}`)
	if err != nil {
		return err
	}
	if !p.front.modern {
		if _, err := p.c.plain(p.ctx, ask{method: "resources/subscribe", members: `"uri":"` + uri + `"`}); err != nil {
			return err
		}
	}
	watched := func(s runtimetest.Status) bool { return slices.Contains(s.Watched, uri) }
	if err := until(p.ctx, p.world, "a subscription", watched); err != nil {
		return err
	}
	if err := p.backListens(); err != nil {
		return err
	}
	before := p.c.count(k, updated)
	p.world.do("touch fake://blob") // nobody has asked for this one
	p.world.do("touch " + uri)
	if err := p.c.await(p.ctx, updated, func() bool { return p.c.count(k, updated) > before }); err != nil {
		return err
	}
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
	if err != nil {
		return err
	}
	if p.front.modern && str(last.Params, "_meta", subscription) != "listen é" {
		return fmt.Errorf("not stamped: %s", last.Params)
	}
	if !p.front.modern {
		if at(last.Params, "_meta", subscription) != nil {
			return fmt.Errorf("a stamp of 2026-07-28: %s", last.Params)
		}
		if _, err := p.c.plain(p.ctx, ask{method: "resources/unsubscribe", members: `"uri":"` + uri + `"`}); err != nil {
			return err
		}
	}
	if err := unlisten(p, k); err != nil {
		return err
	}
	if p.modern() && !p.back.http {
		// Over stdio a listen that asks for too much is left as it is: servers
		// are known that end both when one of two ends. Nobody hears of it.
		before = p.c.count(k, updated)
		p.world.do("touch " + uri)
		if _, err := p.c.use(p.ctx, "echo", `{"message":""}`); err != nil {
			return err
		}
		if n := p.c.count(k, updated); n != before {
			return fmt.Errorf("told of a resource after the end of the subscription")
		}
		return nil
	}
	return until(p.ctx, p.world, "an end of the subscription", func(s runtimetest.Status) bool { return !watched(s) })
}
