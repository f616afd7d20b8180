package upgrade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// Side is whose change counts where both have changed the same.
type Side int

// The sides.
const (
	Mine Side = iota
	Theirs
)

// Conflict is a place that both have changed, each otherwise.
type Conflict struct {
	// Path leads to the member; a list is one member.
	Path []string
	// Mine and Theirs are what each would have there, nil for nothing. Of a list they are
	// the part in conflict.
	Mine, Theirs json.RawMessage
}

// Result is a merged object.
type Result struct {
	// Object has the members in the order of mine, and behind them what is new of theirs.
	Object    json.RawMessage
	Conflicts []Conflict
}

// Objects merges the changes from base to mine and from base to theirs. A member or an
// element of a list that only one of them has changed is as that one has it; one that
// both have changed otherwise is a conflict, and as the preferred side has it.
//
// All three are JSON objects. The error is for a text that is none.
func Objects(base, mine, theirs json.RawMessage, prefer Side) (*Result, error) {
	b, err := parseObject(base)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	m, err := parseObject(mine)
	if err != nil {
		return nil, fmt.Errorf("mine: %w", err)
	}
	t, err := parseObject(theirs)
	if err != nil {
		return nil, fmt.Errorf("theirs: %w", err)
	}
	j := &joiner{prefer: prefer}
	out := j.objects(nil, b, m, t)
	return &Result{Object: out.encode(), Conflicts: j.conflicts}, nil
}

// With returns an object with another value of a member that it has. Any other text is
// returned as it is.
func With(raw json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	o, err := parseObject(raw)
	if err != nil || !o.has(name) {
		return raw
	}
	o.set(name, value)
	return o.encode()
}

// joiner merges one object.
type joiner struct {
	prefer    Side
	conflicts []Conflict
}

// objects merges objects; one that is absent is empty.
func (j *joiner) objects(path []string, base, mine, theirs *object) *object {
	out := &object{}
	for _, name := range append(slices.Clone(mine.names), without(theirs.names, mine.names)...) {
		at := append(slices.Clip(path), name)
		if v := j.values(at, base.get(name), mine.get(name), theirs.get(name)); v != nil {
			out.set(name, v)
		}
	}
	return out
}

// values merges one value; nil is none.
func (j *joiner) values(path []string, base, mine, theirs json.RawMessage) json.RawMessage {
	switch {
	case equal(base, mine):
		return theirs
	case equal(base, theirs), equal(mine, theirs):
		return mine
	}
	if m, t := asObject(mine), asObject(theirs); m != nil && t != nil {
		b := asObject(base)
		if b == nil {
			b = &object{}
		}
		return j.objects(path, b, m, t).encode()
	}
	if m, t := asList(mine), asList(theirs); m != nil && t != nil {
		if b := asList(base); b != nil {
			return encodeList(j.lists(path, b, m, t))
		}
	}
	return j.conflict(path, mine, theirs)
}

// conflict notes a conflict and returns the side that counts.
func (j *joiner) conflict(path []string, mine, theirs json.RawMessage) json.RawMessage {
	j.conflicts = append(j.conflicts, Conflict{path, mine, theirs})
	if j.prefer == Theirs {
		return theirs
	}
	return mine
}

// lists merges lists, element by element.
func (j *joiner) lists(path []string, base, mine, theirs []string) []string {
	m, t := Hunks(base, mine), Hunks(base, theirs)
	var all []Hunk
	for len(m) > 0 || len(t) > 0 {
		switch {
		case len(t) == 0 || len(m) > 0 && !collide(m[0], t[0]) && before(m[0], t[0]):
			all, m = append(all, m[0]), m[1:]
		case len(m) == 0 || !collide(m[0], t[0]) && !sameHunk(m[0], t[0]):
			all, t = append(all, t[0]), t[1:]
		case sameHunk(m[0], t[0]):
			all, m, t = append(all, m[0]), m[1:], t[1:]
		default:
			var h Hunk
			h, m, t = j.clash(path, base, m, t)
			all = append(all, h)
		}
	}
	return Apply(base, all)
}

// before reports whether a hunk comes before another that it does not collide with. What
// is added comes before what is replaced in the same place.
func before(a, b Hunk) bool {
	if a.Start != b.Start {
		return a.Start < b.Start
	}
	return a.End < b.End
}

// clash joins the hunks in front that collide, directly or through one another, to one
// conflict. It returns the hunk that counts, and the hunks that are left.
func (j *joiner) clash(path, base []string, m, t []Hunk) (chosen Hunk, restM, restT []Hunk) {
	span := Hunk{Start: min(m[0].Start, t[0].Start), End: max(m[0].End, t[0].End)}
	nm, nt := 1, 1
	for {
		switch {
		case nm < len(m) && m[nm].Start < span.End:
			span.End = max(span.End, m[nm].End)
			nm++
			continue
		case nt < len(t) && t[nt].Start < span.End:
			span.End = max(span.End, t[nt].End)
			nt++
			continue
		}
		break
	}
	side := func(hunks []Hunk) []string {
		moved := make([]Hunk, len(hunks))
		for i, h := range hunks {
			moved[i] = Hunk{h.Start - span.Start, h.End - span.Start, h.New}
		}
		return Apply(base[span.Start:span.End], moved)
	}
	mine, theirs := side(m[:nm]), side(t[:nt])
	span.New = mine
	if !slices.Equal(mine, theirs) {
		j.conflict(path, encodeList(mine), encodeList(theirs))
		if j.prefer == Theirs {
			span.New = theirs
		}
	}
	return span, m[nm:], t[nt:]
}

// object is a JSON object that keeps the order of its members.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *object) get(name string) json.RawMessage { return o.values[name] }

func (o *object) has(name string) bool { return o.values[name] != nil }

func (o *object) set(name string, value json.RawMessage) {
	if o.values == nil {
		o.values = map[string]json.RawMessage{}
	}
	if !o.has(name) {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object) encode() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encodeValue(name))
		b.WriteByte(':')
		b.Write(o.values[name])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// parseObject reads an object. Of a name that is there twice the last value counts.
func parseObject(raw json.RawMessage) (*object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') || !json.Valid(raw) {
		return nil, errors.New("not a JSON object")
	}
	o := &object{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		name, _ := t.(string)
		o.set(name, v)
	}
	return o, nil
}

// asObject returns an object, nil for anything else.
func asObject(raw json.RawMessage) *object {
	o, err := parseObject(raw)
	if err != nil {
		return nil
	}
	return o
}

// asList returns the elements of a list as JSON in one form, nil for anything else.
func asList(raw json.RawMessage) []string {
	var items []json.RawMessage
	if !strings.HasPrefix(string(bytes.TrimSpace(raw)), "[") || json.Unmarshal(raw, &items) != nil {
		return nil
	}
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = canonical(item)
	}
	return out
}

func encodeList(items []string) json.RawMessage {
	return json.RawMessage("[" + strings.Join(items, ",") + "]")
}

// equal reports whether two values are the same; nil is only nil.
func equal(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(a, b) || canonical(a) == canonical(b)
}

// canonical returns a value in one form: members by name, texts with the same escapes,
// numbers as they are.
func canonical(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	return string(encodeValue(v))
}

func encodeValue(v any) json.RawMessage {
	raw, _ := plain.JSON(v) // texts, numbers and what was decoded
	return raw
}

// without returns the names of a list that are not in another.
func without(names, other []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(other, n) })
}
