package build

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// kindSet is a set of JSON kinds without null.
type kindSet uint8

const (
	kindString kindSet = 1 << iota
	kindNumber
	kindBoolean
	kindArray
	kindObject

	noKind  kindSet = 0
	anyKind kindSet = 1<<5 - 1
)

func (k kindSet) String() string {
	return map[kindSet]string{kindString: "string", kindNumber: "number", kindBoolean: "boolean", kindArray: "array", kindObject: "object"}[k]
}

// each returns the kinds of a set one by one.
func (k kindSet) each() []kindSet {
	var out []kindSet
	for one := kindString; one < anyKind; one <<= 1 {
		if k&one != 0 {
			out = append(out, one)
		}
	}
	return out
}

func (k kindSet) single() bool { return k != 0 && k&(k-1) == 0 }

func kindOfType(t string) kindSet {
	switch t {
	case "string":
		return kindString
	case "number", "integer":
		return kindNumber
	case "boolean":
		return kindBoolean
	case "array":
		return kindArray
	case "object":
		return kindObject
	}
	return noKind
}

func kindOfValue(v any) kindSet {
	switch v.(type) {
	case string:
		return kindString
	case json.Number:
		return kindNumber
	case bool:
		return kindBoolean
	case []any:
		return kindArray
	case jsonschema.Object:
		return kindObject
	}
	return noKind
}

// kinds returns the kinds of values that a schema may allow: never too few.
func (d *document) kinds(s *schema) kindSet {
	if s == nil {
		return anyKind
	}
	switch s.kindsState {
	case known:
		return s.kindsOf
	case working:
		return anyKind // a union that is an arm of itself
	case unknown:
	}
	s.kindsState = working
	f := d.flatten(s)
	set := anyKind
	if f.never {
		set = noKind
	}
	if f.types != nil {
		set &= kindsOfTypes(f.types)
	}
	if f.hasEnum {
		var values kindSet
		for _, v := range f.enum {
			values |= kindOfValue(v)
		}
		set &= values
	}
	for _, u := range f.unions {
		var arms kindSet
		for _, arm := range u.arms {
			arms |= d.kinds(arm)
		}
		set &= arms
	}
	s.kindsOf, s.kindsState = set, known
	return set
}

func kindsOfTypes(types []string) kindSet {
	var set kindSet
	for _, t := range types {
		set |= kindOfType(t)
	}
	return set
}

// ofType returns a schema with a type only.
func ofType(k kindSet, pointer string) *schema {
	return &schema{pointer: pointer, valueKeywords: valueKeywords{types: []string{k.String()}}}
}
