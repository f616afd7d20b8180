package runtime

import "strconv"

// What JSON Schema's format says of a string is an annotation: values that
// break it are values all the same. The types of these strings therefore keep
// the text as it is, whatever it is; Valid tells whether it keeps to the
// format, and the other methods read it.

// formatError says that a text is not of the format its type is called after.
func formatError(want, text string) error {
	const limit = 60
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return &FieldError{Reason: strconv.QuoteToGraphic(text) + " is not " + want}
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
