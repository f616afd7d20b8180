package plain

import (
	"strings"
	"testing"
)

// TestSpell: nothing is hidden in the result, which Text leaves as it is, and two texts
// that differ differ in it.
func TestSpell(t *testing.T) {
	seen := map[string]rune{}
	for _, r := range []rune{'a', 'é', '日', '\n', '\t', ' ', 0, 7, 0x1b, 0x7f, 0x9b, 0xa0, 0xad, 0x200b, 0x200d, 0x202e, 0x2028, 0x2066, 0x3000, 0xfe00, 0xfeff, 0xe0041, 0xe0001, 0xe0100} {
		got := EscapeInvisible("x" + string(r) + "y")
		if Text(got) != got || strings.ContainsFunc(got, odd) {
			t.Errorf("U+%04X: something is hidden in %q", r, got)
		}
		if other, twice := seen[got]; twice {
			t.Errorf("U+%04X and U+%04X are both %q", r, other, got)
		}
		seen[got] = r
	}
	for text, want := range map[string]string{
		"plain":           "plain",
		"a\xffb":          "a<byte FF>b",
		"\U000e0041":      "<U+E0041 tag A>",
		"\u200b":          "<U+200B zero width space>",
		"\ufe01":          "<U+FE01 variation selector 2>",
		"1\ufe0f":         "1\ufe0f",
		"\x1b[31mred":     "<U+001B escape>[31mred",
		"a\u00a0b\u2003c": "a<U+00A0 no-break space>b<U+2003 em space>c",
	} {
		if got := EscapeInvisible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
