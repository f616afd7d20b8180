package codegen

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Template is a URI template (RFC 6570, all levels). It is immutable.
type Template struct {
	parts []part
}

// part is literal text, or an expression.
type part struct {
	literal string // already encoded; used if there are no vars
	op      operator
	vars    []TemplateVar
}

// TemplateVar is one variable of an expression.
type TemplateVar struct {
	Name string
	// Operator begins the expression: one of +#./;?& or 0.
	Operator byte
	// Explode is the modifier "*": a list or map is written as several values.
	Explode bool
	// Prefix is the modifier ":n": only that many code points of the value, a
	// string, are written. Zero is no bound.
	Prefix int
}

// operator is one row of the table in RFC 6570, appendix A.
type operator struct {
	char       byte
	first, sep string
	named      bool
	ifEmpty    string // after a name without a value
	reserved   bool   // reserved characters and encoded triplets stay
}

func operatorOf(c byte) (operator, bool) {
	switch c {
	case '+':
		return operator{char: c, sep: ",", reserved: true}, true
	case '#':
		return operator{char: c, first: "#", sep: ",", reserved: true}, true
	case '.':
		return operator{char: c, first: ".", sep: "."}, true
	case '/':
		return operator{char: c, first: "/", sep: "/"}, true
	case ';':
		return operator{char: c, first: ";", sep: ";", named: true}, true
	case '?':
		return operator{char: c, first: "?", sep: "&", named: true, ifEmpty: "="}, true
	case '&':
		return operator{char: c, first: "&", sep: "&", named: true, ifEmpty: "="}, true
	default:
		return operator{sep: ","}, false
	}
}

// ParseTemplate reads a URI template.
func ParseTemplate(text string) (*Template, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("not UTF-8")
	}
	t := &Template{}
	for text != "" {
		literal, rest, found := strings.Cut(text, "{")
		if strings.Contains(literal, "}") {
			return nil, errors.New(`"}" without "{"`)
		}
		if literal != "" {
			t.parts = append(t.parts, part{literal: string(appendEscaped(nil, literal, true))})
		}
		if !found {
			break
		}
		expression, rest, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, errors.New(`"{" without "}"`)
		}
		p, err := parseExpression(expression)
		if err != nil {
			return nil, fmt.Errorf("{%s}: %w", expression, err)
		}
		t.parts = append(t.parts, p)
		text = rest
	}
	return t, nil
}

func parseExpression(s string) (part, error) {
	if s == "" {
		return part{}, errors.New("no variable")
	}
	if strings.IndexByte("=,!@|", s[0]) >= 0 {
		return part{}, fmt.Errorf("the operator %q is reserved", s[0])
	}
	op, found := operatorOf(s[0])
	if found {
		s = s[1:]
	}
	p := part{op: op}
	for spec := range strings.SplitSeq(s, ",") {
		v := TemplateVar{Operator: op.char}
		name, prefix, bounded := strings.Cut(spec, ":")
		if bounded {
			n, err := strconv.Atoi(prefix)
			if err != nil || n < 1 || n > 9999 || prefix[0] < '1' { // section 2.4.1: 1 to 9999, no sign or leading zero
				return part{}, fmt.Errorf("%q is not a length", prefix)
			}
			v.Prefix = n
		} else {
			name, v.Explode = strings.CutSuffix(name, "*")
		}
		if !validName(name) {
			return part{}, fmt.Errorf("%q is not the name of a variable", name)
		}
		v.Name = name
		p.vars = append(p.vars, v)
	}
	return p, nil
}

// validName: section 2.3.
func validName(s string) bool {
	dot := true // may not come first, last or twice
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '.' && dot:
			return false
		case c == '.':
			dot = true
			continue
		case c == '%':
			if !triplet(s[i:]) {
				return false
			}
			i += 2
		case c != '_' && !letterOrDigit(c):
			return false
		}
		dot = false
	}
	return !dot
}

// Vars returns the variables in their order in the text, with repetitions.
func (t *Template) Vars() []TemplateVar {
	var all []TemplateVar
	for _, p := range t.parts {
		all = append(all, p.vars...)
	}
	return all
}

// Expand returns the URI. Values are string, []string or map[string]string. Missing
// values, nil, and empty lists and maps are undefined and left out. Maps are written
// in the order of their keys.
func (t *Template) Expand(values map[string]any) (string, error) {
	var out []byte
	for _, p := range t.parts {
		if p.vars == nil {
			out = append(out, p.literal...)
			continue
		}
		sep := p.op.first
		for _, v := range p.vars {
			value := values[v.Name]
			if undefined(value) {
				continue
			}
			out = append(out, sep...)
			sep = p.op.sep
			var err error
			if out, err = p.op.expand(out, v, value); err != nil {
				return "", fmt.Errorf("%s: %w", v.Name, err)
			}
		}
	}
	return string(out), nil
}

func undefined(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []string:
		return len(v) == 0
	case map[string]string:
		return len(v) == 0
	default:
		return false
	}
}

// expand writes one variable (section 3.2.1 and appendix A).
func (op operator) expand(out []byte, v TemplateVar, value any) ([]byte, error) {
	name := func(out []byte, name string, empty bool) []byte {
		switch {
		case !op.named:
			return out
		case empty:
			return append(append(out, name...), op.ifEmpty...)
		}
		return append(append(out, name...), '=')
	}
	switch value := value.(type) {
	case string:
		if v.Prefix > 0 {
			value = firstRunes(value, v.Prefix)
		}
		return appendEscaped(name(out, v.Name, value == ""), value, op.reserved), nil
	case []string:
		if v.Prefix > 0 {
			return nil, errors.New("a list has no prefix")
		}
		sep := op.sep
		if !v.Explode {
			out, sep = name(out, v.Name, false), ","
		}
		for i, item := range value {
			if i > 0 {
				out = append(out, sep...)
			}
			if v.Explode {
				out = name(out, v.Name, item == "")
			}
			out = appendEscaped(out, item, op.reserved)
		}
		return out, nil
	case map[string]string:
		if v.Prefix > 0 {
			return nil, errors.New("a map has no prefix")
		}
		between, sep := "=", op.sep
		if !v.Explode {
			out = name(out, v.Name, false)
			between, sep = ",", ","
		}
		for i, key := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				out = append(out, sep...)
			}
			out = appendEscaped(out, key, op.reserved)
			item := value[key]
			if v.Explode && op.named && item == "" {
				out = append(out, op.ifEmpty...)
				continue
			}
			out = appendEscaped(append(out, between...), item, op.reserved)
		}
		return out, nil
	default:
		return nil, fmt.Errorf("got %T, want a string, a list or a map of strings", value)
	}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// appendEscaped percent-encodes all except unreserved characters (RFC 3986,
// section 2.3) and, with reserved, reserved ones and encoded triplets.
func appendEscaped(out []byte, s string, reserved bool) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case letterOrDigit(c) || strings.IndexByte("-._~", c) >= 0,
			reserved && strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0,
			reserved && c == '%' && triplet(s[i:]):
			out = append(out, c)
		default:
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return out
}

func letterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func triplet(s string) bool {
	return len(s) >= 3 && s[0] == '%' && hexDigit(s[1]) && hexDigit(s[2])
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f'
}

// expandJSON expands a template with the members of a JSON object.
func expandJSON(template string, raw json.RawMessage) (string, error) {
	t, err := ParseTemplate(template)
	if err != nil {
		return "", err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", err
	}
	values := make(map[string]any, len(members))
	for name, raw := range members {
		if values[name], err = templateValue(raw); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return t.Expand(values)
}

func templateValue(raw json.RawMessage) (any, error) {
	var (
		s    string
		list []string
		m    map[string]string
		err  error
	)
	switch raw[0] {
	case 'n':
		return nil, nil
	case '[':
		err = json.Unmarshal(raw, &list)
		return list, err
	case '{':
		err = json.Unmarshal(raw, &m)
		return m, err
	default:
		err = json.Unmarshal(raw, &s)
		return s, err
	}
}
