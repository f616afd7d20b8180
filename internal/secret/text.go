package secret

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Redacted is what is shown in place of a secret.
const Redacted = "[redacted]"

// Text is a secret text. Package fmt, package log/slog and encoders show
// [Redacted] in its place, and nothing for an empty text. The zero value is
// empty. Compare texts by [Text.Equal]; == compares their addresses.
type Text struct {
	// A pointer: fmt cannot call the methods of a value in an unexported field of
	// another type, and prints the address then.
	p *string
}

// New returns a secret text.
func New(text string) Text {
	if text == "" {
		return Text{}
	}
	return Text{&text}
}

// Reveal returns the secret itself.
func (t Text) Reveal() string {
	if t.p == nil {
		return ""
	}
	return *t.p
}

// IsZero reports whether the text is empty, for omitzero.
func (t Text) IsZero() bool { return t.p == nil }

// Equal reports whether two texts are the same, in a time that depends only on
// their lengths.
func (t Text) Equal(o Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(o.Reveal())) == 1
}

// String returns [Redacted], or "" for an empty text.
func (t Text) String() string {
	if t.IsZero() {
		return ""
	}
	return Redacted
}

// GoString returns String in quotes, for %#v.
func (t Text) GoString() string { return fmt.Sprintf("%q", t.String()) }

// Format implements [fmt.Formatter]: all verbs are those of String.
func (t Text) Format(f fmt.State, verb rune) {
	text := t.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = t.GoString()
	}
	_, _ = io.WriteString(f, text) // package fmt takes everything
}

// LogValue implements [slog.LogValuer].
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalJSON returns String as JSON.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// MarshalText returns String.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
