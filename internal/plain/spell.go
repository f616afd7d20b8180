package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EscapeInvisible returns s with what [Text] removes written out, such as <U+200B zero width
// space>, and so are spaces other than the usual one, newlines but those that end a
// line, and bytes that are not UTF-8. Nothing is hidden in the result, which is safe
// to show on a terminal.
func EscapeInvisible(s string) string {
	if isClean(s) && !strings.ContainsFunc(s, odd) {
		return s
	}
	var b strings.Builder
	last := rune(-1)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<byte %02X>", s[i])
		case dropped(r, last) || odd(r):
			b.WriteString(spelled(r))
		default:
			b.WriteRune(r)
		}
		last = r
		i += n
	}
	return b.String()
}

// odd reports the spaces that look like another, or like none.
func odd(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }

// spelled returns the number and, where it is known, the name of a character.
func spelled(r rune) string {
	name := ""
	switch {
	case r >= 0xe0020 && r < 0xe007f:
		name = " tag " + string(r-0xe0000)
	case r >= 0xe0000 && r <= 0xe007f:
		name = " tag"
	case r >= 0xfe00 && r <= 0xfe0f:
		name = fmt.Sprintf(" variation selector %d", r-0xfe00+1)
	case r >= 0xe0100 && r <= 0xe01ef:
		name = fmt.Sprintf(" variation selector %d", r-0xe0100+17)
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		name = " control character"
	}
	if known := names()[r]; known != "" {
		name = " " + known
	}
	return fmt.Sprintf("<U+%04X%s>", r, name)
}

// names are those of the characters that are used to hide or reorder text, as
// Unicode has them, in lower case.
func names() map[rune]string {
	return map[rune]string{
		0x1b: "escape", 0xa0: "no-break space", 0xad: "soft hyphen", 0x34f: "combining grapheme joiner", 0x61c: "arabic letter mark",
		0x115f: "hangul choseong filler", 0x1160: "hangul jungseong filler", 0x180e: "mongolian vowel separator",
		0x2000: "en quad", 0x2001: "em quad", 0x2002: "en space", 0x2003: "em space", 0x2007: "figure space", 0x2009: "thin space", 0x200a: "hair space",
		0x200b: "zero width space", 0x200c: "zero width non-joiner", 0x200d: "zero width joiner",
		0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator", 0x2029: "paragraph separator",
		0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding", 0x202c: "pop directional formatting",
		0x202d: "left-to-right override", 0x202e: "right-to-left override", 0x202f: "narrow no-break space", 0x205f: "medium mathematical space",
		0x2060: "word joiner", 0x2061: "function application", 0x2062: "invisible times", 0x2063: "invisible separator", 0x2064: "invisible plus",
		0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "first strong isolate", 0x2069: "pop directional isolate",
		0x3000: "ideographic space", 0x3164: "hangul filler", 0xfeff: "zero width no-break space", 0xffa0: "halfwidth hangul filler",
	}
}
