package jsonschema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

// MaxNesting is how many schemas may be nested in the text; no id or anchor
// further in is read.
const MaxNesting = 500

// DefaultBase is the URI of a document without an $id.
const DefaultBase = "schema:///"

// Document is one whole schema, the scope of its references.
type Document struct {
	Root any
	// Legacy is draft-07 or older: a $ref hides the keywords beside it.
	Legacy bool
	// Dialect is a $schema that is unknown; "" otherwise.
	Dialect string

	read      map[string]bool   // pointers of the schemas whose ids and anchors are known
	resources map[string]string // pointer, by URI without fragment
	bases     map[string]string // URI, by pointer of the schema that sets it
	anchors   map[string]string // pointer, by URI and name
}

// NewDocument returns the document of a decoded schema, with its ids and anchors
// read.
func NewDocument(root any) *Document {
	d := &Document{
		Root: root, read: map[string]bool{}, anchors: map[string]string{},
		resources: map[string]string{DefaultBase: ""}, bases: map[string]string{"": DefaultBase},
	}
	if m, ok := root.(Object); ok {
		if dialect, ok := m["$schema"].(string); ok {
			d.readDialect(dialect)
		}
	}
	d.identify(root, "", DefaultBase, 0)
	return d
}

func (d *Document) readDialect(uri string) {
	switch strings.TrimSuffix(withoutScheme(uri), "#") {
	case "json-schema.org/draft-04/schema", "json-schema.org/draft-06/schema", "json-schema.org/draft-07/schema":
		d.Legacy = true
	case "json-schema.org/schema", "json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2020-12/schema":
	default:
		d.Dialect = uri
	}
}

func withoutScheme(uri string) string {
	return strings.TrimPrefix(strings.TrimPrefix(uri, "http://"), "https://")
}

// IsMetaschema reports whether a reference leads to a dialect's own schema.
func IsMetaschema(ref string) bool { return strings.HasPrefix(withoutScheme(ref), "json-schema.org/") }

// Keywords returns the keywords of a schema that its dialect has: before 2019,
// values that those of later drafts would refuse are valid.
func (d *Document) Keywords(m Object) Object {
	if !d.Legacy {
		return m
	}
	out := maps.Clone(m)
	for _, keyword := range []string{
		"prefixItems", "unevaluatedItems", "unevaluatedProperties", "dependentRequired", "dependentSchemas", "minContains", "maxContains",
		"$dynamicRef", "$recursiveRef",
	} {
		delete(out, keyword)
	}
	return out
}

// identify reads the ids and anchors of a schema and of those inside it; of two
// that are the same the last counts.
func (d *Document) identify(v any, pointer, base string, nesting int) {
	m, ok := v.(Object)
	if !ok || nesting > MaxNesting || d.read[pointer] {
		return
	}
	d.read[pointer] = true
	m = d.Keywords(m)
	_, isRef := m["$ref"].(string)
	hidden := isRef && d.Legacy
	if !hidden {
		base = d.identity(m, pointer, base)
	}
	for _, keyword := range slices.Sorted(maps.Keys(m)) {
		at := schema.Pointer(pointer, keyword)
		switch keyword {
		case "$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies":
			if hidden && keyword != "$defs" && keyword != "definitions" {
				continue
			}
			members, _ := m[keyword].(Object)
			for _, name := range slices.Sorted(maps.Keys(members)) {
				d.identify(members[name], schema.Pointer(at, name), base, nesting+1)
			}
		case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "items", "prefixItems", "additionalItems", "contains",
			"additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
			if hidden {
				continue
			}
			d.identify(m[keyword], at, base, nesting+1)
			list, _ := m[keyword].([]any)
			for i, item := range list {
				d.identify(item, at+"/"+strconv.Itoa(i), base, nesting+1)
			}
		}
	}
}

// identity reads $id and anchors of one schema and returns its base.
func (d *Document) identity(m Object, pointer, base string) string {
	id, _ := m["$id"].(string)
	if id == "" && d.Legacy {
		id, _ = m["id"].(string)
	}
	name, isAnchor := strings.CutPrefix(id, "#") // draft-07's anchors
	if id != "" && !isAnchor {
		if u, err := parseURI(base, id); err == nil {
			u.Fragment = ""
			base = u.String()
			d.resources[base], d.bases[pointer] = pointer, base
		}
	}
	if isAnchor && name != "" {
		d.anchors[base+"#"+name] = pointer
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := m[keyword].(string); ok {
			d.anchors[base+"#"+name] = pointer
		}
	}
	return base
}

func parseURI(base, ref string) (*url.URL, error) {
	b, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	return b.Parse(ref)
}

// Base returns the URI that references of the schema at a pointer resolve
// against, where outer is that of the schema around it.
func (d *Document) Base(pointer, outer string) string {
	if uri, ok := d.bases[pointer]; ok {
		return uri
	}
	return outer
}

// Bases returns the URIs of the document's resources, the root's first.
func (d *Document) Bases() []string {
	root := d.bases[""]
	return append([]string{root}, slices.DeleteFunc(slices.Sorted(maps.Keys(d.resources)), func(uri string) bool { return uri == root })...)
}

// Place is where a reference leads: a schema, its pointer and its base.
type Place struct {
	Schema        any
	Pointer, Base string
}

// Resolve returns what a reference leads to from a schema with the given base.
// Documents other than this one are never fetched (2025-11-25, JSON Schema
// usage).
func (d *Document) Resolve(base, ref string) (Place, error) {
	u, err := parseURI(base, ref)
	if err != nil {
		return Place{}, fmt.Errorf("the reference %s is not a URI", ref)
	}
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	pointer, ok := d.resources[u.String()]
	if !ok {
		return Place{}, fmt.Errorf("the reference %s leads to another document", ref)
	}
	switch {
	case strings.HasPrefix(fragment, "/"):
		pointer += fragment
	case fragment != "":
		if pointer, ok = d.anchors[u.String()+"#"+fragment]; !ok {
			return Place{}, fmt.Errorf("the reference %s leads nowhere", ref)
		}
	}
	p, ok := d.at(pointer)
	if !ok {
		return Place{}, fmt.Errorf("the reference %s leads nowhere", ref)
	}
	switch p.Schema.(type) {
	case Object, bool:
		// Behind keywords that are no part of JSON Schema it is read only now.
		d.identify(p.Schema, p.Pointer, p.Base, 0)
		return p, nil
	}
	return Place{}, fmt.Errorf("the reference %s leads to no schema", ref)
}

// at returns the value at a pointer.
func (d *Document) at(pointer string) (Place, bool) {
	p := Place{Schema: d.Root, Base: d.bases[""]}
	if pointer == "" {
		return p, true
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = Unescape(step)
		ok := false
		switch v := p.Schema.(type) {
		case Object:
			p.Schema, ok = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(v) && strconv.Itoa(i) == step; ok {
				p.Schema = v[i]
			}
		}
		if !ok {
			return p, false
		}
		p.Pointer = schema.Pointer(p.Pointer, step)
		p.Base = d.Base(p.Pointer, p.Base)
	}
	return p, true
}

// Unescape returns the name that one step of a JSON pointer spells (RFC 6901).
func Unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
