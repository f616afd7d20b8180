package codec

import (
	"unicode/utf16"
	"unicode/utf8"
)

// plainByte reports whether a byte stands for itself in a JSON string.
func plainByte(c byte) bool { return c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf }

// appendString writes s as a JSON string with no escapes but the necessary;
// what is no UTF-8 becomes U+FFFD.
func appendString[T string | []byte](out []byte, s T) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainByte(c) {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			// At most four bytes are a rune; the conversion does not leave the stack.
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && size == 1 {
				out = append(out, s[start:i]...)
				out = append(out, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		out = append(out, s[start:i]...)
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	out = append(out, s[start:]...)
	return append(out, '"')
}

// unescape appends the text of a JSON string's inside, which has been scanned.
// Half a surrogate pair and what is no UTF-8 become U+FFFD.
func unescape(out, in []byte) []byte {
	for i := 0; i < len(in); {
		c := in[i]
		switch {
		case c == '\\':
			i++
			if in[i] != 'u' {
				out = append(out, unescaped(in[i]))
				i++
				continue
			}
			r := hexRune(in[i+1:])
			i += 5
			if utf16.IsSurrogate(r) {
				second := rune(-1)
				if i+5 < len(in) && in[i] == '\\' && in[i+1] == 'u' {
					second = hexRune(in[i+2:])
				}
				if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRune(in[i:])
			out = utf8.AppendRune(out, r)
			i += size
		}
	}
	return out
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c // one of " \ /
	}
}

// hexRune reads four hexadecimal digits.
func hexRune(in []byte) rune {
	var r rune
	for _, c := range in[:4] {
		r = r<<4 | rune(hexValue(c))
	}
	return r
}

// hexValue returns a hexadecimal digit's value, or 16.
func hexValue(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}
