package views

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Present returns the definition of a tool as the view lists it, but for its name: title,
// description and arguments. One whose results are changed has no schema of these. All other bytes stay, and where nothing is changed the definition
// itself comes back. An error says that the schema cannot be edited safely: the tool must be
// neither listed nor called then.
func (v *View) Present(server, exposed string, definition []byte) ([]byte, error) {
	t := v.Tool(exposed)
	if v == nil || t == nil && v.c.Describe == "" {
		return definition, nil
	}
	if t == nil {
		t = &ToolEdit{}
	}
	edits, err := v.present(t, server, exposed, definition)
	if err != nil {
		return nil, fmt.Errorf("tool %s cannot be shown as view %s has it: %w", exposed, v.name, err)
	}
	return rawjson.Apply(definition, edits), nil
}

// Listed is [View.Present] with the name that the tool has in the view: the definition that clients
// get.
func (v *View) Listed(server, exposed string, definition []byte) ([]byte, error) {
	definition, err := v.Present(server, exposed, definition)
	if err != nil {
		return nil, err
	}
	return rawjson.Set(definition, []rawjson.Member{{Name: "name", Value: quoted(v.Tool(exposed).Name(exposed))}})
}

func (v *View) present(t *ToolEdit, server, exposed string, definition []byte) (edits []rawjson.Edit, err error) {
	tool, err := once(definition, rawjson.Whole(definition), "the definition")
	if err != nil {
		return nil, err
	}
	if t.title != "" {
		set(tool, "title", quoted(t.title))
		// Clients of older revisions read the title there.
		if at := tool.Get("annotations"); at != nil {
			if annotations, err := once(definition, at.Value, "annotations"); err == nil && annotations.Get("title") != nil {
				set(annotations, "title", quoted(t.title))
				edits = annotations.Edits()
			}
		}
	}
	if description := v.describe(t, server, exposed, definition, tool); description != "" {
		set(tool, "description", quoted(description))
	}
	if t.result != nil {
		tool.Remove("outputSchema")
	}
	if len(t.arguments) > 0 {
		schema := tool.Get("inputSchema")
		if schema == nil {
			return nil, fmt.Errorf("it has no inputSchema")
		}
		more, err := t.schema(definition, schema.Value)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return append(edits, tool.Edits()...), nil
}

// describe returns the description of a tool, "" for the one that it has.
func (v *View) describe(t *ToolEdit, server, exposed string, definition []byte, tool *rawjson.Object) string {
	if v.c.Describe == "" {
		return t.description
	}
	description := t.description
	if at := tool.Get("description"); description == "" && at != nil {
		description, _ = rawjson.String(definition, at.Value)
	}
	return strings.TrimSpace(strings.NewReplacer("{server}", server, "{name}", t.Name(exposed), "{description}", description).Replace(v.c.Describe))
}

// schema returns the edits of the schema at a place of a definition.
func (t *ToolEdit) schema(text []byte, at rawjson.Span) (edits []rawjson.Edit, err error) {
	root, err := once(text, at, "its schema")
	if err != nil {
		return nil, err
	}
	properties := &rawjson.Object{}
	if e := root.Get("properties"); e != nil {
		if properties, err = once(text, e.Value, "properties of its schema"); err != nil {
			return nil, err
		}
	}
	if t.rewrites {
		if err := t.editable(text, at, root, properties); err != nil {
			return nil, err
		}
		if edits, err = t.required(text, root); err != nil {
			return nil, err
		}
	}
	for _, a := range t.arguments {
		e := properties.Get(a.name)
		switch {
		case e == nil: // and only described
		case a.gone():
			properties.Remove(a.name)
			root.Remove("examples") // which may have it
			root.Remove("default")
		case string(e.Value.Of(text)) == "true": // any value, as an empty object says, too
			var b rawjson.Builder
			a.annotate(b.Add)
			properties.Replace(e, b.Object())
		default:
			property, err := once(text, e.Value, "argument "+a.name)
			if err != nil {
				return nil, err
			}
			a.annotate(func(name string, value []byte) { set(property, name, value) })
			edits = append(edits, property.Edits()...)
		}
	}
	unused, err := t.unused(text, root, properties)
	if err != nil {
		return nil, err
	}
	return slices.Concat(edits, unused, properties.Edits(), root.Edits()), nil
}

// annotate sets what is said of an argument.
func (a *argument) annotate(set func(name string, value []byte)) {
	if a.description != "" {
		set("description", quoted(a.description))
	}
	if a.kind == defaulted {
		set("default", a.value)
	}
}

// editable returns why arguments cannot be taken out of a schema, nil if they can.
func (t *ToolEdit) editable(text []byte, at rawjson.Span, root, properties *rawjson.Object) error {
	const remedy = "remove value, default and hide of its arguments"
	// What these say of the properties together may not be true any more where one has gone.
	for _, name := range []string{
		"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
		"dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", "propertyNames", "enum", "const",
	} {
		if root.Get(name) != nil {
			return fmt.Errorf("its schema cannot be edited safely: it has %s at its root (%s)", name, remedy)
		}
	}
	for _, a := range t.arguments {
		if a.kind == described {
			continue
		}
		if properties.Get(a.name) == nil {
			return fmt.Errorf("it has no argument %s (%s)", a.name, "name one that it has, or remove it")
		}
		for _, e := range properties.Entries {
			if e.Name != a.name && strings.EqualFold(e.Name, a.name) {
				return fmt.Errorf("its arguments %s and %s differ only in case (%s)", e.Name, a.name, remedy)
			}
		}
	}
	for _, ref := range references(at.Of(text)) {
		if !t.stays(ref) {
			return fmt.Errorf("its schema cannot be edited safely: it refers to %q (%s)", ref, remedy)
		}
	}
	return nil
}

// references returns the references in a part of a schema.
func references(schema []byte) (all []string) {
	next := false
	rawjson.Strings(schema, func(at rawjson.Span, isName bool) {
		word, _ := rawjson.String(schema, at)
		switch {
		case isName:
			next = word == "$ref" || word == "$dynamicRef" || word == "$recursiveRef"
		case next:
			all, next = append(all, word), false
		}
	})
	return all
}

// stays reports whether what a reference of a schema is to is the same after the edit.
func (t *ToolEdit) stays(ref string) bool {
	if strings.HasPrefix(ref, "#/$defs/") || strings.HasPrefix(ref, "#/definitions/") {
		return true
	}
	path, ok := strings.CutPrefix(ref, "#/properties/")
	name, _, _ := strings.Cut(path, "/")
	return ok && !strings.ContainsAny(name, "~%") && // escapes
		!slices.ContainsFunc(t.arguments, func(a argument) bool { return a.gone() && a.name == name })
}

// required takes arguments out of those that a client has to send.
func (t *ToolEdit) required(text []byte, root *rawjson.Object) ([]rawjson.Edit, error) {
	e := root.Get("required")
	if e == nil {
		return nil, nil
	}
	parts, err := rawjson.ElementsAt(text, e.Value)
	if err != nil {
		return nil, fmt.Errorf("required of its schema is no list")
	}
	gone := make([]bool, len(parts))
	for i, at := range parts {
		name, _ := rawjson.String(text, at)
		gone[i] = slices.ContainsFunc(t.arguments, func(a argument) bool { return a.kind != described && a.name == name })
	}
	if !slices.Contains(gone, false) { // older drafts allow no empty list
		root.Remove("required")
		return nil, nil
	}
	return rawjson.Removals(parts, func(i int) bool { return gone[i] }), nil
}

// once reads an object in which no name stands twice: readers disagree about which one counts.
func once(text []byte, at rawjson.Span, what string) (*rawjson.Object, error) {
	o, err := rawjson.ObjectAt(text, at)
	if err != nil {
		return nil, fmt.Errorf("%s has to be a JSON object", what)
	}
	seen := make(map[string]bool, len(o.Entries))
	for _, e := range o.Entries {
		if seen[e.Name] {
			return nil, fmt.Errorf("%s has %s twice", what, bytes.TrimSpace(e.Key.Of(text)))
		}
		seen[e.Name] = true
	}
	return o, nil
}

// set sets a member.
func set(o *rawjson.Object, name string, value []byte) {
	if e := o.Get(name); e != nil {
		o.Replace(e, value)
	} else {
		o.Add(name, value)
	}
}

func quoted(text string) []byte { return rawjson.Quote(nil, text) }
