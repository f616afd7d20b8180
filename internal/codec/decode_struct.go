package codec

import (
	"bytes"
	"reflect"
)

// seen are the fields that have been met. The array does for most structs and
// does not leave the stack.
type seen struct {
	few  [2]uint64
	many []uint64
}

func newSeen(n int) seen {
	if n <= 128 {
		return seen{}
	}
	return seen{many: make([]uint64, (n+63)/64)}
}

func (s *seen) has(i int) bool {
	if s.many != nil {
		return s.many[i>>6]&(1<<(i&63)) != 0
	}
	return s.few[i>>6]&(1<<(i&63)) != 0
}

func (s *seen) add(i int) {
	if s.many != nil {
		s.many[i>>6] |= 1 << (i & 63)
	} else {
		s.few[i>>6] |= 1 << (i & 63)
	}
}

// structValue reads an object.
func (d *decoder) structValue(p *typePlan, v reflect.Value) *failure {
	if p.wrong != "" {
		return failed(p.typ.String() + ": " + p.wrong)
	}
	sp := p.object
	if done, f := d.other(sp, v, '{', "an object"); done || f != nil {
		return f
	}
	more, f := d.begin('}')
	if f != nil {
		return f
	}
	var rest *members
	met := newSeen(len(sp.fields))
	for guess := 0; more; {
		var name []byte
		if name, f = d.name(); f != nil {
			return f
		}
		// Members come in the order of the fields as a rule.
		i, known := guess, guess < len(sp.fields) && sp.fields[guess].name == string(name)
		if !known {
			i, known = sp.byName[string(name)]
		}
		switch {
		case known:
			if met.has(i) {
				return failed(reasonTwice).under(sp.fields[i].name)
			}
			met.add(i)
			guess = i + 1
			if f = d.member(sp, &sp.fields[i], v); f != nil {
				return f.under(sp.fields[i].name)
			}
		case sp.rest >= 0:
			if rest == nil {
				rest = d.newMembers(sp.restPlan)
			}
			if f = rest.add(d, string(name)); f != nil {
				return f
			}
		default:
			return failed(reasonUnknown).under(string(name))
		}
		if more, f = d.more('}'); f != nil {
			return f
		}
	}
	d.depth--
	for i := range sp.fields {
		if met.has(i) {
			continue
		}
		fp := &sp.fields[i]
		if !fp.optional {
			return failed(reasonMissing).under(fp.name)
		}
		v.Field(fp.index).SetZero()
	}
	if sp.rest >= 0 {
		if rest == nil {
			v.Field(sp.rest).SetZero()
		} else {
			v.Field(sp.rest).Set(rest.value())
		}
	}
	return nil
}

// other takes a value of another kind than what begins with begin, if the
// struct has a place for it.
func (d *decoder) other(sp *structPlan, v reflect.Value, begin byte, want string) (done bool, f *failure) {
	c := d.next()
	switch {
	case sp.other < 0 && c != begin:
		return false, d.mismatch(want)
	case sp.other < 0:
		return false, nil
	case c == begin:
		v.Field(sp.other).SetZero()
		return false, nil
	}
	raw, f := d.skip()
	if f != nil {
		return false, f
	}
	for i := range sp.fields {
		if fp := &sp.fields[i]; fp.index >= 0 {
			v.Field(fp.index).SetZero()
		}
	}
	if sp.rest >= 0 {
		v.Field(sp.rest).SetZero()
	}
	v.Field(sp.other).SetBytes(bytes.Clone(raw))
	return true, nil
}

// member reads the value of a field.
func (d *decoder) member(sp *structPlan, fp *fieldPlan, v reflect.Value) *failure {
	if fp.index < 0 {
		raw, f := d.skip()
		if f == nil && !sameJSON(raw, fp.canonical) {
			f = failed("want " + string(fp.literal))
		}
		return f
	}
	field := v.Field(fp.index)
	if d.next() == 'n' && (fp.null || !fp.takesNull()) {
		if !fp.null && (!fp.optional || !sp.lenient) {
			return failed(reasonNull)
		}
		field.SetZero()
		return d.literal("null")
	}
	if fp.plan.kind != planPointer {
		return d.value(fp.plan, field)
	}
	return d.behind(fp.plan.elem, field)
}

// tuple reads an array.
func (d *decoder) tuple(p *typePlan, v reflect.Value) *failure {
	if p.wrong != "" {
		return failed(p.typ.String() + ": " + p.wrong)
	}
	sp := p.object
	if done, f := d.other(sp, v, '[', "an array"); done || f != nil {
		return f
	}
	if sp.rest >= 0 {
		v.Field(sp.rest).SetZero()
	}
	more, f := d.begin(']')
	if f != nil {
		return f
	}
	n := 0
	for ; more; n++ {
		if n == len(sp.fields) {
			if sp.rest < 0 {
				return failed("there are to be no more items").under(n)
			}
			return d.items(sp.restPlan, v.Field(sp.rest), n)
		}
		if f = d.member(sp, &sp.fields[n], v); f != nil {
			return f.under(n)
		}
		if more, f = d.more(']'); f != nil {
			return f
		}
	}
	d.depth--
	for ; n < len(sp.fields); n++ {
		fp := &sp.fields[n]
		if !fp.optional {
			return failed(reasonMissing).under(n)
		}
		v.Field(fp.index).SetZero()
	}
	return nil
}
