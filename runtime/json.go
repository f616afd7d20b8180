package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/mcpctl/mcpctl/runtime/internal/codec"
)

// JSON reads a result as a T: its structured content, or without one the first
// text block that is JSON and fits T. It is for tools that promise no form of
// their results, so T is the caller's guess: that it is wrong is no fault of
// the server, and the error, often a [*FieldError] inside, says where.
//
// Types of generated packages are read as in calls that return them. Of others
// encoding/json decides; it ignores members that T does not have.
func JSON[T any](r *ToolResult) (T, error) {
	var zero T
	err := errors.New("neither structuredContent nor JSON as text")
	for _, raw := range jsonOf(r) {
		var v T
		failure := codec.Decode(raw, &v)
		if failure == nil {
			return v, nil
		}
		err = asFieldError(failure)
	}
	return zero, fmt.Errorf("result as %s: %w", reflect.TypeFor[T](), err)
}

// jsonOf gives what of a result may be read as JSON.
func jsonOf(r *ToolResult) []json.RawMessage {
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
