package build

import "maps"

// text is the schema as it is embedded and checked: canonical, without what
// would keep a validator from compiling it. A reference that leads nowhere, to
// another document or back to itself says nothing that anybody could check; a
// dialect that is unknown is read as 2020-12.
func (d *document) text() string {
	drop := map[string]bool{}
	for pointer, s := range d.schemas {
		if s.ref != "" && !isMetaschema(s.ref) && !d.leads(s) {
			drop[pointer] = true
		}
	}
	if len(drop) == 0 && d.dialect == "" {
		return jsonText(d.raw)
	}
	v := d.without(d.raw, "", drop)
	if m, ok := v.(object); ok && d.dialect != "" {
		m = maps.Clone(m)
		delete(m, "$schema")
		v = m
	}
	return jsonText(v)
}

// leads reports whether a reference arrives at a schema that says something of
// its own.
func (d *document) leads(s *schema) bool {
	seen := map[*schema]bool{}
	for s.ref != "" {
		if seen[s] {
			return false
		}
		seen[s] = true
		target, err := d.resolve(s)
		if err != nil {
			return isMetaschema(s.ref)
		}
		s = target
	}
	return true
}

// without copies a value without the references at some pointers. In draft-07 a
// reference hides what stands beside it, which must not come to light.
func (d *document) without(v any, pointer string, drop map[string]bool) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for k, inner := range v {
			if drop[pointer] && (k == "$ref" || d.legacy && k != "definitions" && k != "$defs") {
				continue
			}
			out[k] = d.without(inner, pointer+"/"+escapeStep(k), drop)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = d.without(inner, pointer+"/"+itoa(i), drop)
		}
		return out
	}
	return v
}
