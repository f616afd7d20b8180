package drift

import (
	"encoding/json"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// kinds is a set of JSON types; numbers are integers and fractions.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	integer
	fraction
	text
	array
	object
	anyKind = null | boolean | integer | fraction | text | array | object
	number  = integer | fraction
)

var kindNames = []struct { //nolint:gochecknoglobals // a constant table
	name string
	kind kinds
}{
	{"object", object}, {"array", array}, {"string", text}, {"number", number}, {"integer", integer}, {"boolean", boolean}, {"null", null},
}

// declared returns the kinds of the keyword type; an unknown name is none.
func declared(v any) kinds {
	switch v := v.(type) {
	case string:
		for _, k := range kindNames {
			if k.name == v {
				return k.kind
			}
		}
		return 0
	case []any:
		var all kinds
		for _, name := range v {
			if name, ok := name.(string); ok {
				all |= declared(name)
			}
		}
		return all
	}
	return anyKind
}

// kindOf returns a value's kind.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case string:
		return text
	case []any:
		return array
	case map[string]any:
		return object
	case json.Number:
		if r := model.Rational(string(v)); r != nil && r.IsInt() {
			return integer
		}
		return fraction
	}
	return 0
}

func kindsOf(values []any) (of kinds) {
	for _, v := range values {
		of |= kindOf(v)
	}
	return of
}

// String returns the names of the set, such as "string or null".
func (k kinds) String() string {
	if k == anyKind {
		return "any value"
	}
	var names []string
	for _, n := range kindNames {
		if k&n.kind == n.kind {
			names = append(names, n.name)
			k &^= n.kind
		}
	}
	if k&fraction != 0 {
		names = append(names, "number that is no integer")
	}
	switch len(names) {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
