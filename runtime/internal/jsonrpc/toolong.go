package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

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
		c.peer.Malformed(nil, ErrTooLong)
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
