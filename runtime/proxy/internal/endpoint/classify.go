package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// Kind is what a client has sent.
type Kind uint8

// The kinds. Refused is no message; nor is a Batch where batches are not taken.
const (
	Refused Kind = iota
	Batch
	Answer
	Notification
	Request
)

// Classify finds the parts of a message and returns what it is; refusal says why a
// Refused one is, and what to say of a Batch where none is taken. The parts of a
// batch are not looked for.
func Classify(text []byte, m *rawjson.Message) (kind Kind, refusal *Refusal) {
	if err := rawjson.Scan(text, m); err != nil {
		return unreadable(text, m, err)
	}
	if fault := malformed(text, m); fault != "" {
		refusal = refused(http.StatusBadRequest, runtime.CodeInvalidRequest, "%s", fault)
		refusal.id = usableID(m.ID.Of(text))
		return Refused, refusal
	}
	switch {
	case !m.Method.Present():
		return Answer, nil
	case !m.ID.Present():
		return Notification, nil
	}
	return Request, nil
}

// unreadable is Classify for what [rawjson.Scan] does not take.
func unreadable(text []byte, m *rawjson.Message, err error) (Kind, *Refusal) {
	if errors.Is(err, rawjson.ErrNotObject) {
		refusal := refused(http.StatusBadRequest, runtime.CodeInvalidRequest, "%v", err)
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
			return Batch, refusal
		}
		return Refused, refusal
	}
	if dup, ok := errors.AsType[*rawjson.DuplicateError](err); ok {
		refusal := refused(http.StatusBadRequest, runtime.CodeInvalidRequest, "%v", err)
		refusal.id, refusal.ambiguous = duplicateID(text, m, dup), true
		return Refused, refusal
	}
	return Refused, refused(http.StatusBadRequest, runtime.CodeParseError, "parse error: %v", err)
}

// Refusal is why a message is not served, with the HTTP status for it.
type Refusal struct {
	Status    int
	id        []byte // of the message, raw; nil: unknown
	object    []byte // the error
	ambiguous bool   // a member stands twice
}

func refused(status int, code int64, format string, a ...any) *Refusal {
	return &Refusal{Status: status, object: jsonrpc.ErrorObject(code, fmt.Sprintf(format, a...), nil)}
}

// Frame returns the refusal as an answer.
func (r *Refusal) Frame() []byte { return jsonrpc.AppendError(nil, r.id, r.object) }

// Invalid returns the answer to a request that is not one to serve; id may be nil.
func Invalid(id []byte, message string) []byte {
	return jsonrpc.AppendError(nil, id, jsonrpc.ErrorObject(runtime.CodeInvalidRequest, message, nil))
}

// malformed returns why a message is no JSON-RPC message, "" if it is one. "The
// ID MUST NOT be null", nor anything but a string or a number (2025-11-25,
// Base Protocol, Requests).
func malformed(line []byte, m *rawjson.Message) string {
	switch {
	case !m.Method.Present() && !m.Result.Present() && !m.Error.Present():
		return "neither a request nor an answer to one"
	case m.Method.Present() && m.ID.Present() && usableID(m.ID.Of(line)) == nil:
		return "id is neither a string nor a number"
	}
	return ""
}

// usableID returns an id that an answer can carry, nil for any other value.
func usableID(id []byte) []byte {
	if len(id) > 0 && (id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9') {
		return id
	}
	return nil
}

// duplicateID returns the id to refuse a message with that has a member twice.
func duplicateID(line []byte, m *rawjson.Message, dup *rawjson.DuplicateError) []byte {
	if dup.Member == "id" {
		return nil
	}
	return usableID(m.ID.Of(line))
}
