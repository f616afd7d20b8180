package runtime

import (
	"reflect"

	"github.com/mcpctl/mcpctl/internal/codec"
)

// Opt is a value that may be absent, null, or present, such as a JSON member that
// is neither required nor non-null. The zero value is absent. An Opt is immutable.
type Opt[T any] struct {
	// A pointer, so that a type may hold an Opt of itself. The codec knows both
	// fields by the tag.
	value *T `mcp:"opt"`
	null  bool
}

// Some returns a present value.
func Some[T any](v T) Opt[T] { return Opt[T]{value: &v} }

// Null returns an explicit null.
func Null[T any]() Opt[T] { return Opt[T]{null: true} }

// Get returns the value, and false where it is absent or null.
func (o Opt[T]) Get() (T, bool) {
	if o.value == nil {
		var zero T
		return zero, false
	}
	return *o.value, true
}

// IsNull reports whether the value is an explicit null.
func (o Opt[T]) IsNull() bool { return o.null }

// IsZero reports whether the value is absent, for the json option omitzero.
func (o Opt[T]) IsZero() bool { return o.value == nil && !o.null }

// Equal reports whether both are absent, both null, or both deeply equal
// values.
func (o Opt[T]) Equal(p Opt[T]) bool { return reflect.DeepEqual(o, p) }

// MarshalJSON returns the value, or null. An absent value has no JSON form: the
// object that holds it omits the member.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	b, err := codec.EncodeSelf(&o)
	return b, asFieldError(err)
}

// UnmarshalJSON reads null or a value.
func (o *Opt[T]) UnmarshalJSON(b []byte) error { return asFieldError(codec.DecodeSelf(b, o)) }
