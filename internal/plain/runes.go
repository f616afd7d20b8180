package plain

import (
	"strings"
	"unicode"
)

// dropped reports whether a character is removed; before is the one that was
// kept before it, -1 for none.
//
// Dropped are all control characters but newline and tab, and the characters
// that Unicode calls default ignorable. Those have no glyph of their own, so
// they can hide in a name or carry text that only a program reads: the
// bidirectional controls (UAX #9, section 2), zero-width spaces and joiners, the
// soft hyphen, fillers, tag characters, variation selectors. The price is that
// joined sequences break: a family of emoji shows as its members, and words of
// Persian and Indic scripts change shape.
//
// The list follows the parts of Unicode's rule (UAX #44,
// Default_Ignorable_Code_Point). Format characters outside it, U+FFF9 to U+FFFB
// and those for hieroglyphs, have no glyph on a terminal either; those with one,
// such as before numbers in Arabic, stay.
func dropped(r, before rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0:
		return false
	case r == textStyle || r == emojiStyle:
		return !takesStyle(before)
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// The variation selectors that choose between the two looks of an emoji.
const (
	textStyle  = 0xfe0e
	emojiStyle = 0xfe0f
)

// takesStyle reports whether a selector may follow a character: a symbol, or one
// of the few others in emoji-variation-sequences.txt (UTS #51).
func takesStyle(r rune) bool {
	return r >= 0 && (unicode.IsSymbol(r) || strings.ContainsRune("#*0123456789\u203c\u2049\u2139\u3030", r))
}

// IsHidden reports whether [Text] removes a character; before is the one that stands
// before it, -1 for none.
func IsHidden(r, before rune) bool { return dropped(r, before) }
