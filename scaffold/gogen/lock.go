package gogen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

// LockFile is the name of the lock file in a package's folder.
const LockFile = "mcpctl.lock.json"

// lockFormat is the version of the lock file's form. Raise it where an older
// mcpctl would misread a file, not for a member that it can ignore.
const lockFormat = 1

// metaLock is the member of _meta that marks a list of tools as a lock file.
const metaLock = "mcpctl/lock"

// Names are the Go names of everything in a package, as the lock file keeps
// them: see the members of the file, which are named after the fields.
type Names = names.Names

// Lock is the content of a lock file: all that the server listed, and the names
// in use. It is what a package was generated from, so generating from it again
// results in the same package.
//
// The file is a tools/list result (with prompts, resources and
// resourceTemplates beside tools), sorted and indented for readable diffs, with
// numbers and texts as the server has them. What mcpctl adds is in
// _meta["mcpctl/lock"]:
//
//	format    1
//	server    the server's own name and version
//	protocol  revision of the protocol in use
//	kind      what is unlike the default, see [Kind]
//	digests   structure and prose of each tool, see codegen.DigestTool
//	names     see [Names]
type Lock struct{ List }

// Kind says what a package is, of what cannot be read from the server. The zero value is the
// default.
type Kind struct {
	// Package is its name where that is not [PackageName] of the server.
	Package string `json:"package,omitempty"`
	// Standalone and Decimals are as in [Input].
	Standalone bool `json:"standalone,omitempty"`
	Decimals   bool `json:"decimals,omitempty"`
}

// lockMeta is _meta["mcpctl/lock"].
type lockMeta struct {
	Format   int                   `json:"format"`
	Server   *lockServer           `json:"server,omitempty"`
	Protocol string                `json:"protocol,omitempty"`
	Kind     Kind                  `json:"kind,omitzero"`
	Digests  map[string]lockDigest `json:"digests,omitempty"`
	Names    *Names                `json:"names,omitempty"`
}

type lockServer struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type lockDigest struct {
	Structure string `json:"structure"`
	Prose     string `json:"prose"`
}

// LockError is a lock file that cannot be used.
type LockError struct {
	Reason string
	hint   string
}

// Error returns the reason; callers put the file's path in front.
func (e *LockError) Error() string { return e.Reason }

// Hint returns how to repair it.
func (e *LockError) Hint() string { return e.hint }

// ExitKind returns the kind of failure on a command line.
func (e *LockError) ExitKind() string { return "config" }

const restoreHint = "restore the file (git checkout), or delete it: the next run writes a new one, which holds no name that was given before"

// ParseLock reads a lock file. Every error is a *[LockError].
func ParseLock(data []byte) (*Lock, error) {
	list, locked, err := parseList(data)
	switch e := err.(type) { //nolint:errorlint // errors of this file come unwrapped
	case nil:
	case *LockError:
		return nil, e
	default:
		return nil, &LockError{Reason: "the lock file is damaged: " + plain.Line(strings.TrimPrefix(err.Error(), "generate: ")), hint: restoreHint}
	}
	if !locked {
		return nil, &LockError{
			Reason: "this is a list of tools, but no lock file: it has no _meta " + metaLock,
			hint:   "pass the file with --from, or move it away: mcpctl generate writes its own",
		}
	}
	return &Lock{List: *list}, nil
}

// readMeta reads what a lock file holds besides the lists.
func (l *List) readMeta(raw json.RawMessage) error {
	damaged := func(err error) error {
		return &LockError{Reason: fmt.Sprintf("the lock file is damaged: _meta %s: %v", metaLock, err), hint: restoreHint}
	}
	// The format first: the other members may have other types later.
	var first struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(raw, &first); err != nil {
		return damaged(err)
	}
	switch {
	case first.Format > lockFormat:
		return &LockError{
			Reason: fmt.Sprintf("the lock file was written by a newer mcpctl: it has format %d, this one knows %d", first.Format, lockFormat),
			hint:   "update mcpctl",
		}
	case first.Format < 1:
		return damaged(fmt.Errorf("format %d is none", first.Format))
	}
	var meta lockMeta
	if err := json.Unmarshal(raw, &meta); err != nil {
		return damaged(err)
	}
	if s := meta.Server; s != nil {
		l.Implementation = runtime.Implementation{Name: s.Name, Version: s.Version}
	}
	l.Protocol, l.Names, l.Kind = meta.Protocol, meta.Names, meta.Kind
	if l.Names == nil {
		l.Names = &Names{}
	}
	return nil
}

// Marshal returns the file. It is the same for every order of the lists.
func (l *Lock) Marshal() ([]byte, error) {
	digests := make(map[string]lockDigest, len(l.Tools))
	for _, t := range sortedEntries(l.Tools) {
		d, err := codegen.DigestTool(t.Raw)
		if err != nil {
			return nil, &Error{Tool: t.Key, Reason: err.Error()}
		}
		digests[t.Key] = lockDigest(d)
	}
	return l.marshal(digests)
}

// marshal is Marshal with the tools' digests known.
func (l *Lock) marshal(digests map[string]lockDigest) ([]byte, error) {
	meta := lockMeta{Format: lockFormat, Protocol: l.Protocol, Kind: l.Kind, Names: l.Names, Digests: digests}
	if l.Implementation.Name != "" || l.Implementation.Version != "" {
		meta.Server = &lockServer{l.Implementation.Name, l.Implementation.Version}
	}
	var b bytes.Buffer
	b.WriteString("{\n  \"_meta\": ")
	if err := writeIndented(&b, map[string]any{metaLock: &meta}, "  "); err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	for _, list := range []struct {
		member  string
		entries []drift.Entry
	}{
		{"prompts", sortedEntries(l.Prompts)},
		{"resourceTemplates", sortedEntries(l.Templates)},
		{"resources", sortedEntries(l.Resources)},
		{"tools", sortedEntries(l.Tools)},
	} {
		if err := writeEntries(&b, list.member, list.entries); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

// writeEntries writes one list, an entry at a time: decoded as a whole, that of
// a large server would be many times the text.
func writeEntries(b *bytes.Buffer, member string, entries []drift.Entry) error {
	if len(entries) == 0 {
		if member == "tools" {
			b.WriteString(",\n  \"tools\": []")
		}
		return nil
	}
	b.WriteString(",\n  \"" + member + "\": [")
	for i, e := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		v, err := jsonschema.Decode(e.Raw)
		if err == nil {
			err = writeIndented(b, v, "    ")
		}
		if err != nil {
			return fmt.Errorf("lock file: %s %q: %w", strings.TrimSuffix(member, "s"), e.Key, err)
		}
	}
	b.WriteString("\n  ]")
	return nil
}

// writeIndented writes a value at the indentation of prefix, without a newline
// at its end.
func writeIndented(b *bytes.Buffer, v any, prefix string) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// sortedEntries returns a list sorted and without repetitions.
func sortedEntries[T any](list []T) []drift.Entry {
	out := drift.Entries(list)
	slices.SortFunc(out, func(a, b drift.Entry) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), bytes.Compare(a.Raw, b.Raw))
	})
	return slices.CompactFunc(out, func(a, b drift.Entry) bool { return a.Key == b.Key && bytes.Equal(a.Raw, b.Raw) })
}

// conflictLine returns the line of the first mark of an unfinished merge; 0 is
// none. No line of JSON begins like these marks.
func conflictLine(data []byte) int {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		for _, mark := range []string{"<<<<<<< ", ">>>>>>> ", "||||||| "} {
			if bytes.HasPrefix(text, []byte(mark)) {
				return line
			}
		}
	}
	return 0
}

func conflictError(line int) error {
	return &LockError{
		Reason: fmt.Sprintf("line %d: the marks of an unfinished merge", line),
		hint:   "keep either side whole (git checkout --ours or --theirs, then git add), and run mcpctl generate again",
	}
}
