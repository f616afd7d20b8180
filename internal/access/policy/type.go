package policy

import (
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Type returns the type that a member of the arguments has by a tool's input schema, as
// Cedar's schemas write it, "" where the schema allows several or says nothing of what is in
// an object. Known is false for a member that is not among those which the schema describes;
// required says that it is in all arguments.
func Type(inputSchema []byte, path []string) (text string, required, known bool) {
	s := schemaOf(inputSchema, inputSchema)
	required = true
	for _, name := range path {
		required = required && s.requires(name)
		above := s
		if s = s.property(name); len(s.parts) == 0 {
			return "", false, len(above.names()) == 0 && above.kinds&^isNull&^isObject == 0
		}
	}
	return s.cedar(0), required, true
}

// Members returns the names that a schema describes below a path.
func Members(inputSchema []byte, path []string) []string {
	s := schemaOf(inputSchema, inputSchema)
	for _, name := range path {
		s = s.property(name)
	}
	return s.names()
}

// cedar returns the type of a value, "" for one that is not known before.
func (s *argSchema) cedar(depth int) string {
	switch k := s.kinds &^ isNull; {
	case k == isString:
		return "String"
	case k == isInteger:
		return "Long"
	case k&^isInteger == isNumber:
		return "decimal"
	case k == isBoolean:
		return "Bool"
	case k == isArray:
		items := s.items()
		if of := items.cedar(depth + 1); of != "" && depth < MaxDepth {
			return "Set<" + of + ">"
		}
	case k == isObject:
		names := s.names()
		if len(names) == 0 || depth == MaxDepth {
			return ""
		}
		var all []string
		for _, name := range names {
			of := s.property(name)
			text := of.cedar(depth + 1)
			if text == "" {
				return ""
			}
			mark := "?: "
			if s.requires(name) {
				mark = ": "
			}
			all = append(all, string(types.String(name).MarshalCedar())+mark+text)
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	return ""
}

// requires reports whether a member is in every value.
func (s *argSchema) requires(name string) bool {
	for _, raw := range s.parts {
		at, err := rawjson.Field(raw, "required")
		if err != nil || !at.Present() {
			continue
		}
		all, err := rawjson.ElementsAt(raw, at)
		if err != nil {
			continue
		}
		for _, e := range all {
			if text, ok := rawjson.String(raw, e); ok && text == name {
				return true
			}
		}
	}
	return false
}

// names returns the names that the schema describes, sorted.
func (s *argSchema) names() (all []string) {
	for _, raw := range s.parts {
		at, err := rawjson.Field(raw, "properties")
		if err != nil || !at.Present() {
			continue
		}
		entries, err := rawjson.Entries(at.Of(raw))
		if err != nil {
			continue
		}
		for _, e := range entries {
			all = append(all, e.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
