package lockfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

const (
	// maxFile bounds the file, in bytes.
	maxFile = 64 << 20
	// lockWait is how long an update waits for another.
	lockWait = 10 * time.Second
	// form is the version of the file's form.
	form = 1
)

// Path returns where the lock of a servers.json is: beside it.
func Path(config string) string {
	return strings.TrimSuffix(config, filepath.Ext(config)) + ".lock.json"
}

// ConfigPath returns the servers.json that a lock is beside, the inverse of [Path] for
// files named *.json.
func ConfigPath(lock string) string { return strings.TrimSuffix(lock, ".lock.json") + ".json" }

// File is servers.lock.json in memory.
type File struct {
	Servers map[string]*Server
}

// Server is what is locked of one server.
type Server struct {
	// Entry is the digest of how its entry starts or reaches it, see package config.
	Entry string
	// Origin is the registry record that the entry was made from, nil for none: JSON.
	Origin json.RawMessage
	// Resolved is what the entry leads to, nil where nobody knows: JSON.
	Resolved json.RawMessage
	About    About
	// Items are the entries of each list by name, nil where the list was never had.
	Items [Lists]map[string]Locked
}

// Locked is one entry of a list: its text in normal form, and the digest of that.
type Locked struct {
	Digest string
	Text   json.RawMessage
}

// FileError says that the lock file cannot be used.
type FileError struct {
	Path   string
	Line   int // 0 where it is about no line
	Reason string
	Remedy string
	Err    error // nil or the cause
}

// Error names the file, the line and the reason.
func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
	}
	return e.Path + ": " + e.Reason
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Hint returns what mends it.
func (e *FileError) Hint() string { return e.Remedy }

// ExitKind returns "config".
func (e *FileError) ExitKind() string { return "config" }

// Load reads the file at path. A missing file is an empty one. Its error is a
// [*FileError].
func Load(path string) (*File, error) {
	raw, err := Read(path)
	if err != nil || raw == nil {
		return &File{Servers: map[string]*Server{}}, err
	}
	return Parse(path, raw)
}

// LoadServer reads the part of one server, nil where there is none. It is quicker
// than [Load] where there are many.
func LoadServer(path, name string) (*Server, error) {
	raw, err := Read(path)
	if err != nil || raw == nil {
		return nil, err
	}
	servers, err := parts(path, raw)
	if err != nil {
		return nil, err
	}
	at, ok := servers[name]
	if !ok {
		return nil, nil
	}
	return parseServer(path, raw, name, at)
}

// Read returns the bytes of the file at path, nil where there is none. Only regular
// files are read, so it does not wait. Its error is a [*FileError].
func Read(path string) ([]byte, error) {
	raw, err := atomicfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		e := &FileError{Path: path, Reason: reason(err), Err: err}
		if hinter := (interface{ Hint() string })(nil); errors.As(err, &hinter) {
			e.Remedy = hinter.Hint()
		}
		return nil, e
	}
	return bytes.TrimPrefix(raw, []byte("\ufeff")), nil
}

func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Parse reads the bytes of a file. path is for messages.
func Parse(path string, raw []byte) (*File, error) {
	servers, err := parts(path, raw)
	if err != nil {
		return nil, err
	}
	f := &File{Servers: make(map[string]*Server, len(servers))}
	for name, at := range servers {
		if f.Servers[name], err = parseServer(path, raw, name, at); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// parts returns where each server's part is.
func parts(path string, raw []byte) (map[string]rawjson.Span, error) {
	if err := rawjson.Valid(raw); err != nil {
		var at *json.SyntaxError
		line := 0
		if json.Unmarshal(raw, new(any)) != nil && errors.As(json.Unmarshal(raw, new(any)), &at) {
			line = 1 + bytes.Count(raw[:min(int(at.Offset), len(raw))], []byte("\n"))
		}
		remedy := "restore it from version control, or delete it and lock again: mcpctl lock"
		if bytes.Contains(raw, []byte("<<<<<<< ")) {
			remedy = "resolve the conflict of versions, then mcpctl lock diff"
		}
		return nil, &FileError{Path: path, Line: line, Reason: "it is not JSON", Remedy: remedy, Err: err}
	}
	var at [2]rawjson.Span
	if rawjson.Fields(raw, at[:], "lockVersion", "servers") != nil || !at[1].Present() {
		return nil, &FileError{Path: path, Reason: "it has no servers", Remedy: "restore it from version control, or delete it and lock again: mcpctl lock"}
	}
	if v := string(at[0].Of(raw)); v != fmt.Sprint(form) {
		return nil, &FileError{Path: path, Reason: "lockVersion is " + cmp.Or(v, "missing") + fmt.Sprintf(", want %d", form), Remedy: "use the mcpctl that has written it, or a newer one"}
	}
	entries, err := rawjson.Entries(at[1].Of(raw))
	if err != nil {
		return nil, &FileError{Path: path, Reason: "servers is no object", Err: err}
	}
	out := make(map[string]rawjson.Span, len(entries))
	for _, e := range entries {
		if _, twice := out[e.Name]; twice {
			return nil, &FileError{Path: path, Reason: fmt.Sprintf("the server %q is there twice", e.Name), Remedy: "delete one, then mcpctl lock diff"}
		}
		out[e.Name] = rawjson.Span{Start: at[1].Start + e.Value.Start, End: at[1].Start + e.Value.End}
	}
	return out, nil
}

// serverForm is a server in the file.
type serverForm struct {
	Entry    string          `json:"entry,omitempty"`
	Origin   json.RawMessage `json:"origin,omitempty"`
	Resolved json.RawMessage `json:"resolved,omitempty"`
	About    About           `json:"about"`

	Tools     map[string]itemForm `json:"tools,omitempty"`
	Prompts   map[string]itemForm `json:"prompts,omitempty"`
	Resources map[string]itemForm `json:"resources,omitempty"`
	Templates map[string]itemForm `json:"resourceTemplates,omitempty"`
}

type itemForm struct {
	Digest string          `json:"digest"`
	Text   json.RawMessage `json:"text"`
}

func (f *serverForm) lists() [Lists]*map[string]itemForm {
	return [Lists]*map[string]itemForm{&f.Tools, &f.Prompts, &f.Resources, &f.Templates}
}

func parseServer(path string, raw []byte, name string, at rawjson.Span) (*Server, error) {
	var f serverForm
	if err := json.Unmarshal(at.Of(raw), &f); err != nil {
		return nil, &FileError{
			Path: path, Line: 1 + bytes.Count(raw[:at.Start], []byte("\n")), Err: err,
			Reason: fmt.Sprintf("the server %q cannot be read: %v", name, err), Remedy: "mcpctl lock " + name,
		}
	}
	s := &Server{Entry: f.Entry, Origin: f.Origin, Resolved: f.Resolved, About: f.About}
	for l, items := range f.lists() {
		if *items == nil {
			continue
		}
		s.Items[l] = make(map[string]Locked, len(*items))
		for key, it := range *items {
			s.Items[l][key] = Locked(it)
		}
	}
	return s, nil
}

// DropTexts leaves the digests alone, which is all that a comparison needs: changes of
// such a file have no Was.
func (f *File) DropTexts() {
	for _, s := range f.Servers {
		for l := range Lists {
			for key, it := range s.Items[l] {
				s.Items[l][key] = Locked{Digest: it.Digest}
			}
		}
	}
}

// Damaged returns the entries of a server whose text does not fit its digest: they
// were edited by hand, or merged badly.
func (s *Server) Damaged() []string {
	var names []string
	for l := range Lists {
		for key, it := range s.Items[l] {
			if digestOf(normal(l, it.Text)) != it.Digest {
				names = append(names, l.Noun()+" "+key)
			}
		}
	}
	return names
}

// Update edits the file at path: it takes a lock, loads, calls edit and replaces the
// file, atomically and only if it changes. Concurrent updates wait for one another,
// 10 s at most. An error of edit is returned, and nothing is written then.
//
// The lock is a file of its own, ".servers.lock.json.lock". Leftovers of updates that
// were killed are removed.
func Update(path string, edit func(*File) error) error {
	err := atomicfile.Update(context.Background(), path, lockWait, func() ([]byte, error) {
		f, err := Load(path)
		if err != nil {
			return nil, err
		}
		if err := edit(f); err != nil {
			return nil, err
		}
		after := f.Bytes()
		if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, after) {
			return nil, nil
		}
		return after, nil
	})
	if failed, ok := errors.AsType[*atomicfile.UpdateError](err); ok {
		return &FileError{Path: path, Reason: failed.Reason, Remedy: failed.Remedy, Err: failed}
	}
	return err
}
