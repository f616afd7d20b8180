package schema

import (
	"encoding/json"
	"errors"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// Embedded is a schema that generated code carries as text. It is parsed and
// compiled once, by the first check that needs it, and may be used
// concurrently.
type Embedded struct {
	load func() (*Schema, error)
}

// Lazy makes the embedded schema of a JSON text. It costs nothing until the
// first [Embedded.Check].
func Lazy(text string) Embedded {
	return Embedded{sync.OnceValues(func() (*Schema, error) { return Parse(json.RawMessage(text)) })}
}

// Check validates a raw JSON value. What is wrong with the value is a
// *[runtime.FieldError] at the first place that is wrong, in the order of the
// pointers; what is wrong with the schema itself an *[Error].
func (e Embedded) Check(raw []byte) error {
	s, err := e.load()
	if err != nil {
		return err
	}
	err = s.Validate(raw)
	var invalid *ValidationError
	if !errors.As(err, &invalid) || len(invalid.Issues) == 0 {
		return err
	}
	first := invalid.Issues[0]
	reason := first.Message
	if first.Near != "" {
		reason += "; did you mean " + first.Near + "?"
	}
	return &runtime.FieldError{Pointer: first.Pointer, Reason: reason}
}
