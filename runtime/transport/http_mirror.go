package transport

import (
	"encoding/base64"
	"net/textproto"
	"strings"
)

const (
	wrapperStart = "=?base64?"
	wrapperEnd   = "?="
)

// EncodeHeader writes a text as the value of a mirrored header (2026-07-28,
// Streamable HTTP, Value Encoding): as it is, or wrapped in base64 where it
// holds anything but printable ASCII, has white space at an end, or
// looks like the wrapper itself.
func EncodeHeader(value string) string {
	plain := strings.Trim(value, " \t") == value &&
		!(strings.HasPrefix(value, wrapperStart) && strings.HasSuffix(value, wrapperEnd))
	for i := 0; i < len(value) && plain; i++ {
		plain = value[i] >= ' ' && value[i] < 0x7f
	}
	if plain {
		return value
	}
	return wrapperStart + base64.StdEncoding.EncodeToString([]byte(value)) + wrapperEnd
}

// mirror adds the headers that repeat parts of a request. Names that are none,
// and those that do not begin with Mcp-, are left out: the body is what counts,
// and they must not replace anything else.
func mirror(h map[string]string, values map[string]string) {
	for name, value := range values {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if strings.HasPrefix(name, "Mcp-") && isToken(name) && name != headerSession && name != headerVersion {
			h[name] = EncodeHeader(value)
		}
	}
}

// isToken tells whether a text can be the name of a header (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
