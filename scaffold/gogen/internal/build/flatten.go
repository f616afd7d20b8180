package build

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// flatten returns a schema without references and allOf: its other keywords
// express them exactly, or extra names what they do not.
func (d *document) flatten(s *schema) *schema {
	if s.flat != nil {
		return s.flat
	}
	if s.flattening {
		return &schema{pointer: s.pointer, fault: "the reference leads back to itself"}
	}
	if d.steps++; d.steps > maxSteps {
		return &schema{pointer: s.pointer, fault: "the schema is too large"}
	}
	s.flattening = true
	defer func() { s.flattening = false }()
	out := *s
	out.ref, out.allOf, out.memo = "", nil, memo{}
	flat := &out
	if len(s.allOf) > 0 && s.ref == "" {
		d.indexAllOf(s)
	}
	if s.ref != "" {
		target, err := d.resolve(s)
		if err != nil {
			flat.fault = err.Error()
			if jsonschema.IsMetaschema(s.ref) {
				flat.addExtra("$ref") // the validator has it
			}
		} else {
			flat = d.merge(flat, d.flatten(target))
		}
	}
	for _, arm := range s.allOf {
		flat = d.merge(flat, d.flatten(arm))
	}
	if flat == &out {
		// Nothing was merged: maps are shared with s and must not change.
		flat.extra = maps.Clone(flat.extra)
	}
	flat.pointer = s.pointer
	flat.closeUnevaluated()
	flat.setFlat()
	s.flat = flat
	return flat
}

// closeUnevaluated turns unevaluatedProperties into additionalProperties where
// the merged schema shows that both mean the same.
func (s *schema) closeUnevaluated() {
	if s.extra["unevaluatedProperties"] && len(s.extra) == 1 && len(s.unions) == 0 && s.closesRest {
		if s.additional == nil && !s.opensRest {
			s.additional = never(s.pointer + "/unevaluatedProperties")
		}
		delete(s.extra, "unevaluatedProperties")
	}
}

func never(pointer string) *schema { return &schema{pointer: pointer, never: true} }

// all returns the schema that allows what every arm allows; empty arms are left
// out. The same arms result in the same schema, so that a type that contains
// itself through allOf is found again.
func (d *document) all(arms ...*schema) *schema {
	list := d.expandAllOf(arms...)
	switch len(list) {
	case 0:
		return nil
	case 1:
		for _, arm := range arms {
			if arm != nil && d.follow(arm) == list[0] {
				return arm // by the reference that led to it
			}
		}
		return list[0]
	}
	key := keyOf(list)
	if s := d.merged[key]; s != nil {
		return s
	}
	s := &schema{pointer: key, base: jsonschema.DefaultBase, allOf: list}
	d.merged[key] = s
	return s
}

// indexAllOf makes all find a schema that is written as an allOf.
func (d *document) indexAllOf(s *schema) {
	bare := *s
	bare.allOf = nil
	if !bare.allowsAll() {
		return
	}
	if list := d.expandAllOf(s); len(list) > 1 {
		if key := keyOf(list); d.merged[key] == nil {
			d.merged[key] = s
		}
	}
}

func keyOf(list []*schema) string {
	pointers := make([]string, len(list))
	for i, arm := range list {
		pointers[i] = arm.pointer
	}
	slices.Sort(pointers)
	return "all(" + strings.Join(pointers, ",") + ")"
}

// expandAllOf returns schemas, with the arms of one that is only an allOf; each
// once, and none that is empty.
func (d *document) expandAllOf(arms ...*schema) []*schema {
	var list []*schema
	seen := map[*schema]bool{}
	var add func(s *schema, depth int)
	add = func(s *schema, depth int) {
		if s == nil || s.allowsAll() {
			return
		}
		s = d.follow(s)
		if s.allowsAll() || seen[s] {
			return
		}
		seen[s] = true
		d.steps++
		bare := *s
		bare.allOf = nil
		if len(s.allOf) == 0 || !bare.allowsAll() || depth > maxDepth || d.steps > maxSteps {
			list = append(list, s)
			return
		}
		for _, arm := range s.allOf {
			add(arm, depth+1)
		}
	}
	for _, arm := range arms {
		add(arm, 0)
	}
	return list
}
