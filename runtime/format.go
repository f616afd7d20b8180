package runtime

import "strconv"

// JSON Schema's format is an annotation: values that violate it are still valid.
// The types of these strings therefore keep any text; Valid reports whether it has
// the format, and the other methods parse it.

// formatError returns the error of a text without the format of its type.
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
