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
// empty. Texts are compared by [Text.Equal]; == compares where they are kept.
type Text struct {
	// A pointer: fmt cannot call the methods of a value in an unexported field of
	// another type. It prints the address then.
	p *string
}

// New makes a secret of a text.
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

// IsZero reports whether the text is empty, as omitzero asks.
func (t Text) IsZero() bool { return t.p == nil }

// Equal reports whether two texts are the same. How long it takes tells nothing
// but their lengths.
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

// GoString is String in quotes, for %#v.
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

// MarshalJSON writes String as JSON.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// MarshalText gives String.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
