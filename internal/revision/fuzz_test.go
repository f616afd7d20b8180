package revision

import (
	"strings"
	"testing"
)

// FuzzHeader: what is written as a header comes back, and is fit for one.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"", "a", " a", "é", "=?base64?YQ==?=", "=?base64?", "a\r\nb: c", "\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value := EncodeHeader(text)
		for i := range len(value) {
			if value[i] < ' ' || value[i] > '~' {
				t.Fatalf("%q is written as %q", text, value)
			}
		}
		if got, err := DecodeHeader(value); err != nil || got != text || value != strings.TrimSpace(value) {
			t.Errorf("%q is written as %q, and read as %q %v", text, value, got, err)
		}
		_, _ = DecodeHeader(text)
	})
}
