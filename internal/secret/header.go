package secret

import (
	"encoding/base64"
	"net/textproto"
	"strings"
)

// PublicHeader reports whether a header belongs to the protocol and says nothing
// of who sends it.
func PublicHeader(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Accept", "Content-Type", "Content-Length", "Host", "User-Agent":
		return true
	}
	return strings.HasPrefix(name, "Mcp-")
}

// OfCredentials returns what is secret in the value of a header: the value, also
// without a scheme such as Bearer; of Basic what it encodes; the values of
// cookies and parameters.
func OfCredentials(value string) []Text {
	scheme, rest, ok := strings.Cut(value, " ")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" || strings.ContainsAny(scheme, "=:,;") {
		rest = value
	}
	out := []Text{New(value), New(rest)}
	if strings.EqualFold(scheme, "Basic") {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
			if raw, err := encoding.DecodeString(rest); err == nil {
				user, password, _ := strings.Cut(string(raw), ":")
				out = append(out, New(string(raw)), New(user), New(password))
			}
		}
	}
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ' ' || r == ';' || r == ',' }) {
		if _, set, ok := strings.Cut(part, "="); ok && strings.Trim(set, "=") != "" { // cookies, and parameters of Digest
			out = append(out, New(strings.Trim(set, `"`)))
		}
	}
	return out
}

// AfterScheme returns where the credentials begin in the value of a header: behind a word
// of letters and hyphens, and spaces.
func AfterScheme(text string) int {
	end := 0
	for end < len(text) && (letter(text[end]) || end > 0 && text[end] == '-') {
		end++
	}
	gap := spaces(text[end:])
	if end == 0 || gap == 0 {
		return 0
	}
	return end + gap
}
