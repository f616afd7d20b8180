package config

import (
	"slices"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
)

// Merge returns what several files say together, for reading: it cannot be edited. Of
// entries with the same alias, that of the later file counts; the entries of later files
// come first. Path is that of the last file. withheld are aliases that [File.Use] refuses
// with the error given, whether there is such an entry or not; nil for none.
func Merge(withheld map[string]error, files ...*File) *File {
	last := files[len(files)-1]
	out := &File{document: last.document, withheld: withheld, missing: true}
	for _, f := range slices.Backward(files) {
		out.missing = out.missing && f.missing
		out.unknown = append(out.unknown, f.unknown...)
		counts := map[string]bool{"": true} // problems of the file as a whole
		for _, e := range f.entries {
			if _, taken := out.Entry(e.Name); !taken {
				counts[e.Name] = true
				out.entries = append(out.entries, e)
			}
		}
		other := func(p Problem) bool { return !counts[p.Server] }
		out.faults = append(out.faults, slices.DeleteFunc(f.Faults(), other)...)
		out.warnings = append(out.warnings, slices.DeleteFunc(f.Warnings(), other)...)
	}
	return out
}

// Withheld returns why [File.Use] refuses an alias of a merged file, nil if it does not.
func (f *File) Withheld(name string) error { return f.withheld[name] }

// Digest returns the SHA-256, in hexadecimal, of all that the file says of servers, which
// is the same whatever its comments and white space are.
func (f *File) Digest() string {
	if f.servers == nil {
		return digest(nil)
	}
	return digest(jsonedit.Standard(*f.servers))
}

// In returns the file with entries whose relative directories are below dir. It is for
// reading.
func (f *File) In(dir string) *File {
	out := *f
	out.entries = slices.Clone(f.entries)
	for i := range out.entries {
		out.entries[i].Base = dir
	}
	return &out
}
