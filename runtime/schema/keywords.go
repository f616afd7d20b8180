package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// draft is a dialect of JSON Schema. Later ones are greater.
type draft int

const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// draftOf returns the dialect that "$schema" declares. It reports false for an
// address that names none.
func draftOf(address string) (draft, bool) {
	address = strings.TrimSuffix(address, "#")
	_, name, ok := strings.Cut(address, "://json-schema.org/")
	if !ok || !strings.HasPrefix(address, "http") {
		return 0, false
	}
	switch name {
	case "schema", "draft/2020-12/schema":
		return draft2020, true
	case "draft/2019-09/schema":
		return draft2019, true
	case "draft-07/schema":
		return draft7, true
	case "draft-06/schema":
		return draft6, true
	case "draft-04/schema":
		return draft4, true
	}
	return 0, false
}

// takes is what the value of a keyword has to be.
type takes int

const (
	takesSchema       takes = iota
	takesSchemaOrBool       // draft-04, where a boolean is no schema
	takesSchemas            // a list of them
	takesItems              // a schema or a list of them
	takesSchemaMap
	takesDependencies // names to schemas or to lists of names
	takesNameMap      // names to lists of names
	takesNames
	takesSomeNames // draft-04, where the list is not empty
	takesTypes
	takesText
	takesFlag
	takesCount
	takesNumber
	takesPositive
	takesValues
	takesSomeValues // draft-04 and draft-06, where the list is not empty
)

// keyword is what a keyword takes in some dialects.
type keyword struct {
	since, until draft
	takes        takes
}

// keywords are those that decide whether a value fits, by name. Annotations are
// left out: a server's slip in one changes no verdict.
var keywords = sync.OnceValue(func() map[string][]keyword { //nolint:gochecknoglobals // built once, at the first use
	m := map[string][]keyword{}
	add := func(since, until draft, t takes, names ...string) {
		for _, name := range names {
			m[name] = append(m[name], keyword{since, until, t})
		}
	}
	add(draft4, draft2020, takesText, "$ref", "$schema", "pattern")
	add(draft4, draft4, takesText, "id")
	add(draft6, draft2020, takesText, "$id")
	add(draft2019, draft2020, takesText, "$anchor")
	add(draft2019, draft2019, takesText, "$recursiveRef")
	add(draft2019, draft2019, takesFlag, "$recursiveAnchor")
	add(draft2020, draft2020, takesText, "$dynamicRef", "$dynamicAnchor")
	add(draft4, draft2020, takesSchema, "not")
	add(draft6, draft2020, takesSchema, "contains", "propertyNames", "additionalProperties")
	add(draft7, draft2020, takesSchema, "if", "then", "else")
	add(draft2019, draft2020, takesSchema, "unevaluatedItems", "unevaluatedProperties", "contentSchema")
	add(draft6, draft2019, takesSchema, "additionalItems")
	add(draft2020, draft2020, takesSchema, "items")
	add(draft4, draft4, takesSchemaOrBool, "additionalItems", "additionalProperties")
	add(draft4, draft2019, takesItems, "items")
	add(draft4, draft2020, takesSchemas, "allOf", "anyOf", "oneOf")
	add(draft2020, draft2020, takesSchemas, "prefixItems")
	add(draft4, draft2020, takesSchemaMap, "properties", "patternProperties", "definitions")
	add(draft2019, draft2020, takesSchemaMap, "$defs", "dependentSchemas")
	add(draft4, draft2020, takesDependencies, "dependencies")
	add(draft2019, draft2020, takesNameMap, "dependentRequired")
	add(draft4, draft4, takesSomeNames, "required")
	add(draft6, draft2020, takesNames, "required")
	add(draft4, draft2020, takesTypes, "type")
	add(draft4, draft6, takesSomeValues, "enum")
	add(draft7, draft2020, takesValues, "enum")
	add(draft4, draft2020, takesFlag, "uniqueItems")
	add(draft4, draft2020, takesCount, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
	add(draft2019, draft2020, takesCount, "minContains", "maxContains")
	add(draft4, draft2020, takesNumber, "minimum", "maximum")
	add(draft4, draft4, takesFlag, "exclusiveMinimum", "exclusiveMaximum")
	add(draft6, draft2020, takesNumber, "exclusiveMinimum", "exclusiveMaximum")
	add(draft4, draft2020, takesPositive, "multipleOf")
	return m
})

// takes returns what a keyword takes. It reports false for a name that is no
// keyword in the dialect.
func (d draft) takes(name string) (takes, bool) {
	for _, k := range keywords()[name] {
		if d >= k.since && d <= k.until {
			return k.takes, true
		}
	}
	return 0, false
}

// unsound says that a schema breaks a rule of its dialect.
func unsound(at, message string) error {
	return &Error{errors.New(Issue{Pointer: at, Message: message}.String())}
}

// sound checks the value of a keyword, but for the schemas in it.
func (t takes) sound(v any, at string) error {
	switch t {
	case takesSchema, takesSchemaOrBool, takesItems:
		return nil // whatever is no schema is found when it is read as one
	case takesSchemas:
		return list(v, at, 1)
	case takesSchemaMap, takesNameMap, takesDependencies:
		return soundMap(v, at, t)
	case takesNames, takesSomeNames:
		return soundNames(v, at, t == takesSomeNames)
	case takesTypes:
		return soundTypes(v, at)
	case takesText:
		return kind(v, at, String)
	case takesFlag:
		return kind(v, at, Boolean)
	case takesValues:
		return list(v, at, 0)
	case takesSomeValues:
		return list(v, at, 1)
	default:
		return soundNumber(v, at, t)
	}
}

// kind wants a value of some types.
func kind(v any, at string, want Kinds) error {
	if kindOf(v)&want != 0 {
		return nil
	}
	return unsound(at, wantGot(want.names(), kindWord(v)))
}

// list wants an array of so many values.
func list(v any, at string, least int) error {
	if err := kind(v, at, Array); err != nil {
		return err
	}
	if a, _ := v.([]any); len(a) < least {
		return unsound(at, "0 items, want at least 1")
	}
	return nil
}

func soundMap(v any, at string, t takes) error {
	if err := kind(v, at, Object); err != nil || t == takesSchemaMap {
		return err
	}
	o, _ := v.(*object)
	for _, name := range o.keys {
		_, names := o.m[name].([]any)
		if t == takesDependencies && !names {
			continue
		}
		if err := soundNames(o.m[name], Pointer(at, name), false); err != nil {
			return err
		}
	}
	return nil
}

func soundNames(v any, at string, some bool) error {
	least := 0
	if some {
		least = 1
	}
	if err := list(v, at, least); err != nil {
		return err
	}
	a, _ := v.([]any)
	for i, x := range a {
		if err := kind(x, Pointer(at, fmt.Sprint(i)), String); err != nil {
			return err
		}
		if slices.Contains(a[:i], x) {
			return unsound(at, text(x)+" is there twice")
		}
	}
	return nil
}

func soundTypes(v any, at string) error {
	names, ok := v.([]any)
	if !ok {
		return soundType(v, at)
	}
	if err := soundNames(v, at, true); err != nil {
		return err
	}
	for i, x := range names {
		if err := soundType(x, Pointer(at, fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return nil
}

func soundType(v any, at string) error {
	if err := kind(v, at, String|Array); err != nil {
		return err
	}
	if name, _ := v.(string); kindOfName(name) == Any {
		return unsound(at, name+" is no JSON type")
	}
	return nil
}

func soundNumber(v any, at string, t takes) error {
	if t == takesCount {
		if err := kind(v, at, Integer); err != nil {
			return err
		}
	}
	if err := kind(v, at, Integer|Number); err != nil {
		return err
	}
	n, _ := v.(json.Number)
	switch sign := ratOf(n).Sign(); {
	case t == takesCount && sign < 0:
		return unsound(at, string(n)+" is below the minimum 0")
	case t == takesPositive && sign <= 0:
		return unsound(at, string(n)+" is not above 0")
	}
	return nil
}
