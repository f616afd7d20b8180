package args

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// maxPath bounds the steps of one path.
const maxPath = 100

// split splits a word into its key, whether the value is JSON, and the value. A
// property whose own name has an = or ends in a colon goes before the grammar.
func split(root schema.Node, w string) (key string, isJSON bool, value string, ok bool) {
	longest := -1
	for _, p := range root.Properties() {
		rest, found := strings.CutPrefix(w, p.Name)
		if !found || len(p.Name) <= longest || p.Name == "" {
			continue
		}
		if v, found := strings.CutPrefix(rest, ":="); found {
			longest, key, isJSON, value = len(p.Name), p.Name, true, v
		} else if v, found := strings.CutPrefix(rest, "="); found {
			longest, key, isJSON, value = len(p.Name), p.Name, false, v
		}
	}
	if longest >= 0 {
		return key, isJSON, value, true
	}
	key, value, ok = strings.Cut(w, "=")
	if k, found := strings.CutSuffix(key, ":"); found {
		key, isJSON = k, true
	}
	return key, isJSON, value, ok && key != ""
}

// pair sets one word's value. A value that does not fit becomes an issue, so that
// all are reported together.
func (b *builder) pair(w string) error {
	key, isJSON, value, ok := split(b.s.Root(), w)
	if !ok {
		e := errorf("argument %q: want name=text or name:=json", short(w))
		if isWhole(w) {
			e.Remedy = "a whole object has to be the first word"
		} else if form := colonForm(w); form != "" {
			e.Remedy = "write " + clitool.Line([]string{form})
		}
		return e
	}
	if !utf8.ValidString(key) {
		return errorf("argument %q: not UTF-8 text", short(w))
	}
	slot, err := b.find(key)
	if err != nil || slot == nil {
		return err
	}
	if isJSON {
		return b.setJSON(key, slot, value)
	}
	return b.setText(key, slot, value)
}

// place is the target of a path.
type place struct {
	n      *node
	schema schema.Node
	at     string // JSON pointer
}

// find walks a path and creates missing values. A nil place without an error is a
// recorded issue.
func (b *builder) find(key string) (*place, error) {
	p := &place{n: b.root, schema: b.s.Root()}
	rest := key
	for range maxPath {
		name, ok := b.name(p.schema, rest)
		if !ok {
			return nil, errorf("argument %s: an empty name in the path", short(key))
		}
		rest = rest[len(name):]
		if err := b.member(key, p, name); err != nil || p.n == nil {
			return nil, err
		}
		for strings.HasPrefix(rest, "[") {
			index, after, closed := strings.Cut(rest[1:], "]")
			if !closed {
				return nil, errorf("argument %s: a [ without its ]", short(key))
			}
			if err := b.index(key, p, index); err != nil {
				return nil, err
			}
			rest = after
		}
		if rest == "" {
			return p, nil
		}
		if rest[0] != '.' {
			return nil, errorf("argument %s: want a dot after ]", short(key))
		}
		rest = rest[1:]
	}
	return nil, errorf("argument %s: more than %d steps", short(key), maxPath)
}

// name returns the first name of a path: the longest in the schema, else up to the
// next dot or bracket.
func (b *builder) name(n schema.Node, rest string) (string, bool) {
	longest := ""
	for _, p := range n.Properties() {
		after, found := strings.CutPrefix(rest, p.Name)
		if found && len(p.Name) > len(longest) && (after == "" || after[0] == '.' || after[0] == '[') {
			longest = p.Name
		}
	}
	if longest == "" {
		if i := strings.IndexAny(rest, ".["); i >= 0 {
			rest = rest[:i]
		}
		longest = rest
	}
	return longest, longest != ""
}

// member steps into a member. An unknown name sets p.n to nil and adds an issue.
func (b *builder) member(key string, p *place, name string) error {
	p.n.open()
	if p.n.empty() {
		p.n.kind = isObject
	}
	if p.n.kind != isObject || p.schema.Kinds()&schema.Object == 0 && !b.src.NoValidate {
		return notA("an object", key, p)
	}
	child, known := p.schema.Property(name)
	if !known && !b.src.NoValidate {
		b.issues = append(b.issues, unknown(p.schema, p.at, name))
		p.n = nil
		return nil
	}
	p.n.touch()
	p.n, p.schema, p.at = p.n.member(name), child, schema.Pointer(p.at, name)
	return nil
}

// index steps into an array: a number, or nothing to append.
func (b *builder) index(key string, p *place, index string) error {
	p.n.open()
	if p.n.empty() {
		p.n.kind = isArray
	}
	if p.n.kind != isArray || p.schema.Kinds()&schema.Array == 0 && !b.src.NoValidate {
		return notA("an array", key, p)
	}
	i := len(p.n.items)
	if index != "" {
		n, err := strconv.ParseUint(index, 10, 31)
		if err != nil {
			return errorf("argument %s: want a number or nothing between [ and ], got %q", short(key), short(index))
		}
		if int(n) > i {
			return errorf("argument %s: the array has %d elements, index %d leaves a gap", short(key), i, n)
		}
		i = int(n)
	}
	if i == len(p.n.items) {
		p.n.items = append(p.n.items, &node{})
	}
	p.n.touch()
	p.n, p.schema, p.at = p.n.items[i], p.schema.Item(i), schema.Pointer(p.at, strconv.Itoa(i))
	return nil
}

func notA(what, key string, p *place) error {
	if p.n.kind == isLeaf && !p.n.empty() || p.n.kind != isLeaf && p.schema.Kinds() == schema.Any {
		return errorf("argument %s: the value at %s is not %s", short(key), p.at, what)
	}
	return errorf("argument %s: %s is %s, not %s", short(key), cmp.Or(p.at, "the whole"), p.schema.Type(), what)
}

// setJSON sets the value of a:=json.
func (b *builder) setJSON(key string, p *place, value string) error {
	raw := []byte(value)
	if name, found := strings.CutPrefix(value, "@"); found {
		if name == "" {
			return noFile(key)
		}
		var err error
		if raw, err = b.file(name); err != nil {
			return err
		}
		raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return errorf("argument %s: no JSON after :=", short(key))
	}
	if err := checkJSON(raw); err != nil {
		e := errorf("argument %s: not valid JSON: %w", short(key), err)
		if p.schema.Kinds()&schema.String != 0 {
			e.Remedy = "for text write " + short(key) + "=" + short(value)
		}
		return e
	}
	if p.n.given {
		return givenTwice(key)
	}
	*p.n = node{raw: raw, given: true}
	return nil
}

// setText sets the value of a=text, by the schema.
func (b *builder) setText(key string, p *place, value string) error {
	v := textValue{text: value}
	switch {
	case strings.HasPrefix(value, "@@"):
		v.text = value[1:]
	case value == "@":
		return noFile(key)
	case strings.HasPrefix(value, "@"):
		raw, err := b.file(value[1:])
		if err != nil {
			if e, ok := err.(*Error); ok && value != "@-" { //nolint:errorlint // made by file, never wrapped
				e.Remedy = "for the text " + short(value) + " write " + short(key) + "=@" + short(value)
			}
			return err
		}
		v = textValue{file: true, bytes: raw, text: string(raw)}
	}
	k := p.schema.Kinds()
	if k&schema.Array != 0 && !p.n.list {
		switch raw, ok, err := asJSON(p.schema, v.text); {
		case ok && p.n.given:
			return givenTwice(key)
		case ok && err != nil && !v.file:
			return notJSON(key, value, err)
		case ok && err == nil:
			*p.n = node{raw: raw, given: true}
			return nil
		}
	}
	scalar := k&(schema.String|schema.Boolean|schema.Integer|schema.Number|schema.Null) != 0
	if k&schema.Array == 0 || scalar && !p.n.given && !p.n.list {
		if p.n.given {
			return givenTwice(key)
		}
		raw, issue := b.coerce(p.schema, v, p.at)
		if issue != nil {
			b.issues = append(b.issues, *issue)
		}
		*p.n = node{raw: raw, given: true, text: &v.text}
		return nil
	}
	return b.appendText(key, p, v)
}

// appendText adds one element of a repeated pair.
func (b *builder) appendText(key string, p *place, v textValue) error {
	switch {
	case p.n.list:
	case p.n.given && (p.n.text == nil || p.schema.Kinds() == schema.Any): // no schema, no array
		return givenTwice(key)
	case p.n.given:
		// string | array: a second pair means the array.
		first := textValue{text: *p.n.text}
		*p.n = node{kind: isArray, list: true, given: true}
		b.element(p, first)
	default:
		*p.n = node{kind: isArray, list: true, given: true}
		if !v.file && !b.src.NoValidate {
			b.singles = append(b.singles, single{key, v.text, *p})
		}
	}
	b.element(p, v)
	return nil
}

func (b *builder) element(p *place, v textValue) {
	i := len(p.n.items)
	raw, issue := b.coerce(p.schema.Item(i), v, schema.Pointer(p.at, strconv.Itoa(i)))
	if issue != nil {
		b.issues = append(b.issues, *issue)
	}
	p.n.items = append(p.n.items, leaf(raw))
}

func givenTwice(key string) error {
	return errorf("argument %s is given twice", short(key))
}

func noFile(key string) error {
	e := errorf("argument %s: no file name after @", short(key))
	e.Remedy = "for the text @ write " + short(key) + "=@@"
	return e
}
