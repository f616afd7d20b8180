package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
	"github.com/mcpctl/mcpctl/runtime/nearest"
)

const (
	rootKey  = "mcpServers"
	maxSize  = 4 << 20 // bytes of a file
	maxDepth = 1000    // objects and arrays within one another
	bom      = "\uFEFF"
)

// File is servers.json in memory. Methods that only read may be called
// concurrently.
type File struct {
	path string
	// raw is the whole file; text is what follows a byte order mark, and the
	// syntax tree's offsets count from its beginning.
	raw, text []byte
	root      *hujson.Value // nil: the file has no value, only white space and comments
	servers   *hujson.Value // the object at mcpServers, nil: none
	entries   []Entry
	warnings  []Problem
	faults    []Problem
}

// Load reads the file at path. A missing file is an empty one. The error is a
// [*Problem]: with line and column when the text is not JSON (comments and
// trailing commas allowed) or mcpServers is not an object, without them when
// the file cannot be read. Only regular files of up to 4 MiB are read, also
// through symbolic links: a named pipe or a device is refused at once. Faults of single
// entries are no error here: see [Entry.Fault] and [File.Faults].
func Load(path string) (*File, error) {
	raw, err := atomicfile.Read(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Parse(path, nil)
	case err != nil:
		return nil, &Problem{File: path, Message: reason(err), Remedy: remedy(err)}
	}
	return Parse(path, raw)
}

// remedy returns the hint of an error, "" where it has none.
func remedy(err error) string {
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		return hinter.Hint()
	}
	return ""
}

// reason is an error without the path that it would repeat.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Parse is [Load] for bytes in memory; path is only used in messages. It keeps
// raw.
func Parse(path string, raw []byte) (*File, error) {
	f := &File{path: path, raw: raw, text: bytes.TrimPrefix(raw, []byte(bom))}
	if len(raw) > maxSize {
		return nil, &Problem{File: path, Message: fmt.Sprintf("it is larger than %d MiB", maxSize>>20)}
	}
	if err := f.checkText(); err != nil {
		return nil, err
	}
	// The parser wants a newline after a last line comment.
	text := append(slices.Clip(f.text), '\n')
	if onlyExtra(text) {
		return f, nil
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, f.syntaxError(err)
	}
	f.root = &root
	obj, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, f.problemAt(root.StartOffset, "", "the file holds "+describe(root)+", want an object", `{"mcpServers": {}} is an empty one`)
	}
	if err := f.readRoot(obj); err != nil {
		return nil, err
	}
	return f, nil
}

// readRoot finds mcpServers and decodes what is in it.
func (f *File) readRoot(obj *hujson.Object) error {
	for i := range obj.Members {
		m := &obj.Members[i]
		switch key := memberName(m); key {
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
			f.warnings = append(f.warnings, *f.problemAt(m.Name.StartOffset, "", fmt.Sprintf("unknown key %q, ignored", key), rootRemedy(key)))
		}
	}
	f.readEntries()
	return nil
}

func rootRemedy(key string) string {
	if slices.Contains([]string{"servers", "mcp", "context_servers", "mcp_servers"}, key) {
		return `mcpctl reads "mcpServers"`
	}
	if near := nearest.Names(key, []string{rootKey, "$schema"}, maxNear); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}

func (f *File) readEntries() {
	if f.servers == nil {
		return
	}
	seen := map[string]int{} // alias to index in entries
	for _, m := range f.servers.Value.(*hujson.Object).Members {
		name := memberName(&m)
		d := &decoder{f: f, server: name}
		if first, ok := seen[name]; ok {
			p := f.problemAt(m.Name.StartOffset, name, "the alias is there twice", "rename or remove one of the two")
			f.faults = append(f.faults, *p)
			if f.entries[first].Fault == nil {
				f.entries[first].Fault = p
			}
			continue
		}
		if why := aliasFault(name); why != "" {
			remedy := ""
			if mended := CleanAlias(name); mended != "" {
				remedy = "rename it to " + mended
			}
			d.fault(m.Name.StartOffset, "the alias cannot be used: "+why, remedy)
		} else if Reserved(name) {
			d.warn(m.Name.StartOffset, "the alias is the name of a command, so mcpctl "+name+" means that one", "mcpctl tools "+name+" and the like reach the server; another alias is shorter")
		}
		e := d.entry(m.Value)
		e.Name = name
		if len(d.faults) > 0 {
			e.Fault = &d.faults[0]
		}
		seen[name] = len(f.entries)
		f.entries = append(f.entries, e)
		f.faults = append(f.faults, d.faults...)
		f.warnings = append(f.warnings, d.warnings...)
	}
}

// Path is the path that the file was loaded from.
func (f *File) Path() string { return f.path }

// Bytes gives the whole file, edits included. Do not change them.
func (f *File) Bytes() []byte { return f.raw }

// Entries gives all entries in the file's order, those with a fault too.
func (f *File) Entries() []Entry { return slices.Clone(f.entries) }

// Entry gives the entry of an alias. It may have a fault; [File.Use] checks.
func (f *File) Entry(name string) (Entry, bool) {
	for _, e := range f.entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Use gives a sound entry. The error is a [*NotFoundError] for an alias that
// is not there and the entry's [*Problem] for one that is broken.
func (f *File) Use(name string) (Entry, error) {
	e, ok := f.Entry(name)
	if !ok {
		return Entry{}, f.notFound(name)
	}
	return e, e.Err()
}

func (f *File) notFound(name string) error {
	return &NotFoundError{Server: name, Nearest: f.Nearest(name), Empty: len(f.entries) == 0}
}

// Nearest gives configured aliases that look like name, best first, at most
// three.
func (f *File) Nearest(name string) []string {
	names := make([]string, len(f.entries))
	for i, e := range f.entries {
		names[i] = e.Name
	}
	return nearest.Names(name, names, maxNear)
}

// Warnings gives what is odd but harmless, in the file's order: unknown keys
// with the nearest known one, keys without effect, placeholders of other hosts.
func (f *File) Warnings() []Problem { return slices.Clone(f.warnings) }

// Faults gives everything that makes an entry unusable, in the file's order.
// An entry may have several; [Entry.Fault] is its first.
func (f *File) Faults() []Problem { return slices.Clone(f.faults) }

func (f *File) problemAt(offset int, server, message, remedy string) *Problem {
	line, column := position(f.text, offset)
	return &Problem{File: f.path, Line: line, Column: column, Server: server, Message: message, Remedy: remedy}
}

// checkText refuses what the parser would choke on.
func (f *File) checkText() error {
	if bytes.HasPrefix(f.raw, []byte("\xff\xfe")) || bytes.HasPrefix(f.raw, []byte("\xfe\xff")) {
		return &Problem{File: f.path, Line: 1, Column: 1, Message: "the file is UTF-16", Remedy: "save it as UTF-8"}
	}
	if !utf8.Valid(f.text) {
		n := 0
		for n < len(f.text) {
			r, size := utf8.DecodeRune(f.text[n:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			n += size
		}
		return f.problemAt(n, "", "a byte that is not UTF-8", "save the file as UTF-8")
	}
	depth := 0
	for i, c := range f.text {
		switch c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return f.problemAt(i, "", "objects and arrays are nested too deeply", "")
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// onlyExtra tells whether text is white space and comments alone.
func onlyExtra(text []byte) bool {
	v, err := hujson.Parse(append(slices.Clip(text), "null"...))
	return err == nil && v.StartOffset == len(text)
}

// syntaxError gives the parser's error its place and a remedy.
func (f *File) syntaxError(err error) error {
	var line, column int
	offset := len(f.text)
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr == nil {
		offset = min(lineStart(f.text, line)+column-1, len(f.text))
	}
	message := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		message = inner.Error()
	}
	has := func(s string) bool { return strings.Contains(message, s) }
	remedy := ""
	switch {
	case has("unexpected EOF"):
		return f.unclosed()
	case has("after object value"):
		message, remedy = f.found(offset)+" after a value, where a comma or '}' is due", "put a comma between two members"
	case has("after array value"):
		message, remedy = f.found(offset)+" after a value, where a comma or ']' is due", "put a comma between two elements"
	case has("at start of object name"), (has("at start of value") || has("invalid literal")) && !has("literal: \"") && f.wantsName(offset):
		message, remedy = f.found(offset)+" where a name is due", `names stand in double quotes: "command"`
	case has("after object name"):
		message, remedy = f.found(offset)+" after a name, where a colon is due", `as in "command": "npx"`
	case has("after top-level value"):
		message, remedy = f.found(offset)+" after the end of the object", "remove what follows the last brace, or a brace too many"
	case has("invalid literal: \""):
		message, remedy = f.badString(offset)
	case has("invalid literal"), has("at start of value"):
		message, remedy = f.found(offset)+" where a value is due", "text stands in double quotes"
	}
	return f.problemAt(offset, "", message, remedy)
}

// found quotes the word or character at an offset.
func (f *File) found(offset int) string {
	rest := f.text[offset:]
	n := 0
	for n < len(rest) && n < 20 && (aliasRune(rune(rest[n])) || rest[n] == '$') {
		n++
	}
	if n == 0 {
		r, _ := utf8.DecodeRune(rest)
		return strconv.QuoteRune(r)
	}
	return strconv.Quote(string(rest[:n]))
}

// badString says what is wrong with the string literal at an offset, which the
// parser found not to be one.
func (f *File) badString(offset int) (message, remedy string) {
	for i := offset + 1; i < len(f.text) && f.text[i] != '"'; i++ {
		switch c := f.text[i]; {
		case c == '\n':
			return "a string that goes over the end of its line", `close it with a double quote, or write \n`
		case c < 0x20:
			return fmt.Sprintf("a string with the control character %q", rune(c)), `write \t for a tab`
		case c == '\\':
			i++
			if i < len(f.text) && !strings.ContainsRune(`"\/bfnrtu`, rune(f.text[i])) {
				return fmt.Sprintf(`a string with the unknown escape \%c`, f.text[i]), `write \\ for a backslash, as in "C:\\tools"`
			}
		}
	}
	return "a malformed string", `write \\ for a backslash`
}

// unclosed finds what the end of the file came too early for: the innermost
// thing still open.
func (f *File) unclosed() error {
	s := scanTo(f.text, len(f.text))
	switch {
	case s.inString >= 0:
		return f.problemAt(s.inString, "", "a string without a closing quote", "")
	case s.inComment >= 0:
		return f.problemAt(s.inComment, "", "a comment without an end", "close it with */")
	case len(s.open) == 0:
		return f.problemAt(len(f.text), "", "the file ends too early", "")
	}
	at := s.open[len(s.open)-1]
	closing := "}"
	if f.text[at] == '[' {
		closing = "]"
	}
	return f.problemAt(at, "", fmt.Sprintf("this %q is never closed", f.text[at]), "add the missing "+closing)
}

// wantsName tells whether the name of a member is due at an offset.
func (f *File) wantsName(offset int) bool {
	s := scanTo(f.text, offset)
	return len(s.open) > 0 && f.text[s.open[len(s.open)-1]] == '{' && s.last != ':'
}

// scan is what a text has open at some offset.
type scan struct {
	open                []int // offsets of '{' and '['
	last                byte  // the last byte that is no white space or comment
	inString, inComment int   // where an unclosed one begins, or -1
}

// scanTo looks at text up to an offset without minding whether it is JSON.
func scanTo(text []byte, limit int) scan {
	s := scan{inString: -1, inComment: -1}
	for i := 0; i < limit; i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case bytes.HasPrefix(text[i:], []byte("//")):
			n := bytes.IndexByte(text[i:], '\n')
			if n < 0 {
				return s
			}
			i += n
			continue
		case bytes.HasPrefix(text[i:], []byte("/*")):
			n := bytes.Index(text[i+2:], []byte("*/"))
			if n < 0 {
				s.inComment = i
				return s
			}
			i += 2 + n + 1
			continue
		case c == '{' || c == '[':
			s.open = append(s.open, i)
		case (c == '}' || c == ']') && len(s.open) > 0:
			s.open = s.open[:len(s.open)-1]
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) {
				s.inString = i
				return s
			}
			i = end
		}
		s.last = text[i]
	}
	return s
}

func lineStart(text []byte, line int) int {
	offset := 0
	for range line - 1 {
		i := bytes.IndexByte(text[offset:], '\n')
		if i < 0 {
			return len(text)
		}
		offset += i + 1
	}
	return offset
}

func memberName(m *hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

// standard gives a value as plain JSON without white space.
func standard(v hujson.Value) json.RawMessage {
	c := v.Clone()
	c.Minimize()
	return json.RawMessage(c.Pack())
}
