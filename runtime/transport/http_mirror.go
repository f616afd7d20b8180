package transport

import (
	"net/http"
	"net/textproto"
	"strings"
)

// mirror adds the headers that repeat parts of a request. Names that are none,
// and those that do not begin with Mcp-, are left out, and so are values that
// would end the header: the body is what counts, and they must not replace
// anything else.
func mirror(h http.Header, values map[string]string) {
	for name, value := range values {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if strings.HasPrefix(name, "Mcp-") && isToken(name) && name != headerSession && name != headerVersion && isValue(value) {
			h[name] = []string{value}
		}
	}
}

// isValue reports whether a text can be the value of a header: it holds no
// control characters but the tab (RFC 9110, 5.5).
func isValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
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
