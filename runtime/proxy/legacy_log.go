package proxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// wanted returns what the client of a request is to have of the lines that come
// over a connection. Where one of the handshake era has not said, "the server MAY decide": that
// holds as long as no other client has told the server what to send.
func wanted(from *Origin, c *Conn) revision.Level {
	if from.modern() {
		return from.level
	}
	if from.client != nil {
		if l, ok := from.client.state.logLevel(); ok {
			return l
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.level == revision.LevelNone {
		return revision.LevelDebug
	}
	return revision.LevelInfo
}

// logged passes on a line of the server's log that tells no call: to the client
// whose own the connection is, to the one whose calls alone are in flight, else
// to our own log.
func (d *Desk) logged(c *Conn, params json.RawMessage) {
	grave := revision.LevelOf(params)
	var a *Active
	several := false
	if c.isOpened() {
		a, several = c.soleClient(nil)
	}
	if a != nil && a.from.emit != nil {
		if grave >= wanted(&a.from, c) {
			a.from.emit(revision.NotificationMessage, params)
		}
		return
	}
	if owner := c.owner(); owner != nil && a == nil && !several {
		if grave >= wanted(&Origin{client: owner}, c) {
			owner.tell(revision.NotificationMessage, params)
		}
		return
	}
	keepLine(c, grave, params)
}

// maxLine bounds what is kept of a line, in bytes.
const maxLine = 2000

// keepLine writes a line that can be nobody's to our own log.
func keepLine(c *Conn, grave revision.Level, params json.RawMessage) {
	to := slog.LevelDebug
	switch {
	case grave >= revision.LevelWarning && grave < revision.LevelEmergency:
		to = slog.LevelWarn
	case grave >= revision.LevelInfo:
		to = slog.LevelInfo
	}
	b := c.slot.backend
	b.log.Log(b.life, to, "backend logged", "line", string(params[:min(len(params), maxLine)]))
}

// setLevel serves logging/setLevel: the level is the session's, and the servers
// of the handshake era whose connections it uses are told.
func (d *Desk) setLevel(ctx context.Context, who *Client, params []byte) ([]byte, error) {
	at, err := rawjson.Field(params, "level")
	name, ok := "", false
	if err == nil && at.Present() {
		name, ok = rawjson.String(params, at)
	}
	l, known := revision.ParseLevel(name)
	if !ok || !known {
		return nil, invalid("params.level is not one of debug, info, notice, warning, error, critical, alert, emergency")
	}
	if who == nil {
		return []byte(`{}`), nil // nothing outlives the request
	}
	o := &who.state
	o.mu.Lock()
	o.level, o.hasLevel = l, true
	o.mu.Unlock()
	d.mu.Lock()
	if !o.ended.Load() { // else forget has been here
		d.levels[who] = l
	}
	d.mu.Unlock()
	var wg sync.WaitGroup
	for _, b := range d.set.all() {
		c := o.connTo(b)
		if c == nil {
			c = b.legacyShared.Load()
		}
		if c != nil {
			wg.Go(func() { tellLevel(ctx, c, l) })
		}
	}
	wg.Wait()
	return []byte(`{}`), nil
}

// tellLevel sees to it that a server of the handshake era sends lines from a
// level up. A modern one is told with each request.
func tellLevel(ctx context.Context, c *Conn, l revision.Level) {
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
		Method: "logging/setLevel", Params: json.RawMessage(`{"level":"` + l.String() + `"}`),
	})
	if err != nil {
		c.slot.backend.log.Debug("backend takes no log level", "err", err)
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
func (d *Desk) restoreLevel(ctx context.Context, c *Conn) {
	least := revision.LevelNone
	if owner := c.slot.owner; owner != nil {
		if l, ok := owner.state.logLevel(); ok {
			least = l
		}
	} else {
		d.mu.Lock()
		for _, l := range d.levels {
			least = min(least, l)
		}
		d.mu.Unlock()
	}
	if least < revision.LevelNone {
		tellLevel(ctx, c, least)
	}
}
