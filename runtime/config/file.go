package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/plain"
)

const (
	rootKey = "mcpServers"
	maxSize = 4 << 20 // bytes of a file
)

// File is servers.json in memory. Methods that only read may be called
// concurrently.
type File struct {
	document
	servers  *hujson.Value // the object at mcpServers, nil: none
	missing  bool          // there was no file
	entries  []Entry
	unknown  []string // keys beside mcpServers
	warnings []Problem
	faults   []Problem
	withheld map[string]error // of a merged file: what Use refuses, and why
}

// Load reads the file at path. A missing file is an empty one. The error is a
// [*Problem]: with line and column when the text is not JSON (comments and
// trailing commas allowed) or mcpServers is not an object, without them when
// the file cannot be read. Only regular files of up to 4 MiB are read, also
// through symbolic links; named pipes and devices are refused. Faults of single
// entries are in [Entry.Fault] and [File.Faults]. A path with the name of
// [InlineVariable] is read from the environment.
func Load(path string) (*File, error) {
	if IsInline(path) {
		text := os.Getenv(InlineVariable)
		if text == "" {
			return nil, &Problem{Message: "the variable " + InlineVariable + " is not set", Remedy: "set it to the text of servers.json"}
		}
		return Parse(path, []byte(text))
	}
	raw, err := atomicfile.Read(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := Parse(path, nil)
		if err == nil {
			f.missing = true
		}
		return f, err
	case err != nil:
		return nil, FileProblem(path, err)
	}
	return Parse(path, raw)
}

// FileProblem returns the problem of a file that cannot be read or written.
func FileProblem(path string, err error) *Problem {
	p := &Problem{File: path, Message: reason(err)}
	if hinter := (interface{ Hint() string })(nil); errors.As(err, &hinter) {
		p.Remedy = hinter.Hint()
	}
	return p
}

// reason returns an error's text without the path, which [Problem] has.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Parse is [Load] for bytes in memory, which it keeps; path is only used in
// messages.
func Parse(path string, raw []byte) (*File, error) {
	if len(raw) > maxSize {
		return nil, &Problem{File: path, Message: fmt.Sprintf("it is larger than %d MiB", maxSize>>20)}
	}
	doc, err := jsonedit.Parse(raw)
	if err != nil {
		return nil, syntaxProblem(path, err)
	}
	f := &File{document: document{path, doc}}
	root := doc.Root()
	if root == nil {
		return f, nil
	}
	obj, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, f.problemAt(root.StartOffset, "", "the file holds "+describe(*root)+", want an object", `{"mcpServers": {}} is an empty one`)
	}
	if err := f.readRoot(obj); err != nil {
		return nil, err
	}
	return f, nil
}

// readRoot finds mcpServers and decodes its entries.
func (f *File) readRoot(obj *hujson.Object) error {
	for i := range obj.Members {
		m := &obj.Members[i]
		switch key := jsonedit.Name(m); key {
		case "$schema":
		case rootKey:
			if f.servers != nil {
				return f.problemAt(m.Name.StartOffset, "", `a second "mcpServers"`, "move its entries into the first one")
			}
			if _, ok := m.Value.Value.(*hujson.Object); !ok {
				return f.problemAt(m.Value.StartOffset, "", `"mcpServers" is `+describe(m.Value)+", want an object", "{} is an empty one")
			}
			f.servers = &m.Value
		default:
			f.unknown = append(f.unknown, key)
			f.warnings = append(f.warnings, *f.problemAt(m.Name.StartOffset, "", fmt.Sprintf("unknown key %q, ignored", key), rootRemedy(key)))
		}
	}
	f.readEntries()
	return nil
}

func rootRemedy(key string) string {
	if slices.Contains([]string{"servers", "mcp", "context_servers", "mcp_servers"}, key) {
		return fmt.Sprintf(`rename %q to "mcpServers"`, key)
	}
	return plain.NearestHint(key, []string{rootKey, "$schema"}, "remove it, if no other program reads it")
}

// maxNear is how many names [File.Nearest] returns.
const maxNear = 3

func (f *File) readEntries() {
	if f.servers == nil {
		return
	}
	seen := map[string]int{}  // alias to index in entries
	lines := map[string]int{} // alias to the line that it is in
	for _, m := range f.servers.Value.(*hujson.Object).Members {
		name := jsonedit.Name(&m)
		d := &decoder{doc: &f.document, server: name}
		if first, ok := seen[name]; ok {
			p := f.problemAt(m.Name.StartOffset, name, fmt.Sprintf("the alias is there twice, first in line %d", lines[name]), "rename or remove one of the two")
			f.faults = append(f.faults, *p)
			if f.entries[first].Fault == nil {
				f.entries[first].Fault = p
			}
			continue
		}
		if why := aliasFault(name); why != "" {
			remedy := "rename it: letters, digits, '.', '_' and '-'"
			if clean := CleanAlias(name); clean != "" {
				remedy = "rename it to " + clean
			}
			d.fault(m.Name.StartOffset, "the alias cannot be used: "+why, remedy)
		} else if understood(name) {
			d.warn(m.Name.StartOffset, "the alias is a word for a command, so mcpctl "+name+" means the server", "mcpctl help "+name+" names the command; another alias is clearer")
		} else if Reserved(name) {
			d.warn(m.Name.StartOffset, "the alias is the name of a command, so mcpctl "+name+" means that one", "mcpctl tools "+name+" and the like reach the server; another alias is shorter")
		}
		e := d.entry(m.Value)
		e.Name, e.File = name, f.path
		if len(d.faults) > 0 {
			e.Fault = &d.faults[0]
		}
		seen[name], lines[name] = len(f.entries), f.problemAt(m.Name.StartOffset, name, "", "").Line
		f.entries = append(f.entries, e)
		f.faults = append(f.faults, d.faults...)
		f.warnings = append(f.warnings, d.warnings...)
	}
}

// Path is the path that the file was loaded from.
func (f *File) Path() string { return f.path }

// Missing reports that there was no file to load.
func (f *File) Missing() bool { return f.missing }

// Empty returns the problem of a file that is missing or has no value, nil for any other. A
// file that an editor is writing may be so for a moment.
func (f *File) Empty() error {
	switch {
	case f.missing:
		return &Problem{File: f.path, Message: "the file is gone"}
	case f.doc.Root() != nil:
		return nil
	}
	return &Problem{File: f.path, Message: "the file is empty", Remedy: `{"mcpServers": {}} is a file without servers`}
}

// Bytes returns the whole file, edits included. Do not change them.
func (f *File) Bytes() []byte { return f.doc.Bytes() }

// Entries returns all entries in the file's order, those with a fault too.
func (f *File) Entries() []Entry { return slices.Clone(f.entries) }

// Enabled is Entries without those that are disabled.
func (f *File) Enabled() []Entry {
	return slices.DeleteFunc(f.Entries(), func(e Entry) bool { return e.Disabled })
}

// Unknown returns the keys of the file that mcpctl does not know, in the file's order.
func (f *File) Unknown() []string { return slices.Clone(f.unknown) }

// Entry returns the entry of an alias. It may have a fault; [File.Use] checks.
func (f *File) Entry(name string) (Entry, bool) {
	for _, e := range f.entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Use returns a usable entry. The error is a [*NotFoundError] for an unknown
// alias and a [*Problem] for one that is disabled or has a fault.
func (f *File) Use(name string) (Entry, error) {
	if err := f.Withheld(name); err != nil {
		return Entry{}, err
	}
	e, ok := f.Entry(name)
	if !ok {
		return Entry{}, f.notFound(name)
	}
	if e.Disabled {
		return e, &Problem{File: e.File, Server: name, Message: "it is disabled", Remedy: `remove "disabled" from its entry`}
	}
	return e, e.Err()
}

// UseAll is Use for several names: their entries in the same order, each once.
func (f *File) UseAll(names []string) ([]Entry, error) {
	var out []Entry
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		e, err := f.Use(name)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (f *File) notFound(name string) error {
	return &NotFoundError{Server: name, Nearest: f.Nearest(name), Empty: len(f.entries) == 0}
}

// Nearest returns up to three configured aliases that look like name, best first.
func (f *File) Nearest(name string) []string {
	names := make([]string, len(f.entries))
	for i, e := range f.entries {
		names[i] = e.Name
	}
	return plain.Nearest(name, names, maxNear)
}

// Warnings returns what is odd but harmless, in the file's order: unknown keys
// with the nearest known one, keys without effect, placeholders of other hosts.
func (f *File) Warnings() []Problem { return slices.Clone(f.warnings) }

// Faults returns everything that makes an entry unusable, in the file's order.
// An entry may have several; [Entry.Fault] is its first.
func (f *File) Faults() []Problem { return slices.Clone(f.faults) }
