package views

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// unused takes definitions out of a schema that only arguments have used which clients do not see:
// a type may say as much of an argument as its own schema.
func (t *ToolEdit) unused(text []byte, root, properties *rawjson.Object) (edits []rawjson.Edit, err error) {
	var hidden, seen []rawjson.Span
	for _, e := range properties.Entries {
		if slices.ContainsFunc(t.arguments, func(a argument) bool { return a.gone() && a.name == e.Name }) {
			hidden = append(hidden, e.Value)
		} else {
			seen = append(seen, e.Value)
		}
	}
	if hidden == nil {
		return nil, nil
	}
	shelves := map[string]*rawjson.Object{}
	definitions := map[string]rawjson.Span{} // by what references to them begin with
	for _, e := range root.Entries {
		switch e.Name {
		case "$defs", "definitions":
			if shelves[e.Name], err = once(text, e.Value, e.Name+" of its schema"); err != nil {
				return nil, err
			}
			for _, d := range shelves[e.Name].Entries {
				definitions["#/"+e.Name+"/"+d.Name] = d.Value
			}
		case "properties", "examples", "default":
		default:
			seen = append(seen, e.Value)
		}
	}
	stay := reached(text, definitions, seen)
	gone := reached(text, definitions, hidden)
	for name, shelf := range shelves {
		for _, d := range shelf.Entries {
			if at := "#/" + name + "/" + d.Name; gone[at] && !stay[at] {
				shelf.Remove(d.Name)
			}
		}
		if shelf.Len() == 0 && len(shelf.Entries) > 0 {
			root.Remove(name)
		} else {
			edits = append(edits, shelf.Edits()...)
		}
	}
	return edits, nil
}

// reached returns the definitions that parts of a schema use, also by way of others.
func reached(text []byte, definitions map[string]rawjson.Span, from []rawjson.Span) map[string]bool {
	all := map[string]bool{}
	for len(from) > 0 {
		part := from[len(from)-1]
		from = from[:len(from)-1]
		for _, ref := range references(part.Of(text)) {
			at := definitionOf(ref)
			if d, ok := definitions[at]; ok && !all[at] {
				all[at] = true
				from = append(from, d)
			}
		}
	}
	return all
}

// definitionOf returns the definition that a reference leads into, without the escapes of URLs and
// of JSON pointers in its name.
func definitionOf(ref string) string {
	const most = 4 // "#", "$defs", the name, and what is in it
	parts := strings.SplitN(ref, "/", most)
	if len(parts) < most-1 {
		return ref
	}
	name := parts[2]
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return parts[0] + "/" + parts[1] + "/" + strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}
