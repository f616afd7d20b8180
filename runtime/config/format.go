package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a file is laid out.
type style struct {
	newline string // "\n" or "\r\n", after the file's first line
	unit    string // one level of indentation
	inline  bool   // everything on one line
}

// style detects how the file is laid out; two spaces by default.
func (f *File) style() style {
	st := style{newline: "\n", unit: "  "}
	if i := bytes.IndexByte(f.text, '\n'); i > 0 && f.text[i-1] == '\r' {
		st.newline = "\r\n"
	}
	for _, v := range []*hujson.Value{f.servers, f.root} {
		if v == nil {
			continue
		}
		for _, m := range v.Value.(*hujson.Object).Members {
			unit, ok := strings.CutPrefix(f.indentAt(m.Name.StartOffset), f.indentAt(v.StartOffset))
			if ownLine(m) && ok && unit != "" {
				st.unit = unit
				return st
			}
		}
	}
	return st
}

// memberIndent returns the indentation of an object's members.
func (f *File) memberIndent(v *hujson.Value) string {
	members := v.Value.(*hujson.Object).Members
	for _, member := range slices.Backward(members) {
		if ownLine(member) {
			return f.indentAt(member.Name.StartOffset)
		}
	}
	return f.indentAt(v.StartOffset) + f.style().unit
}

// servers writes the member mcpServers with one entry, or none.
func (st style) servers(name string, value *hujson.Value, indent string) string {
	if value == nil {
		return quote(rootKey) + ": {" + st.newline + indent + "}"
	}
	inner := indent + st.unit
	return quote(rootKey) + ": {" + st.newline + inner + quote(name) + ": " + st.format(value, inner) + st.newline + indent + "}"
}

const maxInline = 100 // characters of an array that stays on one line

// format writes a value whose line is indented by indent: objects a member a
// line, arrays of plain values on one line while that is short.
func (st style) format(v *hujson.Value, indent string) string {
	inner := indent + st.unit
	var items []string
	brackets := "[]"
	flat := true
	switch val := v.Value.(type) {
	case hujson.Literal:
		return literal(val)
	case *hujson.Array:
		for i := range val.Elements {
			_, plain := val.Elements[i].Value.(hujson.Literal)
			flat = flat && plain
			items = append(items, st.format(&val.Elements[i], inner))
		}
		n := len(indent)
		for _, item := range items {
			n += len(item) + 2
		}
		flat = flat && n <= maxInline
	case *hujson.Object:
		brackets, flat = "{}", false
		for i := range val.Members {
			m := &val.Members[i]
			items = append(items, literal(m.Name.Value.(hujson.Literal))+": "+st.format(&m.Value, inner))
		}
	}
	open, closing := brackets[:1], brackets[1:]
	switch {
	case len(items) == 0:
		return brackets
	case flat || st.inline && brackets == "[]":
		return open + strings.Join(items, ", ") + closing
	case st.inline:
		return open + " " + strings.Join(items, ", ") + " " + closing
	}
	return open + st.newline + inner + strings.Join(items, ","+st.newline+inner) + st.newline + indent + closing
}

// literal writes a string without the escapes that json.Marshal adds for HTML,
// and anything else as it is.
func literal(lit hujson.Literal) string {
	if lit.Kind() == '"' && bytes.Contains(lit, []byte(`\u00`)) {
		s := lit.String()
		if plain := quote(s); hujson.Literal(plain).String() == s {
			return plain
		}
	}
	return string(lit)
}

// quote writes a JSON string with <, > and & as they are.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("config: a string without a JSON form: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Format lays a JSON object out as [File.Set] would write it, indented by two
// spaces, for showing an entry. Text that is not JSON is returned as it is.
func Format(entry json.RawMessage) string {
	v, err := hujson.Parse(append(bytes.Clone(entry), '\n'))
	if err != nil {
		return string(entry)
	}
	v.Minimize()
	return style{newline: "\n", unit: "  "}.format(&v, "")
}
