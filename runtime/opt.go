package runtime

import (
	"reflect"

	"github.com/mcpctl/mcpctl/runtime/internal/codec"
)

// Opt is a value that may be absent, null, or there: what a JSON member that
// is neither required nor non-null can be. The zero value is absent. An Opt is
// not changed after it is made and may be shared.
type Opt[T any] struct {
	// A pointer, so that a type may hold an Opt of itself. The codec knows both
	// fields by the tag.
	value *T `mcp:"opt"`
	null  bool
}

// Some is a value that is there.
func Some[T any](v T) Opt[T] { return Opt[T]{value: &v} }

// Null is an explicit null.
func Null[T any]() Opt[T] { return Opt[T]{null: true} }

// Get gives the value, and false where it is absent or null.
func (o Opt[T]) Get() (T, bool) {
	if o.value == nil {
		var zero T
		return zero, false
	}
	return *o.value, true
}

// IsNull reports whether the value is an explicit null.
func (o Opt[T]) IsNull() bool { return o.null }

// IsZero reports whether the value is absent, which is what the json option
// omitzero asks.
func (o Opt[T]) IsZero() bool { return o.value == nil && !o.null }

// Equal reports whether both are absent, both null, or both deeply equal
// values.
func (o Opt[T]) Equal(p Opt[T]) bool { return reflect.DeepEqual(o, p) }

// MarshalJSON gives the value, or null. An absent value has no JSON form of
// its own: leaving its member out is up to the object that holds it.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	b, err := codec.EncodeSelf(&o)
	return b, asFieldError(err)
}

// UnmarshalJSON reads null or a value.
func (o *Opt[T]) UnmarshalJSON(b []byte) error { return asFieldError(codec.DecodeSelf(b, o)) }
