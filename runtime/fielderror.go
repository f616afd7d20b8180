package runtime

import "github.com/mcpctl/mcpctl/runtime/internal/codec"

// FieldError says that a value does not have the form that a schema wants. It
// is what the Validate methods of generated types give, and what a call gives
// before anything is sent.
type FieldError struct {
	// Pointer is where, as a JSON pointer (RFC 6901) from the arguments or the
	// result; "" is the whole value. For a missing member it points where the
	// member should be.
	Pointer string
	// Reason says what is wrong there, without naming the place.
	Reason string
}

// Error gives the place and the reason.
func (e *FieldError) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return "at " + e.Pointer + ": " + e.Reason
}

// asFieldError gives a failure of the codec the type that callers know.
func asFieldError(err error) error {
	if f, ok := err.(*codec.Fault); ok { //nolint:errorlint // the codec does not wrap
		return (*FieldError)(f)
	}
	return err
}
