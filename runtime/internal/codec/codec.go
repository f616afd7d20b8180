package codec

import "errors"

var errUnfinished = errors.New("not written yet")

// Encode writes what v points to. Methods of its own type are used, if it has any.
func Encode(v any) ([]byte, error) { return nil, errUnfinished }

// Decode reads into what v points to. Methods of its own type are used, if it
// has any. After an error v holds some of the values.
func Decode(b []byte, v any) error { return errUnfinished }

// EncodeSelf is Encode for a MarshalJSON method: it is not called again.
func EncodeSelf(v any) ([]byte, error) { return nil, errUnfinished }

// DecodeSelf is Decode for an UnmarshalJSON method: it is not called again.
func DecodeSelf(b []byte, v any) error { return errUnfinished }
