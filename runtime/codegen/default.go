package codegen

import (
	"reflect"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/runtime"
)

// Default puts v in place of an absent member.
func Default[T any](member **T, v T) {
	if *member == nil {
		*member = &v
	}
}

// DefaultOpt puts v in place of an absent member; null stays.
func DefaultOpt[T any](member *runtime.Opt[T], v T) {
	if member.IsZero() {
		*member = runtime.Some(v)
	}
}

// DefaultJSON puts a value, given as JSON, in place of an absent member, which is
// zero. A value that the member's type cannot hold is ignored.
func DefaultJSON[T any](member *T, text string) {
	if !reflect.ValueOf(member).Elem().IsZero() {
		return
	}
	v := new(T)
	if codec.Decode([]byte(text), v) == nil {
		*member = *v
	}
}
