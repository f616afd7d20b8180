package config

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
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
	return f.become(f.doc.Amend(want, []string{rootKey, name}, nil))
}
