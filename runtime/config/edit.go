package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tailscale/hujson"
)

// Set writes an entry under an alias: at the end of mcpServers, in the file's
// own indentation and line ends, or in place of an entry with that alias
// if replace is true. Every other byte stays, except the comma that
// separates two entries. The entry is a JSON object, written with its members
// in the order given and its numbers and strings unchanged.
//
// Errors: [*AliasError], [*ExistsError], and [*Problem] for an object that is
// not a sound entry. On error the file is as before.
func (f *File) Set(name string, entry json.RawMessage, replace bool) error {
	value, err := checkEntry(name, entry)
	if err != nil {
		return err
	}
	switch at := f.members(name); {
	case len(at) == 0:
		if err := CheckAlias(name); err != nil {
			return err
		}
		return f.apply(f.insertion(name, value), name)
	case !replace:
		return &ExistsError{Server: name}
	case len(at) > 1:
		e, _ := f.Entry(name)
		return e.Err()
	default:
		m := f.servers.Value.(*hujson.Object).Members[at[0]]
		st := f.style()
		if !bytes.Contains(f.text[m.Value.StartOffset:m.Value.EndOffset], []byte("\n")) {
			st.inline = true
		}
		text := st.format(value, f.indentAt(m.Name.StartOffset))
		return f.apply([]splice{{m.Value.StartOffset, m.Value.EndOffset, text}}, name)
	}
}

// Remove deletes an entry, its own comments (those in the lines right above and
// behind it) and the comma that separated it; every other byte stays. Of a
// duplicated alias both are deleted. The error is a [*NotFoundError].
func (f *File) Remove(name string) error {
	at := f.members(name)
	if len(at) == 0 {
		return f.notFound(name)
	}
	for len(at) > 0 {
		if err := f.apply(f.removal(at[len(at)-1]), name); err != nil {
			return err
		}
		at = f.members(name)
	}
	return nil
}

// Init adds an empty mcpServers object where there is none.
func (f *File) Init() error {
	if f.servers != nil {
		return nil
	}
	return f.apply(f.insertion("", nil), "")
}

// checkEntry parses and checks an entry to be written.
func checkEntry(name string, entry json.RawMessage) (*hujson.Value, error) {
	doc := &document{text: entry}
	if err := doc.checkText(); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(append(slices.Clip([]byte(entry)), '\n'))
	if err != nil {
		return nil, doc.syntaxError(err)
	}
	d := &decoder{doc: doc, server: name}
	d.entry(v)
	if len(d.faults) > 0 {
		p := d.faults[0]
		p.Line, p.Column = 0, 0
		return nil, &p
	}
	v.Minimize()
	return &v, nil
}

// members returns the indexes of an alias among the members of mcpServers.
func (f *File) members(name string) []int {
	var at []int
	if f.servers != nil {
		for i, m := range f.servers.Value.(*hujson.Object).Members {
			if memberName(&m) == name {
				at = append(at, i)
			}
		}
	}
	return at
}

// splice replaces text[start:end].
type splice struct {
	start, end int
	text       string
}

// apply makes the edits and verifies that no entry except the one named has
// changed by a byte; otherwise the file stays unchanged.
func (f *File) apply(edits []splice, name string) error {
	slices.SortStableFunc(edits, func(a, b splice) int { return a.start - b.start })
	out := slices.Clone(f.raw[:len(f.raw)-len(f.text)])
	last := 0
	for _, s := range edits {
		out = append(append(out, f.text[last:s.start]...), s.text...)
		last = s.end
	}
	out = append(out, f.text[last:]...)
	edited, err := Parse(f.path, out)
	if err != nil {
		return errors.New("edit " + f.path + ": the edit would break the file; it is left as it was")
	}
	if !slices.EqualFunc(f.sources(name), edited.sources(name), bytes.Equal) {
		return errors.New("edit " + f.path + ": the edit would change other entries; the file is left as it was")
	}
	*f = *edited
	return nil
}

// sources returns the bytes of every entry except the one named, from its alias
// to its end.
func (f *File) sources(except string) [][]byte {
	var out [][]byte
	if f.servers == nil {
		return nil
	}
	for _, m := range f.servers.Value.(*hujson.Object).Members {
		if memberName(&m) != except {
			out = append(out, f.text[m.Name.StartOffset:m.Value.EndOffset])
		}
	}
	return out
}

// insertion adds an entry; a nil value adds an empty mcpServers.
func (f *File) insertion(name string, value *hujson.Value) []splice {
	st := f.style()
	switch {
	case f.root == nil:
		// White space and comments only: the object goes behind them.
		at := extraEnd(f.text, 0, len(f.text))
		before := ""
		if at > 0 {
			before = st.newline
		}
		text := before + "{" + st.newline + st.unit + st.servers(name, value, st.unit) + st.newline + "}"
		if rest := f.text[at:]; !bytes.Contains(rest, []byte("\n")) {
			text += st.newline
		}
		return []splice{{at, at, text}}
	case f.servers == nil:
		return f.insertMember(f.root, func(indent string, _ bool) string { return st.servers(name, value, indent) })
	}
	return f.insertMember(f.servers, func(indent string, inline bool) string {
		in := st
		in.inline = inline
		return quote(name) + ": " + in.format(value, indent)
	})
}

// insertMember adds a member at the end of an object.
func (f *File) insertMember(v *hujson.Value, text func(indent string, inline bool) string) []splice {
	obj := v.Value.(*hujson.Object)
	st := f.style()
	closing := v.EndOffset - 1
	n := len(obj.Members)
	indent := f.memberIndent(v)
	if n == 0 {
		at := extraEnd(f.text, v.StartOffset+1, closing)
		out := st.newline + indent + text(indent, false)
		if !bytes.Contains(f.text[at:closing], []byte("\n")) {
			out += st.newline + f.indentAt(v.StartOffset)
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
	at := extraEnd(f.text, tail, closing)
	if ownLine(last) || bytes.Contains(f.text[tail:at], []byte("//")) {
		return append(edits, splice{at, at, st.newline + indent + text(indent, false) + comma})
	}
	return append(edits, splice{at, at, " " + text(f.indentAt(v.StartOffset), true) + comma})
}

// removal deletes member i of mcpServers.
func (f *File) removal(i int) []splice {
	obj := f.servers.Value.(*hujson.Object)
	m := obj.Members[i]
	closing := f.servers.EndOffset - 1
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
	rest := tokens(f.text, end, next)
	for _, t := range rest {
		if t.comment {
			continue
		}
		if nl := bytes.IndexByte(f.text[t.start:t.end], '\n'); nl >= 0 {
			lineEnds = true
			end = t.start + nl
			if end > t.start && f.text[end-1] == '\r' {
				end--
			}
			break
		}
	}
	if !lineEnds && last {
		// The brace closes in the same line; comments before it are this
		// entry's.
		end = extraEnd(f.text, end, closing)
	}

	// What lies before: comment lines right above.
	start, ownLine := f.ownStart(prevEnd, name)
	switch {
	case ownLine && lineEnds:
		start = f.beforeLine(prevEnd, start)
		if next == closing || f.blankAhead(end, next) {
			start = f.beforeBlank(prevEnd, start)
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

// ownLine reports whether a member begins a line.
func ownLine(m hujson.ObjectMember) bool { return bytes.Contains(m.Name.BeforeExtra, []byte("\n")) }

// indentAt returns the white space that begins the line of an offset.
func (d *document) indentAt(offset int) string {
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
func (d *document) ownStart(prevEnd, name int) (start int, ownLine bool) {
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
func (d *document) beforeLine(limit, at int) int {
	for at > limit && (d.text[at-1] == ' ' || d.text[at-1] == '\t') {
		at--
	}
	if at > limit && d.text[at-1] == '\n' {
		at--
		if at > limit && d.text[at-1] == '\r' {
			at--
		}
	}
	return at
}

// beforeBlank moves back over blank lines.
func (d *document) beforeBlank(limit, at int) int {
	for {
		i := at
		for i > limit && (d.text[i-1] == ' ' || d.text[i-1] == '\t') {
			i--
		}
		if i == limit || d.text[i-1] != '\n' {
			return at
		}
		at = d.beforeLine(limit, i)
	}
}

// blankAhead reports whether a blank line follows.
func (d *document) blankAhead(at, limit int) bool {
	n := 0
	for _, c := range d.text[at:limit] {
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
