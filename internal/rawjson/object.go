package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Fields finds members of an object: into[i] is the span of the value of the
// first member called names[i], absent when there is none. The text must be
// one JSON object.
func Fields(text []byte, into []Span, names ...string) error {
	clear(into)
	s := scanner{text: text}
	if err := s.begin('{', ErrNotObject); err != nil {
		return err
	}
	for n := 0; s.next(n, '}'); n++ {
		name := s.name()
		at := &Span{}
		for i, want := range names {
			if string(name) == want && !into[i].Present() {
				at = &into[i]
				break
			}
		}
		*at = s.value()
	}
	return s.finish()
}

// Field is Fields for one member.
func Field(text []byte, name string) (Span, error) {
	var at [1]Span
	err := Fields(text, at[:], name)
	return at[0], err
}

// FieldString returns the text of the member of an object that is a string, ""
// and false where there is none.
func FieldString(text []byte, name string) (string, bool) {
	at, err := Field(text, name)
	if err != nil {
		return "", false
	}
	return String(text, at)
}

// Walk visits the members of an object in order: the name, valid during the
// visit only, and the span of the value. It does not allocate, but for names with
// escapes. The text must be one JSON object.
func Walk(text []byte, visit func(name []byte, value Span)) error {
	s := scanner{text: text}
	if err := s.begin('{', ErrNotObject); err != nil {
		return err
	}
	for n := 0; s.next(n, '}'); n++ {
		name := s.name()
		if at := s.value(); !s.bad {
			visit(name, at)
		}
	}
	return s.finish()
}

// ErrNotArray is a value that is valid JSON and not an array.
var ErrNotArray = errors.New("value is not a JSON array")

// Elements returns the span of each element of an array, relative to text.
func Elements(text []byte) ([]Span, error) {
	s := scanner{text: text}
	if err := s.begin('[', ErrNotArray); err != nil {
		return nil, err
	}
	var out []Span
	for n := 0; s.next(n, ']'); n++ {
		out = append(out, s.value())
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return out, nil
}

// String returns the text of the string at a span, "" and false for anything
// else.
func String(text []byte, at Span) (string, bool) {
	raw := at.Of(text)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return string(Unquote(nil, raw)), true
}

// Edit replaces the bytes of a span. A zero-width span inserts.
type Edit struct {
	Span
	New []byte
}

// Splice appends text to dst with the edits applied. Edits are in the order of
// their spans and do not overlap; anything else is an impossible state of our
// own making and panics.
func Splice(dst, text []byte, edits ...Edit) []byte {
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			panic(fmt.Sprintf("rawjson: edit %d:%d out of order in %d bytes", e.Start, e.End, len(text)))
		}
		dst = append(append(dst, text[at:e.Start]...), e.New...)
		at = e.End
	}
	return append(dst, text[at:]...)
}

// Insertion is the edit that puts a member first into the object at a span of
// text. The name is quoted, the value raw JSON.
func Insertion(text []byte, object Span, name string, value []byte) Edit {
	b := append(append(Quote(nil, name), ':'), value...)
	if !empty(object.Of(text)) {
		b = append(b, ',')
	}
	at := object.Start + 1
	return Edit{Span{at, at}, b}
}

// Member is one member of an object: its name and its raw value.
type Member struct {
	Name  string
	Value []byte
}

// Set returns the object with the members set: those that are there get the new
// value in their place, others come first, in the order given. Every other
// byte stays.
func Set(object []byte, members []Member) ([]byte, error) {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	at := make([]Span, len(members))
	if err := Fields(object, at, names...); err != nil {
		return nil, err
	}
	var edits []Edit
	for i, m := range members {
		if at[i].Present() {
			edits = append(edits, Edit{at[i], m.Value})
		}
	}
	slices.SortFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
	object = Splice(nil, object, edits...)
	for i, m := range slices.Backward(members) {
		if !at[i].Present() {
			whole := Span{bytes.IndexByte(object, '{'), len(object)} // white space may come before
			object = Splice(nil, object, Insertion(object, whole, m.Name, m.Value))
		}
	}
	return object, nil
}

// SetNested sets members of the object that is the member called name of
// object; where either is absent it is made. A nil object is an empty one.
func SetNested(object []byte, name string, members []Member) ([]byte, error) {
	if object == nil {
		object = []byte("{}")
	}
	at, err := Field(object, name)
	if err != nil {
		return nil, err
	}
	inner := []byte("{}")
	if at.Present() {
		inner = at.Of(object)
	}
	if inner, err = Set(inner, members); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return Set(object, []Member{{name, inner}})
}

// empty reports whether a valid object has no members.
func empty(object []byte) bool {
	for _, c := range object[1:] {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == '}'
		}
	}
	return true
}

// OneLine replaces each raw line feed and carriage return of valid JSON by a
// space, in place: such bytes can only be white space between tokens, so the
// value stays the same and fits a line.
func OneLine(text []byte) []byte {
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
	return text
}

// List returns the elements of the array that is a member of an object, as
// spans of text. Object is the object's place in it. A member that is absent
// has none.
func List(text []byte, object Span, name string) ([]Span, error) {
	at, err := Field(object.Of(text), name)
	if err != nil || !at.Present() {
		return nil, err
	}
	return ElementsAt(text, Span{at.Start + object.Start, at.End + object.Start})
}

// ElementsAt is [Elements] for an array at a place in text, of which the spans
// are.
func ElementsAt(text []byte, at Span) ([]Span, error) {
	spans, err := Elements(at.Of(text))
	for i := range spans {
		spans[i].Start += at.Start
		spans[i].End += at.Start
	}
	return spans, err
}

// Whole is the span of all of a text.
func Whole(text []byte) Span { return Span{0, len(text)} }
