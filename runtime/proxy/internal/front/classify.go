package front

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
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

// Classify finds the parts of a message and returns what it is; no says why a
// Refused one is, and what to say of a Batch where none is taken. The parts of a
// batch are not looked for.
func Classify(text []byte, m *rawjson.Message) (kind Kind, no *Refusal) {
	if err := rawjson.Scan(text, m); err != nil {
		return unreadable(text, m, err)
	}
	if fault := router.Malformed(text, m); fault != "" {
		no = refused(http.StatusBadRequest, runtime.CodeInvalidRequest, "%s", fault)
		no.id = router.UsableID(m.ID.Of(text))
		return Refused, no
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
		no := refused(http.StatusBadRequest, runtime.CodeInvalidRequest, "%v", err)
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
			return Batch, no
		}
		return Refused, no
	}
	if dup, ok := errors.AsType[*rawjson.DuplicateError](err); ok {
		no := refused(http.StatusBadRequest, runtime.CodeInvalidRequest, "%v", err)
		no.id, no.ambiguous = router.DuplicateID(text, m, dup), true
		return Refused, no
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
