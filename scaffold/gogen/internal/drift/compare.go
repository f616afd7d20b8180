package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// comparer collects the changes of one tool, prompt, resource or template.
type comparer struct {
	kind, name string
	changes    []Change
}

// add classifies a change; input is whether it is in what is sent.
func (c *comparer) add(input bool, rule, pointer, format string, a ...any) *Change {
	r := ruleOf(rule)
	change := Change{Kind: c.kind, Name: c.name, Pointer: pointer, Rule: rule, Text: fmt.Sprintf(format, a...), Wire: r.Output}
	if input {
		change.Wire = r.Input
	}
	c.changes = append(c.changes, change)
	return &c.changes[len(c.changes)-1]
}

// schemas compares two schemas of one tool.
type schemas struct {
	*comparer
	input    bool
	root     string // the pointer of the schemas in the tool
	old, now *document
	seen     map[[2]string]bool // pairs of references compared
	// trials is how many more comparisons accepts may make; trying is set in them.
	trials *int
	trying bool
}

// maxTrials bounds the comparisons that only find out whether one schema accepts
// the values of another: each union inside would otherwise multiply them.
const maxTrials = 10_000

func (c *comparer) schemas(root string, input bool, old, now any) {
	trials := maxTrials
	s := &schemas{
		comparer: c, input: input, root: root, old: newDocument(old), now: newDocument(now), seen: map[[2]string]bool{}, trials: &trials,
	}
	s.compare(root, old, now, place{})
}

// place is what is known of a schema's place.
type place struct {
	optional bool // the member need not be there
}

func (s *schemas) report(rule, pointer, format string, a ...any) *Change {
	return s.add(s.input, rule, pointer, format, a...)
}

// compare reports what changed from one schema to another.
func (s *schemas) compare(at string, oldSchema, newSchema any, p place) {
	if s.trying {
		if *s.trials--; *s.trials < 0 {
			s.report(ruleTypeChanged, at, "what it takes is not known")
			return
		}
	}
	if jsonschema.Equal(oldSchema, newSchema) && !hasRef(oldSchema) {
		return
	}
	old, now := s.old.normal(oldSchema), s.now.normal(newSchema)
	if len(old.refs)+len(now.refs) > 0 {
		pair := [2]string{strings.Join(old.refs, " "), strings.Join(now.refs, " ")}
		if s.seen[pair] {
			return
		}
		s.seen[pair] = true
		// Changes in the target of two equal references are reported there, once.
		if old.ref != "" && old.ref == now.ref {
			at = s.root + old.ref
		}
	}
	s.texts(at, old.keys, now.keys, "$comment", "description", "examples", "title")
	s.nulls(at, old, now, p)
	switch {
	case (len(old.arms) == 0) != (len(now.arms) == 0):
		s.union(at, oldSchema, newSchema, old, now)
		return
	case s.values(at, old, now) && s.kinds(at, old, now):
		s.arms(at, old, now)
		s.members(at, old, now)
		s.items(at, old, now)
	}
	s.bounds(at, old, now)
	s.rest(at, old, now)
}

// hasRef reports whether a schema contains a reference, whose target may have
// changed.
func hasRef(schema any) bool {
	switch v := schema.(type) {
	case map[string]any:
		if _, ok := v["$ref"]; ok {
			return true
		}
		for _, w := range v {
			if hasRef(w) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasRef)
	}
	return false
}

// nulls compares whether null is allowed.
func (s *schemas) nulls(at string, old, now *node, p place) {
	was, current := old.all()&null != 0, now.all()&null != 0
	switch {
	case old.all() == null || now.all() == null, old.all() == anyKind || now.all() == anyKind:
		// Only null, or anything: a change of types.
	case !was && current && p.optional && !s.input:
		s.report(ruleNullIgnored, at, "may be null now")
	case !was && current:
		s.report(ruleNullAllowed, at, "may be null now")
	case was && !current:
		s.report(ruleNullRefused, at, "may no longer be null")
	}
}

// values compares enum and const. It reports false where that was all.
func (s *schemas) values(at string, old, now *node) bool {
	was, hadValues := old.values()
	current, hasValues := now.values()
	if !hadValues && !hasValues {
		return true
	}
	was, current = notNull(was), notNull(current)
	switch {
	case hadValues && hasValues:
		added, removed := without(current, was), without(was, current)
		switch {
		case len(added) == 0 && len(removed) == 0:
		case len(removed) == len(was) && len(added) == len(current) && kindsOf(was) != kindsOf(current):
			s.report(ruleTypeChanged, at, "was one of %s, is one of %s", list(was), list(current))
		case len(was) == 1 && len(removed) == 1:
			s.report(ruleConstChanged, at, "was %s, is %s", list(was), list(current))
		case len(was) == 1 && !s.input:
			s.report(ruleTypeWidened, at, "was %s alone, may be %s too", list(was), list(added))
		default:
			if len(added) > 0 {
				s.report(ruleValueAdded, at, "%s added", valuesOf(added))
			}
			if len(removed) > 0 {
				s.report(ruleValueRemoved, at, "%s removed", valuesOf(removed))
			}
		}
		return false
	case hasValues:
		if now.all()&^old.kinds&^null != 0 {
			s.report(ruleTypeChanged, at, "was %s, is one of %s", old.kinds, list(current))
			return false
		}
		s.report(ruleTightened, at, "only %s from now on", list(current))
	default:
		if old.all()&^now.kinds&^null != 0 {
			s.report(ruleTypeChanged, at, "was one of %s, is %s", list(was), now.kinds)
			return false
		}
		if extra := now.kinds &^ old.all() &^ null; extra != 0 || len(was) == 1 {
			s.report(ruleTypeWidened, at, "was one of %s, is any %s", list(was), now.kinds)
			return false
		}
		s.report(ruleValueAdded, at, "any %s from now on, not only %s", now.kinds, list(was))
	}
	return false
}

func notNull(values []any) []any {
	return slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
}

func without(a, b []any) []any {
	have := map[string]bool{}
	for _, v := range b {
		have[jsonschema.Canonical(v)] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(v any) bool { return have[jsonschema.Canonical(v)] })
}

// maxListed is how many values are named in a line.
const maxListed = 8

func list(values []any) string {
	parts := make([]string, 0, len(values))
	for i, v := range values {
		if i == maxListed {
			parts = append(parts, fmt.Sprintf("%d more", len(values)-i))
			break
		}
		parts = append(parts, show(v))
	}
	return strings.Join(parts, ", ")
}

func valuesOf(values []any) string {
	if len(values) == 1 {
		return "value " + list(values)
	}
	return "values " + list(values)
}

// kinds compares types. It reports false where they have nothing in common.
func (s *schemas) kinds(at string, old, now *node) bool {
	was, current := old.kinds, now.kinds
	if was != anyKind && current != anyKind && was != null && current != null {
		was, current = was&^null, current&^null
	}
	if len(old.arms) > 0 && len(now.arms) > 0 {
		return true // reported by the arms
	}
	added, removed := current&^was, was&^current
	switch {
	case added == 0 && removed == 0:
		return true
	case removed == 0:
		s.report(ruleTypeWidened, at, "was %s, is %s", was, current)
	case added == 0:
		s.report(ruleTypeNarrowed, at, "was %s, is %s", was, current)
	default:
		s.report(ruleTypeChanged, at, "was %s, is %s", was, current)
	}
	return was&current != 0
}

// union compares one type with several. The alternatives of oneOf are assumed to
// exclude one another.
func (s *schemas) union(at string, oldSchema, newSchema any, old, now *node) {
	if len(now.arms) > 0 {
		rule := ruleTypeChanged
		if slices.ContainsFunc(now.arms, func(arm any) bool { return s.accepts(s.old, oldSchema, s.now, arm) }) {
			rule = ruleTypeWidened
		}
		s.report(rule, at, "was %s, is one of %d alternatives: %s", old.all()&^null, len(now.arms), now.all()&^null)
		s.compareWithUnion(at, old, now, now)
		return
	}
	rule := ruleTypeChanged
	if slices.ContainsFunc(old.arms, func(arm any) bool { return s.accepts(s.now, newSchema, s.old, arm) }) {
		rule = ruleTypeNarrowed
	}
	s.report(rule, at, "was one of %d alternatives: %s, is %s", len(old.arms), old.all()&^null, now.all()&^null)
	s.compareWithUnion(at, old, now, old)
}

// compareWithUnion compares the rules beside the alternatives of a union, not those inside
// them.
func (s *schemas) compareWithUnion(at string, old, now, union *node) {
	only := func(n *node) *node {
		keys := map[string]any{}
		for key, v := range n.keys {
			if _, ok := union.keys[key]; ok {
				keys[key] = v
			}
		}
		return &node{keys: keys, kinds: n.kinds}
	}
	s.bounds(at, only(old), only(now))
	s.rest(at, only(old), only(now))
}

// accepts reports whether every value of one schema, null aside, is one of the
// other's, as far as the comparison can tell.
func (s *schemas) accepts(from *document, one any, to *document, other any) bool {
	scratch := &schemas{
		comparer: &comparer{}, input: true, old: from, now: to, seen: map[[2]string]bool{}, trials: s.trials, trying: true,
	}
	scratch.compare("", one, other, place{})
	return !slices.ContainsFunc(scratch.changes, func(c Change) bool { return c.Wire && (c.Pointer != "" || c.Rule != ruleNullRefused) })
}

// arms compares the alternatives of a union, which have no order.
func (s *schemas) arms(at string, old, now *node) {
	left := slices.Clone(now.arms)
	var changed []any
	for _, arm := range old.arms {
		text := jsonschema.Canonical(arm)
		if i := slices.IndexFunc(left, func(b any) bool { return jsonschema.Canonical(b) == text }); i >= 0 {
			if hasRef(arm) {
				s.compare(at+"/"+s.armName(s.old, arm), arm, left[i], place{})
			}
			left = slices.Delete(left, i, i+1)
		} else {
			changed = append(changed, arm)
		}
	}
	for _, arm := range changed {
		name := s.armName(s.old, arm)
		if i := slices.IndexFunc(left, func(b any) bool { return s.armName(s.now, b) == name }); i >= 0 {
			s.compare(at+"/"+name, arm, left[i], place{})
			left = slices.Delete(left, i, i+1)
		} else {
			s.report(ruleArmRemoved, at, "alternative removed: %s", s.describe(s.old, arm))
		}
	}
	for _, arm := range left {
		s.report(ruleArmAdded, at, "alternative added: %s", s.describe(s.now, arm))
	}
}

// armName returns what distinguishes an alternative: its reference, its
// constants, or its type.
func (s *schemas) armName(d *document, arm any) string {
	n := d.normal(arm)
	if n.ref != "" {
		return strings.TrimPrefix(n.ref, "/")
	}
	properties, _ := n.keys["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if values, ok := d.normal(properties[name]).values(); ok && len(values) == 1 {
			return escape(name + "=" + jsonschema.Canonical(values[0]))
		}
	}
	if title, ok := n.keys["title"].(string); ok && n.kinds&^null == object {
		return escape(title)
	}
	return strings.ReplaceAll(n.all().String(), " ", "-")
}

func (s *schemas) describe(d *document, arm any) string {
	n := d.normal(arm)
	what := n.all().String()
	if values, ok := n.values(); ok {
		return list(values)
	}
	if name := s.armName(d, arm); name != strings.ReplaceAll(what, " ", "-") {
		what += " " + name
	}
	return what
}

// members compares objects.
func (s *schemas) members(at string, old, now *node) {
	was, current := old.properties(), now.properties()
	needed, needs := old.required(), now.required()
	closed := now.keys["additionalProperties"] == false
	names := slices.Concat(keys(was, current), keys(needed, needs))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		pointer := runtimeschema.Pointer(at+"/properties", name)
		a, had := was[name]
		b, ok := current[name]
		had, ok = had || needed[name], ok || needs[name]
		switch {
		case !had && needs[name]:
			s.report(ruleRequiredAdded, pointer, "required member added")
		case !had:
			s.report(ruleOptionalAdded, pointer, "optional member added")
		case !ok && closed && s.input:
			s.report(ruleMemberRefused, pointer, "member removed, and the object takes no others")
		case !ok && needed[name]:
			s.report(ruleRequiredRemoved, pointer, "required member removed")
		case !ok:
			s.report(ruleOptionalRemoved, pointer, "optional member removed")
		default:
			if !needed[name] && needs[name] {
				s.report(ruleNowRequired, pointer, "required from now on")
			}
			if needed[name] && !needs[name] {
				s.report(ruleNowOptional, pointer, "optional from now on")
			}
			s.compare(pointer, orTrue(a), orTrue(b), place{optional: !needed[name] && !needs[name]})
		}
	}
	s.additional(at, old, now)
	if a, b := old.keys["patternProperties"], now.keys["patternProperties"]; !jsonschema.Equal(a, b) {
		s.patterns(at, a, b)
	}
}

// additional compares the schemas of members without one of their own.
func (s *schemas) additional(at string, old, now *node) {
	a, b := orTrue(old.keys["additionalProperties"]), orTrue(now.keys["additionalProperties"])
	if old.kinds&object == 0 || now.kinds&object == 0 {
		return
	}
	switch {
	case a == false && b == false:
	case b == false:
		s.report(ruleClosed, at, "takes no members from now on but those it names")
	case a == false:
		s.report(ruleOpened, at, "takes other members too from now on")
	default:
		s.compare(at+"/additionalProperties", a, b, place{optional: true})
	}
}

func (s *schemas) patterns(at string, a, b any) {
	was, _ := a.(map[string]any)
	current, _ := b.(map[string]any)
	for _, p := range keys(was, current) {
		pointer := runtimeschema.Pointer(at+"/patternProperties", p)
		x, had := was[p]
		y, ok := current[p]
		switch {
		case !had:
			s.report(ruleTightened, pointer, "members of this pattern have a schema from now on")
		case !ok:
			s.report(ruleTypeWidened, pointer, "members of this pattern have no schema any more")
		default:
			s.compare(pointer, x, y, place{optional: true})
		}
	}
}

// keys returns the keys of two maps, sorted.
func keys[V any](a, b map[string]V) []string {
	out := slices.Sorted(maps.Keys(a))
	for key := range b {
		if _, both := a[key]; !both {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

func orTrue(v any) any {
	if v == nil {
		return true
	}
	return v
}

func (n *node) properties() map[string]any {
	m, _ := n.keys["properties"].(map[string]any)
	return m
}

func (n *node) required() map[string]bool {
	list, _ := n.keys["required"].([]any)
	out := make(map[string]bool, len(list))
	for _, v := range list {
		if name, ok := v.(string); ok {
			out[name] = true
		}
	}
	return out
}

// items compares arrays.
func (s *schemas) items(at string, old, now *node) {
	was, oldRest := old.places()
	current, newRest := now.places()
	for i := range max(len(was), len(current)) {
		pointer := at + "/prefixItems/" + strconv.Itoa(i)
		switch {
		case i >= len(was):
			s.compare(pointer, orTrue(oldRest), current[i], place{})
		case i >= len(current):
			s.compare(pointer, was[i], orTrue(newRest), place{})
		default:
			s.compare(pointer, was[i], current[i], place{})
		}
	}
	if oldRest != nil || newRest != nil {
		s.compare(at+"/items", orTrue(oldRest), orTrue(newRest), place{})
	}
}

// places returns the schemas of an array's first items, and of the others, in
// the spelling of 2020-12 or of draft-07.
func (n *node) places() (first []any, rest any) {
	if list, ok := n.keys["items"].([]any); ok {
		return list, n.keys["additionalItems"]
	}
	first, _ = n.keys["prefixItems"].([]any)
	return first, n.keys["items"]
}

// number returns a bound.
func (n *node) number(key string) (json.Number, bool) {
	v, ok := n.keys[key].(json.Number)
	return v, ok
}
