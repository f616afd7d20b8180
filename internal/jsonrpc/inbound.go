package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpctl/mcpctl/internal/rawjson"
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
		c.refused = c.peer.Malformed(line, err)
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
		c.refused = c.peer.Malformed(line, errors.New("neither a request nor an answer to one"))
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
	if len(raw) == 0 {
		return 0, false
	}
	number := raw
	if raw[0] == '"' {
		number = bytes.Trim(raw, `"`)
	}
	if n, err := strconv.ParseUint(string(number), 10, 64); err == nil {
		return n, true
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
		c.refused = c.peer.Malformed(line, errors.New("method is not a string"))
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

// tooLong ends what waits for a message that was too long to be read, as far as
// its beginning or end tell what that is; where they do not, and one call alone
// is pending, it is taken for that one's answer. Nobody waits for nothing.
func (c *inbound) tooLong(head, tail []byte) *Writer {
	id, request := envelope(head)
	if id == nil {
		id = lastID(tail)
	}
	if request && id != nil {
		_ = (*Conn)(c).RespondError(id, ErrorObject(-32600, "the message is too long", nil)) // a peer that is gone needs no answer
		return nil
	}
	n, ok := uint64(0), false
	if id != nil {
		n, ok = c.answered(id)
	}
	c.mu.Lock()
	if id == nil && len(c.pending) == 1 {
		for n = range c.pending {
			ok = true
		}
	}
	p, found := c.pending[n]
	if ok = ok && found; ok {
		delete(c.pending, n)
	}
	c.received = true
	c.mu.Unlock()
	if !ok {
		c.refused = c.peer.Malformed(nil, ErrTooLong)
		return nil
	}
	return p.receiver.Finish(Answer{Err: fmt.Errorf("the answer: %w", ErrTooLong)})
}

// ErrUnreadable is an answer that is no valid message, but whose beginning tells
// which call it is the answer to.
var ErrUnreadable = errors.New("the answer cannot be read")

// unreadable ends the call that a line is the answer to which cannot be read:
// nothing better will come. What does not begin as a message is none.
func (c *inbound) unreadable(line []byte, cause error) *Writer {
	head := line[:min(len(line), ends)]
	if !bytes.Contains(head, []byte(`"jsonrpc"`)) {
		return nil
	}
	id, request := envelope(head)
	if request || id == nil {
		return nil
	}
	n, ok := c.answered(id)
	if !ok {
		return nil
	}
	p, ok := (*Conn)(c).take(n)
	if !ok {
		return nil
	}
	return p.receiver.Finish(Answer{Err: fmt.Errorf("%w: %w", ErrUnreadable, cause)})
}

// envelope reads the members at the beginning of a message up to the first that
// is neither text nor number: its id, nil for none, and whether it is a request.
func envelope(head []byte) (id []byte, request bool) {
	d := jsontext.NewDecoder(bytes.NewReader(head))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return id, request
		}
		member := name.String()
		if kind := d.PeekKind(); kind != '"' && kind != '0' {
			return id, request
		}
		value, err := d.ReadValue()
		if err != nil {
			return id, request
		}
		switch member {
		case "id":
			id = bytes.Clone(value)
		case "method":
			request = true
		}
	}
}

// lastID returns the id where it is the last member of a message, but for its
// version; nil otherwise. The bracket at the end closes the message, so what
// stands before it cannot be inside of anything.
func lastID(tail []byte) []byte {
	m := regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`).FindSubmatch(tail)
	if m == nil {
		return nil
	}
	return bytes.Clone(m[1])
}
