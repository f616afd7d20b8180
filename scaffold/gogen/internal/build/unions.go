package build

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

// union builds a flat schema with anyOf or oneOf.
func (b *builder) union(f *schema, at place, e *entry) *model.Type {
	u := f.unions[0]
	parent := *f
	parent.unions = f.unions[1:]
	parent.pointer = f.pointer + "|" + u.keyword()
	p := &parent
	p.setFlat()
	if b.doc.doubtfulNull(u) && b.doc.admitsNull(p) {
		b.force(u.keyword())
	}
	arms := b.arms(u, p, e)
	switch {
	case len(arms) == 0:
		return b.unchecked("the schema allows no value", "false", at)
	case len(arms) == 1:
		// The arm may be the union itself, which then says nothing.
		if b.depth++; b.depth > maxDepth {
			b.depth--
			return b.unchecked("the reference leads back to itself", u.keyword(), at)
		}
		defer func() { b.depth-- }()
		return b.make(b.doc.flatten(b.merge(p, arms[0])), at, e)
	}
	if t := b.narrowed(p, u, arms, at, e); t != nil {
		return t
	}
	if t := b.choices(p, u, arms, at); t != nil {
		return t
	}
	if !p.free() {
		for i, arm := range arms {
			arms[i] = b.merge(p, arm)
		}
		arms = slices.DeleteFunc(arms, func(s *schema) bool { return b.doc.kinds(s) == noKind })
		if len(arms) == 0 {
			return b.unchecked("the schema allows no value", "false", at)
		}
	}
	return b.variants(f, u, arms, at, e)
}

// arms are those of a union that allow anything but null, and each once. The
// union itself as its own arm adds nothing.
func (b *builder) arms(u union, parent *schema, e *entry) []*schema {
	kinds := b.doc.kinds(parent)
	var out []*schema
	seen := map[*schema]bool{}
	for _, arm := range u.arms {
		if b.doc.kinds(arm)&kinds == noKind {
			continue
		}
		if made := b.made[b.doc.follow(arm)]; made != nil && made == e {
			b.force(u.keyword())
			continue
		}
		if target := b.doc.follow(arm); seen[target] {
			if u.exclusive {
				b.force(u.keyword()) // the same twice is never exactly one
			}
			continue
		}
		seen[b.doc.follow(arm)] = true
		out = append(out, arm)
	}
	return out
}

// merge gives what two schemas allow that both hold; annotations of the arm
// come first.
func (b *builder) merge(parent, arm *schema) *schema {
	if parent.free() {
		return arm
	}
	key := "union(" + parent.pointer + "," + arm.pointer + ")"
	if s := b.doc.merged[key]; s != nil {
		return s
	}
	flat := b.doc.merge(b.doc.flatten(arm), parent)
	flat.pointer = key
	flat.orNull = false
	flat.setFlat()
	flat.settle()
	b.doc.merged[key] = flat
	return flat
}

// narrowed builds a parent whose arms only say which combinations of it are
// allowed: the type is the parent's, and a validator knows the rest.
func (b *builder) narrowed(p *schema, u union, arms []*schema, at place, e *entry) *model.Type {
	kinds := b.doc.kinds(p)
	if kinds == anyKind || p.hasEnum {
		return nil
	}
	for _, arm := range arms {
		f := b.doc.flatten(arm)
		if len(f.properties) > 0 || len(f.patterns) > 0 || f.additional != nil || len(f.unions) > 0 || len(f.prefix) > 0 || f.items != nil || f.hasEnum {
			return nil
		}
		if b.doc.kinds(arm)&kinds != kinds {
			return nil
		}
	}
	b.force(u.keyword())
	return b.make(p, at, e)
}

// choices builds a union of enums: one enum, where each arm may tell what its
// values mean.
func (b *builder) choices(p *schema, u union, arms []*schema, at place) *model.Type {
	times := map[string]int{}
	var values []any
	docs := map[string]string{}
	for _, arm := range arms {
		f := b.doc.flatten(arm)
		if !f.hasEnum || len(f.unions) > 0 || len(f.extra) > 0 {
			return nil
		}
		for _, v := range f.enum {
			if v == nil || f.types != nil && !isOfTypes(v, f.types) || p.types != nil && !isOfTypes(v, p.types) {
				continue
			}
			if says(f, kindOfValue(v)) || says(p, kindOfValue(v)) {
				return nil
			}
			text := jsonschema.Canonical(v)
			if times[text]++; times[text] == 1 {
				values = append(values, v)
			}
			if len(f.enum) == 1 && docs[text] == "" {
				docs[text] = strings.Join(f.doc(), "")
				if docs[text] == text || docs[text] == v {
					docs[text] = ""
				}
			}
		}
	}
	if len(p.unions) > 0 || p.hasEnum || len(p.extra) > 0 {
		return nil
	}
	if u.exclusive {
		values = slices.DeleteFunc(values, func(v any) bool { return times[jsonschema.Canonical(v)] > 1 })
	}
	var kinds kindSet
	for _, v := range values {
		kinds |= kindOfValue(v)
	}
	with := *p
	with.valueDocs = docs
	return b.values(values, kinds, &with, at)
}

// variants builds arms that have their parent merged into them.
func (b *builder) variants(f *schema, u union, arms []*schema, at place, e *entry) *model.Type {
	var kinds kindSet
	for _, arm := range arms {
		k := b.doc.kinds(arm)
		if k == anyKind {
			flat := b.doc.flatten(arm)
			if flat.free() && !u.exclusive {
				return &model.Type{}
			}
			if flat.types == nil && !flat.hasEnum && len(flat.unions) == 0 {
				return b.unchecked("one of several schemas without a type", u.keyword(), at)
			}
		}
		kinds |= k
	}
	if len(arms) == 1 {
		return b.make(b.doc.flatten(arms[0]), at, e)
	}
	if !kinds.single() {
		return b.sumOfKinds(f, u, arms, kinds, at, e)
	}
	if kinds == kindObject {
		return b.objectUnion(f, u, arms, at, e)
	}
	if kinds == kindArray {
		return b.listUnion(f, u, arms, at, e)
	}
	return b.scalarUnion(u, arms, kinds, at)
}

// scalarUnion builds arms that are all strings, all numbers or all booleans:
// the plain type, which one arm that says no more makes exact.
func (b *builder) scalarUnion(u union, arms []*schema, k kindSet, at place) *model.Type {
	exact := false
	integers := true
	for _, arm := range arms {
		f := b.doc.flatten(arm)
		whole := f.types != nil && slices.Equal(f.types, []string{"integer"})
		integers = integers && whole
		exact = exact || !whole && !f.hasEnum && len(f.unions) == 0 && len(f.extra) == 0 && len(relevant(&f.rules, k)) == 0
	}
	if integers {
		exact = slices.ContainsFunc(arms, func(arm *schema) bool { return justTyped(b.doc.flatten(arm)) })
	}
	if !exact || u.exclusive {
		b.force(u.keyword())
	}
	plain := ofType(k, "")
	if integers {
		plain.types = []string{"integer"}
	}
	t := b.kind(plain, k, at, nil)
	if slices.ContainsFunc(arms, func(arm *schema) bool { return beyond(b.doc.flatten(arm), t.Kind) }) {
		t.Kind = model.Decimal
		if integers {
			t.Rules = &model.Rules{MultipleOf: "1"}
		}
	}
	return t
}

// beyond reports whether a schema speaks of numbers that a kind of Go has no
// room for.
func beyond(f *schema, k model.Kind) bool {
	switch k {
	case model.Int:
		_, ok := wholeBounds(f.rules)
		return !ok || slices.ContainsFunc(f.enum, func(v any) bool {
			n, isNumber := v.(json.Number)
			_, fits := model.Int64(string(n))
			return isNumber && !fits
		})
	case model.Float:
		return slices.ContainsFunc(f.enum, func(v any) bool {
			n, isNumber := v.(json.Number)
			return isNumber && !model.IsFloat64(string(n))
		})
	default:
		return false
	}
}

// listUnion builds arms that are all arrays: a list whose items may be those of
// any arm.
func (b *builder) listUnion(f *schema, u union, arms []*schema, at place, e *entry) *model.Type {
	b.force(u.keyword())
	var items []*schema
	for _, arm := range arms {
		flat := b.doc.flatten(arm)
		if len(flat.prefix) > 0 || len(flat.unions) > 0 || flat.hasEnum || flat.items == nil {
			items = nil
			break
		}
		items = append(items, flat.items)
	}
	list := ofType(kindArray, f.pointer+"|array")
	if items != nil {
		list.items = &schema{pointer: f.pointer + "|items", base: jsonschema.DefaultBase, unions: []union{{arms: items}}}
	}
	list.setFlat()
	return b.array(list, at, e)
}

// byKind builds a schema that allows values of several kinds by its "type".
func (b *builder) byKind(f *schema, kinds kindSet, at place, e *entry) *model.Type {
	d, t := b.newUnion(f, at, e)
	d.Select = model.SelectKind
	for _, k := range kinds.each() {
		b.arm(d, b.restrict(f, k), k, at)
	}
	return t
}

// restrict gives the part of a schema that allows one kind.
func (b *builder) restrict(s *schema, k kindSet) *schema {
	f := b.doc.flatten(s)
	if b.doc.kinds(f) == k && f.types != nil {
		return s
	}
	one := *f
	one.pointer = f.pointer + "|" + k.String()
	if old := b.doc.merged[one.pointer]; old != nil {
		return old
	}
	types := []string{k.String()}
	if k == kindNumber && slices.Contains(f.types, "integer") {
		types = []string{"integer"}
	}
	one.types, one.orNull = types, false
	one.setFlat()
	b.doc.merged[one.pointer] = &one
	return &one
}

// sumOfKinds builds arms of several kinds. Those of one kind make a union of
// their own inside.
func (b *builder) sumOfKinds(f *schema, u union, arms []*schema, kinds kindSet, at place, e *entry) *model.Type {
	d, t := b.newUnion(f, at, e)
	d.Select = model.SelectKind
	for _, k := range kinds.each() {
		var of []*schema
		for _, arm := range arms {
			if b.doc.kinds(arm)&k != 0 {
				of = append(of, b.restrict(arm, k))
			}
		}
		if len(of) == 1 {
			b.arm(d, of[0], k, at)
			continue
		}
		inner := ofType(k, f.pointer+"|"+k.String())
		inner.base, inner.unions = jsonschema.DefaultBase, []union{{of, u.exclusive, u.member}}
		b.arm(d, inner, k, at)
	}
	return t
}

func (b *builder) newUnion(f *schema, at place, e *entry) (*model.Decl, *model.Type) {
	d := &model.Decl{Form: model.Union}
	d.Doc = f.doc()
	return d, b.declare(d, at, e)
}

// arm adds the arm of a union that takes one kind.
func (b *builder) arm(d *model.Decl, s *schema, k kindSet, at place) {
	here := at.step("/"+k.String(), names.Exported(k.String()))
	b.addArm(d, s, here, &model.Arm{Kinds: []string{k.String()}})
}

// addArm builds an arm, which has to be a declared type of its own.
func (b *builder) addArm(d *model.Decl, s *schema, at place, arm *model.Arm) {
	t, _ := b.build(s, at)
	used := t.Kind == model.Named && slices.ContainsFunc(d.Arms, func(a *model.Arm) bool { return a.Decl == t.Decl })
	if t.Kind != model.Named || t.Decl == d || used {
		t = b.define(t, at, s, "")
	}
	arm.Decl = t.Decl
	d.Arms = append(d.Arms, arm)
}

// objectUnion builds arms that are all objects.
func (b *builder) objectUnion(f *schema, u union, arms []*schema, at place, e *entry) *model.Type {
	flats := make([]*schema, len(arms))
	for i, arm := range arms {
		flats[i] = b.doc.flatten(arm)
	}
	d, t := b.newUnion(f, at, e)
	member, values, required := b.discriminator(flats, u.member)
	switch keys := signatures(flats); {
	case member != "":
		d.Select, d.Member = model.SelectMember, member
		if !required {
			b.force(u.keyword())
		}
		for i, arm := range arms {
			arm = b.tagged(arm, flats[i], member, values[i])
			b.addArm(d, arm, b.armPlace(at, arm, values[i][0]), &model.Arm{Kinds: []string{"object"}, Values: values[i]})
		}
	case keys != nil && b.allClosed(flats):
		d.Select = model.SelectKeys
		for i, arm := range arms {
			b.addArm(d, arm, b.armPlace(at, arm, keys[i][0]), &model.Arm{Kinds: []string{"object"}, Keys: keys[i]})
		}
	default:
		d.Select = model.SelectFirst
		b.force(u.keyword())
		for i, arm := range arms {
			name := flats[i].title
			switch {
			case name != "":
			case keys != nil:
				name = keys[i][0]
			default:
				name = "option " + strconv.Itoa(i+1)
			}
			b.addArm(d, arm, b.armPlace(at, arm, name), &model.Arm{Kinds: []string{"object"}})
		}
	}
	return t
}

// tagged gives an arm as it is once the value of its discriminator has chosen
// it: the member is there and, where it has one value only, is no field that
// could be forgotten. Models with a default for it do not require it, and many
// schemas spell a constant as an enum.
func (b *builder) tagged(arm, flat *schema, member string, values []string) *schema {
	p := b.doc.flatten(flat.properties[member])
	if flat.required[member] && (p.isConst || len(values) > 1) {
		return arm
	}
	tag := &schema{pointer: "tag(" + jsonschema.Text(member) + "," + strings.Join(values, ",") + ")", objectKeywords: objectKeywords{required: map[string]bool{member: true}}}
	if len(values) == 1 {
		tag.properties = map[string]*schema{member: {
			pointer: tag.pointer + "/const", valueKeywords: valueKeywords{enum: p.enum, hasEnum: true, isConst: true},
		}}
	}
	return b.merge(tag, arm)
}

// armPlace is where an arm of a union of objects stands.
func (b *builder) armPlace(at place, arm *schema, name string) place {
	var text string
	if v, err := jsonschema.Decode([]byte(name)); err == nil {
		if s, ok := v.(string); ok {
			text = s
		}
	}
	if text == "" {
		text = name
	}
	return at.step(runtimeschema.Pointer("", text), names.Exported(text))
}

// discriminator finds the member whose value tells the arms apart: the one
// that is said to, or the first by name that has different constants in all.
// values are JSON texts; required tells that no arm can go without.
func (b *builder) discriminator(flats []*schema, given string) (member string, values [][]string, required bool) {
	candidates := slices.Sorted(maps.Keys(flats[0].properties))
	if given != "" {
		candidates = slices.Insert(candidates, 0, given)
	}
	for _, wantRequired := range []bool{true, false} {
		for _, name := range candidates {
			values, required := b.constants(flats, name)
			if values != nil && (required || !wantRequired || name == given) {
				return name, values, required
			}
		}
	}
	return "", nil, false
}

func (b *builder) constants(flats []*schema, name string) (values [][]string, required bool) {
	seen := map[string]bool{}
	required = true
	for _, f := range flats {
		s := f.properties[name]
		if s == nil || b.doc.admitsNull(s) || len(f.patterns) > 0 {
			return nil, false
		}
		p := b.doc.flatten(s)
		if !p.hasEnum || len(p.enum) == 0 {
			return nil, false
		}
		var texts []string
		for _, v := range p.enum {
			text := jsonschema.Canonical(v)
			if kindOfValue(v)&(kindArray|kindObject) != 0 || seen[text] {
				return nil, false
			}
			seen[text] = true
			texts = append(texts, jsonschema.Text(v))
		}
		values = append(values, texts)
		required = required && f.required[name]
	}
	return values, required
}

// signatures gives for each arm the members it requires that no other arm
// knows; nil where an arm has none.
func signatures(flats []*schema) [][]string {
	var out [][]string
	for i, f := range flats {
		var own []string
		for _, name := range slices.Sorted(maps.Keys(f.required)) {
			known := false
			for j, other := range flats {
				known = known || i != j && (other.properties[name] != nil || other.required[name])
			}
			if !known {
				own = append(own, name)
			}
		}
		if len(own) == 0 {
			return nil
		}
		out = append(out, own)
	}
	return out
}

// allClosed reports whether no arm takes members it does not name.
func (b *builder) allClosed(flats []*schema) bool {
	return !slices.ContainsFunc(flats, func(f *schema) bool {
		return f.additional == nil || !b.doc.impossible(f.additional) || len(f.patterns) > 0
	})
}
