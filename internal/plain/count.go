package plain

import (
	"fmt"
	"strconv"
)

// Count returns a number and a noun: 1 server, 2 servers, 0 entries. noun is the
// singular of a regular English noun.
func Count(n int, noun string) string {
	text := strconv.Itoa(n) + " " + noun
	if n == 1 {
		return text
	}
	if last := len(noun) - 1; noun[last] == 'y' && !isVowel(noun[last-1]) {
		return text[:len(text)-1] + "ies"
	}
	return text + "s"
}

func isVowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' }

// Thousands writes a number with a comma before each three digits.
func Thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}
