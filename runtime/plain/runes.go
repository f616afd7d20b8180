package plain

import (
	"strings"
	"unicode"
)

// dropped reports whether a character is left out; before is the one that was
// kept before it, -1 for none.
//
// Dropped are all control characters but newline and tab, and the characters
// that Unicode calls default ignorable. Those have no glyph of their own, so
// they can hide in a name or carry text that only a program reads: the
// bidirectional controls (UAX #9, section 2), zero-width spaces and joiners, the
// soft hyphen, fillers, tag characters, variation selectors. The price is that
// joined sequences fall apart: a family of emoji into its members, words of
// Persian and of Indic scripts into another shape.
//
// The rule of Unicode (UAX #44, Default_Ignorable_Code_Point) is followed from
// its parts. Format characters that it leaves out, between U+FFF9 and U+FFFB
// and for hieroglyphs, have no glyph on a terminal either; those that do have
// one, as before numbers in Arabic, stay.
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

// takesStyle reports whether a character may be followed by one of them: a
// symbol, or one of the few other characters of emoji-variation-sequences.txt
// (UTS #51).
func takesStyle(r rune) bool {
	return r >= 0 && (unicode.IsSymbol(r) || strings.ContainsRune("#*0123456789\u203c\u2049\u2139\u3030", r))
}
