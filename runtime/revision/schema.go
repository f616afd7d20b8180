package revision

import "github.com/mcpctl/mcpctl/runtime/internal/rawjson"

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
