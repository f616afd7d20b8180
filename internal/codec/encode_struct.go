package codec

import "reflect"

// structValue writes an object.
func (e *encoder) structValue(p *typePlan, v reflect.Value) *failure {
	if p.wrong != "" {
		return failed(p.typ.String() + ": " + p.wrong)
	}
	sp := p.object
	if sp.other >= 0 {
		if other := v.Field(sp.other); !other.IsNil() {
			return e.other(sp, v, other, '{')
		}
	}
	e.buf = append(e.buf, '{')
	for i := range sp.fields {
		fp := &sp.fields[i]
		if fp.index < 0 {
			e.comma()
			e.buf = append(append(e.buf, fp.key...), fp.literal...)
			continue
		}
		field := v.Field(fp.index)
		if fp.optional && field.IsZero() {
			continue
		}
		e.comma()
		e.buf = append(e.buf, fp.key...)
		if f := e.field(fp, field); f != nil {
			return f.under(fp.name)
		}
	}
	if sp.rest >= 0 {
		if rest := v.Field(sp.rest); rest.Len() > 0 {
			taken := func(name string) *failure {
				if i, ok := sp.byName[name]; ok {
					if fp := &sp.fields[i]; fp.index < 0 || !fp.optional || !v.Field(fp.index).IsZero() {
						return failed(reasonRestTwice)
					}
				}
				return nil
			}
			if f := e.members(sp.restPlan, rest, taken); f != nil {
				return f
			}
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// field writes what must not be absent.
func (e *encoder) field(fp *fieldPlan, v reflect.Value) *failure {
	switch fp.plan.kind {
	case planPointer:
		if v.IsNil() {
			return e.unset(fp)
		}
	case planSlice, planMap:
		if fp.null && v.IsNil() {
			e.null()
			return nil
		}
	case planRaw:
		if v.Len() == 0 {
			return e.unset(fp)
		}
	default:
	}
	return e.value(fp.plan, v)
}

func (e *encoder) unset(fp *fieldPlan) *failure {
	if !fp.null {
		return failed(reasonNotSet)
	}
	e.null()
	return nil
}

// other writes a value that is not of the struct's kind, which begins with
// begin, in place of the fields.
func (e *encoder) other(sp *structPlan, v, other reflect.Value, begin byte) *failure {
	for i := range sp.fields {
		if fp := &sp.fields[i]; fp.index >= 0 && !v.Field(fp.index).IsZero() {
			if fp.name != "" {
				return failed("set beside a value that has no members").under(fp.name)
			}
			return failed("set beside a value that has no items").under(i)
		}
	}
	raw := other.Bytes()
	d := decoder{data: raw}
	if d.space(); d.next() == begin {
		return failed("the value has a field for each of its parts; it is not written as a whole")
	}
	return e.raw(raw)
}

// tuple writes an array.
func (e *encoder) tuple(p *typePlan, v reflect.Value) *failure {
	if p.wrong != "" {
		return failed(p.typ.String() + ": " + p.wrong)
	}
	sp := p.object
	if sp.other >= 0 {
		if other := v.Field(sp.other); !other.IsNil() {
			return e.other(sp, v, other, '[')
		}
	}
	e.buf = append(e.buf, '[')
	n := 0
	for i := range sp.fields {
		fp := &sp.fields[i]
		if fp.optional && v.Field(fp.index).IsZero() {
			continue
		}
		if n < i {
			return failed("set, and the item before it is not").under(i)
		}
		if f := e.item(n, fp, v); f != nil {
			return f
		}
		n++
	}
	if sp.rest >= 0 {
		rest := v.Field(sp.rest)
		if rest.Len() > 0 && n < len(sp.fields) {
			return failed("set, and an item before it is not").under(len(sp.fields))
		}
		for i := range rest.Len() {
			if n > 0 {
				e.buf = append(e.buf, ',')
			}
			if f := e.value(sp.restPlan.elem, rest.Index(i)); f != nil {
				return f.under(n)
			}
			n++
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

// item writes the nth item of a tuple.
func (e *encoder) item(n int, fp *fieldPlan, v reflect.Value) *failure {
	if n > 0 {
		e.buf = append(e.buf, ',')
	}
	if fp.index < 0 {
		e.buf = append(e.buf, fp.literal...)
		return nil
	}
	if f := e.field(fp, v.Field(fp.index)); f != nil {
		return f.under(n)
	}
	return nil
}
