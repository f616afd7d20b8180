package rawjson

// Entry is where one member of an object lies: its name, unescaped, and the
// spans of the quoted name and of the value.
type Entry struct {
	Name       string
	Key, Value Span
}

// Entries gives the members of an object in their order, one that stands twice
// included. The text must be one JSON object.
func Entries(text []byte) ([]Entry, error) {
	s := acquire(text)
	defer s.release()
	if s.dec.PeekKind() != '{' {
		return nil, ErrNotObject
	}
	if _, err := s.open(); err != nil {
		return nil, eof(err)
	}
	var out []Entry
	for s.dec.PeekKind() != '}' {
		key, err := s.value()
		if err != nil {
			return nil, eof(err)
		}
		name, _ := String(text, key)
		value, err := s.value()
		if err != nil {
			return nil, eof(err)
		}
		out = append(out, Entry{name, key, value})
	}
	if _, err := s.close(0); err != nil {
		return nil, eof(err)
	}
	return out, s.end()
}

// Removals gives the edits that take members out of an object, each with the
// comma that it leaves without a purpose. The entries are those of Entries;
// gone tells which are to go.
func Removals(entries []Entry, gone func(Entry) bool) []Edit {
	var edits []Edit
	kept := -1 // the last entry that stays
	for i, e := range entries {
		if !gone(e) {
			kept = i
			continue
		}
		switch {
		case kept >= 0:
			// From the end of the last that stays: its comma goes too.
			edits = append(edits, Edit{Span: Span{entries[i-1].Value.End, e.Value.End}})
		case i+1 < len(entries):
			edits = append(edits, Edit{Span: Span{e.Key.Start, entries[i+1].Key.Start}})
		default:
			edits = append(edits, Edit{Span: Span{e.Key.Start, e.Value.End}})
		}
	}
	return edits
}

// At moves edits of a part to their place in the whole that it begins at.
func At(start int, edits []Edit) []Edit {
	for i := range edits {
		edits[i].Start += start
		edits[i].End += start
	}
	return edits
}
