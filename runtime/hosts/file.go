package hosts

import (
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonedit"
	"github.com/mcpctl/mcpctl/runtime/internal/tomledit"
	"github.com/mcpctl/mcpctl/runtime/internal/yamledit"
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
func Read(l *Location, text []byte) (*File, error) {
	var doc document
	var err error
	switch l.Host.dialect.form {
	case formTOML:
		var d *tomledit.Document
		d, err = tomledit.Parse(text)
		doc = tomlDocument{d}
	case formYAML:
		var d *yamledit.Document
		d, err = yamledit.Parse(text)
		doc = yamlDocument{d}
	default:
		var d *jsonedit.Document
		d, err = jsonedit.Parse(text)
		doc = jsonDocument{d}
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

type jsonDocument struct{ *jsonedit.Document }

func (d jsonDocument) names(path []string) []string { return jsonedit.Names(d.Lookup(path...)) }

func (d jsonDocument) value(path []string) json.RawMessage {
	v := d.Lookup(path...)
	if v == nil {
		return nil
	}
	return jsonedit.Standard(*v)
}

func (d jsonDocument) line(path []string) int {
	v := d.Lookup(path...)
	if v == nil {
		return 0
	}
	line, _ := d.Position(v.StartOffset)
	return line
}

func (d jsonDocument) set(value json.RawMessage, path []string) (document, error) {
	edited, err := d.Set(value, path...)
	return jsonDocument{edited}, err
}

func (d jsonDocument) remove(path []string) (document, error) {
	edited, err := d.Remove(path...)
	return jsonDocument{edited}, err
}

type tomlDocument struct{ *tomledit.Document }

func (d tomlDocument) names(path []string) []string        { return d.Names(path...) }
func (d tomlDocument) value(path []string) json.RawMessage { return d.Value(path...) }
func (d tomlDocument) line(path []string) int              { return d.Line(path...) }

func (d tomlDocument) set(value json.RawMessage, path []string) (document, error) {
	edited, err := d.Set(value, path...)
	return tomlDocument{edited}, err
}

func (d tomlDocument) remove(path []string) (document, error) {
	edited, err := d.Remove(path...)
	return tomlDocument{edited}, err
}

type yamlDocument struct{ *yamledit.Document }

func (d yamlDocument) names(path []string) []string        { return d.Names(path...) }
func (d yamlDocument) value(path []string) json.RawMessage { return d.Value(path...) }
func (d yamlDocument) line(path []string) int              { return d.Line(path...) }

func (d yamlDocument) set(value json.RawMessage, path []string) (document, error) {
	edited, err := d.Set(value, path...)
	return yamlDocument{edited}, err
}

func (d yamlDocument) remove(path []string) (document, error) {
	edited, err := d.Remove(path...)
	return yamlDocument{edited}, err
}
