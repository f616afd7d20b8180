package jsonedit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// Step is one step of a path that may lead through arrays: to the member of an object, or
// to the element of an array.
type Step struct {
	// Name is that of a member, "" for an element.
	Name string
	// Element says that the step leads to an element, Index to which: [End] is the place
	// behind the last one.
	Element bool
	Index   int
}

// End is the index behind the last element of an array.
const End = -1

// names returns the steps before the first element, and the others.
func names(path []Step) (before []string, rest []Step) {
	for i, s := range path {
		if s.Element {
			return before, path[i:]
		}
		before = append(before, s.Name)
	}
	return before, nil
}

// At returns the value that a path leads to, nil for none.
func (d *Document) At(path ...Step) *hujson.Value {
	v := d.root
	for _, s := range path {
		if !s.Element {
			at := indexes(v, s.Name)
			if len(at) == 0 {
				return nil
			}
			v = &v.Value.(*hujson.Object).Members[at[0]].Value
			continue
		}
		if v == nil {
			return nil
		}
		list, ok := v.Value.(*hujson.Array)
		if !ok || s.Index < 0 || s.Index >= len(list.Elements) {
			return nil
		}
		v = &list.Elements[s.Index]
	}
	return v
}

// SetAt is [Document.Set] for a path that may lead through arrays. An element that is
// there is replaced; one at the end is added, also to an array that is missing. Elements
// of arrays keep their comments as members of objects do.
func (d *Document) SetAt(value json.RawMessage, path ...Step) (*Document, error) {
	before, rest := names(path)
	if rest == nil {
		return d.Set(value, before...)
	}
	list, step := d.Lookup(before...), rest[0]
	if list == nil {
		if step.Index != End && step.Index != 0 || len(rest) > 1 {
			return nil, fmt.Errorf("there is no element %d", step.Index)
		}
		return d.Set(slices.Concat([]byte("["), value, []byte("]")), before...)
	}
	elements, ok := list.Value.(*hujson.Array)
	if !ok {
		return nil, errors.New("want an array there")
	}
	n := len(elements.Elements)
	if len(rest) == 1 && (step.Index == End || step.Index == n) {
		return d.appendElement(list, value, before)
	}
	if step.Index < 0 || step.Index >= n {
		return nil, fmt.Errorf("there is no element %d: the array has %d", step.Index, n)
	}
	return d.replaceElement(&elements.Elements[step.Index], before, func(element *Document) (*Document, error) {
		if len(rest) > 1 {
			return element.SetAt(value, rest[1:]...)
		}
		v, err := hujson.Parse(value)
		if err != nil {
			return nil, err
		}
		v.Minimize()
		st := d.style()
		st.inline = true
		return Parse([]byte(st.format(&v, "")))
	})
}

// RemoveAt is [Document.Remove] for a path that may lead through arrays.
func (d *Document) RemoveAt(path ...Step) (*Document, error) {
	before, rest := names(path)
	if rest == nil {
		return d.Remove(before...)
	}
	if d.At(path...) == nil {
		return d, nil
	}
	list := d.Lookup(before...)
	if len(rest) == 1 {
		return d.apply(d.removal(asObject(list), rest[0].Index), before)
	}
	element := &list.Value.(*hujson.Array).Elements[rest[0].Index]
	return d.replaceElement(element, before, func(e *Document) (*Document, error) { return e.RemoveAt(rest[1:]...) })
}

// replaceElement edits an element of an array as a document of its own.
func (d *Document) replaceElement(element *hujson.Value, before []string, edit func(*Document) (*Document, error)) (*Document, error) {
	sub, err := Parse(slices.Clone(d.text[element.StartOffset:element.EndOffset]))
	if err != nil {
		return nil, err
	}
	if sub, err = edit(sub); err != nil {
		return nil, err
	}
	return d.apply([]splice{{element.StartOffset, element.EndOffset, string(sub.Bytes())}}, before)
}

// appendElement adds an element at the end of an array.
func (d *Document) appendElement(list *hujson.Value, value json.RawMessage, before []string) (*Document, error) {
	v, err := hujson.Parse(value)
	if err != nil {
		return nil, err
	}
	v.Minimize()
	object := asObject(list)
	st := d.style(object)
	st.inline = true
	if len(object.Value.(*hujson.Object).Members) == 0 {
		at := extraEnd(d.text, list.StartOffset+1, list.EndOffset-1)
		text := st.format(&v, "")
		if at > list.StartOffset+1 { // behind a comment
			text = st.newline + d.indentAt(list.StartOffset) + st.unit + text
		}
		return d.apply([]splice{{at, at, text}}, before)
	}
	return d.apply(d.insertMember(object, st, func(indent string, _ bool) string { return st.format(&v, indent) }), before)
}

// asObject returns an array as an object whose members have values without names, for the
// edits of objects.
func asObject(list *hujson.Value) *hujson.Value {
	array := list.Value.(*hujson.Array)
	object := &hujson.Object{AfterExtra: array.AfterExtra}
	for _, e := range array.Elements {
		name := hujson.Value{BeforeExtra: e.BeforeExtra, StartOffset: e.StartOffset, EndOffset: e.StartOffset}
		e.BeforeExtra = nil
		object.Members = append(object.Members, hujson.ObjectMember{Name: name, Value: e})
	}
	return &hujson.Value{StartOffset: list.StartOffset, EndOffset: list.EndOffset, Value: object}
}
