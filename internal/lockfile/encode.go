package lockfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Bytes returns the file: servers and entries by name, each member of an entry on a
// line of its own, and what is invisible as \uXXXX, so that a review shows what has
// changed and nothing hides in it. Equal content has equal bytes.
func (f *File) Bytes() []byte {
	w := &writer{}
	w.line(0, "{")
	w.line(1, fmt.Sprintf(`"lockVersion": %d,`, form))
	w.line(1, `"servers": {`)
	names := slices.Sorted(maps.Keys(f.Servers))
	for i, name := range names {
		w.server(name, f.Servers[name], i == len(names)-1)
	}
	w.line(1, "}")
	w.line(0, "}")
	return plain.Escape(w.Bytes())
}

type writer struct{ bytes.Buffer }

func (w *writer) line(depth int, text string) {
	for range depth {
		w.WriteString("  ")
	}
	w.WriteString(text)
	w.WriteByte('\n')
}

func (w *writer) server(name string, s *Server, last bool) {
	w.line(2, quote(name)+": {")
	if s.Entry != "" {
		w.line(3, `"entry": `+quote(s.Entry)+",")
	}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"origin", s.Origin}, {"resolved", s.Resolved}} {
		if part.raw != nil {
			w.members(3, part.name, part.raw, ",")
		}
	}
	about, err := json.Marshal(s.About)
	if err != nil {
		panic("lockfile: texts have no JSON form: " + err.Error())
	}
	left := 0
	for l := range Lists {
		if s.Items[l] != nil {
			left++
		}
	}
	w.members(3, "about", rawjson.Normal(about), comma(left == 0))
	for l := range Lists {
		if s.Items[l] == nil {
			continue
		}
		left--
		w.list(l, s.Items[l], left == 0)
	}
	w.line(2, "}"+comma(last))
}

func (w *writer) list(l List, items map[string]Locked, last bool) {
	if len(items) == 0 {
		w.line(3, quote(l.Member())+": {}"+comma(last))
		return
	}
	w.line(3, quote(l.Member())+": {")
	keys := slices.Sorted(maps.Keys(items))
	for i, key := range keys {
		it := items[key]
		w.line(4, quote(key)+": {")
		w.line(5, `"digest": `+quote(it.Digest)+",")
		w.members(5, "text", it.Text, "")
		w.line(4, "}"+comma(i == len(keys)-1))
	}
	w.line(3, "}"+comma(last))
}

// members writes an object with each member on a line; another value on one line.
func (w *writer) members(depth int, name string, raw []byte, end string) {
	raw = rawjson.Normal(raw)
	entries, err := rawjson.Entries(raw)
	if err != nil || len(entries) == 0 {
		w.line(depth, quote(name)+": "+string(raw)+end)
		return
	}
	w.line(depth, quote(name)+": {")
	for i, e := range entries {
		w.line(depth+1, quote(e.Name)+": "+string(e.Value.Of(raw))+comma(i == len(entries)-1))
	}
	w.line(depth, "}"+end)
}

func quote(text string) string { return string(rawjson.Quote(nil, text)) }

func comma(last bool) string {
	if last {
		return ""
	}
	return ","
}
