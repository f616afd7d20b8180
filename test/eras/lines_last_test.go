package eras_test

import (
	"net/http"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// lastLines end connections.
func lastLines() []line {
	return []line{
		{name: "session-404", title: "A session that is not known any more (404)", check: checkSession404, impossible: func(f endpoint, b backend) string {
			if f.name != "http" && !(b.session && !b.speaksModern(f)) {
				return "Neither side has a session over HTTP that could be forgotten (2025-11-25, Streamable HTTP, Session Management)."
			}
			return ""
		}},
		{name: "restart", title: "The backend goes down in the middle of a call, and comes back", check: checkRestart},
	}
}

func checkSession404(p *pair) {
	if p.back.session && !p.modern() {
		before := p.world.status().Handshakes
		p.world.do("drop") // the server forgets all sessions
		raw, err := p.c.use(p.ctx, "echo", `{"message":"again"}`)
		check(wrap(wantText(raw, err, "again"), "behind"))
		failIf(p.world.status().Handshakes == before, "no new handshake")
	}
	if p.endpoint.name != "http" {
		return
	}
	status := func(c *client, method string, headers http.Header) int {
		w, ok := c.wire.(*httpTransport)
		failIf(!ok, "no HTTP front")
		res := must(w.Do(p.ctx, method, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), headers))
		_ = res.Body.Close()
		return res.StatusCode
	}
	got := status(p.c, http.MethodPost, http.Header{"Mcp-Session-Id": {"nobody"}})
	failIf(got != http.StatusNotFound, "in front: status %d, want 404", got)
	two, done := p.another("two")
	defer done()
	status(two, http.MethodDelete, nil)
	got = status(two, http.MethodPost, nil)
	failIf(got != http.StatusNotFound, "after DELETE: status %d, want 404", got)
}

// checkRestart: the call that was under way fails in words, never to be made
// again silently; the next one works.
func checkRestart(p *pair) {
	k, before := waiting(p, p.c, `"under way"`)
	p.world.do("drop")
	raw, err := must(k.wait(p.ctx)).Outcome()
	check(wantTrouble(raw, err, "connection", "ended", "exit", "closed", "lost", "broke", "eof"))
	raw, err = p.c.use(p.ctx, "echo", `{"message":"back"}`)
	check(wrap(wantText(raw, err, "back"), "after the restart"))
	check(until(p.ctx, p.world, "one call of echo alone", func(s runtimetest.Status) bool {
		return s.Running == 0 && (s.Calls == 1 || s.Calls == before.Calls+2)
	}))
}
