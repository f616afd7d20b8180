package jwt

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxToken bounds a token, in bytes.
const maxToken = 16 << 10

// object is a JSON object, its members undecoded.
type object map[string]jsontext.Value

// token is a JWT as it was sent: nothing in it is verified.
type token struct {
	text   string
	header header
	claims object
	issuer string
}

// header has the members of a JOSE header (RFC 7515, 4.1) that count. Keys that it
// contains or leads to (jwk, jku, x5c, x5u) do not.
type header struct {
	Algorithm string         `json:"alg"`
	Type      string         `json:"typ"`
	Key       string         `json:"kid"`
	Critical  jsontext.Value `json:"crit"`
	Plain     jsontext.Value `json:"b64"`
}

// parse reads a JWT in compact form: three parts in base64url, of which two are JSON
// objects without duplicate members. It reports false for anything else.
func parse(text string) (t token, ok bool) {
	if len(text) > maxToken || strings.Count(text, ".") != 2 {
		return t, false
	}
	parts := strings.Split(text, ".")
	t.text = text
	if !decode(parts[0], &t.header) || !decode(parts[1], &t.claims) || t.claims == nil || !isBase64URL(parts[2]) {
		return t, false
	}
	t.issuer, ok = t.claims.text("iss")
	return t, ok
}

func decode(part string, into any) bool {
	b, ok := plain(part)
	return ok && json.Unmarshal(b, into) == nil
}

// plain returns what a part has in base64url, false for what cannot be an object.
func plain(part string) ([]byte, bool) {
	b, ok := fromBase64URL(part)
	return b, ok && len(b) > 0 && b[0] == '{'
}

// isBase64URL reports whether a text is base64url of at least one byte.
func isBase64URL(text string) bool {
	b, ok := fromBase64URL(text)
	return ok && len(b) > 0
}

// fromBase64URL decodes base64url (RFC 7515, appendix C) strictly: there is one text for
// each sequence of bytes. The decoder of encoding/base64 skips line breaks.
func fromBase64URL(text string) ([]byte, bool) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return b, err == nil
}

// claimed returns the issuer that a text names if it is a JWT, "" for none. It reads no
// further than that: parse says whether it is one.
func claimed(text string) string {
	_, rest, _ := strings.Cut(text, ".")
	part, _, ok := strings.Cut(rest, ".")
	if !ok || len(text) > maxToken {
		return ""
	}
	b, ok := plain(part)
	if !ok {
		return ""
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(b))
	_, err := d.ReadToken() // the brace
	for err == nil {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil || name.Kind() != '"' {
			return ""
		}
		if name.String() != "iss" {
			err = d.SkipValue()
			continue
		}
		if value, err := d.ReadToken(); err == nil && value.Kind() == '"' {
			return value.String()
		}
		return ""
	}
	return ""
}

// text returns a member that is a text.
func (o object) text(name string) (s string, ok bool) {
	raw := o[name]
	if raw.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// texts returns a member that is a text or a list of texts.
func (o object) texts(name string) (all []string, ok bool) {
	if s, ok := o.text(name); ok {
		return []string{s}, true
	}
	var items []jsontext.Value
	if raw := o[name]; raw.Kind() != '[' || json.Unmarshal(raw, &items) != nil {
		return nil, false
	}
	for _, item := range items {
		s, ok := object{"": item}.text("")
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}
