package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// inbound is the side of a Conn that its reader calls.
type inbound Conn

// close fails everything that is pending, and whatever comes.
func (c *inbound) close(cause error) {
	if errors.Is(cause, io.EOF) {
		cause = ErrClosed
	}
	c.mu.Lock()
	if c.closed == nil {
		c.closed = ErrClosed // finding out why may take a while: nothing more is sent meanwhile
	}
	c.mu.Unlock()
	err := c.peer.Closed(cause)
	if err == nil {
		err = ErrClosed
	}
	c.mu.Lock()
	c.closed = err
	all := c.pending
	c.pending = map[uint64]pending{}
	if c.sweeper != nil {
		c.sweeper.Stop()
	}
	c.mu.Unlock()
	for _, p := range all {
		if w := p.receiver.Finish(Answer{Err: err}); w != nil {
			w.Flush()
		}
	}
}

// message handles one line, read at now, and returns the output that it has
// dirtied. Of one in which the input ended, the end says more than what is
// missing.
func (c *inbound) message(line []byte, now time.Time, cut bool) *Writer {
	var m rawjson.Message
	if err := rawjson.Scan(line, &m); err != nil {
		c.peer.Malformed(line, err)
		if cut {
			return nil
		}
		return c.unreadable(line, err)
	}
	if m.Method.Present() {
		return c.incoming(line, &m)
	}
	// Servers of JSON-RPC 1.0 stock send the other member as null.
	if m.Result.Present() && m.Error.Present() {
		if string(m.Error.Of(line)) == "null" {
			m.Error = rawjson.Span{}
		} else if string(m.Result.Of(line)) == "null" {
			m.Result = rawjson.Span{}
		}
	}
	id, ok := c.answered(m.ID.Of(line))
	if !ok || m.Result.Present() == m.Error.Present() {
		c.peer.Malformed(line, errors.New("neither a request nor an answer to one"))
		return nil
	}
	c.mu.Lock()
	p, ok := c.pending[id]
	delete(c.pending, id)
	c.received = true
	c.mu.Unlock()
	if !ok {
		return nil // late or unknown: specification says to ignore it
	}
	object := m.Error.Of(line)
	if object != nil && c.errors != nil {
		object = c.errors(object)
	}
	return p.receiver.Finish(Answer{Result: m.Result.Of(line), Error: object, At: now})
}

// answered returns the call that a raw id stands for.
func (c *inbound) answered(raw []byte) (uint64, bool) {
	if n, err := strconv.ParseUint(string(bytes.Trim(raw, `"`)), 10, 64); err == nil {
		return n, true
	}
	if len(raw) == 0 {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.pending {
		if bytes.Equal(p.text, raw) {
			return id, true
		}
	}
	return 0, raw[0] == '"' // a late answer to a text id
}

func (c *inbound) incoming(line []byte, m *rawjson.Message) *Writer {
	method, ok := rawjson.String(line, m.Method)
	if !ok {
		c.peer.Malformed(line, errors.New("method is not a string"))
		return nil
	}
	c.mu.Lock()
	c.received = true
	c.mu.Unlock()
	params := m.Params.Of(line)
	if m.ID.Present() {
		c.peer.Request(m.ID.Of(line), method, params)
		return nil
	}
	if method == "notifications/progress" {
		if w, ok := c.progress(m.ProgressToken.Of(line), method, params); ok {
			return w
		}
	}
	c.peer.Notification(method, params)
	return nil
}

// progress hands a progress message to the call it belongs to and re-arms that
// call's deadline.
func (c *inbound) progress(token []byte, method string, params []byte) (*Writer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := strconv.ParseUint(string(token), 10, 64)
	p, ok := c.pending[id]
	if err != nil || !ok || p.token != nil {
		ok = false
		for id, p = range c.pending {
			if p.token != nil && bytes.Equal(p.token, token) {
				ok = true
				break
			}
		}
	}
	if !ok {
		return nil, false
	}
	if p.limit > 0 {
		(*Conn)(c).rearm(id, p)
	}
	return p.receiver.Event(method, params), true
}
