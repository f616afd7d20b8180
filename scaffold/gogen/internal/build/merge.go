package build

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// merge returns a flat schema that allows what both flat schemas allow. What
// cannot be merged exactly is left to the validator: the result is then wider,
// and extra has the keyword.
func (d *document) merge(a, b *schema) *schema {
	if d.steps++; d.steps > maxSteps {
		out := *a
		out.fault = "the schema is too large"
		return &out
	}
	if a.allowsAll() {
		// A bare reference, with annotations at most.
		out := *b
		out.extra = maps.Clone(b.extra)
		out.annotations = a.or(b.annotations)
		return &out
	}
	out := *a
	out.extra = maps.Clone(a.extra)
	out.closesRest, out.opensRest = a.closesRest || b.closesRest, a.opensRest || b.opensRest
	for keyword := range b.extra {
		if keyword == "unevaluatedProperties" || keyword == "unevaluatedItems" {
			// It is about its own allOf only.
			out.addExtra("allOf")
		}
		out.addExtra(keyword)
	}
	out.fault = cmp.Or(a.fault, b.fault)
	out.never = a.never || b.never
	out.orNull = a.orNull && b.orNull
	out.annotations = a.or(b.annotations)
	out.types = mergeTypes(a.types, b.types)
	out.mergeEnums(a, b)
	for _, u := range b.unions {
		if !slices.ContainsFunc(out.unions, func(v union) bool { return u.exclusive == v.exclusive && slices.Equal(u.arms, v.arms) }) {
			out.unions = append(slices.Clip(out.unions), u)
		}
	}
	d.mergeObjects(&out, a, b)
	d.mergeArrays(&out, a, b)
	var exact bool
	if out.rules, exact = a.rules.And(&b.rules); !exact {
		out.addExtra("multipleOf")
	}
	return &out
}

func mergeTypes(a, b []string) []string {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := []string{}
	for _, t := range a {
		switch {
		case slices.Contains(b, t):
			out = append(out, t)
		case t == "integer" && slices.Contains(b, "number"), t == "number" && slices.Contains(b, "integer"):
			out = append(out, "integer")
		}
	}
	slices.Sort(out)
	return out
}

func (out *schema) mergeEnums(a, b *schema) {
	switch {
	case !b.hasEnum:
	case !a.hasEnum:
		out.enum, out.hasEnum, out.isConst, out.valueDocs = b.enum, true, b.isConst, b.valueDocs
	default:
		out.isConst = a.isConst || b.isConst
		out.enum = nil
		for _, v := range a.enum {
			if slices.ContainsFunc(b.enum, func(w any) bool { return jsonschema.Equal(v, w) }) {
				out.enum = append(out.enum, v)
			}
		}
	}
}

// mergeObjects merges keywords about members. A member that only one side names
// has to follow the other's rule for members it does not name.
func (d *document) mergeObjects(out, a, b *schema) {
	if len(b.required) > 0 {
		out.required = maps.Clone(a.required)
		if out.required == nil {
			out.required = map[string]bool{}
		}
		maps.Copy(out.required, b.required)
	}
	if len(a.properties)+len(b.properties) > 0 {
		out.properties = map[string]*schema{}
		for _, name := range slices.Sorted(maps.Keys(a.properties)) { // the order matters where steps run out
			out.properties[name] = d.all(a.properties[name], d.member(b, name, out))
		}
		for _, name := range slices.Sorted(maps.Keys(b.properties)) {
			if _, both := a.properties[name]; !both {
				out.properties[name] = d.all(d.member(a, name, out), b.properties[name])
			}
		}
		for name, s := range out.properties {
			if s == nil {
				out.properties[name] = &schema{pointer: runtimeschema.Pointer(a.pointer+"/properties", name)}
			}
		}
	}
	if len(a.patterns)+len(b.patterns) > 0 {
		out.patterns = map[string]*schema{}
		maps.Copy(out.patterns, a.patterns)
		for _, pattern := range slices.Sorted(maps.Keys(b.patterns)) {
			out.patterns[pattern] = d.all(a.patterns[pattern], b.patterns[pattern])
			if out.patterns[pattern] == nil {
				out.patterns[pattern] = b.patterns[pattern]
			}
		}
	}
	out.additional = d.all(a.additional, b.additional)
	if !a.samePatterns(b) && (a.additional != nil || b.additional != nil) {
		// Members that match a pattern of one side only are additional to the other;
		// no keyword expresses that.
		out.addExtra("additionalProperties")
		out.additional = nil
	}
}

func (out *schema) samePatterns(b *schema) bool {
	return len(out.patterns) == len(b.patterns) && !slices.ContainsFunc(slices.Collect(maps.Keys(out.patterns)), func(p string) bool {
		_, ok := b.patterns[p]
		return !ok
	})
}

// member returns a schema's schema for a member; nil is none. Patterns that
// apply are merged again where the struct is made.
func (d *document) member(s *schema, name string, out *schema) *schema {
	if p, ok := s.properties[name]; ok {
		return p
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.patterns)) {
		yes, sure := jsonschema.Matches(pattern, name)
		if !sure {
			out.addExtra("patternProperties")
			return nil
		}
		if yes {
			return nil
		}
	}
	return s.additional
}

func (d *document) mergeArrays(out, a, b *schema) {
	n := max(len(a.prefix), len(b.prefix))
	out.prefix = nil
	for i := range n {
		item := d.all(a.itemAt(i), b.itemAt(i))
		if item == nil {
			item = &schema{pointer: a.pointer + "/prefixItems/" + strconv.Itoa(i)}
		}
		out.prefix = append(out.prefix, item)
	}
	out.items = d.all(a.items, b.items)
}

func (out *schema) itemAt(i int) *schema {
	if i < len(out.prefix) {
		return out.prefix[i]
	}
	return out.items
}
