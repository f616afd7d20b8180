// Package args parses the words after a tool's name into the raw arguments object
// of the call, by the tool's schema and never by the look of a value:
//
//	'{"a":1}'         the whole object (first word)
//	-                 the whole object from standard input (first word)
//	a=text            a string stays text; numbers, booleans and null are
//	                  checked; an array of scalars: repeat the pair; an array or
//	                  an object can be JSON, too
//	a:=json           JSON, unchanged
//	a.b[0].c=x a[]=x  a place inside; [] appends
//	a=@file a:=@file  the value from a file, @- from standard input; base64
//	                  where the schema says contentEncoding base64
//	a=@@x             the text @x
//	--a text --a=text --a   the same as a=text, a=true for a boolean
//
// Pairs after a whole object, or after --args-file, change that object. A name
// with dots or brackets in the schema is that name and not a path. Where a schema
// allows a string beside other types, a=text is a string and a:=json the rest.
// Members keep their order, values their bytes.
package args

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// MaxInput bounds a file or standard input, in bytes.
const MaxInput = 64 << 20

// Source is the source of one call's arguments.
type Source struct {
	// Words are the words after the tool's name.
	Words []string
	// File is --args-file: a path, "-" for standard input, "" for none.
	File string
	// Stdin reads all of standard input; nil where there is none. It is called at
	// most once, and only if a word requires it or Piped is set.
	Stdin func() ([]byte, error)
	// Piped makes standard input the whole object when there are no words.
	// Empty input is then the empty object. A tool whose schema has no
	// arguments never reads it.
	Piped bool
	// ReadFile reads a file named after an @; nil is the file system.
	ReadFile func(name string) ([]byte, error)
	// NoValidate skips all checks; text that does not fit its type is sent as a
	// string.
	NoValidate bool
	// Literal is how many of the last words are pairs also with a dash in front.
	Literal int
	// Taken are flags of the program, such as --NAME, that were given among the words
	// and are not in them any more; Flags are the names of all.
	Taken, Flags []string
	// Several asks whether a=x,y means an array of these values, and not of one. Where it
	// is nil, such a pair is an error that says what to write.
	Several func(key string, values []string) (bool, error)
}

// Error is a word that cannot be used. It is a usage error.
type Error struct {
	Err    error
	Remedy string
}

// Error returns the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *Error) Hint() string { return e.Remedy }

// ExitKind returns "usage".
func (e *Error) ExitKind() string { return "usage" }

func errorf(format string, a ...any) *Error { return &Error{Err: fmt.Errorf(format, a...)} }

// Parse returns the arguments object. The error is a *[schema.ValidationError] with
// every issue, or an *[Error] about a word.
func Parse(s *schema.Schema, src Source) (json.RawMessage, error) {
	b := &builder{s: s, src: src, root: &node{kind: isObject}}
	words, err := b.options(src.Words)
	if err == nil {
		words, err = b.base(words)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		if err := b.pair(w); err != nil {
			return nil, err
		}
	}
	if err := b.commas(); err != nil {
		return nil, err
	}
	if len(b.issues) > 0 {
		return nil, &schema.ValidationError{Issues: b.issues}
	}
	raw := b.root.appendTo(nil)
	if src.NoValidate {
		return raw, nil
	}
	return raw, check(s, raw)
}

// builder is one Parse.
type builder struct {
	s      *schema.Schema
	src    Source
	root   *node
	issues []schema.Issue
	read   bool // standard input has been read
	// singles are arrays that may be meant to have more elements.
	singles []single
}

// base reads the object that pairs change, and returns the remaining words.
func (b *builder) base(words []string) ([]string, error) {
	var raw []byte
	var err error
	from := ""
	switch {
	case b.src.File != "":
		from = "--args-file " + b.src.File
		if len(words) > 0 && isWhole(words[0]) {
			return nil, errorf("both --args-file and a whole object (%s) are given", short(words[0]))
		}
		raw, err = b.file(b.src.File)
	case len(words) > 0 && words[0] == "-":
		from, words = "standard input", words[1:]
		raw, err = b.stdin()
	case len(words) > 0 && isWhole(words[0]):
		from, raw, words = "the arguments", []byte(words[0]), words[1:]
	case len(words) == 0 && b.src.Piped && b.src.Stdin != nil && b.takesAny():
		from = "standard input"
		raw, err = b.stdin()
		if err == nil && len(bytes.TrimSpace(raw)) == 0 {
			return nil, nil
		}
	default:
		return words, nil
	}
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	if len(raw) == 0 {
		return nil, errorf("%s is empty, want a JSON object", from)
	}
	if err := checkJSON(raw); err != nil {
		return nil, errorf("%s: not valid JSON: %w", from, err)
	}
	if raw[0] != '{' {
		return nil, errorf("%s: want a JSON object, got %s", from, short(string(raw)))
	}
	b.root = leaf(raw)
	if twice := b.root.open(); twice != "" {
		return nil, errorf("%s: %s is given twice", from, twice)
	}
	return words, nil
}

// takesAny reports whether the tool may have arguments. Without, standard input,
// which may never end, is not read.
func (b *builder) takesAny() bool {
	root := b.s.Root()
	if len(root.Properties()) > 0 {
		return true
	}
	_, open := root.Property("")
	return open
}

// isWhole reports whether a first word is a whole object.
func isWhole(w string) bool {
	return w == "-" || strings.HasPrefix(strings.TrimLeft(w, " \t\r\n"), "{")
}

func (b *builder) stdin() ([]byte, error) {
	if b.read {
		return nil, errorf("standard input is asked for twice")
	}
	b.read = true
	if b.src.Stdin == nil {
		return nil, nil
	}
	return b.src.Stdin()
}

// file reads the file of an @ or of --args-file.
func (b *builder) file(name string) ([]byte, error) {
	if name == "-" {
		return b.stdin()
	}
	read := b.src.ReadFile
	if read == nil {
		read = func(name string) ([]byte, error) { return ReadFile(name, MaxInput) }
	}
	raw, err := read(name)
	if err != nil {
		if path, ok := errors.AsType[*os.PathError](err); ok {
			err = path.Err
		}
		return nil, errorf("read %s: %w", name, err)
	}
	return raw, nil
}

// ReadFile reads a file of at most most bytes. It may be a pipe, as of <(…), which
// is waited for.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, most)
}

// ReadAll reads up to [MaxInput] bytes and refuses more.
func ReadAll(r io.Reader) ([]byte, error) { return readAll(r, MaxInput) }

func readAll(r io.Reader, most int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(raw)) > most {
		return nil, fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return raw, err
}

// check validates the finished object. Unknown names are reported also where the
// schema allows them by default.
func check(s *schema.Schema, raw json.RawMessage) error {
	var issues []schema.Issue
	err := s.Validate(raw)
	var v *schema.ValidationError
	switch {
	case errors.As(err, &v):
		issues = v.Issues
	case err != nil:
		return err
	}
	root := s.Root()
	top := leaf(raw)
	top.open()
	issues = withoutNulls(root, top, issues)
	for _, name := range top.keys {
		if _, ok := root.Property(name); ok {
			continue
		}
		issue := unknown(root, "", name)
		issues = append(without(issues, issue.Pointer), issue)
	}
	if len(issues) == 0 {
		return nil
	}
	return &schema.ValidationError{Issues: issues}
}

// withoutNulls removes the issues of optional arguments that are null: servers take
// those as absent, and so does the specification for the headers that repeat
// arguments (2026-07-28, Streamable HTTP, Custom headers from tool parameters).
func withoutNulls(root schema.Node, top *node, issues []schema.Issue) []schema.Issue {
	for _, p := range root.Properties() {
		v, given := top.m[p.Name]
		if p.Required || !given || string(v.raw) != "null" {
			continue
		}
		issues = without(issues, schema.Pointer("", p.Name))
	}
	return issues
}

// without returns the issues of other places than one.
func without(issues []schema.Issue, pointer string) []schema.Issue {
	return slices.DeleteFunc(slices.Clone(issues), func(i schema.Issue) bool { return i.Pointer == pointer })
}

// unknown returns the issue of a name that is not in the schema.
func unknown(n schema.Node, at, name string) schema.Issue {
	i := schema.Issue{Pointer: schema.Pointer(at, name), Message: "unknown argument"}
	var names []string
	for _, p := range n.Properties() {
		names = append(names, p.Name)
	}
	switch near := plain.Nearest(strings.TrimLeft(name, "-"), names, 1); {
	case len(near) > 0:
		i.Near = near[0]
	case len(names) == 0:
		i.Message += "; there are none"
	default:
		const most = 12
		if len(names) > most {
			names = append(names[:most:most], "…")
		}
		i.Message += "; known are " + strings.Join(names, ", ")
	}
	return i
}

func checkJSON(raw []byte) error {
	var v json.RawMessage
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	// JSON is UTF-8 (RFC 8259, section 8.1), which encoding/json does not enforce;
	// the peer would drop the message.
	if !utf8.Valid(raw) {
		return errors.New("a byte that is not UTF-8")
	}
	return nil
}

// short returns the beginning of a word for a message.
func short(w string) string {
	return plain.Clip(w, 40)
}
