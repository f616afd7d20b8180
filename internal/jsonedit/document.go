// Package jsonedit edits JSON documents with comments and trailing commas in place: what
// an edit does not concern keeps its bytes.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"
)

const (
	maxDepth = 1000 // objects and arrays within one another
	bom      = "\uFEFF"
)

// Document is a parsed text. It does not change: an edit returns a new one.
type Document struct {
	raw  []byte        // the whole text
	text []byte        // without the byte order mark; offsets of the syntax tree count from here
	root *hujson.Value // nil: there are only white space and comments
}

// Parse reads a text, which it keeps. The error is an [*Error].
func Parse(raw []byte) (*Document, error) {
	d := &Document{raw: raw, text: bytes.TrimPrefix(raw, []byte(bom))}
	if err := d.checkText(); err != nil {
		return nil, err
	}
	// The parser wants a newline after a last line comment.
	text := append(slices.Clip(d.text), '\n')
	if onlyExtra(text) {
		return d, nil
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	d.root = &root
	return d, nil
}

// Bytes returns the whole text. Do not change it.
func (d *Document) Bytes() []byte { return d.raw }

// Root returns the value of the document, nil for none.
func (d *Document) Root() *hujson.Value { return d.root }

// Lookup returns the value that a path of member names leads to, nil for none. Of a name
// that an object has twice it is the first.
func (d *Document) Lookup(path ...string) *hujson.Value {
	v := d.root
	for _, name := range path {
		at := indexes(v, name)
		if len(at) == 0 {
			return nil
		}
		v = &v.Value.(*hujson.Object).Members[at[0]].Value
	}
	return v
}

// Names returns the names in the object at a path, in the order of the text, each once.
func (d *Document) Names(path ...string) []string { return Names(d.Lookup(path...)) }

// Value returns the value at a path as plain JSON, nil for none.
func (d *Document) Value(path ...string) json.RawMessage {
	v := d.Lookup(path...)
	if v == nil {
		return nil
	}
	return Standard(*v)
}

// Line returns the line in which the value at a path begins, 0 for none.
func (d *Document) Line(path ...string) int {
	v := d.Lookup(path...)
	if v == nil {
		return 0
	}
	line, _ := d.Position(v.StartOffset)
	return line
}

// Name returns the name of a member.
func Name(m *hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

// Standard returns a value as plain JSON without white space.
func Standard(v hujson.Value) json.RawMessage {
	c := v.Clone()
	c.Minimize()
	return json.RawMessage(c.Pack())
}

// indexes returns where an object has a name; a value that is no object has none.
func indexes(v *hujson.Value, name string) []int {
	if v == nil {
		return nil
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	var at []int
	for i := range obj.Members {
		if Name(&obj.Members[i]) == name {
			at = append(at, i)
		}
	}
	return at
}

// onlyExtra reports whether text is white space and comments alone.
func onlyExtra(text []byte) bool {
	v, err := hujson.Parse(append(slices.Clip(text), "null"...))
	return err == nil && v.StartOffset == len(text)
}

// Names returns the names of an object's members, each once; anything else has none.
func Names(v *hujson.Value) []string {
	if v == nil {
		return nil
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	var names []string
	for i := range obj.Members {
		if name := Name(&obj.Members[i]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
