package revision

import (
	"encoding/base64"
	"errors"
	"strings"
)

const (
	wrapperStart = "=?base64?"
	wrapperEnd   = "?="
)

// EncodeHeader returns a text as the value of a mirrored header (2026-07-28,
// Streamable HTTP, Value Encoding): as it is, or wrapped in base64 where it
// holds anything but printable ASCII, has white space at an end, or looks like
// the wrapper itself. An empty text is wrapped, too: a header without a value
// counts as missing.
func EncodeHeader(value string) string {
	plain := value != "" && strings.Trim(value, " \t") == value &&
		!(strings.HasPrefix(value, wrapperStart) && strings.HasSuffix(value, wrapperEnd))
	for i := 0; i < len(value) && plain; i++ {
		plain = value[i] >= ' ' && value[i] < 0x7f
	}
	if plain {
		return value
	}
	return wrapperStart + base64.StdEncoding.EncodeToString([]byte(value)) + wrapperEnd
}

// DecodeHeader returns the text that a mirrored header stands for, Mcp-Name
// included: what it says, or what its base64 wrapper holds (2026-07-28,
// Streamable HTTP, Value Encoding).
func DecodeHeader(value string) (string, error) {
	inner, ok := strings.CutPrefix(value, wrapperStart)
	if !ok {
		return value, nil
	}
	if inner, ok = strings.CutSuffix(inner, wrapperEnd); !ok {
		return value, nil
	}
	text, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return "", errors.New("invalid base64")
	}
	return string(text), nil
}

// isToken reports whether a text can be the name of a header (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
