package configedit

import (
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Get returns the value at a path of a JSON text with comments, nil for none.
func Get(text []byte, p Path) json.RawMessage {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil
	}
	v := d.At(p...)
	if v == nil {
		return nil
	}
	return jsonedit.Standard(*v)
}

// Line returns the line in which the value at a path of a text begins, 0 for none.
func Line(text []byte, p Path) int {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return 0
	}
	v := d.At(p...)
	if v == nil {
		return 0
	}
	line, _ := d.Position(v.StartOffset)
	return line
}

// Set writes a value into a servers.json. The error is a [*config.Problem], the fault that
// the file would have, with its place; the file is then as before.
func Set(f *config.File, p Path, value json.RawMessage) error {
	return change(f, func(d *jsonedit.Document) (*jsonedit.Document, error) { return d.SetAt(value, p...) })
}

// Unset removes a value from a servers.json, and reports whether it was there. The error
// is that of [Set].
func Unset(f *config.File, p Path) (found bool, err error) {
	err = change(f, func(d *jsonedit.Document) (*jsonedit.Document, error) {
		found = d.At(p...) != nil
		return d.RemoveAt(p...)
	})
	return found && err == nil, err
}

// change edits the text of a file, and refuses what adds a fault.
func change(f *config.File, edit func(*jsonedit.Document) (*jsonedit.Document, error)) error {
	d, err := jsonedit.Parse(f.Bytes())
	if err != nil {
		return err
	}
	if d, err = edit(d); err != nil {
		return &config.Problem{File: f.Path(), Message: err.Error()}
	}
	after, err := config.Parse(f.Path(), d.Bytes())
	if err != nil {
		return err
	}
	before := f.Faults()
	for _, p := range after.Faults() {
		known := func(old config.Problem) bool { return old.Server == p.Server && old.Message == p.Message }
		if !slices.ContainsFunc(before, known) {
			return &p
		}
	}
	*f = *after
	return nil
}
