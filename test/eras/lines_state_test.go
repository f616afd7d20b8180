package eras_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// statePurpose returns what the proxy seals request states for: the client's principal is behind
// it, and its view.
func (p *pair) statePurpose() string {
	purpose := "requestState:"
	if wire.Identity() && p.endpoint.http {
		purpose += suitePrincipal
	}
	if wire.Viewed() {
		purpose += "\x00everything"
	}
	return purpose
}

func stateLines() []line {
	modernOnly := func(f endpoint, _ backend) string {
		if !f.modern {
			return endpointState
		}
		return ""
	}
	return []line{
		{name: "cursor", title: "A cursor that was tampered with", check: checkCursor},
		{name: "state-tampered", title: "A state that was tampered with", impossible: modernOnly, check: func(p *pair) {
			p.badState(func(s string) (string, error) {
				i := len(s) / 2
				other := "A"
				if s[i:i+1] == "A" {
					other = "B"
				}
				return s[:i] + other + s[i+1:], nil
			})
		}},
		{name: "state-principal", title: "The state of another principal", impossible: modernOnly, check: func(p *pair) {
			p.badState(func(s string) (string, error) {
				plain, err := p.ring.Open(p.statePurpose(), s)
				return p.ring.Seal(p.statePurpose()+"somebody else", plain, time.Minute), err
			})
		}},
		{name: "state-expired", title: "A state that has expired", impossible: modernOnly, check: func(p *pair) {
			p.badState(func(s string) (string, error) {
				plain, err := p.ring.Open(p.statePurpose(), s)
				expired := p.ring.Seal(p.statePurpose(), plain, time.Millisecond)
				time.Sleep(3 * time.Millisecond) // the ring counts milliseconds
				return expired, err
			})
		}},
		{name: "state-target", title: "A state of another tool, and one used twice", impossible: modernOnly, check: checkStateTarget},
		{name: "private", title: "Lists are no more public than their servers make them", check: checkPrivate, impossible: func(f endpoint, _ backend) string {
			if !f.modern {
				return "Cache scopes came with 2026-07-28 (SEP-2549): a client of the handshake era gets no scope, and caches nothing."
			}
			return ""
		}},
	}
}

func checkCursor(p *pair) {
	first := must(p.c.roundTrip(p.ctx, ask{method: "tools/list"}))
	cursor := str(first, "nextCursor")
	failIf(cursor == "", "no cursor in %.200s", first)
	for _, bad := range []string{cursor + "A", strings.ToUpper(cursor), cursor[1:], "x", ""} {
		raw, err := p.c.roundTrip(p.ctx, ask{method: "tools/list", members: fmt.Sprintf(`"cursor":%q`, bad)})
		check(wrap(wantCode(raw, err, -32602), "cursor %q", bad))
	}
	raw, err := p.c.roundTrip(p.ctx, ask{method: "prompts/list", members: fmt.Sprintf(`"cursor":%q`, cursor)})
	check(wrap(wantCode(raw, err, -32602), "the cursor of another list"))
	_, err = p.c.roundTrip(p.ctx, ask{method: "tools/list", members: fmt.Sprintf(`"cursor":%q`, cursor)})
	check(err)
}

// interrupted calls a tool that asks and returns the interim result.
func (p *pair) interrupted(tool string) (ask, *interim) {
	a := must(p.c.calling(p.ctx, tool, "", ""))
	raw := must(p.c.roundTrip(p.ctx, a))
	i, ok := asInterim(raw)
	failIf(!ok || i.State == nil || len(i.Requests) == 0, "got %.300s, want a question with a state", raw)
	return a, i
}

// badState comes back with another state in the place of the right one, and
// then with the right one: the interaction is none the worse.
func (p *pair) badState(change func(string) (string, error)) {
	a, i := p.interrupted("ask_form")
	var good string
	check(json.Unmarshal(i.State, &good))
	bad := must(change(good))
	j := *i
	j.State = json.RawMessage(fmt.Sprintf("%q", bad))
	raw, err := p.c.roundTrip(p.ctx, p.c.retry(a, &j))
	check(wantCode(raw, err, -32602))
	raw = must(p.c.roundTrip(p.ctx, p.c.retry(a, i)))
	check(same(at(raw, "structuredContent", "who"), json.RawMessage(accepted("one"))))
}

func checkStateTarget(p *pair) {
	a, i := p.interrupted("ask_form")
	other := must(p.c.calling(p.ctx, "ask_again", "", ""))
	raw, err := p.c.roundTrip(p.ctx, p.c.retry(other, i))
	check(wrap(wantCode(raw, err, -32602), "another tool"))
	must(p.c.roundTrip(p.ctx, p.c.retry(a, i)))
	raw, err = p.c.roundTrip(p.ctx, p.c.retry(a, i))
	if p.modern() {
		check(err) // a server that keeps nothing may answer twice
		return
	}
	check(wantTrouble(raw, err, "lost", "answered", "known"))
}

// checkPrivate: there is no authentication yet, so no two principals whose
// lists could differ. What can be wrong already is the scope: a list without
// one, or with a private part, must not be kept for others.
func checkPrivate(p *pair) {
	for method, public := range map[string]bool{"tools/list": true, "prompts/list": false} {
		raw := must(p.c.roundTrip(p.ctx, ask{method: method}))
		want := "private"
		if public && p.modern() {
			want = "public"
		}
		if got := str(raw, "cacheScope"); got != want && got != "private" || public == false && got != "private" {
			failf("%s is %q, want %q", method, got, want)
		}
		failIf(!p.modern() && string(at(raw, "ttlMs")) != "0", "%s has ttlMs %s, though its server gives none", method, at(raw, "ttlMs"))
	}
}
