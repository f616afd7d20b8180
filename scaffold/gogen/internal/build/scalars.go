package build

import (
	"encoding/json"
	"slices"
	"strconv"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// text builds a string.
func (b *builder) text(f *schema) *model.Type {
	t := &model.Type{Kind: model.String}
	format := f.format
	if format == "" && f.encoding == "base64" {
		format = "byte"
	}
	if name := formats[format]; name != "" {
		t.Kind, t.Format = model.Format, name
	}
	r := model.Rules{MinLength: f.rules.MinLength, MaxLength: f.rules.MaxLength}
	for _, p := range f.rules.Patterns {
		text, ok := jsonschema.GoPattern(p)
		if !ok {
			b.force("pattern")
			if why := "the pattern " + p + " is left to the server: it is none of ECMA-262"; !runtimeschema.Checkable(p) && !slices.Contains(b.uncheckedPatterns, why) {
				b.uncheckedPatterns = append(b.uncheckedPatterns, why)
			}
			continue
		}
		r.Patterns = append(r.Patterns, text)
	}
	t.Rules = rules(r)
	return t
}

// formats are the types of package runtime for strings of a format.
var formats = map[string]string{ //nolint:gochecknoglobals // a constant table
	"date-time": "DateTime", "date": "Date", "time": "TimeOfDay", "duration": "Duration", "uri": "URI", "uri-reference": "URIReference",
	"uuid": "UUID", "email": "Email", "ipv4": "IPv4", "ipv6": "IPv6", "byte": "Base64",
}

// rules returns nil if there are none.
func rules(r model.Rules) *model.Rules {
	if !r.Any() {
		return nil
	}
	return &r
}

// number builds an integer or a number.
func (b *builder) number(f *schema) *model.Type {
	r := model.Rules{
		Minimum: f.rules.Minimum, Maximum: f.rules.Maximum, ExclusiveMinimum: f.rules.ExclusiveMinimum,
		ExclusiveMaximum: f.rules.ExclusiveMaximum, MultipleOf: f.rules.MultipleOf,
	}
	if f.types == nil || !slices.Contains(f.types, "integer") {
		kind := model.Float
		if b.decimals {
			kind = model.Decimal
		}
		return &model.Type{Kind: kind, Rules: rules(r)}
	}
	if whole, ok := r.Whole(); ok {
		return &model.Type{Kind: model.Int, Rules: rules(whole)}
	}
	switch m := model.Rational(r.MultipleOf); {
	case r.MultipleOf == "":
		r.MultipleOf = "1"
	case m == nil || !m.IsInt():
		b.force("multipleOf")
	}
	return &model.Type{Kind: model.Decimal, Rules: rules(r)}
}

// enum builds a schema that lists its values.
func (b *builder) enum(f *schema, at place) *model.Type {
	var values []any
	var kinds kindSet
	for _, v := range f.enum {
		if v == nil || f.types != nil && !isOfTypes(v, f.types) {
			continue
		}
		kinds |= kindOfValue(v)
		values = append(values, v)
	}
	if len(f.unions) > 0 {
		b.force(f.unions[0].keyword())
	}
	for _, k := range kinds.each() {
		if f.constrains(k) {
			b.force("enum with other rules")
		}
	}
	return b.values(values, kinds, f, at)
}

// constrains reports whether a flat schema has keywords about values of a kind,
// besides its type and enum.
func (f *schema) constrains(k kindSet) bool {
	if k == kindArray && (len(f.prefix) > 0 || f.items != nil) {
		return true
	}
	if k == kindObject && (len(f.properties) > 0 || len(f.patterns) > 0 || f.additional != nil || len(f.required) > 0) {
		return true
	}
	return len(relevant(&f.rules, k)) > 0
}

// values builds the type of a choice of values.
func (b *builder) values(values []any, kinds kindSet, f *schema, at place) *model.Type {
	if len(values) == 0 {
		return b.unchecked("the schema allows no value", "enum", at)
	}
	texts := make([]string, len(values))
	whole := true
	for i, v := range values {
		switch v := v.(type) {
		case string:
			texts[i] = v
		case json.Number:
			texts[i] = string(v)
			if n, ok := model.Int64(texts[i]); ok {
				texts[i] = strconv.FormatInt(n, 10)
			} else {
				whole = false
			}
		default:
			texts[i] = jsonschema.Text(v)
		}
	}
	d := &model.Decl{}
	switch {
	case kinds == kindBoolean:
		t := &model.Type{Kind: model.Bool}
		if len(values) == 1 {
			t.Rules = &model.Rules{Values: texts}
		}
		return t
	case kinds == kindString:
		d.Form = model.StringEnum
	case kinds == kindNumber && whole && !b.decimals:
		d.Form = model.IntEnum
	case kinds == kindNumber:
		kind := model.Float
		if b.decimals || slices.ContainsFunc(values, func(v any) bool { return !model.IsFloat64(string(v.(json.Number))) }) {
			kind = model.Decimal
		}
		return &model.Type{Kind: kind, Rules: &model.Rules{Values: texts}}
	default:
		d.Form = model.MixedEnum
		for i, v := range values {
			texts[i] = jsonschema.Text(v)
		}
	}
	for i, text := range texts {
		d.Values = append(d.Values, &model.Value{Text: text, Doc: f.valueDocs[jsonschema.Canonical(values[i])]})
	}
	d.Doc = append([]string{"is one of the values that the tool " + b.tool + " knows."}, f.doc()...)
	return b.declare(d, at, nil)
}

func isOfTypes(v any, types []string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		if kindOfType(t) != kindOfValue(v) {
			return false
		}
		if n, ok := v.(json.Number); ok && t == "integer" {
			r := model.Rational(string(n))
			return r == nil || r.IsInt()
		}
		return true
	})
}
