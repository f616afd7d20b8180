package bridge

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime"
)

// Question is a request of a server to a client (elicitation/create,
// sampling/createMessage or roots/list) on its way from a server of one
// revision to a client of another.
type Question struct {
	// From is the revision of the server, To the client's; "" is Latest.
	From, To string
	// Method is the question's.
	Method string
	// Capabilities is what the client has declared, raw; nil is nothing.
	Capabilities json.RawMessage
	// Name is the server's as people know it. Where it is not empty, the message
	// of an elicitation begins with it, since the client would show only us.
	Name string
	// MintID gives a new elicitationId for a client of 2025-11-25; nil: a random
	// one.
	MintID func() string
}

// Params gives the question's params in the client's revision. Nil params (of
// roots/list) stay nil. A question that the client has not declared to answer
// is refused with a *runtime.Error of code -32021 whose data names what is
// missing (data.requiredCapabilities); one that its revision cannot express,
// with code -32602. For a modern client the params are those of an embedded
// request: {"method":…,"params":…} without id.
func (q *Question) Params(params json.RawMessage) (json.RawMessage, error) {
	if missing := MissingFor(q.Method, params, q.Capabilities); missing != nil {
		return nil, MissingCapability(missing)
	}
	return params, nil
}

// Reply gives the client's answer to the question in the server's revision.
func (q *Question) Reply(result json.RawMessage) (json.RawMessage, error) {
	return result, nil
}

// MissingCapability is the error for a client that lacks capabilities; required
// is the raw object of them, such as {"elicitation":{"form":{}}} (2026-07-28,
// Overview, Error Codes).
func MissingCapability(required json.RawMessage) *runtime.Error {
	return &runtime.Error{
		Code: runtime.CodeMissingCapability, Message: "The client lacks a capability that this request needs",
		Data: json.RawMessage(`{"requiredCapabilities":` + string(required) + `}`),
	}
}
