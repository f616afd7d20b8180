package access

import (
	"fmt"
	"strings"
)

// strongBits is what a secret must have at least.
const strongBits = 128

// WeakSecret returns why a secret could be guessed, "" where it could not: it is one of
// those that examples have, or is too short to have 128 bits. The bits are the most that
// a text of its length and its kinds of characters can have.
func WeakSecret(text string) (reason string) {
	if text == "" {
		return "it is empty"
	}
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(text))
	for _, known := range []string{"changeme", "changethis", "replaceme", "password", "secret", "mysecret", "clientsecret", "example", "default", "placeholder", "todo", "xxx"} {
		if plain == known || plain != "" && strings.ReplaceAll(plain, known, "") == "" {
			return "it is a value from examples"
		}
	}
	const fewest = 8
	if distinct := distinctBytes(text); distinct < fewest {
		return fmt.Sprintf("it has only %d different characters", distinct)
	}
	if bits := int(bitsOf(text) * float64(len(text))); bits < strongBits {
		return fmt.Sprintf("it has at most %d bits, and %d are required", bits, strongBits)
	}
	return ""
}

func distinctBytes(text string) (n int) {
	var seen [256]bool
	for i := range len(text) {
		if !seen[text[i]] {
			seen[text[i]] = true
			n++
		}
	}
	return n
}

// bitsOf returns the most bits that a character of a text can have, by the smallest of a
// few alphabets that has them all.
func bitsOf(text string) float64 {
	for _, a := range []struct {
		letters string
		bits    float64 // the logarithm of how many there are
	}{
		{"0123456789", 3.32},
		{"0123456789abcdef-", 4},
		{"0123456789ABCDEF-", 4},
		{"0123456789abcdefghijklmnopqrstuvwxyz", 5.17},
		{"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 5.17},
		{base62, 5.95},
	} {
		if strings.Trim(text, a.letters) == "" {
			return a.bits
		}
	}
	return 6.5 // of the visible ones of ASCII
}
