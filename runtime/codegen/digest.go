package codegen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/codec"
)

// ToolDigests are digests of a tool's definition. Each is "sha256:" and
// hexadecimal digits.
type ToolDigests struct {
	// Structure covers what a caller depends on: the name, the schemas and the
	// annotations, without their prose. Order does not matter where JSON Schema has
	// none (members, required, enum, a list of types), and an annotation with its
	// default value counts as absent.
	Structure string
	// Prose covers what only readers depend on: titles, descriptions, comments
	// and examples of the tool and in its schemas.
	Prose string
}

// DigestTool returns the digests of an entry of tools/list. Other members, such as
// icons and _meta, do not count.
func DigestTool(raw json.RawMessage) (ToolDigests, error) {
	v, err := decodeAny(raw)
	if err != nil {
		return ToolDigests{}, err
	}
	tool, ok := v.(map[string]any)
	if !ok {
		return ToolDigests{}, errors.New("a tool is a JSON object")
	}
	p := prose{}
	p.take(tool, "", "title")
	p.take(tool, "", "description")
	structure := map[string]any{"name": tool["name"]}
	for _, member := range []string{"inputSchema", "outputSchema"} {
		if tool[member] != nil {
			structure[member] = p.schema(tool[member], "/"+member)
		}
	}
	if annotations, ok := tool["annotations"].(map[string]any); ok {
		p.take(annotations, "/annotations", "title")
		dropDefaults(annotations)
		if len(annotations) > 0 {
			structure["annotations"] = annotations
		}
	}
	var d ToolDigests
	if d.Structure, err = digestValue(structure); err != nil {
		return ToolDigests{}, err
	}
	if d.Prose, err = digestValue(map[string]any(p)); err != nil {
		return ToolDigests{}, err
	}
	return d, nil
}

// dropDefaults removes hints with their default value (2025-11-25,
// ToolAnnotations): some servers and libraries write them, others do not.
func dropDefaults(annotations map[string]any) {
	for hint, unsaid := range map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true} {
		if v, ok := annotations[hint]; ok && (v == unsaid || v == nil) {
			delete(annotations, hint)
		}
	}
}

// Digest returns the digest of any bytes: "sha256:" and hexadecimal digits.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func digestValue(v any) (string, error) {
	b, err := canonicalValue(v)
	if err != nil {
		return "", err
	}
	return Digest(b), nil
}

// WithoutProse returns a JSON schema's canonical text without titles,
// descriptions, comments and examples, and with those lists sorted whose order has
// no meaning in JSON Schema.
func WithoutProse(schema json.RawMessage) ([]byte, error) {
	v, err := decodeAny(schema)
	if err != nil {
		return nil, err
	}
	return canonicalValue(prose{}.schema(v, ""))
}

// prose holds the texts removed from a value, by JSON pointer.
type prose map[string]any

// take removes one member.
func (p prose) take(from map[string]any, at, member string) {
	if v, ok := from[member]; ok {
		p[at+"/"+member] = v
		delete(from, member)
	}
}

// schema removes the prose from a schema in place and returns the schema. It
// descends only into keywords of any draft that hold schemas: a property may be
// called "description", and a default may hold anything.
func (p prose) schema(v any, at string) any {
	s, ok := v.(map[string]any)
	if !ok {
		return v // true, false, or not a schema
	}
	for _, keyword := range []string{"title", "description", "$comment", "examples"} {
		p.take(s, at, keyword)
	}
	for keyword, v := range s {
		here := at + codec.Pointer(keyword)
		switch keyword {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			members, _ := v.(map[string]any)
			for name, m := range members {
				if list, ok := m.([]any); ok { // dependencies hold lists of names as well
					sortSet(list)
				}
				members[name] = p.schema(m, here+codec.Pointer(name))
			}
		case "items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties",
			"propertyNames", "not", "if", "then", "else", "contentSchema", "prefixItems", "allOf", "anyOf", "oneOf":
			if list, ok := v.([]any); ok {
				for i := range list {
					list[i] = p.schema(list[i], here+"/"+strconv.Itoa(i))
				}
				continue
			}
			s[keyword] = p.schema(v, here)
		case "required", "enum", "type":
			if list, ok := v.([]any); ok {
				sortSet(list)
			}
		case "dependentRequired":
			members, _ := v.(map[string]any)
			for _, m := range members {
				if list, ok := m.([]any); ok {
					sortSet(list)
				}
			}
		}
	}
	return s
}

// sortSet sorts values by their canonical text.
func sortSet(list []any) {
	slices.SortFunc(list, func(a, b any) int {
		x, _ := canonicalValue(a) // cannot fail for a decoded value
		y, _ := canonicalValue(b)
		return strings.Compare(string(x), string(y))
	})
}
