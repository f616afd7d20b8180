package search

import (
	"encoding/json"
	"strings"
)

// maxDepth is how deep arguments are looked for in objects of arguments.
const maxDepth = 3

// OfTool returns what is searched of a tool, from its definition as a server lists it. ok
// is false for what is no tool. Descriptions of arguments are left out: they make tools
// alike that are not.
func OfTool(server string, definition json.RawMessage) (d Doc, ok bool) {
	var t struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations struct {
			Title string `json:"title"`
		} `json:"annotations"`
		Meta struct {
			Hint string `json:"anthropic/searchHint"`
		} `json:"_meta"`
	}
	// A member of the wrong type leaves the others readable.
	if err := json.Unmarshal(definition, &t); err != nil && t.Name == "" {
		return d, false
	}
	title := t.Title
	if title == "" {
		title = t.Annotations.Title
	}
	if title != "" {
		title += ". "
	}
	var params strings.Builder
	arguments(&params, t.InputSchema, maxDepth)
	return Doc{Group: server, Name: t.Name, Text: title + t.Description, Params: params.String() + t.Meta.Hint}, t.Name != ""
}

// arguments writes the names and permitted values of a schema's properties.
func arguments(out *strings.Builder, schema json.RawMessage, depth int) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
		Enum       []any                      `json:"enum"`
	}
	if depth == 0 || len(schema) == 0 || schema[0] != '{' || json.Unmarshal(schema, &s) != nil {
		return
	}
	for _, v := range s.Enum {
		if text, ok := v.(string); ok {
			out.WriteString(text + " ")
		}
	}
	for name, p := range s.Properties {
		out.WriteString(name + " ")
		arguments(out, p, depth-1)
	}
	arguments(out, s.Items, depth-1)
}
