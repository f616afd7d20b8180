package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/registry"
)

// maxDepth bounds objects and lists within one another.
const maxDepth = 200

// node is a value of a document, with its place.
type node struct {
	offset  int
	pointer string
	kind    byte // one of { [ " 0 t n
	text    string
	members []member
	items   []*node
}

type member struct {
	name   string
	offset int
	value  *node
}

// parser reads a document with the places of its values.
type parser struct {
	raw    []byte
	d      *json.Decoder
	report func(at int, pointer, format string, a ...any) // of a member that is there twice
}

// syntaxError is a text that is not JSON.
type syntaxError struct {
	offset  int
	message string
}

func (e *syntaxError) Error() string { return e.message }

func (p *parser) parse() (*node, error) {
	p.d = json.NewDecoder(bytes.NewReader(p.raw))
	p.d.UseNumber()
	n, err := p.value("", 0)
	if err != nil {
		return nil, p.explain(err)
	}
	if _, err := p.d.Token(); !errors.Is(err, io.EOF) {
		return nil, &syntaxError{p.next(), "something stands behind the document"}
	}
	return n, nil
}

// next returns where the next token begins.
func (p *parser) next() int {
	at := int(p.d.InputOffset())
	for at < len(p.raw) && strings.IndexByte(" \t\r\n,:", p.raw[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) value(pointer string, depth int) (*node, error) {
	n := &node{offset: p.next(), pointer: pointer}
	if depth > maxDepth {
		return nil, &syntaxError{n.offset, "too many objects and lists within one another"}
	}
	t, err := p.d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			n.kind, err = '{', p.object(n, depth)
		} else {
			n.kind, err = '[', p.list(n, depth)
		}
	case string:
		n.kind, n.text = '"', t
	case json.Number:
		n.kind, n.text = '0', t.String()
	case bool:
		n.kind, n.text = 't', strconv.FormatBool(t)
	default:
		n.kind = 'n'
	}
	return n, err
}

func (p *parser) object(n *node, depth int) error {
	seen := map[string]bool{}
	for p.d.More() {
		at := p.next()
		t, err := p.d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		pointer := n.pointer + "/" + escapePointer(name)
		if seen[name] {
			p.report(at, pointer, "%q is there twice", name)
		}
		seen[name] = true
		v, err := p.value(pointer, depth+1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, at, v})
	}
	_, err := p.d.Token()
	return err
}

func (p *parser) list(n *node, depth int) error {
	for p.d.More() {
		v, err := p.value(n.pointer+"/"+strconv.Itoa(len(n.items)), depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, v)
	}
	_, err := p.d.Token()
	return err
}

// explain returns a parser's error with its place.
func (p *parser) explain(err error) error {
	var syntax *json.SyntaxError
	at := p.next()
	switch {
	case errors.As(err, &syntax):
		at = max(int(syntax.Offset)-1, 0)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &syntaxError{len(p.raw), "the document ends too early"}
	default:
		if own := (*syntaxError)(nil); errors.As(err, &own) {
			return own
		}
	}
	at = min(at, len(p.raw))
	switch rest := p.raw[at:]; {
	case bytes.HasPrefix(p.raw, []byte("\xEF\xBB\xBF")):
		return &syntaxError{0, "the document begins with a byte order mark"}
	case bytes.HasPrefix(rest, []byte("/")):
		return &syntaxError{at, "comments are not JSON"}
	case len(rest) > 0 && (rest[0] == '}' || rest[0] == ']'):
		return &syntaxError{at, "a comma before the closing bracket is not JSON"}
	}
	return &syntaxError{at, "this is not JSON: " + err.Error()}
}

// get returns a member of an object, nil for none. null counts as none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if m := &n.members[i]; (m.name == name || m.name == registry.SnakeCase(name)) && m.value.kind != 'n' {
			return m.value
		}
	}
	return nil
}

// textOf returns the text of a member; numbers and booleans as they are written.
func (n *node) textOf(name string) string {
	v := n.get(name)
	if v == nil {
		return ""
	}
	return v.text
}

func (n *node) isTrue(name string) bool { return n.textOf(name) == "true" }

func (n *node) list(name string) []*node {
	if v := n.get(name); v != nil {
		return v.items
	}
	return nil
}

// at returns the value that a path such as packages[0].name leads to, or the last one on
// the way to it.
func (n *node) at(path string) *node {
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		next := n.get(step)
		if i, err := strconv.Atoi(step); err == nil && i < len(n.items) {
			next = n.items[i]
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// position returns the line and the character of an offset, counted from 1.
func position(raw []byte, offset int) (line, column int) {
	before := raw[:min(offset, len(raw))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// String returns a value for messages.
func (n *node) String() string {
	const longest = 60
	text := n.text
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return fmt.Sprintf("%q", text)
}
