package build

import (
	"strconv"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// array builds a list, or a tuple where places have their own schemas.
func (b *builder) array(f *schema, at place, e *entry) *model.Type {
	r := model.Rules{MinItems: f.rules.MinItems, MaxItems: f.rules.MaxItems, UniqueItems: f.rules.UniqueItems}
	prefix, items := f.prefix, f.items
	for i, s := range prefix {
		if b.doc.impossible(s) {
			// Nothing can be here or further on.
			prefix, items = prefix[:i], never(s.pointer)
			break
		}
	}
	if r.MaxItems != nil && *r.MaxItems <= int64(len(prefix)) && len(prefix) > 0 {
		prefix, items = prefix[:*r.MaxItems], never(f.pointer+"/maxItems")
	}
	if len(prefix) == 0 {
		if items != nil && b.doc.impossible(items) {
			r.MaxItems = new(int64)
			items = nil
		}
		t := &model.Type{Kind: model.List}
		if e != nil {
			// Items that refer to the list find the unfinished one.
			e.t.Kind = model.List
		}
		t.Elem, t.ElemNull = b.build(items, at.item())
		t.Rules = rules(r)
		return t
	}
	d := &model.Decl{Form: model.Tuple}
	d.Doc = append([]string{"is an array that the tool " + b.tool + " " + b.side.Verb() + "."}, f.doc()...)
	t := b.declare(d, at, e)
	need := int64(0)
	if r.MinItems != nil {
		need = *r.MinItems
	}
	for i, s := range prefix {
		field := &model.Field{JSON: strconv.Itoa(i)}
		var null bool
		field.Type, null = b.build(s, at.step("/prefixItems/"+strconv.Itoa(i), "V"+strconv.Itoa(i)))
		field.Presence = presence(int64(i) < need, null)
		b.describe(field, s)
		d.Fields = append(d.Fields, field)
	}
	if items == nil || !b.doc.impossible(items) {
		d.Rest, d.RestNull = b.build(items, at.item())
	} else {
		r.MaxItems = nil // the fields are all there is
		if need > int64(len(prefix)) {
			r.MinItems = nil
			b.force("minItems")
		}
	}
	if need <= int64(len(prefix)) {
		r.MinItems = nil
	}
	d.Rules = rules(r)
	return t
}

// impossible reports whether a schema certainly allows no value.
func (d *document) impossible(s *schema) bool {
	return s != nil && d.flatten(s).never && !d.admitsNull(s)
}

func presence(required, null bool) model.Presence {
	switch {
	case required && null:
		return model.OrNull
	case required:
		return model.Always
	case null:
		return model.OrAbsentOrNull
	}
	return model.OrAbsent
}
