// Package tomledit edits TOML documents in place: what an edit does not concern keeps its
// bytes.
package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

const bom = "\uFEFF"

// Document is a parsed text. It does not change: an edit returns a new one.
type Document struct {
	raw    []byte // the whole text
	text   []byte // without the byte order mark
	exprs  []expr
	values map[string]any
}

// expr is one header or one key with its value: whole lines of the text.
type expr struct {
	header     bool
	path       []string // of the table or value, from the root
	start, end int      // the end is behind the line's newline
}

// Error is why a text is not a TOML document.
type Error struct {
	// Line and Column are where it is, counted from 1.
	Line, Column int
	Message      string
}

// Error returns the place and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Parse reads a text, which it keeps. The error is an [*Error].
func Parse(raw []byte) (*Document, error) {
	d := &Document{raw: raw, text: bytes.TrimPrefix(raw, []byte(bom))}
	if err := toml.Unmarshal(d.text, &d.values); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := e.Position()
			return nil, &Error{line, column, e.Error()}
		}
		return nil, &Error{1, 1, err.Error()}
	}
	return d, d.split()
}

// split finds the expressions.
func (d *Document) split() error {
	var p unstable.Parser
	p.Reset(d.text)
	var table []string
	arrays := 0
	for p.NextExpression() {
		e := p.Expression()
		var keys []string
		at := -1
		for it := e.Key(); it.Next(); {
			if n := it.Node(); at < 0 {
				at = int(n.Raw.Offset)
			}
			keys = append(keys, string(it.Node().Data))
		}
		start := bytes.LastIndexByte(d.text[:at], '\n') + 1
		x := expr{header: e.Kind != unstable.KeyValue, start: start, end: lineEnd(d.text, start)}
		switch e.Kind {
		case unstable.ArrayTable:
			// No path leads into it: its elements have no names.
			arrays++
			table = append(keys, fmt.Sprintf("\x00%d", arrays))
			x.path = table
		case unstable.Table:
			table, x.path = keys, keys
		default:
			x.path = slices.Concat(table, keys)
		}
		d.exprs = append(d.exprs, x)
	}
	return p.Error()
}

// lineEnd returns where the expression that begins at an offset ends, with the rest of its
// last line. The text is known to be TOML.
func lineEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch c := text[at]; c {
		case '"', '\'':
			at = stringEnd(text, at)
			continue
		case '#':
			if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
				at += n
				continue
			}
			return len(text)
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth == 0 {
				return at + 1
			}
		}
		at++
	}
	return at
}

// stringEnd returns the offset behind the string that begins at one.
func stringEnd(text []byte, at int) int {
	quote := text[at : at+1]
	if long := bytes.Repeat(quote, 3); bytes.HasPrefix(text[at:], long) {
		quote = long
	}
	for i := at + len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case bytes.HasPrefix(text[i:], quote):
			end := i + len(quote)
			for len(quote) == 3 && end < len(text) && text[end] == quote[0] {
				end++ // up to two quotes may stand before the closing ones
			}
			return end
		}
	}
	return len(text)
}

// Bytes returns the whole text. Do not change it.
func (d *Document) Bytes() []byte { return d.raw }

// Names returns the names in the table at a path, in the order of the text.
func (d *Document) Names(path ...string) []string {
	var names []string
	table, _ := lookup(d.values, path).(map[string]any)
	for _, x := range d.exprs {
		if n := len(path); len(x.path) > n && slices.Equal(x.path[:n], path) && !slices.Contains(names, x.path[n]) {
			names = append(names, x.path[n])
		}
	}
	// Those of an inline table have no expressions.
	var more []string
	for name := range table {
		if !slices.Contains(names, name) {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	return append(names, more...)
}

// Value returns the value at a path as JSON, nil for none. Dates are strings.
func (d *Document) Value(path ...string) json.RawMessage {
	v := lookup(d.values, path)
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil // a number that JSON cannot have, such as inf
	}
	return raw
}

// Line returns the line in which the value at a path begins, 0 for none.
func (d *Document) Line(path ...string) int {
	for _, x := range d.exprs {
		if below(x.path, path) || below(path, x.path) && !x.header {
			return 1 + bytes.Count(d.text[:x.start], []byte("\n"))
		}
	}
	return 0
}

func lookup(v any, path []string) any {
	for _, name := range path {
		table, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = table[name]
	}
	return v
}

// below reports whether a path is another one, or below it.
func below(path, parent []string) bool {
	return len(path) >= len(parent) && slices.Equal(path[:len(parent)], parent)
}

// unchanged reports whether two documents are the same but for what a path leads to. A
// table that is empty without it counts as none.
func (d *Document) unchanged(b *Document, path []string) bool {
	return reflect.DeepEqual(without(d.values, path), without(b.values, path))
}

func without(table map[string]any, path []string) map[string]any {
	out := map[string]any{}
	for name, v := range table {
		if name == path[0] {
			inner, ok := v.(map[string]any)
			if len(path) == 1 || !ok {
				continue
			}
			rest := without(inner, path[1:])
			if len(rest) == 0 {
				continue
			}
			v = rest
		}
		out[name] = v
	}
	return out
}
