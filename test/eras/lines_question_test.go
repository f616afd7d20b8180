package eras_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func questionLines() []line {
	question := func(name, title, tool, method, key string, says func(*client) string) line {
		return line{
			name: name, title: title, impossible: needsSession, refused: func(p *pair) { checkCannotAsk(p, tool) },
			check: func(p *pair) {
				raw := must(p.c.use(p.ctx, tool, ""))
				check(p.asked(method))
				check(same(at(raw, "structuredContent", key), json.RawMessage(says(p.c))))
			},
		}
	}
	form := func(c *client) string { return accepted(c.label) }
	return []line{
		question("form", "Elicitation: a form", "ask_form", "elicitation/create", "who", form),
		question("url", "Elicitation: a link", "ask_url", "elicitation/create", "link", func(*client) string { return `{"action":"accept"}` }),
		{
			name: "32042", title: "Elicitation: a link instead of a result (-32042)", check: checkLinkFirst,
			impossible: func(_ endpoint, b backend) string {
				if !b.legacy {
					return "-32042 is an error of 2025-11-25; 2026-07-28 has no such error (2026-07-28, Elicitation). See url."
				}
				return ""
			},
		},
		question("sampling", "Sampling", "ask_sample", "sampling/createMessage", "sample", func(c *client) string {
			return `{"role":"assistant","content":{"type":"text","text":"` + c.label + `"},"model":"m","stopReason":"endTurn"}`
		}),
		question("roots", "Roots within a call", "ask_roots", "roots/list", "roots", func(c *client) string {
			return `{"roots":[{"uri":"file:///home/` + c.label + `","name":"r"}]}`
		}),
		{name: "roots-outside", title: "Roots outside of any call", check: checkRootsOutside, impossible: func(f endpoint, b backend) string {
			switch {
			case !b.speaksModern(f) && !b.stream:
				return backStream
			case b.speaksModern(f):
				return backMute
			}
			return ""
		}},
		{name: "two", title: "Two questions in one call, at once", impossible: needsSession, refused: func(p *pair) { checkCannotAsk(p, "ask_two") }, check: func(p *pair) {
			raw := must(p.c.use(p.ctx, "ask_two", ""))
			check(p.asked("elicitation/create", "roots/list"))
			check(same(at(raw, "structuredContent"), json.RawMessage(`{"who":`+form(p.c)+`,"roots":{"roots":[{"uri":"file:///home/one","name":"r"}]}}`)))
		}},
		{name: "again", title: "Two questions in one call, one after the other", impossible: needsSession, refused: func(p *pair) { checkCannotAsk(p, "ask_again") }, check: func(p *pair) {
			raw := must(p.c.use(p.ctx, "ask_again", ""))
			check(p.asked("elicitation/create", "elicitation/create"))
			check(same(at(raw, "structuredContent"), json.RawMessage(`{"who":`+form(p.c)+`,"again":`+form(p.c)+`}`)))
		}},
		{name: "no-capability", title: "A question that the client cannot be asked", check: checkNoCapability},
		{name: "state-only", title: "requestState without a question", check: func(p *pair) {
			raw, err := p.c.use(p.ctx, "come_back", "")
			check(wantText(raw, err, "back"))
			check(p.asked())
		}, impossible: func(f endpoint, b backend) string {
			if !b.modern {
				return noState
			}
			return ""
		}},
	}
}

// asked checks that exactly these questions have come, in any order, in the form
// of the client's era.
func (p *pair) asked(methods ...string) error {
	got := p.c.takeQuestions()
	want := map[string]int{}
	for _, m := range methods {
		want[m]++
	}
	for _, q := range got {
		want[q.Method]--
		if q.Method != "elicitation/create" {
			continue
		}
		url := str(q.Params, "mode") == "url"
		if has := at(q.Params, "elicitationId") != nil; has != (url && !p.endpoint.modern) {
			return fmt.Errorf("elicitationId: %t in %s", has, q.Params)
		}
		if url && str(q.Params, "url") != "https://example.com/connect?a=1&b=é" {
			return fmt.Errorf("url in %s", q.Params)
		}
		if !url && str(q.Params, "requestedSchema", "properties", "name", "type") != "string" {
			return fmt.Errorf("requestedSchema in %s", q.Params)
		}
	}
	for m, n := range want {
		if n != 0 {
			return fmt.Errorf("asked %d times less than wanted: %s", n, m)
		}
	}
	return nil
}

// checkCannotAsk checks for a clear refusal where the client cannot be asked.
func checkCannotAsk(p *pair, tool string) {
	raw, err := p.c.use(p.ctx, tool, "")
	check(wantTrouble(raw, err, "support", "capabilit", "asked", "ask"))
	check(p.asked())
}

// checkLinkFirst: the error means "open these, then call again". A client of
// the handshake era gets it as it is; one of 2026-07-28 is asked, and its
// retry is the second call.
func checkLinkFirst(p *pair) {
	arguments := fmt.Sprintf(`{"key":%q}`, p.endpoint.name)
	if p.modern() {
		raw := must(p.c.use(p.ctx, "link_first", arguments))
		check(same(at(raw, "structuredContent", "link"), json.RawMessage(`{"action":"accept"}`)))
		return
	}
	raw, err := p.c.use(p.ctx, "link_first", arguments)
	if !p.endpoint.modern {
		check(wantCode(raw, err, -32042))
		failIf(!strings.Contains(err.Error(), `"elicitationId":"e-link"`) || !strings.Contains(err.Error(), `"url":"https://example.com/connect?a=1`), "the links are lost: %w", err)
		raw, err = p.c.use(p.ctx, "link_first", arguments)
	} else {
		check(p.asked("elicitation/create"))
	}
	check(wantText(raw, err, "linked"))
}

func checkRootsOutside(p *pair) {
	if p.modern() {
		return
	}
	// A call of a line before may not have ended for the proxy yet: over stdio
	// and for a moment the question can only be one of that call.
	var wrong json.RawMessage
	for ok := false; !ok; {
		before := len(p.world.status().Answers)
		p.world.do("ask roots/list") // on every connection
		if err := until(p.ctx, p.world, "answers", func(s runtimetest.Status) bool { return len(s.Answers) >= before+s.Ready && s.Ready > 0 }); err != nil {
			failf("%w; wrong was %s", err, wrong)
		}
		ok = true
		for _, a := range p.world.status().Answers[before:] {
			if at(a, "roots") == nil {
				ok, wrong = false, a
			}
		}
		failIf(p.ctx.Err() != nil, "roots/list outside of a call got %s", wrong)
		time.Sleep(5 * time.Millisecond)
	}
	p.c.takeQuestions() // a client that it can only belong to may be asked
}

// checkNoCapability calls tools that ask, as a client that can answer nothing:
// a clear refusal, and no question. In 2026-07-28 it names what is missing.
func checkNoCapability(p *pair) {
	c := newClient(p.endpoint.modern, "mute")
	c.capabilities = `{}`
	if err := p.endpoint.open(p, c); err != nil {
		c.end()
		check(err)
	}
	defer c.close()
	for _, tool := range []string{"ask_form", "ask_sample"} {
		raw, err := c.use(p.ctx, tool, "")
		check(wrap(wantTrouble(raw, err, "support", "capabilit", "asked", "ask"), "%s", tool))
		// A server of the handshake era has its own words for it.
		if p.endpoint.modern && p.modern() {
			check(wrap(wantCode(raw, err, -32021), "%s", tool))
			if !strings.Contains(err.Error(), `"requiredCapabilities":{`) {
				failf("nothing says what is missing: %w", err)
			}
		}
	}
	if q := c.takeQuestions(); q != nil {
		failf("a client that declares nothing was asked %s", q[0].Method)
	}
}
