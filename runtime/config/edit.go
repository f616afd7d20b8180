package config

import (
	"encoding/json"
	"errors"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
)

// Set writes an entry under an alias: at the end of mcpServers, in the file's
// own indentation and line ends, or in place of an entry with that alias
// if replace is true. Every other byte stays, except the comma that
// separates two entries. The entry is a JSON object, written with its members
// in the order given and its numbers and strings unchanged.
//
// Errors: [*AliasError], [*ExistsError], and [*Problem] for an object that is
// not a sound entry. On error the file is as before.
func (f *File) Set(name string, entry json.RawMessage, replace bool) error {
	if err := checkEntry(name, entry); err != nil {
		return err
	}
	switch at := f.members(name); {
	case at == 0:
		if err := CheckAlias(name); err != nil {
			return err
		}
	case !replace:
		return &ExistsError{Server: name}
	case at > 1:
		e, _ := f.Entry(name)
		return e.Err()
	}
	return f.become(f.doc.Set(entry, rootKey, name))
}

// Remove deletes an entry, its own comments (those in the lines right above and
// behind it) and the comma that separated it; every other byte stays. Of a
// duplicated alias both are deleted. The error is a [*NotFoundError].
func (f *File) Remove(name string) error {
	if f.members(name) == 0 {
		return f.notFound(name)
	}
	return f.become(f.doc.Remove(rootKey, name))
}

// Init adds an empty mcpServers object where there is none.
func (f *File) Init() error {
	if f.servers != nil {
		return nil
	}
	return f.become(f.doc.Set(json.RawMessage("{}"), rootKey))
}

// become makes the file what an edit has made of its document.
func (f *File) become(doc *jsonedit.Document, err error) error {
	if err != nil {
		return errors.New("edit " + f.path + ": " + err.Error() + "; it is left as it was")
	}
	edited, err := Parse(f.path, doc.Bytes())
	if err != nil {
		return err
	}
	*f = *edited
	return nil
}

// checkEntry checks an entry to be written.
func checkEntry(name string, entry json.RawMessage) error {
	doc, err := jsonedit.Parse(entry)
	if err != nil {
		return syntaxProblem("", err)
	}
	if doc.Root() == nil {
		return &Problem{Server: name, Message: "the entry is empty"}
	}
	d := &decoder{doc: &document{"", doc}, server: name}
	d.entry(*doc.Root())
	if len(d.faults) > 0 {
		p := d.faults[0]
		p.Line, p.Column = 0, 0
		return &p
	}
	return nil
}

// members returns how often an alias is in mcpServers.
func (f *File) members(name string) int {
	n := 0
	if f.servers != nil {
		for i := range f.servers.Value.(*hujson.Object).Members {
			if jsonedit.Name(&f.servers.Value.(*hujson.Object).Members[i]) == name {
				n++
			}
		}
	}
	return n
}

// Format lays a JSON object out as [File.Set] would write it, indented by two
// spaces, for showing an entry. Text that is not JSON is returned as it is.
func Format(entry json.RawMessage) string { return jsonedit.Format(entry) }
