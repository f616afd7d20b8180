package runtime

import "github.com/mcpctl/mcpctl/internal/codec"

// FieldError says that a value does not match its schema. The Validate methods of
// generated types return it, and so do calls, before anything is sent.
type FieldError struct {
	// Pointer is the place, as a JSON pointer (RFC 6901) from the arguments or the
	// result; "" is the whole value. For a missing member it is where the member
	// should be.
	Pointer string
	// Reason is what is wrong, without the place.
	Reason string
}

// Error returns the place and the reason.
func (e *FieldError) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return "at " + e.Pointer + ": " + e.Reason
}

// asFieldError converts a fault of the codec.
func asFieldError(err error) error {
	if f, ok := err.(*codec.Fault); ok { //nolint:errorlint // the codec does not wrap
		return (*FieldError)(f)
	}
	return err
}
