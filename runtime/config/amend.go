package config

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonedit"
)

// Amend brings the entry of an alias into another form. Members that are equal keep their
// bytes and comments, and so does everything outside of the entry.
//
// Errors: [*NotFoundError], and [*Problem] for an object that is not a sound entry. On
// error the file is as before.
func (f *File) Amend(name string, entry json.RawMessage) error {
	if err := checkEntry(name, entry); err != nil {
		return err
	}
	switch n := f.members(name); {
	case n == 0:
		return f.notFound(name)
	case n > 1:
		e, _ := f.Entry(name)
		return e.Err()
	}
	want, err := jsonedit.Parse(entry)
	if err != nil {
		return err
	}
	return f.become(amend(f.doc, want, []string{rootKey, name}, nil))
}

// amend makes the object at a path of a document equal to that at a path of another one.
func amend(doc, want *jsonedit.Document, at, from []string) (*jsonedit.Document, error) {
	var err error
	for _, name := range doc.Names(at...) {
		if err == nil && want.Lookup(join(from, name)...) == nil {
			doc, err = doc.Remove(join(at, name)...)
		}
	}
	for _, name := range want.Names(from...) {
		here, there := join(at, name), join(from, name)
		value := want.Value(there...)
		switch {
		case err != nil || bytes.Equal(doc.Value(here...), value):
		case len(doc.Names(here...)) > 0 && len(want.Names(there...)) > 0:
			doc, err = amend(doc, want, here, there)
		default:
			doc, err = set(doc, value, here)
		}
	}
	return doc, err
}

// set writes a value; of a list that keeps its length, only the elements that differ.
func set(doc *jsonedit.Document, value json.RawMessage, path []string) (*jsonedit.Document, error) {
	if edited, ok, err := jsonedit.SetElements(doc, value, path...); ok || err != nil {
		return edited, err
	}
	return doc.Set(value, path...)
}

func join(path []string, name string) []string { return append(slices.Clip(path), name) }
