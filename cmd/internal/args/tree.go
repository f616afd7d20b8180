package args

import (
	"bytes"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

type nodeKind int

const (
	isLeaf nodeKind = iota
	isObject
	isArray
)

// node is a value under construction: raw bytes, or an object or array of nodes.
type node struct {
	kind  nodeKind
	raw   []byte // of a leaf
	keys  []string
	m     map[string]*node
	items []*node

	// given: a word has set this value, so that a second word for it is an error.
	// text is that word's value where it was a=text.
	given bool
	text  *string
	// list marks an array of repeated pairs.
	list bool
}

func leaf(raw []byte) *node { return &node{raw: raw} }

// open splits a leaf so that a path can lead into it; children keep their bytes.
// It returns the first duplicate name, since servers disagree about those.
func (n *node) open() (twice string) {
	if n.kind != isLeaf || len(n.raw) == 0 {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(n.raw))
	t, err := d.Token()
	if err != nil {
		return ""
	}
	switch t {
	case json.Delim('{'):
		n.kind, n.m = isObject, map[string]*node{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return ""
			}
			key, _ := k.(string)
			var v json.RawMessage
			if err := d.Decode(&v); err != nil {
				return ""
			}
			if n.m[key] == nil {
				n.keys = append(n.keys, key)
			} else if twice == "" {
				twice = key
			}
			n.m[key] = leaf(v)
		}
	case json.Delim('['):
		n.kind = isArray
		for d.More() {
			var v json.RawMessage
			if err := d.Decode(&v); err != nil {
				return ""
			}
			n.items = append(n.items, leaf(v))
		}
	}
	return twice
}

// touch drops raw, after a change inside the value.
func (n *node) touch() { n.raw = nil }

// member returns a member, created if missing.
func (n *node) member(name string) *node {
	if n.m == nil {
		n.m = map[string]*node{}
	}
	c := n.m[name]
	if c == nil {
		c = &node{}
		n.m[name] = c
		n.keys = append(n.keys, name)
	}
	return c
}

// empty reports whether the value is not set.
func (n *node) empty() bool { return n.kind == isLeaf && n.raw == nil }

func (n *node) appendTo(b []byte) []byte {
	if n.raw != nil {
		return append(b, n.raw...)
	}
	switch n.kind {
	case isObject:
		b = append(b, '{')
		for i, k := range n.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, schema.Quote(k)...), ':')
			b = n.m[k].appendTo(b)
		}
		return append(b, '}')
	case isArray:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendTo(b)
		}
		return append(b, ']')
	default: // a leaf without a value
		return append(b, "null"...)
	}
}
