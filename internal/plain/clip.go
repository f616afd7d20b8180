package plain

import "strings"

// Clip returns a text of more than n bytes as its first n, whole characters, with "…" behind.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
