package build

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// flatten gives a schema without references and allOf: all that they say is in
// its other keywords, exactly, or their name is in extra.
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
		// Nothing was merged: maps are shared with s and may not be changed.
		flat.extra = maps.Clone(flat.extra)
	}
	flat.pointer = s.pointer
	flat.closeUnevaluated()
	flat.setFlat()
	s.flat = flat
	return flat
}

// closeUnevaluated takes into account what only shows when all is merged.
func (s *schema) closeUnevaluated() {
	if s.extra["unevaluatedProperties"] && len(s.extra) == 1 && len(s.unions) == 0 && s.closesRest {
		if s.additional == nil && !s.opensRest {
			s.additional = never(s.pointer + "/unevaluatedProperties")
		}
		delete(s.extra, "unevaluatedProperties")
	}
}

func never(pointer string) *schema { return &schema{pointer: pointer, never: true} }

// all gives the schema that allows what every arm allows; arms that say nothing
// are left out. The same arms give the same schema, so that a type that
// contains itself through allOf is found again.
func (d *document) all(arms ...*schema) *schema {
	list := d.expandAllOf(arms...)
	switch len(list) {
	case 0:
		return nil
	case 1:
		for _, arm := range arms {
			if arm != nil && d.follow(arm) == list[0] {
				return arm // by the reference that it was reached by
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

// indexAllOf lets all find a schema that is written as an allOf.
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

// expandAllOf lists schemas, and in place of one that is nothing but an allOf its
// arms; each once, and none that says nothing.
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
