package results

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Fields are the members of JSON that are kept. They are immutable. The zero value keeps none.
type Fields struct {
	all     bool // the value as it is
	members map[string]*Fields
}

// maxFields bounds paths, maxPath the names in one, and maxNesting how deep a value is looked
// into: each level is read once more.
const (
	maxFields  = 100
	maxPath    = 32
	maxNesting = 64
)

// ParseFields reads paths: names with dots between them, as in user.login. A name holds for each
// element of an array, which "[]" behind the name may say, as in items[].id. No paths are nil.
func ParseFields(paths []string) (*Fields, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	if len(paths) > maxFields {
		return nil, fmt.Errorf("there are %d fields, want %d at most", len(paths), maxFields)
	}
	root := &Fields{}
	for _, path := range paths {
		if path == "" {
			return nil, errors.New("a field has no path")
		}
		names := strings.Split(path, ".")
		if len(names) > maxPath {
			return nil, fmt.Errorf("field %.40q has more than %d names", path, maxPath)
		}
		f := root
		for i, name := range names {
			for strings.HasSuffix(name, "[]") {
				name = strings.TrimSuffix(name, "[]")
			}
			switch {
			case strings.ContainsAny(name, "[]"):
				return nil, fmt.Errorf("field %.40q has a bracket: write [] for all elements", path)
			case name == "" && (i > 0 || !strings.HasPrefix(path, "[]")):
				return nil, fmt.Errorf("field %.40q has an empty name", path)
			case name != "":
				f = f.member(name)
			}
		}
		f.all = true
	}
	return root, nil
}

func (f *Fields) member(name string) *Fields {
	if f.members == nil {
		f.members = map[string]*Fields{}
	}
	if f.members[name] == nil {
		f.members[name] = &Fields{}
	}
	return f.members[name]
}

// Project returns a value with the members that are kept, in their order and with their bytes.
// Each object stays that is an element of an array, also without any. False is for a value of
// which nothing is kept, and for what is no JSON.
func (f *Fields) Project(value []byte) ([]byte, bool) {
	if rawjson.Valid(value) != nil {
		return nil, false
	}
	return f.append(nil, value, 0)
}

func (f *Fields) append(out, value []byte, depth int) (_ []byte, some bool) {
	switch {
	case f.all:
		return append(out, value...), true
	case depth > maxNesting:
		return out, false
	case rawjson.IsObject(value):
		return f.appendObject(out, value, depth)
	}
	spans, err := rawjson.Elements(value)
	if err != nil {
		return out, false
	}
	out = append(out, '[')
	begin := len(out)
	for _, at := range spans {
		before := len(out)
		if before > begin {
			out = append(out, ',')
		}
		one, some := f.append(out, at.Of(value), depth+1)
		if out = one; !some {
			if out = out[:before]; rawjson.IsObject(at.Of(value)) {
				if before > begin {
					out = append(out, ',')
				}
				out = append(out, "{}"...)
			}
		}
	}
	return append(out, ']'), true
}

func (f *Fields) appendObject(out, value []byte, depth int) (_ []byte, some bool) {
	entries, err := rawjson.Entries(value)
	if err != nil {
		return out, false
	}
	out = append(out, '{')
	for _, e := range entries {
		inner := f.members[e.Name]
		if inner == nil {
			continue
		}
		before := len(out)
		if some {
			out = append(out, ',')
		}
		out = append(append(out, e.Key.Of(value)...), ':')
		one, ok := inner.append(out, e.Value.Of(value), depth+1)
		if out = one; !ok {
			out = out[:before]
		}
		some = some || ok
	}
	return append(out, '}'), some
}

// Project returns the result of a tools/call with the members that are kept of its structured
// content, and of each text that is one document of JSON. Other text stays, and so does an error.
// Of a document without any of them an empty object is left.
func Project(result []byte, f *Fields) []byte {
	var at [3]rawjson.Span
	if f == nil || rawjson.Fields(result, at[:], "content", "structuredContent", "isError") != nil || string(at[2].Of(result)) == "true" {
		return result
	}
	var edits []rawjson.Edit
	blocks, _ := rawjson.ElementsAt(result, at[0])
	for _, block := range blocks {
		text := textOf(result, block)
		if !text.Present() {
			continue
		}
		if document := rawjson.Unquote(nil, text.Of(result)); IsDocument(document) {
			edits = append(edits, rawjson.Edit{Span: text, New: rawjson.Quote(nil, string(f.of(document)))})
		}
	}
	if structured := at[1].Of(result); structured != nil {
		edits = append(edits, rawjson.Edit{Span: at[1], New: f.ofWrapped(structured)})
	}
	return rawjson.Apply(result, edits)
}

// Project returns the texts with the members that are kept of each that is one document of JSON.
func (t Texts) Project(f *Fields) Texts {
	if f == nil {
		return t
	}
	out := make(Texts, len(t))
	for i, text := range t {
		if out[i] = text; IsDocument(text) {
			out[i] = f.of(text)
		}
	}
	return out
}

// of returns what is kept of a document, an empty object for nothing.
func (f *Fields) of(document []byte) []byte {
	if out, some := f.Project(document); some {
		return out
	}
	return []byte(`{}`)
}

// ofWrapped is of for structured content: what was put into an object counts as if it was not.
func (f *Fields) ofWrapped(structured []byte) []byte {
	inner := unwrapped(structured)
	switch {
	case len(inner) == len(structured) || f.members[wrapper] != nil:
		return f.of(structured)
	case !IsDocument(inner): // as plain text is
		return structured
	}
	return rawjson.Wrap(wrapper, f.of(inner))
}
