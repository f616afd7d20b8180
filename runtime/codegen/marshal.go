package codegen

import (
	"errors"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/runtime"
)

// Version2 is referred to by generated clients. A client generated for a newer
// runtime names a constant that an old one lacks, and so fails to compile with a
// line that names the upgrade.
const Version2 = true

// Marshal is the MarshalJSON of generated types. V is a pointer to the value,
// which saves a copy, or the value. The error is a [*runtime.FieldError].
//
// The tags of a struct's fields are those of [Unmarshal].
func Marshal(v any) ([]byte, error) {
	b, err := codec.EncodeSelf(v)
	return b, fieldError(err)
}

// Unmarshal is the UnmarshalJSON of generated types. V is the pointer to read
// into; after an error it holds some of the values. The error is a
// [*runtime.FieldError].
//
// The tags of struct fields:
//
//	A T        `json:"a"`                    required, not null
//	A *T       `json:"a,omitzero"`           may be absent
//	A *T       `json:"a" mcp:"null"`         required, may be null
//	A Opt[T]   `json:"a,omitzero"`           may be absent or null
//	A *T       `json:"a" mcp:"indirect"`     required, not null; a pointer only to break a circle
//	A T        `json:"-" name:"a,b"`         a name that the tag json cannot spell; json:",omitzero" where it may be absent
//	_ struct{} `name:"a" const:"\"x\""`      a constant
//	X map[string]T `json:"-" mcp:"rest"`     members without a field; mcp:"rest,lenient" in results
//	_ [0]func() `mcp:"closed"`              no members without a field
//	O json.RawMessage `json:"-" mcp:"other"` a value that is no object
//
// and of a tuple:
//
//	_ [0]func() `mcp:"tuple"`
//	V T        `mcp:"item"`                  mcp:"item,null": a pointer, may be null
//	V *T       `mcp:"item,optional"`         may be absent
//	_ struct{} `mcp:"item" const:"1"`        a constant
//	R []T      `mcp:"rest"`                  further items; none are allowed without it
//
// A generated struct has one of rest, closed and tuple.
func Unmarshal(b []byte, v any) error { return fieldError(codec.DecodeSelf(b, v)) }

// fieldError converts a fault of the codec.
func fieldError(err error) error {
	if f, ok := err.(*codec.Fault); ok { //nolint:errorlint // the codec does not wrap
		return (*runtime.FieldError)(f)
	}
	return err
}

// At prepends steps, member names and indices of items, to the place of an error.
// An error without a place is about the value itself.
func At(err error, steps ...any) error {
	if err == nil {
		return nil
	}
	var inner *runtime.FieldError
	if !errors.As(err, &inner) {
		inner = &runtime.FieldError{Reason: err.Error()}
	}
	return &runtime.FieldError{Pointer: codec.Pointer(steps...) + inner.Pointer, Reason: inner.Reason}
}
