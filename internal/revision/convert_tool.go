package revision

import (
	"bytes"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Item converts an entry of a list (Method is the list's) to the client's
// revision. Text that is no object is returned as it is.
func (c *Conversion) Item(item []byte) []byte {
	if c.Method != MethodToolsList || !bytes.Contains(item, []byte(`"execution"`)) && (IsModern(c.To) || !bytes.Contains(item, []byte(`"outputSchema"`))) {
		return item
	}
	o, err := rawjson.ObjectAt(item, rawjson.Whole(item))
	if err != nil {
		return item
	}
	edits := c.removeTaskSupport(item, o)
	if e := o.Get("outputSchema"); e != nil && !IsModern(c.To) && !isObjectSchema(e.Value.Of(item)) {
		o.Replace(e, wrapSchema(e.Value.Of(item)))
	}
	return rawjson.Apply(item, append(edits, o.Edits()...))
}

// removeTaskSupport removes what has clients call the tool as a task of the
// handshake era: that is done for them, whatever their revision. The member is
// unknown in the stateless era.
func (c *Conversion) removeTaskSupport(item []byte, o *rawjson.Object) []rawjson.Edit {
	e := o.Get("execution")
	if e == nil {
		return nil
	}
	x, err := rawjson.ObjectAt(item, e.Value)
	if err == nil {
		x.Remove("taskSupport")
	}
	if err != nil || IsModern(c.To) || x.Len() == 0 {
		o.Remove("execution")
		return nil
	}
	return x.Edits()
}

// WrapsOutput reports whether a tool's output schema has to be wrapped for
// clients of the handshake era, whose schemas are of objects: they get
// {"type":"object","properties":{"result":SCHEMA},"required":["result"]}.
func WrapsOutput(tool []byte) bool {
	if !bytes.Contains(tool, []byte(`"outputSchema"`)) {
		return false
	}
	at, err := rawjson.Field(tool, "outputSchema")
	return err == nil && at.Present() && !isObjectSchema(at.Of(tool))
}

// isObjectSchema reports whether a schema has the form that the handshake era
// demands: {"type":"object",…} (2025-11-25, Tools). A null counts as absent.
func isObjectSchema(schema []byte) bool {
	if string(schema) == "null" {
		return true
	}
	kind, _ := rawjson.FieldString(schema, "type")
	return kind == "object"
}

// wrapSchema returns the schema of an object whose member result is of a
// schema. References into the schema follow it to its new place; the dialect is
// that of the whole.
func wrapSchema(schema []byte) []byte {
	out := []byte(`{`)
	if schema[0] == '{' {
		if o, err := rawjson.ObjectAt(schema, rawjson.Whole(schema)); err == nil {
			if e := o.Get("$schema"); e != nil && o.Get("$id") == nil {
				out = append(append(append(out, `"$schema":`...), e.Value.Of(schema)...), ',')
				o.Remove("$schema")
			}
			edits := rebase(schema, rawjson.Whole(schema), nil, 0)
			schema = rawjson.Apply(schema, append(edits, o.Edits()...))
		}
	}
	out = append(append(out, `"type":"object","properties":{"result":`...), schema...)
	return append(out, `},"required":["result"]}`...)
}

// maxSchemaDepth bounds how deep references are looked for: what lies deeper
// stays as it is.
const maxSchemaDepth = 128

// rebase returns the edits that make the references of a schema to parts of its
// own document ("#/…") lead to the same parts once it is the member result of
// another. What has an $id is a document of its own.
func rebase(text []byte, at rawjson.Span, edits []rawjson.Edit, depth int) []rawjson.Edit {
	if depth > maxSchemaDepth || text[at.Start] != '{' || !bytes.Contains(at.Of(text), []byte(`ef"`)) {
		return edits // no $ref, no $dynamicRef
	}
	o, err := rawjson.ObjectAt(text, at)
	if err != nil || o.Get("$id") != nil {
		return edits
	}
	for i := range o.Entries {
		e := &o.Entries[i]
		if e.Name == "$ref" || e.Name == "$dynamicRef" {
			if ref, ok := rawjson.String(text, e.Value); ok && (ref == "#" || strings.HasPrefix(ref, "#/")) {
				edits = append(edits, rawjson.Edit{Span: e.Value, New: rawjson.Quote(nil, "#/properties/result"+ref[1:])})
			}
			continue
		}
		for _, s := range subschemas(text, e) {
			edits = rebase(text, s, edits, depth+1)
		}
	}
	return edits
}

// content is what the value of a keyword of JSON Schema holds.
type content int

const (
	schemas       content = iota // a schema, an array of them, or neither
	schemasByName                // an object of schemas
	data                         // none, whatever it looks like
)

// contentOf returns what the value of a keyword holds.
func contentOf(keyword string) content {
	switch keyword {
	case "const", "default", "enum", "examples", "required", "type", HeaderAnnotation:
		return data
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return schemasByName
	}
	return schemas
}

// subschemas returns where the schemas inside the value of a keyword are.
func subschemas(text []byte, keyword *rawjson.Entry) []rawjson.Span {
	switch contentOf(keyword.Name) {
	case data:
		return nil
	case schemasByName:
		o, err := rawjson.ObjectAt(text, keyword.Value)
		if err != nil {
			return nil
		}
		spans := make([]rawjson.Span, len(o.Entries))
		for i, m := range o.Entries {
			spans[i] = m.Value
		}
		return spans
	case schemas:
	}
	return objects(text, keyword.Value)
}

// objects returns the object at a place, or those of the array there.
func objects(text []byte, at rawjson.Span) []rawjson.Span {
	switch text[at.Start] {
	case '{':
		return []rawjson.Span{at}
	case '[':
		elements, err := rawjson.ElementsAt(text, at)
		if err != nil {
			return nil
		}
		var spans []rawjson.Span
		for _, e := range elements {
			spans = append(spans, objects(text, e)...)
		}
		return spans
	}
	return nil
}
