package build

import (
	"maps"
	"slices"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// object builds a struct, or a map where no member has a name.
func (b *builder) object(f *schema, at place, e *entry, loose bool) *model.Type {
	rest := b.restOf(f)
	if len(f.properties) == 0 && len(f.required) == 0 && !loose && !rest.none {
		t := &model.Type{Kind: model.Map, Rules: rules(f.objectRules())}
		t.Elem, t.ElemNull = b.build(rest.schema, at.value())
		return t
	}
	d := &model.Decl{Additional: model.Additional{Loose: loose}}
	d.Doc = append([]string{"is an object that the tool " + b.tool + " " + b.side.Verb() + "."}, f.doc()...)
	t := b.declare(d, at, e)
	b.fill(d, f, rest, at)
	return t
}

func (f *schema) objectRules() model.Rules {
	return model.Rules{MinProperties: f.rules.MinProperties, MaxProperties: f.rules.MaxProperties}
}

// rest is the type of members without a name of their own.
type rest struct {
	none   bool
	schema *schema // nil for anything
}

// restOf reads additionalProperties and patternProperties.
func (b *builder) restOf(f *schema) rest {
	closed := f.additional != nil && b.doc.impossible(f.additional)
	if len(f.patterns) == 0 {
		return rest{closed, unless(closed, f.additional)}
	}
	patterns := slices.Sorted(maps.Keys(f.patterns))
	if len(patterns) == 1 && matchesAll(patterns[0]) {
		// Every name matches: nothing is additional.
		s := f.patterns[patterns[0]]
		if b.doc.impossible(s) {
			return rest{none: true}
		}
		return rest{schema: s}
	}
	b.force("patternProperties")
	possible := slices.DeleteFunc(patterns, func(p string) bool { return b.doc.impossible(f.patterns[p]) })
	switch {
	case !closed && f.additional == nil, len(possible) > 1:
		return rest{} // types cannot depend on names
	case closed && len(possible) == 0:
		return rest{none: true}
	case closed:
		return rest{schema: f.patterns[possible[0]]}
	case len(possible) == 0:
		return rest{schema: f.additional}
	}
	return rest{}
}

func unless(optional bool, s *schema) *schema {
	if optional {
		return nil
	}
	return s
}

// matchesAll reports whether a pattern is found in every name.
func matchesAll(pattern string) bool {
	switch pattern {
	case "", "^", ".*", "^.*", "(.*)", "[\\s\\S]*", "^[\\s\\S]*$":
		return true
	}
	return false
}

// fill adds the fields of a struct: required members first, each group by name,
// so that the order of the schema does not matter.
func (b *builder) fill(d *model.Decl, f *schema, rest rest, at place) {
	listed := map[string]bool{}
	for name := range f.properties {
		listed[name] = true
	}
	for name := range f.required {
		listed[name] = true
	}
	all := slices.SortedFunc(maps.Keys(listed), func(x, y string) int {
		return requiredFirst(f.required[x], f.required[y], x, y)
	})
	for _, name := range all {
		s := b.memberOf(f, name)
		if s != nil && b.doc.impossible(s) && !f.required[name] && rest.none {
			continue // as any other name in a closed object
		}
		d.Fields = append(d.Fields, b.field(name, s, f.required[name], at.property(name)))
	}
	if !rest.none {
		d.Rest, d.RestNull = b.build(rest.schema, at.value())
	}
	d.Rules = rules(f.objectRules())
}

// memberOf merges all that applies to one member.
func (b *builder) memberOf(f *schema, name string) *schema {
	s, named := f.properties[name]
	matched := false
	for _, pattern := range slices.Sorted(maps.Keys(f.patterns)) {
		yes, sure := jsonschema.Matches(pattern, name)
		if !sure {
			b.force("patternProperties")
			matched = true // whether it is additional is not known either
			continue
		}
		if yes {
			matched = true
			s = b.doc.all(s, f.patterns[pattern])
		}
	}
	if !named && !matched {
		return f.additional
	}
	return s
}

// field makes one member.
func (b *builder) field(name string, s *schema, required bool, at place) *model.Field {
	field := &model.Field{JSON: name}
	if s == nil {
		field.Type, field.Presence = &model.Type{}, presence(required, false)
		return field
	}
	f := b.doc.flatten(s)
	null := b.doc.admitsNull(s)
	if required {
		if literal, ok := f.onlyValue(null); ok && len(f.unions) == 0 && !f.never {
			field.Type, field.Presence, field.Literal = &model.Type{}, model.Constant, literal
			field.Doc = f.doc()
			return field
		}
	}
	field.Type, null = b.build(s, at)
	field.Presence = presence(required, null)
	b.describe(field, s)
	return field
}

// onlyValue returns the JSON text of a constant.
func (f *schema) onlyValue(null bool) (string, bool) {
	if null {
		only := len(f.types) == 1 && f.types[0] == "null" || f.hasEnum && !slices.ContainsFunc(f.enum, func(v any) bool { return v != nil })
		return "null", only && len(f.extra) == 0
	}
	if !f.isConst || len(f.enum) != 1 || f.types != nil && !isOfTypes(f.enum[0], f.types) || f.constrains(kindOfValue(f.enum[0])) || len(f.extra) > 0 {
		return "", false
	}
	return jsonschema.Text(f.enum[0]), true
}

// describe adds documentation from the schema.
func (b *builder) describe(field *model.Field, s *schema) {
	f := b.doc.flatten(s)
	if s.description != "" {
		field.Doc = []string{s.description}
	} else {
		field.Doc = f.doc()
	}
	if f.hasDefault {
		field.Default = jsonschema.Text(f.dflt)
	}
}
