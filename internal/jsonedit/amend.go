package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Amend makes the object at a path of a document equal to that at a path of another one. Members
// that are equal keep their bytes and comments.
func (doc *Document) Amend(want *Document, at, from []string) (*Document, error) {
	var err error
	for _, name := range doc.Names(at...) {
		if err == nil && want.Lookup(join(from, name)...) == nil {
			doc, err = doc.Remove(join(at, name)...)
		}
	}
	for _, name := range want.Names(from...) {
		here, source := join(at, name), join(from, name)
		value := want.Value(source...)
		switch {
		case err != nil || bytes.Equal(doc.Value(here...), value):
		case len(doc.Names(here...)) > 0 && len(want.Names(source...)) > 0:
			doc, err = doc.Amend(want, here, source)
		default:
			doc, err = doc.set(value, here)
		}
	}
	return doc, err
}

// set writes a value; of a list that keeps its length, only the elements that differ.
func (doc *Document) set(value json.RawMessage, path []string) (*Document, error) {
	if edited, ok, err := doc.SetElements(value, path...); ok || err != nil {
		return edited, err
	}
	return doc.Set(value, path...)
}

func join(path []string, name string) []string { return append(slices.Clip(path), name) }
