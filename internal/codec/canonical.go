package codec

import (
	"slices"
	"strings"
)

// CanonicalJSON returns the one text of all that stand for the same JSON value:
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

// sameJSON reports whether a value that has been scanned is the one of a
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

// canonicalObject writes members in their order here, and puts them in order by
// name only where they are not: a deep value is not copied at every level.
func (d *decoder) canonicalObject(out []byte) []byte {
	type member struct {
		name     string
		from, to int // in out
	}
	var list []member
	ordered := true
	begin := len(out)
	out = append(out, '{')
	more, _ := d.begin('}')
	for more {
		raw, _ := d.name()
		m := member{name: string(raw)}
		if n := len(list); n > 0 {
			out = append(out, ',')
			ordered = ordered && list[n-1].name < m.name
		}
		m.from = len(out)
		out = append(appendString(out, m.name), ':')
		out = d.canonical(out)
		m.to = len(out)
		list = append(list, m)
		more, _ = d.more('}')
	}
	d.depth--
	out = append(out, '}')
	if ordered {
		return out
	}
	slices.SortStableFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	written := slices.Clone(out[begin:])
	out = append(out[:begin], '{')
	for i, m := range list {
		if i+1 < len(list) && list[i+1].name == m.name {
			continue
		}
		if len(out) > begin+1 {
			out = append(out, ',')
		}
		out = append(out, written[m.from-begin:m.to-begin]...)
	}
	return append(out, '}')
}
