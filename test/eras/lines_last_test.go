package eras_test

import (
	"fmt"
	"net/http"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// lastLines end connections.
func lastLines() []line {
	return []line{
		{name: "session-404", title: "A session that is not known any more (404)", check: checkSession404, impossible: func(f front, b backend) string {
			if f.name != "http" && !(b.session && !b.speaksModern(f)) {
				return "Neither side has a session over HTTP that could be forgotten (2025-11-25, Streamable HTTP, Session Management)."
			}
			return ""
		}},
		{name: "restart", title: "The backend goes down in the middle of a call, and comes back", check: checkRestart},
	}
}

func checkSession404(p *pair) error {
	if p.back.session && !p.modern() {
		before := p.world.status().Handshakes
		p.world.do("drop") // the server forgets all sessions
		raw, err := p.c.use(p.ctx, "echo", `{"message":"again"}`)
		if err := wantText(raw, err, "again"); err != nil {
			return fmt.Errorf("behind: %w", err)
		}
		if p.world.status().Handshakes == before {
			return fmt.Errorf("no new handshake")
		}
	}
	if p.front.name != "http" {
		return nil
	}
	w, ok := p.c.wire.(*httpWire)
	if !ok {
		return fmt.Errorf("no HTTP front")
	}
	res, err := w.request(p.ctx, http.MethodPost, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), map[string]string{"Mcp-Session-Id": "nobody"})
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		return fmt.Errorf("in front: status %d, want 404", res.StatusCode)
	}
	two, done, err := p.another("two")
	if err != nil {
		return err
	}
	defer done()
	gone := two.wire.(*httpWire)
	if res, err = gone.request(p.ctx, http.MethodDelete, nil, nil); err != nil {
		return err
	}
	_ = res.Body.Close()
	if res, err = gone.request(p.ctx, http.MethodPost, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), nil); err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		return fmt.Errorf("after DELETE: status %d, want 404", res.StatusCode)
	}
	return nil
}

// checkRestart: the call that was under way fails in words, never to be made
// again silently; the next one works.
func checkRestart(p *pair) error {
	calls := 0
	k, before, err := waiting(p, p.c, `"under way"`)
	if err != nil {
		return err
	}
	calls = before.Calls
	p.world.do("drop")
	m, err := k.wait(p.ctx)
	if err != nil {
		return err
	}
	raw, err := m.outcome()
	if err := wantTrouble(raw, err, "connection", "ended", "exit", "closed", "lost", "broke", "eof"); err != nil {
		return err
	}
	raw, err = p.c.use(p.ctx, "echo", `{"message":"back"}`)
	if err := wantText(raw, err, "back"); err != nil {
		return fmt.Errorf("after the restart: %w", err)
	}
	return until(p.ctx, p.world, "one call of echo alone", func(s runtimetest.Status) bool {
		return s.Running == 0 && (s.Calls == 1 || s.Calls == calls+2)
	})
}
