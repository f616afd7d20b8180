package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// compiler makes the rules of the schemas that are reached from a root.
type compiler struct {
	lib     *library
	rules   map[*object]*rule
	waiting []*object // whose rules are made, but still empty
}

// compileRoot returns the rule of a document, and whether a run has to track
// what was seen.
func (lib *library) compileRoot(doc any) (*rule, bool, error) {
	res, err := lib.open(location, doc)
	if err != nil {
		return nil, false, err
	}
	c := &compiler{lib: lib, rules: map[*object]*rule{}}
	root := c.rule(doc, place{res, ""})
	for len(c.waiting) > 0 {
		o := c.waiting[0]
		c.waiting = c.waiting[1:]
		p := lib.homes[o]
		c.targets(p.res)
		b := builder{c, o, p, c.rules[o], nil}
		if b.build(); b.err != nil {
			return nil, false, b.err
		}
	}
	return root, lib.unevaluated(), nil
}

// rule returns the rule of a schema; it is filled in later.
func (c *compiler) rule(v any, p place) *rule {
	o, ok := v.(*object)
	if !ok {
		return &rule{res: p.res, at: p.at, never: v == false}
	}
	r, ok := c.rules[o]
	if !ok {
		p = c.lib.homes[o]
		r = &rule{res: p.res, at: p.at}
		c.rules[o] = r
		c.waiting = append(c.waiting, o)
	}
	return r
}

// targets makes the rules that a dynamic reference may lead to.
func (c *compiler) targets(res *resource) {
	if res.targets != nil {
		return
	}
	res.targets = map[string]*rule{}
	for name, o := range res.dynamic {
		res.targets[name] = c.rule(o, c.lib.homes[o])
	}
	if res.recursive {
		res.targets[""] = c.rule(res.root, place{res, ""})
	}
}

// builder fills in the rule of one schema.
type builder struct {
	c    *compiler
	o    *object
	p    place
	rule *rule
	err  error
}

func (b *builder) build() {
	if b.reference(); b.p.res.draft.refAlone(b.o) {
		return
	}
	b.value()
	b.object()
	b.array()
	b.text()
	b.number()
	b.dynamic()
	b.conditions()
	b.leftovers()
}

// get returns a keyword's value; nil is none, or one that the dialect does not
// know.
func (b *builder) get(name string) any {
	if _, ok := b.p.res.draft.takes(name); !ok {
		return nil
	}
	return b.o.get(name)
}

// sub returns the rule of the schema in a keyword; nil is none.
func (b *builder) sub(name string) *rule {
	v := b.get(name)
	if v == nil {
		return nil
	}
	return b.c.rule(v, place{b.p.res, Pointer(b.p.at, name)})
}

// subs returns the rules of a keyword that takes a list of schemas.
func (b *builder) subs(name string) []*rule {
	list, _ := b.get(name).([]any)
	rules := make([]*rule, len(list))
	for i, v := range list {
		rules[i] = b.c.rule(v, place{b.p.res, Pointer(Pointer(b.p.at, name), strconv.Itoa(i))})
	}
	return rules
}

// named returns the rules of a keyword that takes schemas by name, in order.
func (b *builder) named(name string) []member {
	o, _ := b.get(name).(*object)
	if o == nil {
		return nil
	}
	members := make([]member, 0, len(o.keys))
	for _, k := range o.keys {
		if _, names := o.m[k].([]any); !names {
			members = append(members, member{k, b.c.rule(o.m[k], place{b.p.res, Pointer(Pointer(b.p.at, name), k)})})
		}
	}
	return members
}

// count returns the value of a keyword that takes a count; otherwise if there
// is none.
func (b *builder) count(name string, otherwise int) int {
	n, ok := b.get(name).(json.Number)
	if !ok {
		return otherwise
	}
	if i := ratOf(n).Num(); i.IsInt64() {
		return int(i.Int64())
	}
	return maxCount
}

// maxCount stands for every count that no value reaches.
const maxCount = int(^uint(0) >> 1)

func (b *builder) gate(c check) { b.rule.gates = append(b.rule.gates, c) }
func (b *builder) add(c check)  { b.rule.rest = append(b.rule.rest, c) }

// target returns the rule that a reference leads to.
func (b *builder) target(keyword, ref string) *rule {
	from := place{b.p.res, Pointer(b.p.at, keyword)}
	v, p, err := b.c.lib.follow(ref, from)
	if err != nil {
		b.err = err
		return &rule{}
	}
	return b.c.rule(v, p)
}

func (b *builder) reference() {
	if ref, ok := b.get("$ref").(string); ok {
		b.add(applies{b.target("$ref", ref)})
	}
}

func (b *builder) dynamic() {
	if ref, ok := b.get("$recursiveRef").(string); ok {
		first := b.target("$recursiveRef", ref)
		b.add(outer{first: first, dynamic: first.res != nil && first.res.recursive})
	}
	ref, ok := b.get("$dynamicRef").(string)
	if !ok {
		return
	}
	first := b.target("$dynamicRef", ref)
	_, name, _ := strings.Cut(ref, "#")
	dynamic := false
	if first.res != nil && name != "" {
		o := first.res.dynamic[name]
		dynamic = o != nil && b.c.rules[o] == first
	}
	b.add(outer{first: first, name: name, dynamic: dynamic})
}

func (b *builder) value() {
	if t := b.get("type"); t != nil {
		var kinds Kinds
		names, ok := t.([]any)
		if !ok {
			names = []any{t}
		}
		for _, x := range names {
			name, _ := x.(string)
			kinds |= kindOfName(name)
		}
		b.gate(typed{kinds})
	}
	if v, ok := b.o.m["const"]; ok && b.p.res.draft > draft4 {
		b.gate(constant{v, canonical(v)})
	}
	if list, ok := b.get("enum").([]any); ok {
		e := listed{values: list, known: map[string]bool{}}
		for _, v := range list {
			e.known[canonical(v)] = true
		}
		b.gate(e)
	}
}

func (b *builder) object() {
	if b.get("minProperties") != nil || b.get("maxProperties") != nil {
		b.add(sized{Object, b.count("minProperties", 0), b.count("maxProperties", maxCount)})
	}
	if names := stringsOf(b.get("required")); len(names) > 0 {
		b.add(required{names: names})
	}
	for _, keyword := range []string{"dependencies", "dependentSchemas"} {
		for _, m := range b.named(keyword) {
			b.add(dependent(m))
		}
	}
	for _, keyword := range []string{"dependencies", "dependentRequired"} {
		if o, _ := b.get(keyword).(*object); o != nil {
			for _, k := range o.keys {
				if names, ok := o.m[k].([]any); ok {
					b.add(required{keyword: k, names: stringsOf(names)})
				}
			}
		}
	}
	m := memberwise{named: map[string]*rule{}, other: b.sub("additionalProperties")}
	for _, x := range b.named("properties") {
		m.named[x.name] = x.rule
	}
	for _, x := range b.named("patternProperties") {
		m.patterns = append(m.patterns, patterned{compilePattern(x.name), x.rule})
	}
	if len(m.named)+len(m.patterns) > 0 || m.other != nil {
		b.add(m)
	}
	if r := b.sub("propertyNames"); r != nil {
		b.add(memberNames{r})
	}
}

func (b *builder) array() {
	if b.get("minItems") != nil || b.get("maxItems") != nil {
		b.add(sized{Array, b.count("minItems", 0), b.count("maxItems", maxCount)})
	}
	if b.get("uniqueItems") == true {
		b.add(unique{})
	}
	tuple := itemwise{first: b.subs("prefixItems")}
	if _, ok := b.get("items").([]any); ok {
		tuple.first, tuple.other = b.subs("items"), b.sub("additionalItems")
	} else {
		tuple.other = b.sub("items")
	}
	if len(tuple.first) > 0 || tuple.other != nil {
		b.add(tuple)
	}
	if r := b.sub("contains"); r != nil {
		b.add(contains{r, b.count("minContains", 1), b.count("maxContains", maxCount), b.p.res.draft >= draft2020})
	}
}

func (b *builder) text() {
	if b.get("minLength") != nil || b.get("maxLength") != nil {
		b.add(sized{String, b.count("minLength", 0), b.count("maxLength", maxCount)})
	}
	if p, ok := b.get("pattern").(string); ok {
		b.add(matching{compilePattern(p)})
	}
}

func (b *builder) number() {
	for _, side := range []struct {
		keyword, exclusive string
		sign               int
	}{{"minimum", "exclusiveMinimum", -1}, {"maximum", "exclusiveMaximum", 1}} {
		flagged := b.get(side.exclusive) == true // draft-04
		if n, ok := b.get(side.keyword).(json.Number); ok {
			b.add(bound{ratOf(n), side.sign, flagged})
		}
		if n, ok := b.get(side.exclusive).(json.Number); ok {
			b.add(bound{ratOf(n), side.sign, true})
		}
	}
	if n, ok := b.get("multipleOf").(json.Number); ok {
		b.add(multiple{ratOf(n)})
	}
}

func (b *builder) conditions() {
	if r := b.sub("not"); r != nil {
		b.add(negated{r})
	}
	for _, r := range b.subs("allOf") {
		b.add(applies{r})
	}
	if rules := b.subs("anyOf"); len(rules) > 0 {
		b.add(anyOf{rules})
	}
	if rules := b.subs("oneOf"); len(rules) > 0 {
		b.add(oneOf{rules})
	}
	if r := b.sub("if"); r != nil {
		b.add(branch{r, b.sub("then"), b.sub("else")})
	}
}

func (b *builder) leftovers() {
	if r := b.sub("unevaluatedProperties"); r != nil {
		b.add(otherMembers{r})
	}
	if r := b.sub("unevaluatedItems"); r != nil {
		b.add(otherItems{r})
	}
}

func stringsOf(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// ratOf is a number exactly.
func ratOf(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}
