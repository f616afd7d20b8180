package build

import (
	"maps"
	"slices"
	"strings"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

// build returns the type of a schema, and whether null is also allowed. A nil
// schema allows anything.
func (b *builder) build(s *schema, at place) (t *model.Type, null bool) {
	if s == nil {
		return &model.Type{}, false
	}
	null = b.doc.admitsNull(s)
	target := b.doc.withoutNull(b.doc.follow(s))
	if e := b.made[target]; e != nil {
		e.referenced = e.referenced || !e.done
		return e.t, null
	}
	if target != s {
		at = b.definition(target, at)
	}
	if b.depth++; b.depth > 2*maxDepth {
		b.depth--
		b.force("depth")
		return b.raw("nested too deeply", at), null
	}
	defer func() { b.depth-- }()
	e := &entry{t: &model.Type{}}
	b.made[target] = e
	made := b.make(b.doc.flatten(target), at, e)
	if e.referenced && (made.Kind == model.List || made.Kind == model.Map) {
		made = b.define(made, at, target, "")
	}
	if e.t != made {
		*e.t = *made
	}
	e.done = true
	return e.t, null
}

// definition returns the place of a reference's target.
func (b *builder) definition(target *schema, at place) place {
	if !strings.HasPrefix(target.pointer, "/") {
		return at
	}
	want := ""
	steps := strings.Split(target.pointer[1:], "/")
	for i := 0; i < len(steps); i++ {
		step := jsonschema.Unescape(steps[i])
		name := ""
		switch step {
		case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
			if i++; i < len(steps) {
				name = names.Exported(jsonschema.Unescape(steps[i]))
			}
			if step == "$defs" || step == "definitions" {
				want = ""
			}
		case "items", "additionalItems":
			name = "Item"
		case "prefixItems", "anyOf", "oneOf", "allOf":
			if i++; i < len(steps) {
				name = names.Exported(step + " " + steps[i])
			}
		case "additionalProperties":
			name = "Value"
		default:
			name = names.Exported(step)
		}
		want = names.Nest(want, name)
	}
	return place{b.member + target.pointer, want}
}

func (at place) step(pointer, want string) place {
	name := names.Nest(at.want, want)
	return place{at.key + pointer, name}
}

func (at place) property(name string) place {
	return at.step(runtimeschema.Pointer("/properties", name), names.Exported(name))
}
func (at place) item() place  { return at.step("/items", "Item") }
func (at place) value() place { return at.step("/additionalProperties", "Value") }

// make builds the type of a flat schema without null.
func (b *builder) make(f *schema, at place, e *entry) *model.Type {
	// A union that is an arm of itself, and endless combinations.
	if b.depth++; b.depth > 2*maxDepth || b.doc.steps > maxSteps {
		b.depth--
		b.force("size")
		return b.raw("the schema is too large", at)
	}
	defer func() { b.depth-- }()
	kinds := b.doc.kinds(f)
	if f.fault != "" && kinds == anyKind {
		for keyword := range f.extra {
			b.force(keyword)
		}
		return b.raw(f.fault, at)
	}
	for keyword := range f.extra {
		if applies(keyword, kinds) {
			b.force(keyword)
		}
	}
	switch {
	case f.never || kinds == noKind && !b.doc.admitsNull(f):
		return b.unchecked("the schema allows no value", "false", at)
	case kinds == noKind:
		return b.unchecked("null is the only value", "null", at)
	case f.hasEnum:
		return b.enum(f, at)
	case len(f.unions) > 0:
		return b.union(f, at, e)
	case kinds == anyKind && f.types == nil:
		return b.untyped(f, at, e)
	case !kinds.single():
		return b.byKind(f, kinds, at, e)
	}
	return b.kind(f, kinds, at, e)
}

// applies reports whether a keyword that a validator checks is about values of
// some kinds.
func applies(keyword string, kinds kindSet) bool {
	switch keyword {
	case "propertyNames", "dependentRequired", "unevaluatedProperties", "additionalProperties", "patternProperties":
		return kinds&kindObject != 0
	case "contains", "unevaluatedItems":
		return kinds&kindArray != 0
	}
	return true
}

// untyped builds a schema for values of any kind.
func (b *builder) untyped(f *schema, at place, e *entry) *model.Type {
	if f.allowsAll() {
		return &model.Type{}
	}
	if len(f.properties) > 0 {
		if f.constrains(kindString) || f.constrains(kindNumber) || f.constrains(kindArray) {
			b.force("rules without a type")
		}
		return b.object(f, at, e, true)
	}
	return b.unchecked("rules without a type ("+strings.Join(f.keywords(), ", ")+")", "rules without a type", at)
}

// keywords returns the keywords of a flat schema, for people.
func (s *schema) keywords() []string {
	out := relevant(&s.rules, anyKind)
	for keyword, present := range map[string]bool{
		"prefixItems": len(s.prefix) > 0, "items": s.items != nil, "properties": len(s.properties) > 0,
		"patternProperties": len(s.patterns) > 0, "additionalProperties": s.additional != nil, "required": len(s.required) > 0,
	} {
		if present {
			out = append(out, keyword)
		}
	}
	out = slices.AppendSeq(out, maps.Keys(s.extra))
	slices.Sort(out)
	return slices.Compact(out)
}

// kind builds a schema all of whose values are of one kind.
func (b *builder) kind(f *schema, k kindSet, at place, e *entry) *model.Type {
	switch k {
	case kindString:
		return b.text(f)
	case kindNumber:
		return b.number(f)
	case kindBoolean:
		return &model.Type{Kind: model.Bool}
	case kindArray:
		return b.array(f, at, e)
	default:
	}
	return b.object(f, at, e, false)
}

// declare adds a declaration; a reference to it finds it through the entry
// before it is complete.
func (b *builder) declare(d *model.Decl, at place, e *entry) *model.Type {
	d.Side, d.Tool, d.Want = b.side, b.tool, at.want
	key := names.Key("tools", b.tool, at.key)
	for b.keys[key] {
		key += "'"
	}
	b.keys[key] = true
	d.Key = key
	b.pkg.Decls = append(b.pkg.Decls, d)
	t := &model.Type{Kind: model.Named, Decl: d}
	if e != nil {
		*e.t = *t
	}
	return t
}

// define declares a name for a type.
func (b *builder) define(t *model.Type, at place, s *schema, doc string) *model.Type {
	d := &model.Decl{Form: model.Defined, Under: t}
	if doc != "" {
		d.Doc = append(d.Doc, doc)
	}
	d.Doc = append(d.Doc, s.doc()...)
	return b.declare(d, at, nil)
}
