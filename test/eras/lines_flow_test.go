package eras_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func flowLines() []line {
	return []line{
		{name: "progress", title: "Progress, with the client's own token", check: checkProgress},
		{name: "cancel-message", title: "Cancel by message", check: checkCancelMessage, impossible: func(f endpoint, _ backend) string {
			switch {
			case f.modern && f.http:
				return "Over HTTP the cancel of 2026-07-28 is the end of the stream; there is no message (2026-07-28, Cancellation). See cancel-disconnect."
			case !f.session && !f.modern:
				return "Without a session, an id does not show its client: every client counts from 1. A cancel must not end another's call (2025-11-25, Cancellation: only requests of the same direction and sender). Checked: it ends nobody's."
			}
			return ""
		}, refused: checkCancelNobody},
		{name: "cancel-disconnect", title: "Cancel by disconnecting", check: checkCancelDisconnect},
		{name: "log-level", title: "Log messages at the client's level, within the call", check: checkLevel, impossible: func(f endpoint, _ backend) string {
			if !f.session && !f.modern {
				return "logging/setLevel applies to a session (2025-11-25, Logging); without one, no level is set and nothing is sent."
			}
			return ""
		}, refused: checkNoLog},
		{name: "ping", title: "Ping is answered, or unknown in 2026-07-28", check: func(p *pair) {
			raw, err := p.c.roundTrip(p.ctx, ask{method: "ping"})
			if p.endpoint.modern {
				check(wantCode(raw, err, -32601))
				return
			}
			check(err)
			check(same(raw, json.RawMessage(`{}`)))
		}},
	}
}

func checkProgress(p *pair) {
	for _, token := range []string{`"é token"`, `9007199254740993`} {
		a := must(p.c.calling(p.ctx, "steps", `{"n":3}`, `"progressToken":`+token))
		k := p.c.start(a)
		check(wantText(must(k.wait(p.ctx)).Result, nil, "done"))
		k.mu.Lock()
		notes := k.notes
		k.mu.Unlock()
		failIf(len(notes) != 3, "%d progress messages before the result, want 3", len(notes))
		for i, n := range notes {
			want := fmt.Sprintf(`{"progressToken":%s,"progress":%d,"total":3,"message":"step"}`, token, i+1)
			check(same(n.Params, json.RawMessage(want)))
		}
	}
}

// waiting starts a call that waits until it is cancelled, and is not answered.
func waiting(p *pair, c *client, id string) (k *call, before runtimetest.Status) {
	a := must(c.calling(p.ctx, "wait", "", ""))
	a.id = id
	before = p.world.status()
	k = c.start(a)
	check(until(p.ctx, p.world, "the call", func(s runtimetest.Status) bool { return s.Running == before.Running+1 }))
	return k, before
}

func checkCancelMessage(p *pair) {
	k, before := waiting(p, p.c, `"to cancel"`)
	check(p.c.notify("notifications/cancelled", `"requestId":1,"reason":"another"`))
	check(p.c.notify("notifications/cancelled", `"requestId":"to cancel","reason":"told to"`))
	check(until(p.ctx, p.world, "a cancelled call", func(s runtimetest.Status) bool {
		return s.Running == before.Running && s.Cancelled == before.Cancelled+1
	}))
	// Nothing more is said of it; over HTTP its stream ends.
	raw, err := p.c.use(p.ctx, "echo", `{"message":"after"}`)
	check(wantText(raw, err, "after"))
	if k.ended() && k.err == nil {
		failf("a cancelled request was answered: %s%s", k.answer.Result, k.answer.Error)
	}
	p.c.forget(k)
	p.quiet()
}

// quiet waits until nothing of a cancelled call is expected any more: over a
// wire that does not tell calls apart, a question or a log line could be that
// call's for half a second, and is then nobody's.
func (p *pair) quiet() {
	if !p.back.http || p.back.sse {
		time.Sleep(600 * time.Millisecond)
	}
}

// forget drops a call that nobody waits for.
func (c *client) forget(k *call) {
	k.hangUp()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[k.id] == k {
		delete(c.calls, k.id)
	}
}

// checkCancelNobody sends a cancel that nothing ties to a request.
func checkCancelNobody(p *pair) {
	two, done := p.another("two")
	defer done()
	a := must(p.c.calling(p.ctx, "slow", `{"ms":60}`, ""))
	a.id = "77"
	k := p.c.start(a)
	time.Sleep(10 * time.Millisecond) // nothing shows that the call is on its way
	check(two.notify("notifications/cancelled", `"requestId":77`))
	check(wantText(must(k.wait(p.ctx)).Result, nil, "done"))
}

// checkCancelDisconnect goes away in the middle of a call. Since 2026-07-28
// the end of an HTTP stream is a cancel. Before, it is none: the call goes on,
// and can still be cancelled by message, or its result be fetched. A connection
// that is the client's session ends everything with it.
func checkCancelDisconnect(p *pair) {
	c, done := p.another("two")
	closed := false
	defer func() {
		if !closed {
			done()
		}
	}()
	k, before := waiting(p, c, `"to leave"`)
	gone := func(s runtimetest.Status) bool {
		return s.Running == before.Running && s.Cancelled == before.Cancelled+1
	}
	switch {
	case p.endpoint.http && p.endpoint.modern:
		k.hangUp()
	case p.endpoint.http && p.endpoint.name != "sse":
		k.hangUp()
		time.Sleep(30 * time.Millisecond) // time enough to do the wrong thing
		if s := p.world.status(); p.endpoint.session && s.Running != before.Running+1 {
			failf("a dropped stream of the handshake era was taken for a cancel")
		}
		if !p.endpoint.session {
			// Nobody can come back for the result: either is right. It ends with
			// the backend.
			p.world.do("drop")
			check(until(p.ctx, p.world, "no call", func(s runtimetest.Status) bool { return s.Running <= before.Running }))
			p.revive()
			return
		}
		check(c.notify("notifications/cancelled", `"requestId":"to leave"`))
	default:
		closed = true
		done()
	}
	defer p.quiet()
	check(until(p.ctx, p.world, "a cancelled call", gone))
}

// revive waits until the backend is there again.
func (p *pair) revive() {
	for {
		raw, err := p.c.use(p.ctx, "echo", `{"message":"back"}`)
		if err = wantText(raw, err, "back"); err == nil || p.ctx.Err() != nil {
			check(err)
			return
		}
	}
}

// logging is a call of the tool log.
func logging(p *pair, level, meta string) *call {
	k := p.c.start(must(p.c.calling(p.ctx, "log", fmt.Sprintf(`{"level":%q,"text":%q}`, level, level), meta)))
	check(wantText(must(k.wait(p.ctx)).Result, nil, "logged"))
	return k
}

func checkLevel(p *pair) {
	meta := ""
	if p.endpoint.modern {
		meta = `"` + metaPrefix + `logLevel":"warning"`
	} else {
		must(p.c.roundTrip(p.ctx, ask{method: "logging/setLevel", members: `"level":"warning"`}))
	}
	const message = "notifications/message"
	outside := p.c.count(nil, message)
	for _, level := range []string{"info", "error"} {
		k := logging(p, level, meta)
		want := 0
		if level == "error" {
			want = 1
		}
		// Over a wire without streams a message of a call names none.
		heard := func() int { return p.c.count(k, message) + p.c.count(nil, message) - outside }
		if want > 0 {
			check(p.c.await(p.ctx, "the log message", func() bool { return heard() >= want }))
		}
		failIf(heard() != want, "%d log messages of level %s, want %d", heard(), level, want)
		failIf(p.endpoint.http && p.endpoint.name != "sse" && p.c.count(nil, message) != outside, "the message came outside of its call's stream")
	}
	if p.endpoint.modern {
		checkNoLog(p)
		return
	}
	raw, err := p.c.roundTrip(p.ctx, ask{method: "logging/setLevel", members: `"level":"loud"`})
	check(wantCode(raw, err, -32602))
}

// checkNoLog checks that no log message comes where no level is set.
func checkNoLog(p *pair) {
	const message = "notifications/message"
	outside := p.c.count(nil, message)
	k := logging(p, "emergency", "")
	if n := p.c.count(k, message) + p.c.count(nil, message) - outside; n != 0 {
		failf("%d log messages that nobody wants", n)
	}
}
