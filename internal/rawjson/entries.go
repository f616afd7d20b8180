package rawjson

import "slices"

// Entry is where one member of an object lies: its name, unescaped, and the
// spans of the quoted name and of the value.
type Entry struct {
	Name       string
	Key, Value Span
}

// Entries returns the members of an object in their order, one that stands
// twice included. The text must be one JSON object.
func Entries(text []byte) ([]Entry, error) {
	s := scanner{text: text}
	if err := s.begin('{', ErrNotObject); err != nil {
		return nil, err
	}
	var out []Entry
	for n := 0; s.next(n, '}'); n++ {
		key, _ := s.key()
		name, _ := String(text, key)
		out = append(out, Entry{name, key, s.value()})
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return out, nil
}

// Object is an object inside a text together with what is to become of its own
// members. The zero value is none.
type Object struct {
	Entries []Entry // spans are those of the whole text
	start   int     // where its bracket stands
	gone    []bool
	add     []Member
	edits   []Edit
}

// ObjectAt reads the object at a span of text.
func ObjectAt(text []byte, at Span) (*Object, error) {
	entries, err := Entries(at.Of(text))
	if err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		e.Key.Start += at.Start
		e.Key.End += at.Start
		e.Value.Start += at.Start
		e.Value.End += at.Start
	}
	return &Object{Entries: entries, start: at.Start + Bracket(at.Of(text)), gone: make([]bool, len(entries))}, nil
}

// Bracket returns where the bracket of an object stands, which white space may
// come before.
func Bracket(object []byte) int {
	i := 0
	for object[i] != '{' {
		i++
	}
	return i
}

// Get returns the first member of a name, nil for none.
func (o *Object) Get(name string) *Entry {
	for i := range o.Entries {
		if o.Entries[i].Name == name {
			return &o.Entries[i]
		}
	}
	return nil
}

// Remove takes all members of a name out.
func (o *Object) Remove(name string) {
	for i, e := range o.Entries {
		if e.Name == name {
			o.gone[i] = true
		}
	}
}

// Add puts a member first, after those that were added before.
func (o *Object) Add(name string, value []byte) {
	o.add = append(o.add, Member{name, value})
}

// Replace sets the value of a member.
func (o *Object) Replace(e *Entry, value []byte) {
	o.edits = append(o.edits, Edit{e.Value, value})
}

// Rename sets the name of a member.
func (o *Object) Rename(e *Entry, name string) {
	o.edits = append(o.edits, Edit{e.Key, Quote(nil, name)})
}

// Len is how many members stay or are added.
func (o *Object) Len() int {
	n := len(o.add)
	for _, gone := range o.gone {
		if !gone {
			n++
		}
	}
	return n
}

// Edits returns what Remove, Add, Replace and Rename have asked for, as edits
// of the whole text in no particular order; see Apply.
func (o *Object) Edits() []Edit {
	edits := o.edits
	if len(o.add) > 0 {
		var b Builder
		for _, m := range o.add {
			b.Add(m.Name, m.Value)
		}
		if o.Len() > len(o.add) {
			b.members = append(b.members, ',')
		}
		edits = append(edits, Edit{Span{o.start + 1, o.start + 1}, b.members})
	}
	if slices.Contains(o.gone, true) {
		edits = append(edits, Removals(Members(o.Entries), func(i int) bool { return o.gone[i] })...)
	}
	return edits
}

// Apply returns the text with edits made, which may be in any order and do not
// overlap; those of equal place are made in the order given. Without edits it
// is the text itself.
func Apply(text []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return text
	}
	slices.SortStableFunc(edits, func(a, b Edit) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return a.End - b.End
	})
	return Splice(nil, text, edits...)
}

// Within moves edits of a part to their place in the text that has the part at
// start.
func Within(start int, edits []Edit) []Edit {
	for i := range edits {
		edits[i].Start += start
		edits[i].End += start
	}
	return edits
}

// Without returns the object without the members whose name is to be dropped,
// each with the comma that belongs to it; every other byte stays. Where nothing
// is dropped the text itself comes back.
func Without(object []byte, drop func(name string) bool) ([]byte, error) {
	entries, err := Entries(object)
	if err != nil {
		return nil, err
	}
	edits := Removals(Members(entries), func(i int) bool { return drop(entries[i].Name) })
	if edits == nil {
		return object, nil
	}
	return Splice(nil, object, edits...), nil
}

// Members returns the span of each member, name and value.
func Members(entries []Entry) []Span {
	out := make([]Span, len(entries))
	for i, e := range entries {
		out[i] = Span{e.Key.Start, e.Value.End}
	}
	return out
}

// Removals returns the edits that take parts out of a list, members of an
// object or elements of an array, each with the comma that it leaves without a
// purpose.
func Removals(parts []Span, gone func(i int) bool) []Edit {
	var edits []Edit
	last := -1 // the last part that stays
	for i, at := range parts {
		if !gone(i) {
			last = i
			continue
		}
		switch {
		case last >= 0:
			// From the end of the part before it: its comma goes too.
			at.Start = parts[i-1].End
		case i+1 < len(parts):
			at.End = parts[i+1].Start
		}
		edits = append(edits, Edit{Span: at})
	}
	return edits
}
