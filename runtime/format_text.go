package runtime

import (
	"encoding/base64"
	"encoding/hex"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Base64 is a string of format byte, or with contentEncoding base64: RFC 4648,
// section 4, with padding and without line breaks.
type Base64 string

// NewBase64 encodes bytes.
func NewBase64(b []byte) Base64 { return Base64(base64.StdEncoding.EncodeToString(b)) }

// Valid reports whether the text is base64.
func (b Base64) Valid() bool { _, err := b.Bytes(); return err == nil }

// Bytes decodes the text.
func (b Base64) Bytes() ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(string(b))
	if err != nil || strings.ContainsAny(string(b), "\r\n") {
		return nil, formatError("base64", string(b))
	}
	return raw, nil
}

// UUID is a string of format uuid: RFC 4122 in hexadecimal digits of either
// case.
type UUID string

// NewUUID formats the bytes of a UUID.
func NewUUID(b [16]byte) UUID {
	h := hex.EncodeToString(b[:])
	return UUID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// Valid reports whether the text is a UUID.
func (u UUID) Valid() bool { _, err := u.Bytes(); return err == nil }

// Bytes returns the 16 bytes.
func (u UUID) Bytes() ([16]byte, error) {
	var b [16]byte
	if len(u) == 36 && u[8] == '-' && u[13] == '-' && u[18] == '-' && u[23] == '-' {
		h := string(u[:8] + u[9:13] + u[14:18] + u[19:23] + u[24:])
		if n, err := hex.Decode(b[:], []byte(h)); err == nil && n == len(b) {
			return b, nil
		}
	}
	return [16]byte{}, formatError("a UUID (RFC 4122)", string(u))
}

// Email is a string of format email or idn-email: a mailbox as in RFC 5321,
// section 4.1.2, or in RFC 6531 with letters beyond ASCII.
type Email string

// Valid reports whether the text is an email address, existing or not.
func (e Email) Valid() bool {
	at := strings.LastIndexByte(string(e), '@')
	if at < 1 || !utf8.ValidString(string(e)) {
		return false
	}
	local, domain := string(e[:at]), string(e[at+1:])
	return localPart(local) && mailDomain(domain)
}

// Parts returns the parts before and after the @.
func (e Email) Parts() (local, domain string, err error) {
	if !e.Valid() {
		return "", "", formatError("an email address (RFC 5321)", string(e))
	}
	at := strings.LastIndexByte(string(e), '@')
	return string(e[:at]), string(e[at+1:]), nil
}

func localPart(s string) bool {
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		quoted, ok = strings.CutSuffix(quoted, `"`)
		for i := 0; ok && i < len(quoted); i++ {
			switch c := quoted[i]; {
			case c == '\\':
				i++
				ok = i < len(quoted) && quoted[i] >= ' ' && quoted[i] != 0x7f
			case c == '"' || c < ' ' || c == 0x7f:
				ok = false
			}
		}
		return ok
	}
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			c := atom[i]
			if c < utf8.RuneSelf && !isLetter(c) && !isDigit(c) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) < 0 {
				return false
			}
		}
	}
	return true
}

func mailDomain(s string) bool {
	if literal, ok := strings.CutPrefix(s, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		v6, is6 := strings.CutPrefix(literal, "IPv6:")
		addr, err := netip.ParseAddr(v6)
		return ok && err == nil && addr.Is6() == is6 && addr.Zone() == ""
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; c < utf8.RuneSelf && !isLetter(c) && !isDigit(c) && c != '-' {
				return false
			}
		}
	}
	return true
}
