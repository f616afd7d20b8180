package rawjson

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
	kept := -1 // the last part that stays
	for i, at := range parts {
		if !gone(i) {
			kept = i
			continue
		}
		switch {
		case kept >= 0:
			// From the end of the part before it: its comma goes too.
			at.Start = parts[i-1].End
		case i+1 < len(parts):
			at.End = parts[i+1].Start
		}
		edits = append(edits, Edit{Span: at})
	}
	return edits
}
