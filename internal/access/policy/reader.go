package policy

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

const (
	// maxValues bounds the bytes of the values that are read of one call.
	maxValues = 64 << 10
	// MaxDepth is how many objects and arrays may stand inside one another.
	MaxDepth = 32
)

// Reader reads what policies want to know of the arguments of a call to one tool: the members
// that they name and no others, from the bytes that the server gets, with the types that the
// tool's input schema says. A value is read exactly or not at all. It is immutable.
type Reader struct{ root *member }

// New returns a reader of what is to be read, at least one member, for a tool with an input
// schema, nil for none. A member that the schema does not describe has the type that its
// value has.
func New(reads []ReadArguments, inputSchema []byte) *Reader {
	r := &Reader{root: plan(reads)}
	r.root.describe(schemaOf(inputSchema, inputSchema))
	return r
}

func (m *member) describe(s *argSchema) {
	m.schema = s
	for _, b := range m.below {
		b.describe(s.property(b.name))
	}
}

// Values are the arguments in each Form, by the name of the member. What is absent or null
// is not in them.
type Values [numForms]types.RecordMap

// ReadArguments reads a raw object of arguments, empty for none. Its error is an *Unreadable.
func (r *Reader) Read(arguments []byte) (Values, error) {
	if len(arguments) == 0 || string(arguments) == "null" {
		return Values{}, nil
	}
	if !utf8.Valid(arguments) {
		return Values{}, &Unreadable{}
	}
	c := call{left: maxValues}
	out, ok := c.object(r.root, arguments, 1)
	if !ok {
		return Values{}, &Unreadable{Pointer: c.pointer()}
	}
	return out, nil
}

// call is the reading of one call.
type call struct {
	left int // bytes that may still be read
	// path are the names that lead to what cannot be read, the last one first.
	path []string
}

func (c *call) pointer() string {
	out := ""
	for _, name := range c.path {
		out = pointer("", name) + out
	}
	return out
}

// fail notes a member on the way to what cannot be read.
func (c *call) fail(name string) { c.path = append(c.path, name) }

// object reads members of an object.
func (c *call) object(m *member, raw []byte, depth int) (out Values, ok bool) {
	var space [8]rawjson.Span
	at := space[:0]
	for range m.below {
		at = append(at, rawjson.Span{})
	}
	bad := -1
	err := rawjson.Walk(raw, func(name []byte, value rawjson.Span) {
		for i, b := range m.below {
			switch {
			case string(name) == b.name && !at[i].Present():
				at[i] = value
			case strings.EqualFold(string(name), b.name):
				bad = i // there twice, or a twin
			}
		}
	})
	if err != nil {
		return out, false
	}
	if bad >= 0 {
		c.fail(m.below[bad].name)
		return out, false
	}
	for i, b := range m.below {
		value := at[i].Of(raw)
		if len(value) == 0 || value[0] == 'n' {
			continue
		}
		for form := range numForms {
			if !b.present[form] {
				continue
			}
			if out[form] == nil {
				out[form] = make(types.RecordMap, len(m.below))
			}
		}
		if !c.member(b, value, depth, &out) {
			c.fail(b.name)
			return out, false
		}
	}
	return out, true
}

// member reads one member, in each form that is read.
func (c *call) member(b *member, raw []byte, depth int, out *Values) bool {
	name := types.String(b.name)
	var below Values
	if len(b.below) > 0 {
		if raw[0] != '{' || depth == MaxDepth {
			return false
		}
		var ok bool
		if below, ok = c.object(b, raw, depth+1); !ok {
			return false
		}
	}
	for form := range numForms {
		switch {
		case !b.present[form]:
		case b.value[form]:
			v, ok := c.value(form, b.schema, raw, depth)
			if !ok {
				return false
			}
			out[form][name] = v
		case len(b.below) > 0:
			out[form][name] = types.NewRecord(below[form])
		default: // nothing but whether it is there is read
			out[form][name] = types.True
		}
	}
	return true
}

// value reads the whole of a value.
func (c *call) value(form Form, s *argSchema, raw []byte, depth int) (types.Value, bool) {
	if form == Raw {
		return c.exact(s, raw, depth)
	}
	text, ok := c.text(raw)
	if !ok {
		return nil, false
	}
	if form == Clean {
		text, ok = CleanPath(text)
	} else {
		text, ok = HostOf(text)
	}
	return types.String(text), ok
}

// exact reads a value with the type that the schema says.
func (c *call) exact(s *argSchema, raw []byte, depth int) (types.Value, bool) {
	any := s.kinds == 0
	switch raw[0] {
	case '"':
		text, ok := c.text(raw)
		return types.String(text), ok && (any || s.kinds&isString != 0)
	case 't', 'f':
		return types.Boolean(raw[0] == 't'), any || s.kinds&isBoolean != 0
	case '[':
		if !any && s.kinds&isArray == 0 || depth == MaxDepth {
			return nil, false
		}
		return c.array(s.items(), raw, depth)
	case '{':
		if !any && s.kinds&isObject == 0 || depth == MaxDepth {
			return nil, false
		}
		return c.record(s, raw, depth)
	case 'n':
		return nil, false
	}
	if c.left -= len(raw); c.left < 0 {
		return nil, false
	}
	n, ok := parseNumber(raw)
	if !ok {
		return nil, false
	}
	whole, isWhole := n.scaled(0)
	switch {
	case s.kinds&isNumber != 0, any && !isWhole:
		v, ok := n.scaled(4)
		if !ok {
			return nil, false
		}
		d, err := types.NewDecimal(v, -4)
		return d, err == nil
	case any, s.kinds&isInteger != 0:
		return types.Long(whole), isWhole
	}
	return nil, false
}

// array reads an array as a set.
func (c *call) array(items *argSchema, raw []byte, depth int) (types.Value, bool) {
	if len(raw) > maxValues {
		return nil, false
	}
	all, err := rawjson.Elements(raw)
	if err != nil {
		return nil, false
	}
	values := make([]types.Value, len(all))
	for i, at := range all {
		var ok bool
		if values[i], ok = c.exact(items, at.Of(raw), depth+1); !ok {
			return nil, false
		}
	}
	return types.NewSet(values...), true
}

// record reads all members of an object.
func (c *call) record(s *argSchema, raw []byte, depth int) (types.Value, bool) {
	if len(raw) > maxValues {
		return nil, false
	}
	entries, err := rawjson.Entries(raw)
	if err != nil {
		return nil, false
	}
	folded := make(map[string]bool, len(entries))
	out := make(types.RecordMap, len(entries))
	for _, e := range entries {
		name := strings.ToLower(strings.ToUpper(e.Name))
		if c.left -= len(e.Name); c.left < 0 || folded[name] || strings.ContainsRune(e.Name, utf8.RuneError) {
			return nil, false
		}
		folded[name] = true
		value := e.Value.Of(raw)
		if value[0] == 'n' {
			continue
		}
		v, ok := c.exact(s.property(e.Name), value, depth+1)
		if !ok {
			return nil, false
		}
		out[types.String(e.Name)] = v
	}
	return types.NewRecord(out), true
}

// text reads a string. One with a lone surrogate is none.
func (c *call) text(raw []byte) (string, bool) {
	if raw[0] != '"' {
		return "", false
	}
	if c.left -= len(raw); c.left < 0 {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err == nil
}
