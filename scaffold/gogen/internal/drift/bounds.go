package drift

import (
	"math/big"
	"slices"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// bounds compares the keywords whose values have an order.
func (s *schemas) bounds(at string, old, now *node) {
	for _, key := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"} {
		s.bound(at, key, old, now, func(x, y *big.Rat) (int, bool) { return y.Cmp(x), true })
	}
	for _, key := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"} {
		s.bound(at, key, old, now, func(x, y *big.Rat) (int, bool) { return x.Cmp(y), true })
	}
	s.bound(at, "multipleOf", old, now, compareSteps)
	switch was, current := old.keys["uniqueItems"] == true, now.keys["uniqueItems"] == true; {
	case current && !was:
		s.report(ruleTightened, at, "items have to differ from now on")
	case was && !current:
		s.report(ruleLoosened, at, "items need not differ any more")
	}
}

// bound compares one limit. tighter returns 1 where y is tighter than x, -1
// where it is looser; false where they are not comparable.
func (s *schemas) bound(at, key string, old, now *node, tighter func(x, y *big.Rat) (int, bool)) {
	a, had := old.number(key)
	b, ok := now.number(key)
	switch {
	case !had && !ok:
	case !had:
		s.report(ruleTightened, at, "%s %s added", key, b)
	case !ok:
		s.report(ruleLoosened, at, "%s %s removed", key, a)
	default:
		order, comparable := 0, a == b
		if x, y := model.Rational(string(a)), model.Rational(string(b)); x != nil && y != nil {
			order, comparable = tighter(x, y)
		}
		rule := ruleReplaced
		switch {
		case comparable && order == 0:
			return
		case comparable && order > 0:
			rule = ruleTightened
		case comparable:
			rule = ruleLoosened
		}
		s.report(rule, at, "%s was %s, is %s", key, a, b)
	}
}

// compareSteps compares what values are multiples of.
func compareSteps(x, y *big.Rat) (int, bool) {
	switch {
	case x.Cmp(y) == 0:
		return 0, true
	case x.Sign() == 0 || y.Sign() == 0:
	case new(big.Rat).Quo(y, x).IsInt():
		return 1, true
	case new(big.Rat).Quo(x, y).IsInt():
		return -1, true
	}
	return 0, false
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
		b, ok := now.keys[key]
		if had == ok && jsonschema.Equal(a, b) {
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
		case !ok:
			rule = ruleLoosened
		}
		switch {
		case !had:
			s.report(rule, at, "%s %s added", base, show(b))
		case !ok:
			s.report(rule, at, "%s %s removed", base, show(a))
		default:
			s.report(rule, at, "%s was %s, is %s", base, show(a), show(b))
		}
	}
}
