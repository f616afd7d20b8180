package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// Set writes a value under a path of member names: in place of the value that is there,
// or at the end of its object, in the document's own indentation and line ends. Objects
// on the way that are missing are added. Every other byte stays, except the comma that
// separates two members. The value is written with its members in the order given, and
// its numbers and strings unchanged.
//
// It is an error if a value on the way is no object, or has the last name twice.
func (d *Document) Set(value json.RawMessage, path ...string) (*Document, error) {
	v, err := hujson.Parse(append(slices.Clip([]byte(value)), '\n'))
	if err != nil {
		return nil, err
	}
	v.Minimize()
	edits, err := d.setting(&v, path)
	if err != nil {
		return nil, err
	}
	return d.apply(edits, path)
}

// Remove deletes a member, its own comments (those in the lines right above and behind
// it) and the comma that separated it; every other byte stays. Of a name that is there
// twice both are deleted. A path that leads nowhere returns the document itself.
func (d *Document) Remove(path ...string) (*Document, error) {
	for {
		parent := d.Lookup(path[:len(path)-1]...)
		at := indexes(parent, path[len(path)-1])
		if len(at) == 0 {
			return d, nil
		}
		edited, err := d.apply(d.removal(parent, at[len(at)-1]), path)
		if err != nil {
			return nil, err
		}
		d = edited
	}
}

// SetElements is [Document.Set] for a list in place of one with as many elements: those that are equal
// keep their bytes, and so do all comments in the list. ok is false where the value at the
// path is no such list.
func (d *Document) SetElements(value json.RawMessage, path ...string) (edited *Document, ok bool, err error) {
	v, err := hujson.Parse(append(slices.Clip([]byte(value)), '\n'))
	if err != nil {
		return nil, false, err
	}
	v.Minimize()
	now, isList := v.Value.(*hujson.Array)
	old, wasList := lookupArray(d.Lookup(path...))
	if !isList || !wasList || len(now.Elements) != len(old.Elements) {
		return nil, false, nil
	}
	st := d.style()
	var edits []splice
	for i, e := range old.Elements {
		if !bytes.Equal(Standard(e), Standard(now.Elements[i])) {
			edits = append(edits, splice{e.StartOffset, e.EndOffset, st.format(&now.Elements[i], d.indentAt(e.StartOffset))})
		}
	}
	edited, err = d.apply(edits, path)
	return edited, err == nil, err
}

func lookupArray(v *hujson.Value) (a *hujson.Array, ok bool) {
	if v == nil {
		return nil, false
	}
	a, ok = v.Value.(*hujson.Array)
	return a, ok
}

// setting returns the edits of Set.
func (d *Document) setting(v *hujson.Value, path []string) ([]splice, error) {
	if d.root == nil {
		return d.first(v, path), nil
	}
	parent := d.root
	chain := []*hujson.Value{}
	for i, name := range path {
		if _, ok := parent.Value.(*hujson.Object); !ok {
			return nil, d.errorAt(parent.StartOffset, "a value where an object is due", "")
		}
		chain = slices.Insert(chain, 0, parent)
		st := d.style(chain...)
		switch at := indexes(parent, name); {
		case len(at) == 0:
			return d.insertMember(parent, st, func(indent string, inline bool) string {
				st.inline = inline
				return st.members(v, path[i:], indent)
			}), nil
		case i < len(path)-1:
			parent = &parent.Value.(*hujson.Object).Members[at[0]].Value
		case len(at) > 1:
			return nil, fmt.Errorf("%q is there twice", name)
		default:
			m := parent.Value.(*hujson.Object).Members[at[0]]
			st.inline = !bytes.Contains(d.text[m.Value.StartOffset:m.Value.EndOffset], []byte("\n"))
			return []splice{{m.Value.StartOffset, m.Value.EndOffset, st.format(v, d.indentAt(m.Name.StartOffset))}}, nil
		}
	}
	return nil, errors.New("a path is empty")
}

// first returns the edit that writes the object of a text without one, behind what is
// there.
func (d *Document) first(v *hujson.Value, path []string) []splice {
	st := d.style()
	at := extraEnd(d.text, 0, len(d.text))
	before := ""
	if at > 0 {
		before = st.newline
	}
	text := before + "{" + st.newline + st.unit + st.members(v, path, st.unit) + st.newline + "}"
	if rest := d.text[at:]; !bytes.Contains(rest, []byte("\n")) {
		text += st.newline
	}
	return []splice{{at, at, text}}
}

// splice replaces text[start:end].
type splice struct {
	start, end int
	text       string
}

// apply makes the edits, and verifies that only what the path leads to has changed.
func (d *Document) apply(edits []splice, path []string) (*Document, error) {
	edited, err := d.splices(edits)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(d.sources(path), edited.sources(path), bytes.Equal) {
		return nil, errors.New("the edit would change something else")
	}
	return edited, nil
}

// splices makes the edits.
func (d *Document) splices(edits []splice) (*Document, error) {
	slices.SortStableFunc(edits, func(a, b splice) int { return a.start - b.start })
	out := slices.Clone(d.raw[:len(d.raw)-len(d.text)])
	last := 0
	for _, s := range edits {
		out = append(append(out, d.text[last:s.start]...), s.text...)
		last = s.end
	}
	edited, err := Parse(append(out, d.text[last:]...))
	if err != nil {
		return nil, errors.New("the edit would break the file")
	}
	return edited, nil
}

// Replace writes a text in the place of another part of the document, such as a name or a
// value of its syntax tree.
func (d *Document) Replace(start, end int, text string) (*Document, error) {
	return d.splices([]splice{{start, end, text}})
}

// RemoveMember is [Document.Remove] for one member of an object, whatever its name is.
func (d *Document) RemoveMember(object *hujson.Value, i int) (*Document, error) {
	return d.splices(d.removal(object, i))
}

// sources returns the bytes of every member beside a path: those of the root that are not
// its first name, those of the object there that are not its second, and so on.
func (d *Document) sources(path []string) [][]byte {
	var out [][]byte
	for i := range path {
		v := d.Lookup(path[:i]...)
		if v == nil {
			break
		}
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			break
		}
		for j := range obj.Members {
			if m := &obj.Members[j]; Name(m) != path[i] {
				out = append(out, d.text[m.Name.StartOffset:m.Value.EndOffset])
			}
		}
	}
	return out
}

// insertMember adds a member at the end of an object.
func (d *Document) insertMember(v *hujson.Value, st style, text func(indent string, inline bool) string) []splice {
	obj := v.Value.(*hujson.Object)
	closing := v.EndOffset - 1
	n := len(obj.Members)
	indent := d.memberIndent(v, st)
	if n == 0 {
		at := extraEnd(d.text, v.StartOffset+1, closing)
		out := st.newline + indent + text(indent, false)
		if !bytes.Contains(d.text[at:closing], []byte("\n")) {
			out += st.newline + d.indentAt(v.StartOffset)
		}
		return []splice{{at, at, out}}
	}
	last := obj.Members[n-1]
	var edits []splice
	tail, comma := last.Value.EndOffset, ""
	if last.Value.AfterExtra != nil { // a trailing comma; keep to that style
		tail += len(last.Value.AfterExtra) + 1
		comma = ","
	} else {
		edits = append(edits, splice{tail, tail, ","})
	}
	at := lineEnd(d.text, tail, closing)
	if ownLine(last) || bytes.Contains(d.text[tail:at], []byte("//")) {
		return append(edits, splice{at, at, st.newline + indent + text(indent, false) + comma})
	}
	return append(edits, splice{at, at, " " + text(d.indentAt(v.StartOffset), true) + comma})
}

// removal deletes member i of an object.
func (d *Document) removal(parent *hujson.Value, i int) []splice {
	obj := parent.Value.(*hujson.Object)
	m := obj.Members[i]
	closing := parent.EndOffset - 1
	last := i == len(obj.Members)-1
	name := m.Name.StartOffset
	prevEnd := name - len(m.Name.BeforeExtra)

	// What lies behind: the comma and comments in the rest of the line.
	end, next := m.Value.EndOffset, closing
	hasComma := !last || m.Value.AfterExtra != nil
	if hasComma {
		end += len(m.Value.AfterExtra) + 1
	}
	if !last {
		next = obj.Members[i+1].Name.StartOffset
	}
	lineEnds := false
	rest := tokens(d.text, end, next)
	for _, t := range rest {
		if t.comment {
			continue
		}
		if nl := bytes.IndexByte(d.text[t.start:t.end], '\n'); nl >= 0 {
			lineEnds = true
			end = t.start + nl
			if end > t.start && d.text[end-1] == '\r' {
				end--
			}
			break
		}
	}
	if !lineEnds && last {
		// The brace closes in the same line; comments before it are this
		// entry's.
		end = extraEnd(d.text, end, closing)
	}

	// What lies before: comment lines right above.
	start, ownLine := d.ownStart(prevEnd, name)
	switch {
	case ownLine && lineEnds:
		start = beforeLine(d.text, prevEnd, start)
		if next == closing || blankAhead(d.text, end, next) {
			start = beforeBlank(d.text, prevEnd, start)
		}
	case !lineEnds && !last:
		// Another member follows in the line and takes this one's place.
		if first := rest; len(first) == 1 && !first[0].comment {
			end = next
		}
	case !ownLine && last:
		start = prevEnd
	}
	edits := []splice{{start, end, ""}}
	if last && !hasComma && i > 0 {
		prev := obj.Members[i-1].Value
		comma := prev.EndOffset + len(prev.AfterExtra)
		edits = append(edits, splice{comma, comma + 1, ""})
	}
	return edits
}

// token is a run of white space or one comment, without its line end.
type token struct {
	start, end int
	comment    bool
}

// tokens splits white space and comments between two offsets.
func tokens(text []byte, start, end int) []token {
	var out []token
	for start < end {
		rest := text[start:end]
		t := token{start: start, comment: rest[0] == '/'}
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			t.end = start + len(bytes.TrimRight(rest[:n], "\r"))
		case bytes.HasPrefix(rest, []byte("/*")):
			t.end = start + 2 + bytes.Index(rest[2:], []byte("*/")) + 2
		default:
			n := bytes.IndexByte(rest, '/')
			if n < 0 {
				n = len(rest)
			}
			t.end = start + n
		}
		out = append(out, t)
		start = t.end
	}
	return out
}

// extraEnd returns where the last comment between two offsets ends, or start.
func extraEnd(text []byte, start, end int) int {
	at := start
	for _, t := range tokens(text, start, end) {
		if t.comment {
			at = t.end
		}
	}
	return at
}

// lineEnd returns where the last comment in the line of an offset ends, or the offset.
// Comments in lines of their own belong to nobody, and stay behind what is added.
func lineEnd(text []byte, start, end int) int {
	at := start
	for _, t := range tokens(text, start, end) {
		switch {
		case t.comment:
			at = t.end
		case bytes.Contains(text[t.start:t.end], []byte("\n")):
			return at
		}
	}
	return at
}

// ownLine reports whether a member begins a line.
func ownLine(m hujson.ObjectMember) bool { return bytes.Contains(m.Name.BeforeExtra, []byte("\n")) }

// indentAt returns the white space that begins the line of an offset.
func (d *Document) indentAt(offset int) string {
	start := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	end := start
	for end < offset && (d.text[end] == ' ' || d.text[end] == '\t') {
		end++
	}
	return string(d.text[start:end])
}

// ownStart returns where an entry begins, with the comments that are its own:
// those between it and the entry before, up to a blank line, except one on the
// line of the entry before. It also reports whether the entry begins a line.
func (d *Document) ownStart(prevEnd, name int) (start int, ownLine bool) {
	before := tokens(d.text, prevEnd, name)
	start = name
	ownLine = bytes.Contains(d.text[prevEnd:name], []byte("\n"))
	for _, t := range slices.Backward(before) {
		text := d.text[t.start:t.end]
		if !t.comment {
			if bytes.Count(text, []byte("\n")) > 1 {
				break
			}
			continue
		}
		if ownLine && !bytes.Contains(d.text[prevEnd:t.start], []byte("\n")) {
			break // it ends the line before
		}
		start = t.start
	}
	return start, ownLine
}

// beforeLine moves back over indentation and the line end before it.
func beforeLine(text []byte, limit, at int) int {
	for at > limit && (text[at-1] == ' ' || text[at-1] == '\t') {
		at--
	}
	if at > limit && text[at-1] == '\n' {
		at--
		if at > limit && text[at-1] == '\r' {
			at--
		}
	}
	return at
}

// beforeBlank moves back over blank lines.
func beforeBlank(text []byte, limit, at int) int {
	for {
		i := at
		for i > limit && (text[i-1] == ' ' || text[i-1] == '\t') {
			i--
		}
		if i == limit || text[i-1] != '\n' {
			return at
		}
		at = beforeLine(text, limit, i)
	}
}

// blankAhead reports whether a blank line follows.
func blankAhead(text []byte, at, limit int) bool {
	n := 0
	for _, c := range text[at:limit] {
		switch c {
		case '\n':
			n++
		case ' ', '\t', '\r':
		default:
			return n > 1
		}
	}
	return n > 1
}
