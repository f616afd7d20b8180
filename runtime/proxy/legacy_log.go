package proxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// level is how grave a log line is, or the least grave that is wanted: an index
// into the specification's list (2025-11-25, Logging, Log Levels).
type level int8

const (
	everything level = 0 // debug and up
	info       level = 1
	warning    level = 3
	gravest    level = 7
	silent     level = 8 // nothing
)

func levels() [8]string {
	return [8]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// parseLevel reads a level of the specification.
func parseLevel(name string) (level, bool) {
	all := levels()
	i := slices.Index(all[:], name)
	return level(i), i >= 0 //nolint:gosec // at most 7
}

// gravity reads the level of a log line; one that has none is grave enough for
// everybody.
func gravity(params json.RawMessage) level {
	at, err := rawjson.Field(params, "level")
	if err != nil {
		return gravest
	}
	name, _ := rawjson.String(params, at)
	if l, ok := parseLevel(name); ok {
		return l
	}
	return gravest
}

const logLevelMeta = "io.modelcontextprotocol/logLevel"

// askedLevel reads the level that a modern request asks for, silent for none:
// "the server MUST NOT emit" lines for a request without it (2026-07-28,
// Logging).
func (r *request) askedLevel() (level, error) {
	if !r.msg.MetaLevel.Present() {
		return silent, nil
	}
	name, _ := rawjson.String(r.line, r.msg.MetaLevel)
	l, ok := parseLevel(name)
	if !ok {
		return silent, invalid("unknown log level: %s", r.msg.MetaLevel.Of(r.line))
	}
	return l, nil
}

// wanted tells what a client of the handshake era is to have of the lines that
// come over a connection. Where it has not said, "the server MAY decide": that
// holds as long as no other client has told the server what to send.
func wanted(from *caller, c *connection) level {
	if from.peer != nil {
		if l, ok := from.peer.belongings.logLevel(); ok {
			return l
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.level == silent {
		return everything
	}
	return info
}

// wanted tells what the client of a call is to have of the server's log.
func (e *relay) wanted(c *connection) level {
	if e.from.modern() {
		return e.level
	}
	return wanted(e.from, c)
}

// logged passes on a line of the server's log that tells no call: to the client
// whose own the connection is, to the one whose calls alone are in flight, else
// to our own log.
func (c *connection) logged(params json.RawMessage) {
	grave := gravity(params)
	var a *active
	several := false
	if c.isOpen() {
		a, several = c.only(nil)
	}
	if a != nil && a.from.emit != nil {
		if grave >= a.level {
			a.from.emit("notifications/message", params)
		}
		return
	}
	if owner := c.owner(); owner != nil && a == nil && !several {
		if grave >= wanted(&caller{peer: owner}, c) {
			owner.tell("notifications/message", params)
		}
		return
	}
	c.keepLine(grave, params)
}

// maxLine bounds what is kept of a line, in bytes.
const maxLine = 2000

// keepLine writes a line that can be nobody's to our own log.
func (c *connection) keepLine(grave level, params json.RawMessage) {
	to := slog.LevelDebug
	switch {
	case grave >= warning && grave < gravest:
		to = slog.LevelWarn
	case grave >= info:
		to = slog.LevelInfo
	}
	b := c.link.b
	b.p.log.Log(b.p.lifetime, to, "backend logged", "server", b.name, "line", string(params[:min(len(params), maxLine)]))
}

// logLevel gives the level that the client has asked for, false where it has not.
func (o *belongings) logLevel() (level, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.level, o.leveled
}

// setLevel serves logging/setLevel: the level is the session's, and the servers
// of the handshake era whose connections it uses are told.
func (p *Proxy) setLevel(ctx context.Context, r request) ([]byte, error) {
	params := r.params()
	at, err := rawjson.Field(params, "level")
	name, ok := "", false
	if err == nil && at.Present() {
		name, ok = rawjson.String(params, at)
	}
	l, known := parseLevel(name)
	if !ok || !known {
		return nil, invalid("params.level is not one of debug, info, notice, warning, error, critical, alert, emergency")
	}
	who := r.from.peer
	if who == nil {
		return []byte(`{}`), nil // nothing outlives the request
	}
	o := &who.belongings
	o.mu.Lock()
	o.level, o.leveled = l, true
	o.mu.Unlock()
	p.mu.Lock()
	if !o.ended.Load() { // else leave has been here
		p.levels[who] = l
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, b := range p.all() {
		c := o.to(b)
		if c == nil {
			c = b.common.Load()
		}
		if c != nil {
			wg.Go(func() { c.tellLevel(ctx, l) })
		}
	}
	wg.Wait()
	return []byte(`{}`), nil
}

// tellTime bounds how long a server may take to note a log level or a
// subscription.
const tellTime = 5 * time.Second

// tellLevel sees to it that a server of the handshake era sends lines from a
// level up. A modern one is told with each request.
func (c *connection) tellLevel(ctx context.Context, l level) {
	if c.modern() || !c.client.Info().Has("logging") {
		return
	}
	c.mu.Lock()
	before := c.level
	if l < before {
		c.level = l
	}
	c.mu.Unlock()
	if l >= before {
		return
	}
	telling, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	_, err := c.client.Transport().Call(telling, &runtime.Request{
		Method: "logging/setLevel", Params: json.RawMessage(`{"level":"` + levels()[l] + `"}`),
	})
	if err != nil {
		c.link.b.p.log.Debug("backend takes no log level", "server", c.link.b.name, "err", err)
	}
	if err != nil && ctx.Err() != nil { // the client's doing, and not the server's word
		c.mu.Lock()
		if c.level == l {
			c.level = before
		}
		c.mu.Unlock()
	}
}

// restoreLevel tells a server that was connected just now the most verbose level
// that a client of the connection has asked for.
func (c *connection) restoreLevel(ctx context.Context) {
	least := silent
	if owner := c.link.owner; owner != nil {
		if l, ok := owner.belongings.logLevel(); ok {
			least = l
		}
	} else {
		p := c.link.b.p
		p.mu.Lock()
		for _, l := range p.levels {
			least = min(least, l)
		}
		p.mu.Unlock()
	}
	if least < silent {
		c.tellLevel(ctx, least)
	}
}
