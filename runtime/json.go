package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/mcpctl/mcpctl/internal/codec"
)

// JSON decodes a result as a T: its structured content, or without one the first
// text block that is JSON and fits T. It is for tools without an output schema, so T
// is the caller's guess; the error of a wrong one, often with a [*FieldError]
// inside, says where.
//
// Types of generated packages are decoded as in calls that return them, others by
// encoding/json, which ignores members that T does not have.
func JSON[T any](r *ToolResult) (T, error) {
	var zero T
	err := errors.New("neither structuredContent nor JSON as text")
	for _, raw := range r.json() {
		var v T
		failure := codec.Decode(raw, &v)
		if failure == nil {
			return v, nil
		}
		err = asFieldError(failure)
	}
	return zero, fmt.Errorf("result as %s: %w", reflect.TypeFor[T](), err)
}

// json returns the parts of a result that may be JSON.
func (r *ToolResult) json() []json.RawMessage {
	switch {
	case r == nil:
		return nil
	case r.Structured != nil:
		return []json.RawMessage{r.Structured}
	}
	var out []json.RawMessage
	for i := range r.Content {
		if c := &r.Content[i]; c.Type == "text" && json.Valid([]byte(c.Text)) {
			out = append(out, json.RawMessage(c.Text))
		}
	}
	return out
}
