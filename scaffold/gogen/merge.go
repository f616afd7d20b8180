package gogen

import (
	"fmt"
	"maps"
	"slices"
)

// merge gives the schema that allows what both allow, for the parts of JSON
// Schema that types are read from. What it cannot merge is an error.
func (d *document) merge(a, b any) (any, error) {
	if d.steps++; d.steps > maxSteps {
		return nil, fmt.Errorf("the schema is too large")
	}
	if a == true {
		return b, nil
	}
	if b == true {
		return a, nil
	}
	x, err := d.flat(a)
	if err != nil {
		return nil, err
	}
	y, err := d.flat(b)
	if err != nil {
		return nil, err
	}
	if err := closedConflict(x, y); err != nil {
		return nil, err
	}
	if err := closedConflict(y, x); err != nil {
		return nil, err
	}
	out := object{}
	maps.Copy(out, x)
	for _, k := range keys(y) {
		old, both := out[k]
		if !both || annotations[k] {
			if !both {
				out[k] = y[k]
			}
			continue
		}
		v, err := mergeKeyword(k, old, y[k])
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

// flat follows references and inner allOfs, so that keywords stand side by
// side.
func (d *document) flat(s any) (object, error) {
	var entered []string
	defer func() {
		for _, ref := range entered {
			delete(d.merging, ref)
		}
	}()
	for {
		m, ok := s.(object)
		if !ok {
			return nil, fmt.Errorf("allOf with a schema that allows nothing")
		}
		ref, isRef := m["$ref"].(string)
		arms, isAll := m["allOf"].([]any)
		switch {
		case isRef:
			if d.merging[ref] {
				return nil, fmt.Errorf("the reference %s leads back to itself", ref)
			}
			if d.merging == nil {
				d.merging = map[string]bool{}
			}
			d.merging[ref] = true
			entered = append(entered, ref)
			target, _, err := d.resolve(ref)
			if err != nil {
				return nil, err
			}
			if s, err = d.merge(without(m, "$ref"), target); err != nil {
				return nil, err
			}
		case isAll:
			s = without(m, "allOf")
			for _, arm := range arms {
				var err error
				if s, err = d.merge(s, arm); err != nil {
					return nil, err
				}
			}
		default:
			return m, nil
		}
	}
}

// closedConflict refuses to merge an object that is closed with one that has
// further members: strictly nothing fits, and authors mean something else.
func closedConflict(closed, other object) error {
	if closed["additionalProperties"] != false {
		return nil
	}
	known, _ := closed["properties"].(object)
	more, _ := other["properties"].(object)
	for _, k := range keys(more) {
		if _, ok := known[k]; !ok {
			return fmt.Errorf("allOf closes an object that has a further member %q", k)
		}
	}
	return nil
}

func mergeKeyword(k string, a, b any) (any, error) {
	if jsonText(a) == jsonText(b) {
		return a, nil
	}
	switch k {
	case "properties", "patternProperties":
		x, xok := a.(object)
		y, yok := b.(object)
		if !xok || !yok {
			break
		}
		out := object{}
		maps.Copy(out, x)
		for name, s := range y {
			if old, both := out[name]; both && jsonText(old) != jsonText(s) {
				out[name] = object{"allOf": []any{old, s}}
			} else {
				out[name] = s
			}
		}
		return out, nil
	case "items", "additionalProperties":
		if a == false || b == false {
			return false, nil
		}
		if _, tuple := a.([]any); tuple {
			break
		}
		if _, tuple := b.([]any); tuple {
			break
		}
		return object{"allOf": []any{a, b}}, nil
	case "required":
		out := slices.Clone(asList(a))
		for _, v := range asList(b) {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
		return out, nil
	case "type":
		return mergeTypes(asList(a), asList(b))
	case "enum":
		var out []any
		for _, v := range asList(a) {
			if slices.ContainsFunc(asList(b), func(w any) bool { return jsonText(v) == jsonText(w) }) {
				out = append(out, v)
			}
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("allOf with enums that share no value")
		}
		return out, nil
	case "minimum", "minLength", "minItems", "minProperties", "exclusiveMinimum":
		return tighter(a, b, 1), nil
	case "maximum", "maxLength", "maxItems", "maxProperties", "exclusiveMaximum":
		return tighter(a, b, -1), nil
	case "pattern", "multipleOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
		"propertyNames", "unevaluatedProperties", "contains", "uniqueItems":
		// None of these decides a type; one of the two is as good as none.
		return a, nil
	}
	return nil, fmt.Errorf("allOf with two different values of %s", k)
}

func mergeTypes(a, b []any) (any, error) {
	var out []any
	for _, t := range a {
		switch {
		case slices.Contains(b, t):
			out = append(out, t)
		case t == "integer" && slices.Contains(b, any("number")), t == "number" && slices.Contains(b, any("integer")):
			out = append(out, "integer")
		}
	}
	switch len(out) {
	case 0:
		return nil, fmt.Errorf("allOf with types that share no value")
	case 1:
		return out[0], nil
	}
	return out, nil
}

// tighter picks the larger bound for sign 1, the smaller for -1.
func tighter(a, b any, sign int) any {
	x, xok := number(a)
	y, yok := number(b)
	if !xok || !yok {
		return a
	}
	f, ferr := x.Float64()
	g, gerr := y.Float64()
	if ferr == nil && gerr == nil && (g-f)*float64(sign) > 0 {
		return b
	}
	return a
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}
