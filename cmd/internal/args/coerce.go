package args

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

// textValue is the right side of a=text.
type textValue struct {
	text  string
	file  bool // the contents of a file
	bytes []byte
}

// coerce returns the JSON of a text by its schema: one of the listed values; a
// string where strings are allowed; else a number, boolean or null.
func (b *builder) coerce(n schema.Node, v textValue, at string) ([]byte, *schema.Issue) {
	raw, issue := coerce(n, v, at)
	if issue != nil && b.src.NoValidate && utf8.ValidString(v.text) {
		return []byte(schema.Quote(v.text)), nil
	}
	return raw, issue
}

func coerce(n schema.Node, v textValue, at string) ([]byte, *schema.Issue) {
	k := n.Kinds()
	fail := func(msg string) ([]byte, *schema.Issue) { return nil, &schema.Issue{Pointer: at, Message: msg} }
	if v.file && k&schema.String != 0 {
		switch n.ContentEncoding() {
		case "base64":
			return []byte(`"` + base64.StdEncoding.EncodeToString(v.bytes) + `"`), nil
		case "base64url":
			return []byte(`"` + base64.RawURLEncoding.EncodeToString(v.bytes) + `"`), nil
		}
	}
	if !utf8.ValidString(v.text) {
		return fail("not UTF-8 text, and the schema does not say contentEncoding base64")
	}
	if values := n.Enum(); values != nil {
		return oneOf(values, v, at)
	}
	if k&schema.String != 0 {
		return []byte(schema.Quote(v.text)), nil
	}
	text := v.text
	if v.file {
		text = strings.TrimSpace(text)
	}
	if raw, ok, err := asJSON(n, text); ok && err == nil {
		return raw, nil
	}
	switch {
	case k&schema.Boolean != 0 && (text == "true" || text == "false"),
		k&schema.Null != 0 && text == "null",
		k&schema.Number != 0 && isNumber(text),
		k&schema.Integer != 0 && isNumber(text) && schema.IsInteger(text):
		return []byte(text), nil
	case k&^(schema.Array|schema.Object|schema.Null) == 0 && k&(schema.Array|schema.Object) != 0:
		return fail("want " + n.Type() + ": write it as name:=json, or name a place inside")
	}
	return fail("want " + n.Type() + ", got " + schema.Quote(short(text)))
}

// oneOf returns the listed value that equals the text: a string before others.
func oneOf(values []any, v textValue, at string) ([]byte, *schema.Issue) {
	text := v.text
	if v.file {
		text = strings.TrimRight(text, "\r\n")
	}
	for _, x := range values {
		if s, ok := x.(string); ok && s == text {
			return []byte(schema.Quote(s)), nil
		}
	}
	for _, x := range values {
		if _, isText := x.(string); !isText && schema.Text(x) == text {
			return []byte(text), nil
		}
	}
	issue := schema.EnumIssue(at, short(text), values)
	return nil, &issue
}

// isNumber reports whether text is a number in JSON's form.
func isNumber(text string) bool {
	if text == "" || (text[0] != '-' && (text[0] < '0' || text[0] > '9')) {
		return false
	}
	return json.Valid([]byte(text)) && strings.TrimSpace(text) == text
}
