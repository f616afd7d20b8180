package build

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// Bounds on one document. A schema above them stays raw JSON.
const (
	maxDepth = 100     // types inside one another, and references one after the other
	maxSteps = 200_000 // merges: nested allOf and anyOf can multiply
)

// faultNotObject is the fault of a value in a schema's place.
const faultNotObject = "the schema is not an object"

// document is one whole schema, the scope of its references.
type document struct {
	*jsonschema.Document
	root    *schema
	schemas map[string]*schema // by pointer
	merged  map[string]*schema // by their parts
	steps   int
}

func newDocument(raw any) *document {
	d := &document{Document: jsonschema.NewDocument(raw), schemas: map[string]*schema{}, merged: map[string]*schema{}}
	d.root = d.parse(raw, "", jsonschema.DefaultBase, 0)
	return d
}

// parse reads a schema and all those inside it.
func (d *document) parse(v any, pointer, base string, nesting int) *schema {
	if s := d.schemas[pointer]; s != nil {
		return s
	}
	s := &schema{pointer: pointer, base: d.Base(pointer, base)}
	d.schemas[pointer] = s
	m, ok := v.(jsonschema.Object)
	switch {
	case v == true:
		return s
	case v == false:
		s.never = true
		return s
	case !ok:
		s.fault = faultNotObject
		return s
	case nesting > jsonschema.MaxNesting:
		s.fault = "nested too deeply"
		return s
	}
	p := parser{d, s, d.Keywords(m), nesting}
	if ref, ok := m["$ref"].(string); ok {
		s.ref = ref
		if d.Legacy {
			p.annotations()
			p.definitions()
			return s
		}
	}
	p.annotations()
	p.definitions()
	p.applicators()
	p.objects()
	p.arrays()
	p.values()
	p.bounds()
	p.others()
	return s
}

// parser reads the keywords of one schema.
type parser struct {
	d       *document
	s       *schema
	m       jsonschema.Object
	nesting int
}

// child reads the schema behind one keyword, or one of several there.
func (p parser) child(v any, steps ...string) *schema {
	pointer := runtimeschema.Pointer(p.s.pointer, steps[0])
	if len(steps) > 1 {
		pointer = runtimeschema.Pointer(pointer, steps[1])
	}
	return p.d.parse(v, pointer, p.s.base, p.nesting+1)
}

func (p parser) list(keyword string) []*schema {
	arms, _ := p.m[keyword].([]any)
	out := make([]*schema, len(arms))
	for i, arm := range arms {
		out[i] = p.child(arm, keyword, strconv.Itoa(i))
	}
	return out
}

func (p parser) members(keyword string) map[string]*schema {
	members, _ := p.m[keyword].(jsonschema.Object)
	if len(members) == 0 {
		return nil
	}
	out := make(map[string]*schema, len(members))
	for name, member := range members {
		out[name] = p.child(member, keyword, name)
	}
	return out
}

func (p parser) annotations() {
	p.s.title, _ = p.m["title"].(string)
	p.s.description, _ = p.m["description"].(string)
	p.s.dflt, p.s.hasDefault = p.m["default"]
	p.s.format, _ = p.m["format"].(string)
	p.s.encoding, _ = p.m["contentEncoding"].(string)
	p.s.orNull = p.m["nullable"] == true
}

// definitions reads what only references lead to.
func (p parser) definitions() {
	for _, keyword := range []string{"$defs", "definitions"} {
		p.members(keyword)
	}
}

func (p parser) applicators() {
	p.s.allOf = p.list("allOf")
	member := ""
	if discriminator, ok := p.m["discriminator"].(jsonschema.Object); ok {
		member, _ = discriminator["propertyName"].(string)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if arms := p.list(keyword); len(arms) > 0 {
			p.s.unions = append(p.s.unions, union{arms, keyword == "oneOf", member})
		}
	}
}

func (p parser) objects() {
	p.s.properties = p.members("properties")
	p.s.patterns = p.members("patternProperties")
	if v, ok := p.m["additionalProperties"]; ok && v == true {
		p.s.opensRest = true
	} else if ok {
		p.s.additional = p.child(v, "additionalProperties")
	}
	for _, v := range asList(p.m["required"]) {
		if name, ok := v.(string); ok {
			if p.s.required == nil {
				p.s.required = map[string]bool{}
			}
			p.s.required[name] = true
		}
	}
}

func (p parser) arrays() {
	p.s.prefix = p.list("prefixItems")
	if _, ok := p.m["items"].([]any); ok {
		// Draft-07's tuple; authors write it under any dialect.
		p.s.prefix = p.list("items")
		if v, ok := p.m["additionalItems"]; ok && v != true && len(p.s.prefix) > 0 {
			p.s.items = p.child(v, "additionalItems")
		}
		return
	}
	if v, ok := p.m["items"]; ok && v != true {
		p.s.items = p.child(v, "items")
	}
}

func (p parser) values() {
	if v, ok := p.m["type"]; ok {
		p.types(asList(v))
	}
	if list, ok := p.m["enum"].([]any); ok {
		p.s.enum, p.s.hasEnum = distinct(list), true
	}
	if v, ok := p.m["const"]; ok {
		p.s.isConst = true
		if p.s.hasEnum && !slices.ContainsFunc(p.s.enum, func(w any) bool { return jsonschema.Equal(v, w) }) {
			p.s.never = true
		}
		p.s.enum, p.s.hasEnum = []any{v}, true
	}
}

func (p parser) types(list []any) {
	var unknown []string
	p.s.types = []string{}
	for _, v := range list {
		switch v {
		case "null", "string", "number", "integer", "boolean", "array", "object":
			if !slices.Contains(p.s.types, v.(string)) {
				p.s.types = append(p.s.types, v.(string))
			}
		default:
			unknown = append(unknown, jsonschema.Text(v))
		}
	}
	if slices.Contains(p.s.types, "number") {
		p.s.types = slices.DeleteFunc(p.s.types, func(t string) bool { return t == "integer" })
	}
	slices.Sort(p.s.types)
	if len(unknown) > 0 {
		p.s.types, p.s.fault = nil, "unknown type "+strings.Join(unknown, ", ")
	}
}

func (p parser) bounds() {
	r := &p.s.rules
	number := func(keyword string) string {
		n, _ := p.m[keyword].(json.Number)
		return string(n)
	}
	r.Minimum, r.Maximum = number("minimum"), number("maximum")
	r.ExclusiveMinimum, r.ExclusiveMaximum = number("exclusiveMinimum"), number("exclusiveMaximum")
	// They are flags in draft-04.
	if p.m["exclusiveMinimum"] == true {
		r.ExclusiveMinimum, r.Minimum = r.Minimum, ""
	}
	if p.m["exclusiveMaximum"] == true {
		r.ExclusiveMaximum, r.Maximum = r.Maximum, ""
	}
	if n := number("multipleOf"); n != "" && model.Rational(n) != nil && model.Rational(n).Sign() > 0 {
		r.MultipleOf = n
	}
	r.MinLength, r.MaxLength = p.count("minLength"), p.count("maxLength")
	r.MinItems, r.MaxItems = p.count("minItems"), p.count("maxItems")
	r.MinProperties, r.MaxProperties = p.count("minProperties"), p.count("maxProperties")
	r.UniqueItems = p.m["uniqueItems"] == true
	if pattern, ok := p.m["pattern"].(string); ok {
		r.Patterns = []string{pattern}
	}
}

// count returns a number of things; a minimum of 0 is no rule.
func (p parser) count(keyword string) *int64 {
	n, ok := p.m[keyword].(json.Number)
	if !ok {
		return nil
	}
	r := model.Rational(string(n))
	if r == nil || !r.IsInt() || r.Sign() < 0 {
		return nil
	}
	if r.Sign() == 0 && strings.HasPrefix(keyword, "min") {
		return nil
	}
	i := int64(math.MaxInt64)
	if r.Num().IsInt64() {
		i = r.Num().Int64()
	}
	return &i
}

// others collects the keywords that no type expresses, and reads the schemas
// inside them, to which references may lead.
func (p parser) others() {
	for _, keyword := range slices.Sorted(maps.Keys(p.m)) {
		v, counts := p.m[keyword], true
		switch keyword {
		case "contains":
			p.child(v, keyword)
		case "not":
			counts = !p.child(v, keyword).never
		case "propertyNames":
			// Names are strings, so that {"type":"string"} adds nothing.
			inner := p.child(v, keyword)
			counts = !inner.allowsAll() && !(slices.Equal(inner.types, []string{"string"}) && inner.justTyped())
		case "unevaluatedItems":
			counts = !p.child(v, keyword).allowsAll()
		case "unevaluatedProperties":
			inner := p.child(v, keyword)
			counts = !inner.allowsAll()
			p.s.closesRest, p.s.opensRest = inner.never, p.s.opensRest || inner.allowsAll()
		case "if":
			p.child(v, keyword)
			counts = p.m["then"] != nil || p.m["else"] != nil
		case "then", "else", "contentSchema":
			p.child(v, keyword)
			counts = false // "if" counts
		case "dependentSchemas", "dependencies":
			members, _ := v.(jsonschema.Object)
			for name, member := range members {
				if _, list := member.([]any); !list {
					p.child(member, keyword, name)
				}
			}
			counts = len(members) > 0
		case "dependentRequired":
			members, _ := v.(jsonschema.Object)
			counts = len(members) > 0
		case "$dynamicRef", "$recursiveRef":
			p.s.dynamic, _ = v.(string)
		default:
			counts = false
		}
		if counts {
			p.s.addExtra(keyword)
		}
	}
}

func (s *schema) addExtra(keyword string) {
	if s.extra == nil {
		s.extra = map[string]bool{}
	}
	s.extra[keyword] = true
}

// justTyped reports whether a schema has a type only.
func (s *schema) justTyped() bool {
	bare := *s
	bare.types = nil
	return bare.allowsAll()
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

func distinct(values []any) []any {
	var out []any
	seen := map[string]bool{}
	for _, v := range values {
		if text := jsonschema.Canonical(v); !seen[text] {
			seen[text] = true
			out = append(out, v)
		}
	}
	return out
}
