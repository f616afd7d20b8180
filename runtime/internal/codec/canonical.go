package codec

import (
	"slices"
	"strings"
)

// CanonicalJSON gives the one text of all that stand for the same JSON value:
// members sorted by name and the last of those that repeat one, no spaces, no
// escapes but the necessary, numbers by their exact value.
func CanonicalJSON(raw []byte) ([]byte, error) {
	if f := checkJSON(raw); f != nil {
		return nil, f.fault()
	}
	d := decoder{data: raw}
	d.space()
	return d.canonical(nil), nil
}

// sameJSON tells whether a value that has been scanned is the one of a
// canonical text.
func sameJSON(raw []byte, canonical string) bool {
	return string(raw) == canonical || canonicalText(raw) == canonical
}

// canonicalText is CanonicalJSON of a value that has been scanned.
func canonicalText(raw []byte) string {
	d := decoder{data: raw}
	return string(d.canonical(nil))
}

// canonical appends the value here, which has been scanned before.
func (d *decoder) canonical(out []byte) []byte {
	switch d.next() {
	case '{':
		return d.canonicalObject(out)
	case '[':
		out = append(out, '[')
		more, _ := d.begin(']')
		for first := true; more; first = false {
			if !first {
				out = append(out, ',')
			}
			out = d.canonical(out)
			more, _ = d.more(']')
		}
		d.depth--
		return append(out, ']')
	case '"':
		inside, plain, _ := d.text()
		if plain {
			return append(append(append(out, '"'), inside...), '"')
		}
		return appendString(out, unescape(nil, inside))
	case 't', 'f', 'n':
		raw, _ := d.skip()
		return append(out, raw...)
	default:
		raw, _ := d.skip()
		return canonicalNumber(out, string(raw))
	}
}

func (d *decoder) canonicalObject(out []byte) []byte {
	type member struct {
		name  string
		value []byte
	}
	var members []member
	more, _ := d.begin('}')
	for more {
		name, _ := d.name()
		m := member{name: string(name)}
		m.value = d.canonical(nil)
		members = append(members, m)
		more, _ = d.more('}')
	}
	d.depth--
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	out = append(out, '{')
	first := true
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(appendString(out, m.name), ':'), m.value...)
	}
	return append(out, '}')
}
