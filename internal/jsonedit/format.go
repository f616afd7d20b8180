package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// style is how a file is laid out.
type style struct {
	newline string // "\n" or "\r\n", after the file's first line
	unit    string // one level of indentation
	inline  bool   // everything on one line
}

// style detects how the document is laid out, by the first of some objects that shows it;
// two spaces by default.
func (d *Document) style(objects ...*hujson.Value) style {
	st := style{newline: "\n", unit: "  "}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		st.newline = "\r\n"
	}
	for _, v := range objects {
		for _, m := range v.Value.(*hujson.Object).Members {
			unit, ok := strings.CutPrefix(d.indentAt(m.Name.StartOffset), d.indentAt(v.StartOffset))
			if ownLine(m) && ok && unit != "" {
				st.unit = unit
				return st
			}
		}
	}
	return st
}

// memberIndent returns the indentation of an object's members.
func (d *Document) memberIndent(v *hujson.Value, st style) string {
	members := v.Value.(*hujson.Object).Members
	for _, member := range slices.Backward(members) {
		if ownLine(member) {
			return d.indentAt(member.Name.StartOffset)
		}
	}
	return d.indentAt(v.StartOffset) + st.unit
}

// members writes a member whose value is a value, below objects of their own for the
// names of a path before the last.
func (st style) members(v *hujson.Value, path []string, indent string) string {
	if len(path) == 1 {
		return quote(path[0]) + ": " + st.format(v, indent)
	}
	if st.inline {
		return quote(path[0]) + ": { " + st.members(v, path[1:], indent) + " }"
	}
	inner := indent + st.unit
	return quote(path[0]) + ": {" + st.newline + inner + st.members(v, path[1:], inner) + st.newline + indent + "}"
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
func quote(s string) string { return string(rawjson.Quote(nil, s)) }

// Format lays a JSON object out as [Document.Set] would write it, indented by two
// spaces, for showing an entry. Text that is not JSON is returned as it is.
func Format(entry json.RawMessage) string {
	v, err := hujson.Parse(append(bytes.Clone(entry), '\n'))
	if err != nil {
		return string(entry)
	}
	v.Minimize()
	return style{newline: "\n", unit: "  "}.format(&v, "")
}
