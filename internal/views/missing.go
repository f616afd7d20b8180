package views

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// OwnTools returns the exposed names of tools that are no server's: a proxy has them where a view
// finds tools instead of listing them, or cuts results. Overrides may be about them.
func OwnTools() []string {
	return []string{"search_tools", "call_tool", "call_read_tool", "read_result"}
}

// Missing returns what a view says of tools and arguments that do not exist, and of tools that it
// cannot show as it says: their schema cannot be edited, or another has the name. Tools
// returns the definition of the tool with an exposed name, nil for none; known is false if a server
// has not been asked.
func (v *View) Missing(tools func(exposed string) (definition []byte, known bool)) (all []*Problem) {
	if v == nil {
		return nil
	}
	const remedy = "mcpctl tools --live lists the tools of all servers"
	for _, pin := range v.c.Pin {
		if definition, known := tools(pin); known && definition == nil {
			all = append(all, &Problem{View: v.name, Path: []string{"pin"}, Text: "no server has a tool " + quote(pin), Remedy: remedy})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.tools)) {
		definition, known := tools(name)
		path := []string{"override", name}
		switch {
		case !known || slices.Contains(OwnTools(), name):
			continue
		case definition == nil:
			all = append(all, &Problem{View: v.name, Path: path, Text: "no server has a tool " + quote(name), Remedy: remedy})
			continue
		}
		if as := v.tools[name].name; as != "" && as != name {
			if other, _ := tools(as); other != nil {
				all = append(all, &Problem{View: v.name, Path: append(path[:2:2], "name"), Text: "another tool has the name " + quote(as), Remedy: "choose another: the tool is left out of the view"})
			}
		}
		arguments := argumentsOf(definition)
		before := len(all)
		for _, a := range v.tools[name].arguments {
			if !slices.Contains(arguments, a.name) {
				all = append(all, &Problem{View: v.name, Path: append(path[:2:2], "arguments", a.name), Text: "the tool has no argument " + quote(a.name), Remedy: argumentsAre(arguments)})
			}
		}
		if _, err := v.Present("", name, definition); err != nil && len(all) == before {
			all = append(all, &Problem{View: v.name, Path: path, Text: err.Error()})
		}
	}
	return all
}

func argumentsAre(names []string) string {
	if len(names) == 0 {
		return "it has no arguments"
	}
	return "arguments are " + strings.Join(names, ", ")
}

// argumentsOf returns the names of a tool's arguments.
func argumentsOf(definition []byte) (names []string) {
	at, err := rawjson.Field(definition, "inputSchema")
	if err != nil || !at.Present() {
		return nil
	}
	schema := at.Of(definition)
	if at, err = rawjson.Field(schema, "properties"); err != nil || !at.Present() {
		return nil
	}
	_ = rawjson.Walk(at.Of(schema), func(name []byte, _ rawjson.Span) { names = append(names, string(name)) })
	return names
}
