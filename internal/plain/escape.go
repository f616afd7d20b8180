package plain

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Escape returns JSON, or lines of a log, with the same meaning and without what
// [Text] removes: a character of a string is written as \uXXXX, a carriage return
// between values becomes a space, and bytes that are not UTF-8 become U+FFFD.
func Escape(text []byte) []byte {
	if isClean(string(text)) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	last := rune(-1) // written last, -1 for an escape
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		i += n
		switch {
		case r == '\r':
			out = append(out, ' ')
		case !dropped(r, last):
			out = utf8.AppendRune(out, r)
			last = r
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out, last = appendHex(appendHex(out, high), low), -1
		default:
			out, last = appendHex(out, r), -1
		}
	}
	return out
}

func appendHex(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
