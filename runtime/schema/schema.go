// Package schema reads the JSON Schemas that tools declare for their arguments
// and results, answers what a value at some place may look like, and validates
// raw JSON against them.
//
//	s, err := schema.Parse(tool.InputSchema)
//	if err != nil {
//		return err
//	}
//	err = s.Validate(json.RawMessage(`{"title":"A crash"}`))
//
// A value that does not fit is a [*ValidationError] with one [Issue] for each place. A schema that
// cannot be read is an [*Error].
//
// The dialect is 2020-12 unless "$schema" declares another one of draft-04 to
// 2020-12; a declared dialect that is none of them is an error (2026-07-28,
// Tools, "JSON Schema Usage"). Nothing is ever fetched: a "$ref" that leaves
// the document is an error. "format" is an annotation in every dialect. A
// "pattern" that is no regular expression of ECMA-262, or takes more than a
// tenth of a second, is not checked: a server knows better than a client which
// value it takes.
//
// Numbers keep every digit. Depth and size of schemas, digits of numbers, and
// the work of one validation are bounded. A *Schema may be used concurrently.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// Schema is one parsed schema.
type Schema struct {
	root    any                      // *object or bool
	remotes func(string) (any, bool) // set by tests alone; nil is nothing beyond the schema

	once   sync.Once
	rule   *rule
	tracks bool // see run
	err    error
}

// Error says that a schema itself cannot be used. It is the server's fault.
type Error struct {
	Err error
}

// Error returns the cause.
func (e *Error) Error() string { return "schema: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitKind is the kind of failure on a command line.
func (e *Error) ExitKind() string { return "protocol" }

// Parse reads a schema: a JSON object or a boolean. Nil and empty bytes are the
// schema that allows everything. Whether the schema is sound is found out by
// the first [Schema.Validate]; what can be said without is available before.
func Parse(raw json.RawMessage) (*Schema, error) {
	if len(raw) == 0 {
		return &Schema{root: true}, nil
	}
	if len(raw) > maxSchemaBytes {
		return nil, &Error{fmt.Errorf("%d bytes, more than %d", len(raw), maxSchemaBytes)}
	}
	v, err := decode(raw, maxSchemaDepth, maxSchemaValues)
	if err != nil {
		return nil, &Error{err}
	}
	switch v.(type) {
	case *object, bool:
		return &Schema{root: v}, nil
	}
	return nil, &Error{errors.New("neither an object nor a boolean")}
}

// Sound reports whether values can be validated against the schema: an *[Error]
// says why not, such as a keyword that has no meaning or a "$ref" to something
// outside the document. The work is kept for [Schema.Validate].
func (s *Schema) Sound() error {
	s.once.Do(func() {
		lib := &library{resources: map[string]*resource{}, homes: map[*object]place{}, remotes: s.remotes}
		s.rule, s.tracks, s.err = lib.compileRoot(normalized(s.root))
	})
	return s.err
}

// Checkable reports whether a pattern is one that [Schema.Validate] holds texts
// to; any text passes one that is not.
func Checkable(p string) bool { return knownPattern(p) }

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
