package configedit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/schemas"
)

// Schema is the part of the schema of servers.json that says what a value may be.
type Schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	Enum                 []string           `json:"enum"`
	Properties           map[string]*Schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Items                *Schema            `json:"items"`
	OneOf                []json.RawMessage  `json:"oneOf"`
	Defs                 map[string]*Schema `json:"$defs"`
}

// PathError is a path that leads nowhere: no file may have such a value.
type PathError struct{ Message, Remedy string }

// Error returns the message.
func (e *PathError) Error() string { return e.Message }

// Hint returns the remedy.
func (e *PathError) Hint() string { return e.Remedy }

// ExitKind is "usage".
func (*PathError) ExitKind() string { return "usage" }

// SchemaAt returns the schema of the value at a path, from the root of servers.json on.
// The error is a [*PathError]. A nil schema is one that says nothing.
func SchemaAt(p Path) (*Schema, error) {
	root := &Schema{}
	if err := json.Unmarshal(schemas.Servers(), root); err != nil {
		return nil, err
	}
	at := root
	for i := range p {
		if at == nil {
			return nil, nil
		}
		next, err := at.step(p, i)
		if err != nil {
			return nil, err
		}
		if next != nil && next.Ref != "" {
			next = root.Defs[strings.TrimPrefix(next.Ref, "#/$defs/")]
		}
		at = next
	}
	return at, nil
}

// step returns the schema of step i of a path.
func (s *Schema) step(p Path, i int) (*Schema, error) {
	where := p[max(0, min(1, i)):i].String() // without mcpServers
	for _, raw := range s.OneOf {
		form := &Schema{}
		// Forms that only say which members go together are none of another type.
		if json.Unmarshal(raw, form) == nil && form.Type == map[bool]string{true: "array", false: "object"}[p[i].Element] {
			s = form
		}
	}
	switch step := p[i]; {
	case step.Element && s.Type == "array":
		return s.Items, nil
	case step.Element:
		return nil, &PathError{Message: where + " is " + s.kind() + ", which has no elements"}
	case s.Type != "" && s.Type != "object" || s.Type == "" && s.Enum != nil:
		return nil, &PathError{Message: where + " is " + s.kind() + ", which has no members"}
	case s.Properties[step.Name] != nil:
		return s.Properties[step.Name], nil
	default:
		more := &Schema{}
		switch text := string(s.AdditionalProperties); {
		case strings.HasPrefix(text, "{"):
			return more, json.Unmarshal(s.AdditionalProperties, more)
		case s.Properties == nil:
			return nil, nil
		}
		e := &PathError{Message: fmt.Sprintf("unknown key %q in %s", step.Name, where)}
		if where == "" {
			e.Message = fmt.Sprintf("unknown key %q", step.Name)
		}
		e.Remedy = plain.NearestHint(step.Name, slices.Sorted(maps.Keys(s.Properties)), "")
		return nil, e
	}
}

// kind names the type of a value.
func (s *Schema) kind() string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + strings.Join(s.Enum, ", ")
	case s.Type == "array" || s.Type == "object" || s.Type == "integer":
		return "an " + s.Type
	case s.Type == "":
		return "any value"
	case s.Type == "boolean":
		return "true or false"
	}
	return "a " + s.Type
}

// Value reads a text as a value: a string stays text, and everything else is JSON. The
// error completes a sentence that begins with the path.
func (s *Schema) Value(text string) (json.RawMessage, error) {
	if s == nil || s.Type == "string" || s.Type == "" && s.Enum != nil {
		return json.Marshal(text)
	}
	raw := json.RawMessage(strings.TrimSpace(text))
	if !json.Valid(raw) {
		if s.Type == "array" {
			return nil, fmt.Errorf(`takes an array, as JSON such as ["a", "b"]`)
		}
		return nil, fmt.Errorf("takes %s, as JSON", s.kind())
	}
	return raw, nil
}
