package drift

import (
	"encoding/json"
	"math/big"
	"slices"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// bounds compares the keywords whose values have an order.
func (s *schemas) bounds(at string, old, now *node) {
	for _, key := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"} {
		s.bound(at, key, old, now, 1)
	}
	for _, key := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"} {
		s.bound(at, key, old, now, -1)
	}
	a, had := old.number("multipleOf")
	b, has := now.number("multipleOf")
	if (had || has) && a != b {
		s.step(at, a, b, had, has)
	}
	switch was, is := old.keys["uniqueItems"] == true, now.keys["uniqueItems"] == true; {
	case is && !was:
		s.report(ruleTightened, at, "items have to differ from now on")
	case was && !is:
		s.report(ruleLoosened, at, "items need not differ any more")
	}
}

// bound compares one limit; sign is 1 where more is tighter.
func (s *schemas) bound(at, key string, old, now *node, sign int) {
	a, had := old.number(key)
	b, has := now.number(key)
	switch {
	case !had && !has:
	case !had:
		s.report(ruleTightened, at, "%s %s added", key, b)
	case !has:
		s.report(ruleLoosened, at, "%s %s removed", key, a)
	default:
		x, y := model.Rational(string(a)), model.Rational(string(b))
		order := 0
		if x != nil && y != nil {
			order = sign * y.Cmp(x)
		}
		switch {
		case order > 0:
			s.report(ruleTightened, at, "%s was %s, is %s", key, a, b)
		case order < 0:
			s.report(ruleLoosened, at, "%s was %s, is %s", key, a, b)
		case (x == nil || y == nil) && a != b:
			s.report(ruleReplaced, at, "%s was %s, is %s", key, a, b)
		}
	}
}

func (s *schemas) step(at string, a, b json.Number, had, has bool) {
	x, y := model.Rational(string(a)), model.Rational(string(b))
	switch {
	case !had:
		s.report(ruleTightened, at, "multipleOf %s added", b)
	case !has:
		s.report(ruleLoosened, at, "multipleOf %s removed", a)
	case x == nil || y == nil || x.Sign() == 0 || y.Sign() == 0:
		s.report(ruleReplaced, at, "multipleOf was %s, is %s", a, b)
	case x.Cmp(y) == 0:
	case new(big.Rat).Quo(y, x).IsInt():
		s.report(ruleTightened, at, "multipleOf was %s, is %s", a, b)
	case new(big.Rat).Quo(x, y).IsInt():
		s.report(ruleLoosened, at, "multipleOf was %s, is %s", a, b)
	default:
		s.report(ruleReplaced, at, "multipleOf was %s, is %s", a, b)
	}
}

// compared are the keywords of the other comparisons.
var compared = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"type": true, "nullable": true, "enum": true, "const": true, "anyOf": true, "oneOf": true, "properties": true, "required": true,
	"additionalProperties": true, "patternProperties": true, "items": true, "prefixItems": true, "additionalItems": true,
	"minimum": true, "exclusiveMinimum": true, "minLength": true, "minItems": true, "minProperties": true, "minContains": true,
	"maximum": true, "exclusiveMaximum": true, "maxLength": true, "maxItems": true, "maxProperties": true, "maxContains": true,
	"multipleOf": true, "uniqueItems": true,
}

// constraints are the other keywords of JSON Schema that forbid values.
var constraints = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"pattern": true, "not": true, "if": true, "then": true, "else": true, "dependentSchemas": true, "dependentRequired": true, "dependencies": true,
	"propertyNames": true, "contains": true, "unevaluatedProperties": true, "unevaluatedItems": true, "$ref": true, "$dynamicRef": true,
}

// rest compares all other keywords as they are.
func (s *schemas) rest(at string, old, now *node) {
	for _, key := range keys(old.keys, now.keys) {
		base := key
		if i := slices.Index([]byte(key), ' '); i > 0 {
			base = key[:i] // a second value, see mergeKeyword
		}
		if base == key && compared[base] && !(base == "anyOf" || base == "oneOf") || proseKeys[base] || silentKeys[base] {
			continue
		}
		a, had := old.keys[key]
		b, has := now.keys[key]
		if had == has && jsonschema.Equal(a, b) {
			continue
		}
		rule := ruleReplaced
		switch {
		case base == "default":
			rule = ruleDefault
		case !constraints[base] && !compared[base]:
			rule = ruleNote
		case !had:
			rule = ruleTightened
		case !has:
			rule = ruleLoosened
		}
		switch {
		case !had:
			s.report(rule, at, "%s %s added", base, show(b))
		case !has:
			s.report(rule, at, "%s %s removed", base, show(a))
		default:
			s.report(rule, at, "%s was %s, is %s", base, show(a), show(b))
		}
	}
}
