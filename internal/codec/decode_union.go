package codec

import (
	"bytes"
	"reflect"
	"slices"
)

// maxAgain is how many times as long as the whole text what is read more than
// once may be, besides a start: unions nested in unions would otherwise take a
// time that grows with a power of their depth.
const (
	maxAgain   = 32
	startAgain = 1 << 20
)

// charge counts bytes that will be read another time; false when there are too
// many of them.
func (d *decoder) charge(n int) bool {
	d.again += n
	return d.again <= startAgain+maxAgain*len(d.data)
}

// union reads a value into the arm that it belongs to.
func (d *decoder) union(p *typePlan, v reflect.Value) *failure {
	up := p.union
	switch {
	case p.wrong != "":
		return failed(p.typ.String() + ": " + p.wrong)
	case up.arms == nil && up.unknown == nil:
		return failed(p.typ.String() + " has no arms to read")
	}
	if d.depth++; d.depth > maxDepth {
		return fatal(reasonDeep)
	}
	defer func() { d.depth-- }()
	into := exported(p.holderField(v))
	start, kind := d.pos, kindOf(d.next())
	var look outline
	var second reflect.Value // what could be read, and Validate did not pass
	var secondEnd int
	for i := range up.arms {
		a := &up.arms[i]
		if !a.takes(kind) {
			continue
		}
		fits, f := d.fits(&look, a)
		if f != nil {
			return f
		}
		if !fits {
			continue
		}
		to := reflect.New(a.Type)
		depth := d.depth
		if a.Try {
			d.trying++
		}
		f = d.value(a.plan, to.Elem())
		if a.Try {
			d.trying--
		}
		if !a.Try || f != nil && f.fatal {
			if f == nil {
				into.Set(to.Elem())
			}
			return f
		}
		// The outermost union reads what it holds once for each arm, no more.
		enough := d.trying > 0 && !d.charge(d.pos-start)
		if f == nil && (enough || isValid(to)) {
			into.Set(to.Elem())
			return nil
		}
		if enough {
			return fatal(reasonDeep + ": unions in unions")
		}
		if f == nil && !second.IsValid() {
			second, secondEnd = to, d.pos
		}
		d.pos, d.depth = start, depth
	}
	if second.IsValid() {
		d.pos = secondEnd
		into.Set(second.Elem())
		return nil
	}
	raw, f := d.skip()
	if f != nil {
		return f
	}
	if up.unknown == nil {
		d.pos = start
		return failed("fits none of the types that are allowed")
	}
	unknown := reflect.New(up.unknown).Elem()
	unknown.SetBytes(bytes.Clone(raw))
	into.Set(unknown)
	return nil
}

// isValid asks a value's own Validate, if it has one.
func isValid(pointer reflect.Value) bool {
	v, ok := reflect.TypeAssert[interface{ Validate() error }](pointer)
	return !ok || v.Validate() == nil
}

// outline is what has been found out about an object ahead of reading it.
type outline struct {
	known bool
	names map[string][]byte // to the members' JSON texts
	// sought reports that the member which tells the arms apart has been looked
	// for; nil where it is not there.
	sought bool
	member []byte
}

// fits reports whether the members of the object here choose an arm, or let it be
// tried.
func (d *decoder) fits(o *outline, a *armPlan) (bool, *failure) {
	tried := a.Try && a.plan.kind == planStruct && d.next() == '{'
	if a.Member == "" && len(a.Keys) == 0 && !tried {
		return true, nil
	}
	if a.Member != "" {
		if !o.sought {
			o.sought = true
			if f := d.ahead(func(name, raw []byte) bool {
				if string(name) == a.Member {
					o.member = raw
				}
				return o.member == nil
			}); f != nil {
				return false, f
			}
		}
		return o.member != nil && slices.ContainsFunc(a.values, func(value string) bool { return sameJSON(o.member, value) }), nil
	}
	if !o.known {
		o.known, o.names = true, map[string][]byte{}
		if f := d.ahead(func(name, raw []byte) bool {
			o.names[string(name)] = raw
			return true
		}); f != nil {
			return false, f
		}
	}
	if tried {
		return o.plausible(a.plan.object), nil
	}
	return slices.ContainsFunc(a.Keys, func(key string) bool { _, ok := o.names[key]; return ok }), nil
}

// ahead returns the members of the object here, as long as they are wanted, and
// stays where it is. A name holds until want returns.
func (d *decoder) ahead(want func(name, raw []byte) bool) *failure {
	if d.next() != '{' {
		return nil
	}
	start, depth := d.pos, d.depth
	more, f := d.begin('}')
	for f == nil && more {
		var name, raw []byte
		if name, f = d.name(); f != nil {
			return f
		}
		if raw, f = d.skip(); f != nil {
			return f
		}
		if !want(name, raw) {
			break
		}
		more, f = d.more('}')
	}
	if f != nil {
		return f
	}
	if !d.charge(d.pos - start) {
		return fatal(reasonDeep + ": unions in unions")
	}
	d.pos, d.depth = start, depth
	return nil
}

// plausible reports whether an object has the members that a struct requires, and
// no others if there is no room for them. It saves trying what cannot succeed.
func (o *outline) plausible(sp *structPlan) bool {
	known := 0
	for i := range sp.fields {
		fp := &sp.fields[i]
		raw, ok := o.names[fp.name]
		switch {
		case ok:
			known++
			if fp.index < 0 && !sameJSON(raw, fp.canonical) {
				return false
			}
		case !fp.optional:
			return false
		}
	}
	return sp.rest >= 0 || known == len(o.names)
}
