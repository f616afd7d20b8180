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

// unionBuilder builds one schema whose values are of several types.
type unionBuilder struct {
	*builder
	f  *schema // flat
	u  union   // the first of its unions
	at place
	e  *entry
}

// union builds a flat schema with anyOf or oneOf.
func (b *builder) union(f *schema, at place, e *entry) *model.Type {
	return unionBuilder{b, f, f.unions[0], at, e}.unionType()
}

func (b unionBuilder) unionType() *model.Type {
	parent := *b.f
	parent.unions = b.f.unions[1:]
	parent.pointer = b.f.pointer + "|" + b.u.keyword()
	p := &parent
	p.setFlat()
	if b.doc.nullInSeveralArms(b.u) && b.doc.admitsNull(p) {
		b.force(b.u.keyword())
	}
	arms := b.arms(p)
	switch {
	case len(arms) == 0:
		return b.unchecked("the schema allows no value", "false", b.at)
	case len(arms) == 1:
		// The arm may be the union itself, which then adds nothing.
		if b.depth++; b.depth > maxDepth {
			b.depth--
			return b.unchecked("the reference leads back to itself", b.u.keyword(), b.at)
		}
		defer func() { b.depth-- }()
		return b.make(b.doc.flatten(b.merge(p, arms[0])), b.at, b.e)
	}
	if t := b.narrowed(p, arms); t != nil {
		return t
	}
	if t := b.choices(p, arms); t != nil {
		return t
	}
	if !p.allowsAll() {
		for i, arm := range arms {
			arms[i] = b.merge(p, arm)
		}
		arms = slices.DeleteFunc(arms, func(s *schema) bool { return b.doc.kinds(s) == noKind })
		if len(arms) == 0 {
			return b.unchecked("the schema allows no value", "false", b.at)
		}
	}
	return b.variants(arms)
}

// arms returns those of a union that allow more than null, each once. The union
// itself as its own arm adds nothing.
func (b unionBuilder) arms(parent *schema) []*schema {
	kinds := b.doc.kinds(parent)
	var out []*schema
	seen := map[*schema]bool{}
	for _, arm := range b.u.arms {
		if b.doc.kinds(arm)&kinds == noKind {
			continue
		}
		if made := b.made[b.doc.follow(arm)]; made != nil && made == b.e {
			b.force(b.u.keyword())
			continue
		}
		if target := b.doc.follow(arm); seen[target] {
			if b.u.exclusive {
				b.force(b.u.keyword()) // a value of both is not one of exactly one
			}
			continue
		}
		seen[b.doc.follow(arm)] = true
		out = append(out, arm)
	}
	return out
}

// merge returns what both schemas allow; annotations of the arm come first.
func (b unionBuilder) merge(parent, arm *schema) *schema {
	if parent.allowsAll() {
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
	flat.closeUnevaluated()
	b.doc.merged[key] = flat
	return flat
}

// narrowed builds a parent whose arms only list allowed combinations: the type
// is the parent's, and a validator checks the rest.
func (b unionBuilder) narrowed(p *schema, arms []*schema) *model.Type {
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
	b.force(b.u.keyword())
	return b.make(p, b.at, b.e)
}

// choices builds a union of enums as one enum; each arm may describe its values.
func (b unionBuilder) choices(p *schema, arms []*schema) *model.Type {
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
			if f.constrains(kindOfValue(v)) || p.constrains(kindOfValue(v)) {
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
	if b.u.exclusive {
		values = slices.DeleteFunc(values, func(v any) bool { return times[jsonschema.Canonical(v)] > 1 })
	}
	var kinds kindSet
	for _, v := range values {
		kinds |= kindOfValue(v)
	}
	with := *p
	with.valueDocs = docs
	return b.values(values, kinds, &with, b.at)
}

// variants builds arms that have their parent merged into them.
func (b unionBuilder) variants(arms []*schema) *model.Type {
	var kinds kindSet
	for _, arm := range arms {
		k := b.doc.kinds(arm)
		if k == anyKind {
			flat := b.doc.flatten(arm)
			if flat.allowsAll() && !b.u.exclusive {
				return &model.Type{}
			}
			if flat.types == nil && !flat.hasEnum && len(flat.unions) == 0 {
				return b.unchecked("one of several schemas without a type", b.u.keyword(), b.at)
			}
		}
		kinds |= k
	}
	if len(arms) == 1 {
		return b.make(b.doc.flatten(arms[0]), b.at, b.e)
	}
	if !kinds.single() {
		return b.kindUnion(arms, kinds)
	}
	if kinds == kindObject {
		return b.objectUnion(arms)
	}
	if kinds == kindArray {
		return b.listUnion(arms)
	}
	return b.scalarUnion(arms, kinds)
}

// scalarUnion builds arms that are all strings, all numbers or all booleans: the
// plain type, which is exact if one arm has no other keyword.
func (b unionBuilder) scalarUnion(arms []*schema, k kindSet) *model.Type {
	exact := false
	integers := true
	for _, arm := range arms {
		f := b.doc.flatten(arm)
		whole := f.types != nil && slices.Equal(f.types, []string{"integer"})
		integers = integers && whole
		exact = exact || !whole && !f.hasEnum && len(f.unions) == 0 && len(f.extra) == 0 && len(relevant(&f.rules, k)) == 0
	}
	if integers {
		exact = slices.ContainsFunc(arms, func(arm *schema) bool { return b.doc.flatten(arm).justTyped() })
	}
	if !exact || b.u.exclusive {
		b.force(b.u.keyword())
	}
	plain := ofType(k, "")
	if integers {
		plain.types = []string{"integer"}
	}
	t := b.kind(plain, k, b.at, nil)
	if slices.ContainsFunc(arms, func(arm *schema) bool { return b.doc.flatten(arm).beyond(t.Kind) }) {
		t.Kind = model.Decimal
		if integers {
			t.Rules = &model.Rules{MultipleOf: "1"}
		}
	}
	return t
}

// beyond reports whether a schema has numbers outside the range of a Go kind.
func (f *schema) beyond(k model.Kind) bool {
	switch k {
	case model.Int:
		_, ok := f.rules.Whole()
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

// listUnion builds arms that are all arrays: a list with items of any arm.
func (b unionBuilder) listUnion(arms []*schema) *model.Type {
	b.force(b.u.keyword())
	var items []*schema
	for _, arm := range arms {
		flat := b.doc.flatten(arm)
		if len(flat.prefix) > 0 || len(flat.unions) > 0 || flat.hasEnum || flat.items == nil {
			items = nil
			break
		}
		items = append(items, flat.items)
	}
	list := ofType(kindArray, b.f.pointer+"|array")
	if items != nil {
		list.items = &schema{pointer: b.f.pointer + "|items", base: jsonschema.DefaultBase, unions: []union{{arms: items}}}
	}
	list.setFlat()
	return b.array(list, b.at, b.e)
}

// byKind builds a schema that allows values of several kinds by its "type".
func (b *builder) byKind(f *schema, kinds kindSet, at place, e *entry) *model.Type {
	u := unionBuilder{builder: b, f: f, at: at, e: e}
	d, t := u.declareUnion()
	d.Select = model.SelectKind
	for _, k := range kinds.each() {
		u.arm(d, u.restrict(f, k), k)
	}
	return t
}

// restrict returns the part of a schema that allows one kind.
func (b unionBuilder) restrict(s *schema, k kindSet) *schema {
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

// kindUnion builds arms of several kinds. Those of one kind become a union
// inside.
func (b unionBuilder) kindUnion(arms []*schema, kinds kindSet) *model.Type {
	d, t := b.declareUnion()
	d.Select = model.SelectKind
	for _, k := range kinds.each() {
		var of []*schema
		for _, arm := range arms {
			if b.doc.kinds(arm)&k != 0 {
				of = append(of, b.restrict(arm, k))
			}
		}
		if len(of) == 1 {
			b.arm(d, of[0], k)
			continue
		}
		inner := ofType(k, b.f.pointer+"|"+k.String())
		inner.base, inner.unions = jsonschema.DefaultBase, []union{{of, b.u.exclusive, b.u.member}}
		b.arm(d, inner, k)
	}
	return t
}

func (b unionBuilder) declareUnion() (*model.Decl, *model.Type) {
	d := &model.Decl{Form: model.Union, Doc: b.f.doc()}
	return d, b.declare(d, b.at, b.e)
}

// arm adds the arm of a union for one kind.
func (b unionBuilder) arm(d *model.Decl, s *schema, k kindSet) {
	here := b.at.step("/"+k.String(), names.Exported(k.String()))
	b.addArm(d, s, here, &model.Arm{Kinds: []string{k.String()}})
}

// addArm builds an arm, which has to be a declared type of its own.
func (b unionBuilder) addArm(d *model.Decl, s *schema, at place, arm *model.Arm) {
	t, _ := b.build(s, at)
	used := t.Kind == model.Named && slices.ContainsFunc(d.Arms, func(a *model.Arm) bool { return a.Decl == t.Decl })
	if t.Kind != model.Named || t.Decl == d || used {
		t = b.define(t, at, s, "")
	}
	arm.Decl = t.Decl
	d.Arms = append(d.Arms, arm)
}

// objectUnion builds arms that are all objects.
func (b unionBuilder) objectUnion(arms []*schema) *model.Type {
	flats := make([]*schema, len(arms))
	for i, arm := range arms {
		flats[i] = b.doc.flatten(arm)
	}
	d, t := b.declareUnion()
	member, values, required := b.discriminator(flats)
	switch keys := signatures(flats); {
	case member != "":
		d.Select, d.Member = model.SelectMember, member
		if !required {
			b.force(b.u.keyword())
		}
		for i, arm := range arms {
			arm = b.tagged(arm, flats[i], member, values[i])
			b.addArm(d, arm, b.armPlace(values[i][0]), &model.Arm{Kinds: []string{"object"}, Values: values[i]})
		}
	case keys != nil && b.allClosed(flats):
		d.Select = model.SelectKeys
		for i, arm := range arms {
			b.addArm(d, arm, b.armPlace(keys[i][0]), &model.Arm{Kinds: []string{"object"}, Keys: keys[i]})
		}
	default:
		d.Select = model.SelectFirst
		b.force(b.u.keyword())
		for i, arm := range arms {
			name := flats[i].title
			switch {
			case name != "":
			case keys != nil:
				name = keys[i][0]
			default:
				name = "option " + strconv.Itoa(i+1)
			}
			b.addArm(d, arm, b.armPlace(name), &model.Arm{Kinds: []string{"object"}})
		}
	}
	return t
}

// tagged returns an arm as it is once the value of its discriminator has chosen
// it: the member is present and, where it has only one value, not a field that
// could be forgotten. Models with a default for it do not require it, and many
// schemas spell a constant as an enum.
func (b unionBuilder) tagged(arm, flat *schema, member string, values []string) *schema {
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

// armPlace returns the place of an arm of a union of objects.
func (b unionBuilder) armPlace(name string) place {
	var text string
	if json.Unmarshal([]byte(name), &text) != nil || text == "" {
		text = name
	}
	return b.at.step(runtimeschema.Pointer("", text), names.Exported(text))
}

// discriminator returns the member whose value distinguishes the arms: the
// declared one, or the first by name that has different constants in all. values
// are JSON texts; required reports whether all arms require it.
func (b unionBuilder) discriminator(flats []*schema) (member string, values [][]string, required bool) {
	candidates := slices.Sorted(maps.Keys(flats[0].properties))
	if b.u.member != "" {
		candidates = slices.Insert(candidates, 0, b.u.member)
	}
	for _, wantRequired := range []bool{true, false} {
		for _, name := range candidates {
			values, required := b.constants(flats, name)
			if values != nil && (required || !wantRequired || name == b.u.member) {
				return name, values, required
			}
		}
	}
	return "", nil, false
}

func (b unionBuilder) constants(flats []*schema, name string) (values [][]string, required bool) {
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

// signatures returns for each arm the members it requires that no other arm has;
// nil where an arm has none.
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

// allClosed reports whether no arm accepts members it does not name.
func (b unionBuilder) allClosed(flats []*schema) bool {
	return !slices.ContainsFunc(flats, func(f *schema) bool {
		return f.additional == nil || !b.doc.impossible(f.additional) || len(f.patterns) > 0
	})
}
