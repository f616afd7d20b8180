package hosts

import (
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/tomledit"
	"github.com/mcpctl/mcpctl/internal/yamledit"
)

// File is the text of a host's file. It does not change: an edit returns a new one.
type File struct {
	Location *Location
	doc      document
}

// document is a text that is edited in place.
type document interface {
	Bytes() []byte
	names(path []string) []string
	value(path []string) json.RawMessage
	line(path []string) int
	set(value json.RawMessage, path []string) (document, error)
	remove(path []string) (document, error)
}

// Read reads the text of a file; an empty one is a file without servers.
func (l *Location) Read(text []byte) (*File, error) {
	if w := l.Host.gateway; w != nil {
		g, err := w.read(l.Path, text, l.Host.companionOf(l.Path))
		if err != nil {
			return nil, err
		}
		return &File{l, g}, nil
	}
	var doc document
	var err error
	switch l.Host.dialect().form {
	case formTOML:
		doc, err = parsed(tomledit.Parse(text))
	case formYAML:
		doc, err = parsed(yamledit.Parse(text))
	case formJSON:
		doc, err = parsed(jsonedit.Parse(text))
	}
	if err != nil {
		return nil, err
	}
	return &File{l, doc}, nil
}

// Bytes returns the text.
func (f *File) Bytes() []byte { return f.doc.Bytes() }

// Names returns the names of the servers, in the order of the file.
func (f *File) Names() []string { return f.doc.names(f.Location.Root) }

// Raw returns a server as the host has it, as JSON; nil for none.
func (f *File) Raw(name string) json.RawMessage { return f.doc.value(f.at(name)) }

// Line returns the line in which a server begins, 0 for none.
func (f *File) Line(name string) int { return f.doc.line(f.at(name)) }

// Set writes a server in the host's form: in place of one of that name, or at the end.
// Every other byte stays.
func (f *File) Set(name string, raw json.RawMessage) (*File, error) {
	return f.become(f.doc.set(raw, f.at(name)))
}

// Remove deletes a server with its own comments. Every other byte stays.
func (f *File) Remove(name string) (*File, error) { return f.become(f.doc.remove(f.at(name))) }

func (f *File) become(doc document, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	return &File{f.Location, doc}, nil
}

func (f *File) at(name string) []string { return append(slices.Clip(f.Location.Root), name) }

func parsed[D editor[D]](d D, err error) (document, error) { return edited[D]{d}, err }

// editor is what the rooms that edit a language have in common.
type editor[D any] interface {
	Bytes() []byte
	Names(path ...string) []string
	Value(path ...string) json.RawMessage
	Line(path ...string) int
	Set(value json.RawMessage, path ...string) (D, error)
	Remove(path ...string) (D, error)
}

// edited is a document of one of them.
type edited[D editor[D]] struct{ d D }

func (e edited[D]) Bytes() []byte                       { return e.d.Bytes() }
func (e edited[D]) names(path []string) []string        { return e.d.Names(path...) }
func (e edited[D]) value(path []string) json.RawMessage { return e.d.Value(path...) }
func (e edited[D]) line(path []string) int              { return e.d.Line(path...) }

func (e edited[D]) set(value json.RawMessage, path []string) (document, error) {
	d, err := e.d.Set(value, path...)
	return edited[D]{d}, err
}

func (e edited[D]) remove(path []string) (document, error) {
	d, err := e.d.Remove(path...)
	return edited[D]{d}, err
}
