// Package httpsyntax reads the parts that requests and responses of HTTP/1.1 have in
// common (RFC 9112). It refuses what a recipient may read in two ways: an error of
// framing is an error of security.
package httpsyntax

import (
	"math"
	"strings"
)

// token marks the bytes of a token (RFC 9110, 5.6.2).
//
//nolint:gochecknoglobals // a constant table
var token = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", byte(c)) >= 0
	}
	return t
}()

// IsToken reports whether a text can be the name of a field or a method.
func IsToken(s string) bool {
	for i := range len(s) {
		if !token[s[i]] {
			return false
		}
	}
	return s != ""
}

// IsValue reports whether a text can be the value of a field: it holds no control
// characters but the tab (RFC 9110, 5.5).
func IsValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// Field returns the name and the value of a line of a head, which comes without its
// CRLF. False: it is malformed, or continues the line before (RFC 9112, 5.2).
func Field(line string) (name, value string, ok bool) {
	name, value, found := strings.Cut(line, ":")
	value = trim(value)
	return name, value, found && IsToken(name) && IsValue(value)
}

// trim is [strings.Trim] of spaces and tabs, which takes a fraction of the time.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// Length returns the value of a Content-Length: digits alone, below 2^63.
func Length(s string) (n int64, ok bool) {
	for i := range len(s) {
		digit := int64(s[i]) - '0'
		if digit < 0 || digit > 9 || n > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, s != ""
}

// ChunkSize returns the size that the first line of a chunk has, which comes without its
// CRLF. Extensions are left out.
func ChunkSize(line string) (n int64, ok bool) {
	digits, _, _ := strings.Cut(line, ";")
	digits = strings.TrimRight(digits, " \t") // RFC 9112, 7.1.1: before an extension
	if digits == "" || len(digits) > 15 || !IsValue(line) {
		return 0, false
	}
	for i := range len(digits) {
		d := hexDigit(digits[i])
		if d < 0 {
			return 0, false
		}
		n = n<<4 | d
	}
	return n, true
}

// hexDigit returns what a hexadecimal digit stands for, -1 for none.
func hexDigit(c byte) int64 {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0')
	case c >= 'a' && c <= 'f':
		return int64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int64(c-'A') + 10
	}
	return -1
}
