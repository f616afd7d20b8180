// Package yamledit edits YAML documents in place: what an edit does not concern keeps its
// bytes. It edits what is written in block style, a member a line; flow style, in braces,
// is only read.
package yamledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const bom = "\uFEFF"

// nameKey is the member that names an element of a list.
const nameKey = "name"

var (
	// ErrFlow is the error of an edit in a value that is written in braces.
	ErrFlow = errors.New("the value around it is written in braces or brackets")
	// ErrAlias is the error of an edit below an alias: it would change what the alias
	// stands for everywhere.
	ErrAlias = errors.New("the value around it is an alias of another one")
)

// Document is a parsed text. It does not change: an edit returns a new one.
type Document struct {
	raw  []byte   // the whole text
	line []string // its lines, with their ends, without the byte order mark
	root *yaml.Node
}

// Parse reads a text, which it keeps: one document, with a mapping or nothing in it. The
// error begins with its line.
func Parse(raw []byte) (*Document, error) {
	text := bytes.TrimPrefix(raw, []byte(bom))
	d := &Document{raw: raw}
	for line := range bytes.Lines(text) {
		d.line = append(d.line, string(line))
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if err.Error() == "EOF" {
			return d, nil
		}
		return nil, fault(err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, fmt.Errorf("line %d: a second document in the file", more.Line)
	} else if err.Error() != "EOF" {
		return nil, fault(err)
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		return d, nil
	case root.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("line %d: the file holds no mapping", root.Line)
	}
	d.root = root
	if _, err := d.values(); err != nil {
		return nil, fault(err)
	}
	return d, nil
}

func fault(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) }

// Bytes returns the whole text. Do not change it.
func (d *Document) Bytes() []byte { return d.raw }

// Names returns the names in the mapping at a path, or the names of the elements of the
// list there, in the order of the text.
func (d *Document) Names(path ...string) []string {
	var names []string
	for _, m := range members(d.find(path)) {
		if m.name != "" {
			names = append(names, m.name)
		}
	}
	return names
}

// Value returns the value at a path as JSON, nil for none. The last name of a path may be
// that of an element of a list.
func (d *Document) Value(path ...string) json.RawMessage {
	n := d.find(path)
	if n == nil {
		return nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil // a key that is no text, or a number such as .inf
	}
	return raw
}

// Line returns the line in which the value at a path begins, 0 for none.
func (d *Document) Line(path ...string) int {
	if n := d.find(path); n != nil {
		return n.Line
	}
	return 0
}

// member is one member of a mapping, or one element of a list.
type member struct {
	name  string
	first *yaml.Node // the key, or the element
	value *yaml.Node
}

// members returns those of a mapping or list; anything else has none.
func members(n *yaml.Node) []member {
	var out []member
	switch {
	case n == nil:
	case n.Kind == yaml.AliasNode:
		return members(n.Alias)
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			out = append(out, member{n.Content[i].Value, n.Content[i], n.Content[i+1]})
		}
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			m := member{first: e, value: e}
			for _, of := range members(e) {
				if of.name == nameKey {
					m.name = of.value.Value
				}
			}
			out = append(out, m)
		}
	}
	return out
}

// find returns the node at a path, nil for none.
func (d *Document) find(path []string) *yaml.Node {
	n := d.root
	for _, name := range path {
		all := members(n)
		i := slices.IndexFunc(all, func(m member) bool { return m.name == name })
		if i < 0 {
			return nil
		}
		n = all[i].value
	}
	return n
}

// values returns the whole document in Go's types.
func (d *Document) values() (map[string]any, error) {
	if d.root == nil {
		return nil, nil
	}
	var v map[string]any
	err := d.root.Decode(&v)
	return v, err
}

// unchanged reports whether two documents are the same but for what a path leads to. A
// mapping or list that is empty without it counts as none.
func (d *Document) unchanged(b *Document, path []string) bool {
	x, errX := d.values()
	y, errY := b.values()
	return errX == nil && errY == nil && reflect.DeepEqual(without(x, path), without(y, path))
}

func without(v any, path []string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			if name == path[0] {
				if len(path) == 1 {
					continue
				}
				inner = without(inner, path[1:])
				if inner == nil {
					continue
				}
			}
			out[name] = inner
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		var out []any
		for _, e := range v {
			if m, ok := e.(map[string]any); !ok || m[nameKey] != path[0] {
				out = append(out, e)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}
