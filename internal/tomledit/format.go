package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// table returns the lines of a JSON object as a table.
func table(path []string, value json.RawMessage, nl string) (string, error) {
	d := jsontext.NewDecoder(bytes.NewReader(value))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return "", errors.New("not a JSON object")
	}
	keys := make([]string, len(path))
	for i, name := range path {
		keys[i] = key(name)
	}
	var b strings.Builder
	b.WriteString("[" + strings.Join(keys, ".") + "]" + nl)
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return "", err
		}
		line := key(name.String()) + " = "
		if d.PeekKind() == 'n' {
			if err := d.SkipValue(); err != nil {
				return "", err
			}
			continue
		}
		text, err := inline(d)
		if err != nil {
			return "", err
		}
		b.WriteString(line + text + nl)
	}
	_, err := d.ReadToken()
	return b.String(), err
}

// inline returns the next value of a decoder on one line.
func inline(d *jsontext.Decoder) (string, error) {
	t, err := d.ReadToken()
	if err != nil {
		return "", err
	}
	switch t.Kind() { //nolint:exhaustive // the rest has no form in TOML, or is no value
	case '"':
		return quote(t.String()), nil
	case '0':
		return number(t.String())
	case 't', 'f':
		return t.String(), nil
	case '[':
		var items []string
		for d.PeekKind() != ']' {
			item, err := inline(d)
			if err != nil {
				return "", err
			}
			items = append(items, item)
		}
		_, err = d.ReadToken()
		return "[" + strings.Join(items, ", ") + "]", err
	case '{':
		var items []string
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return "", err
			}
			k := key(name.String())
			item, err := inline(d)
			if err != nil {
				return "", err
			}
			items = append(items, k+" = "+item)
		}
		_, err = d.ReadToken()
		if len(items) == 0 {
			return "{}", err
		}
		return "{ " + strings.Join(items, ", ") + " }", err
	}
	return "", errors.New("TOML has no null")
}

// number returns a JSON number: TOML has integers of 64 bits, and floats.
func number(text string) (string, error) {
	if !strings.ContainsAny(text, ".eE") {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return "", fmt.Errorf("TOML has no integer as large as %s", text)
		}
	}
	return text, nil
}

func key(name string) string {
	quoted := func(r rune) bool {
		return !(r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	if name == "" || strings.ContainsFunc(name, quoted) {
		return quote(name)
	}
	return name
}

// quote returns a basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
