package interaction

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Wanted returns the lowest level that the client of a request is to have of the
// lines that come over a connection. Where one of the handshake era has not said,
// "the server MAY decide": that holds as long as no other client has told the server
// what to send.
func Wanted(from *upstream.Caller, c *upstream.Conn) revision.Level {
	if from.Modern() {
		return from.Level
	}
	if from.Client != nil {
		if l, ok := from.Client.State.LogLevel(); ok {
			return l
		}
	}
	if c.Level() == revision.LevelNone {
		return revision.LevelDebug
	}
	return revision.LevelInfo
}

// Logged passes on a line of the server's log that names no call: to the client
// whose own the connection is, to the one whose calls alone are in flight, else
// to our own log.
func (d *ServerRequests) Logged(c *upstream.Conn, params json.RawMessage) {
	grave := revision.LevelOf(params)
	var a *upstream.Active
	several := false
	if c.IsOpened() {
		a, several = c.SoleClient(c.BegunAtRead(), nil)
	}
	if a != nil && a.From.Emit != nil {
		if grave >= Wanted(&a.From, c) {
			a.From.Emit(revision.NotificationMessage, params)
		}
		return
	}
	if owner := c.Owner(); owner != nil && a == nil && !several {
		if grave >= Wanted(&upstream.Caller{Client: owner}, c) {
			owner.Tell(revision.NotificationMessage, params)
		}
		return
	}
	keepLine(c, grave, params)
}

// maxLine bounds what is kept of a line, in bytes.
const maxLine = 2000

// keepLine writes a line that can be nobody's to our own log.
func keepLine(c *upstream.Conn, grave revision.Level, params json.RawMessage) {
	to := slog.LevelDebug
	switch {
	case grave > revision.LevelWarning && grave <= revision.LevelEmergency:
		to = slog.LevelError
	case grave == revision.LevelWarning:
		to = slog.LevelWarn
	case grave >= revision.LevelInfo:
		to = slog.LevelInfo
	}
	b := c.Slot.Backend
	b.Log.Log(b.Set.Lifetime, to, "backend logged", "line", string(params[:min(len(params), maxLine)]))
}

// SetLevel serves logging/setLevel: the level is the session's, and the servers
// of the handshake era whose connections it uses are told.
func (d *ServerRequests) SetLevel(ctx context.Context, client *upstream.Client, params []byte) ([]byte, error) {
	at, err := rawjson.Field(params, "level")
	name, ok := "", false
	if err == nil && at.Present() {
		name, ok = rawjson.String(params, at)
	}
	l, known := revision.ParseLevel(name)
	if !ok || !known {
		return nil, upstream.Invalid("params.level is not one of debug, info, notice, warning, error, critical, alert, emergency")
	}
	if client == nil {
		return []byte(`{}`), nil // nothing outlives the request
	}
	st := &client.State
	st.SetLogLevel(l)
	d.mu.Lock()
	if !st.Ended.Load() { // else Forget has been here
		d.levels[client] = l
	}
	d.mu.Unlock()
	var wg sync.WaitGroup
	for _, b := range d.set.All() {
		c := st.ConnTo(b)
		if c == nil {
			c = b.LegacyShared.Load()
		}
		if c != nil {
			wg.Go(func() { TellLevel(ctx, c, l) })
		}
	}
	wg.Wait()
	return []byte(`{}`), nil
}

// TellLevel asks a server of the handshake era to send lines from a level up. A modern
// one is told with each request.
func TellLevel(ctx context.Context, c *upstream.Conn, l revision.Level) {
	if c.Modern() || !c.Client.Info().Has("logging") {
		return
	}
	revert, ok := c.LowerLevel(l)
	if !ok {
		return
	}
	telling, cancel := context.WithTimeout(ctx, limits.TellTime)
	defer cancel()
	_, err := c.Client.Transport().Call(telling, &runtime.Request{
		Method: "logging/setLevel", Params: json.RawMessage(`{"level":"` + l.String() + `"}`),
	})
	if err == nil {
		return
	}
	c.Slot.Backend.Log.Debug("backend takes no log level", "err", err)
	if ctx.Err() != nil { // the client's doing, and not the server's word
		revert()
	}
}

// RestoreLevel sends a server that was connected just now the most verbose level
// that a client of the connection has asked for.
func (d *ServerRequests) RestoreLevel(ctx context.Context, c *upstream.Conn) {
	least := revision.LevelNone
	if owner := c.Slot.Owner; owner != nil {
		if l, ok := owner.State.LogLevel(); ok {
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
		TellLevel(ctx, c, least)
	}
}
