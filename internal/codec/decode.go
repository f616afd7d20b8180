package codec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
)

// value reads what is here into v, which can be set, by its plan.
func (d *decoder) value(p *typePlan, v reflect.Value) *failure {
	c := d.next()
	if c == 'n' && !p.null {
		return failed(reasonNull)
	}
	switch p.kind {
	case planString:
		if c != '"' {
			return d.mismatch("a string")
		}
		s, f := d.stringValue()
		if f == nil {
			v.SetString(s)
		}
		return f
	case planBool:
		return d.boolean(v)
	case planInt:
		return d.integer(v)
	case planUint:
		return d.unsigned(v)
	case planFloat:
		return d.float(v)
	case planNumber:
		raw, f := d.numberText()
		if f == nil {
			v.SetString(string(raw))
		}
		return f
	case planRaw:
		raw, f := d.skip()
		if f == nil {
			v.SetBytes(bytes.Clone(raw))
		}
		return f
	case planLiteral:
		raw, f := d.skip()
		if f == nil {
			exported(p.holderField(v)).SetString(canonicalText(raw))
		}
		return f
	case planForeign:
		raw, f := d.skip()
		if f == nil {
			if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
				return foreignFailure(err)
			}
		}
		return f
	case planPointer:
		return d.pointer(p, v)
	case planOpt:
		return d.opt(p, v)
	case planSlice:
		return d.slice(p, v)
	case planMap:
		return d.object(p, v)
	case planStruct:
		return d.structValue(p, v)
	case planTuple:
		return d.tuple(p, v)
	default: // planUnion
		return d.union(p, v)
	}
}

// stringValue reads a string, which begins here.
func (d *decoder) stringValue() (string, *failure) {
	inside, plain, f := d.text()
	if f != nil {
		return "", f
	}
	if !plain {
		d.scratch = unescape(d.scratch[:0], inside)
		inside = d.scratch
	}
	return string(inside), nil
}

func (d *decoder) boolean(v reflect.Value) *failure {
	switch d.next() {
	case 't':
		v.SetBool(true)
		return d.literal("true")
	case 'f':
		v.SetBool(false)
		return d.literal("false")
	}
	return d.mismatch("true or false")
}

// numberText passes a number and gives it.
func (d *decoder) numberText() ([]byte, *failure) {
	if kindOf(d.next()) != "number" {
		return nil, d.mismatch("a number")
	}
	start := d.pos
	f := d.number()
	return d.data[start:d.pos], f
}

// wanted says that a number is not of the sort that is wanted.
func wanted(raw []byte, want string) *failure {
	d := decoder{data: raw}
	return d.mismatch(want)
}

func (d *decoder) integer(v reflect.Value) *failure {
	if kindOf(d.next()) != "number" {
		return d.mismatch("an integer")
	}
	raw, f := d.numberText()
	if f != nil {
		return f
	}
	n, ok := plainInteger(raw)
	if !ok {
		digits, reason := integerText(string(raw))
		if reason != "" {
			return wanted(raw, reason)
		}
		var err error
		if n, err = strconv.ParseInt(digits, 10, 64); err != nil {
			return wanted(raw, "an integer of 64 bits")
		}
	}
	if v.OverflowInt(n) {
		return wanted(raw, "an integer that fits "+v.Kind().String())
	}
	v.SetInt(n)
	return nil
}

func (d *decoder) unsigned(v reflect.Value) *failure {
	if kindOf(d.next()) != "number" {
		return d.mismatch("an integer")
	}
	raw, f := d.numberText()
	if f != nil {
		return f
	}
	digits, reason := integerText(string(raw))
	if reason != "" {
		return wanted(raw, reason)
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || v.OverflowUint(n) {
		return wanted(raw, "an integer that fits "+v.Kind().String())
	}
	v.SetUint(n)
	return nil
}

func (d *decoder) float(v reflect.Value) *failure {
	raw, f := d.numberText()
	if f != nil {
		return f
	}
	if n, ok := plainInteger(raw); ok && -maxExact < n && n < maxExact && (n != 0 || raw[0] != '-') {
		v.SetFloat(float64(n))
		return nil
	}
	n, reason := float(string(raw))
	if reason != "" {
		return wanted(raw, reason)
	}
	v.SetFloat(n)
	return nil
}

// pointer reads null as nil.
func (d *decoder) pointer(p *typePlan, v reflect.Value) *failure {
	if d.next() == 'n' {
		v.SetZero()
		return d.literal("null")
	}
	return d.behind(p.elem, v)
}

// opt reads null as null. An Opt is a pointer to the value, and whether it is
// null.
func (d *decoder) opt(p *typePlan, v reflect.Value) *failure {
	value, null := exported(v.Field(0)), exported(v.Field(1))
	if d.next() == 'n' {
		value.SetZero()
		null.SetBool(true)
		return d.literal("null")
	}
	null.SetBool(false)
	return d.behind(p.elem, value)
}

// behind reads a value that v is to point to.
func (d *decoder) behind(p *typePlan, v reflect.Value) *failure {
	to := reflect.New(p.typ)
	f := d.value(p, to.Elem())
	if f == nil {
		v.Set(to)
	}
	return f
}

func (d *decoder) slice(p *typePlan, v reflect.Value) *failure {
	if d.next() != '[' {
		return d.mismatch("an array")
	}
	more, f := d.begin(']')
	if f != nil {
		return f
	}
	if !more {
		v.Set(reflect.MakeSlice(p.typ, 0, 0))
		d.depth--
		return nil
	}
	v.SetZero() // what another may hold is not written over
	return d.items(p, v, 0)
}

// items reads the items of an array, of which there is one more at least, up to
// its end. First is the index of the first.
func (d *decoder) items(p *typePlan, v reflect.Value, first int) *failure {
	const atLeast = 4 // as append does, but not from one
	for n, more := 0, true; more; n++ {
		if n == v.Cap() {
			v.Grow(max(1, atLeast-n))
		}
		v.SetLen(n + 1)
		f := d.value(p.elem, v.Index(n))
		if f != nil {
			return f.under(first + n)
		}
		if more, f = d.more(']'); f != nil {
			return f
		}
	}
	d.depth--
	return nil
}

func (d *decoder) object(p *typePlan, v reflect.Value) *failure {
	if d.next() != '{' {
		return d.mismatch("an object")
	}
	more, f := d.begin('}')
	if f != nil {
		return f
	}
	m := d.newMembers(p)
	for more {
		var name []byte
		if name, f = d.name(); f != nil {
			return f
		}
		if f = m.add(d, string(name)); f != nil {
			return f
		}
		if more, f = d.more('}'); f != nil {
			return f
		}
	}
	d.depth--
	v.Set(m.value())
	return nil
}

// members gathers the members of a map.
type members struct {
	plan *typePlan
	raws map[string]json.RawMessage // the most common sort needs no reflection
	all  reflect.Value
	key  reflect.Value
	elem reflect.Value
}

func (d *decoder) newMembers(p *typePlan) *members {
	m := &members{plan: p}
	if p.typ == reflect.TypeFor[map[string]json.RawMessage]() {
		m.raws = map[string]json.RawMessage{}
		return m
	}
	m.all = reflect.MakeMap(p.typ)
	m.key = reflect.New(p.typ.Key()).Elem()
	m.elem = reflect.New(p.typ.Elem()).Elem()
	return m
}

// add reads the value of a member.
func (m *members) add(d *decoder, name string) *failure {
	if m.raws != nil {
		raw, f := d.skip()
		if f == nil {
			if _, twice := m.raws[name]; twice {
				f = failed(reasonTwice)
			}
		}
		if f != nil {
			return f.under(name)
		}
		m.raws[name] = bytes.Clone(raw)
		return nil
	}
	m.elem.SetZero()
	if f := d.value(m.plan.elem, m.elem); f != nil {
		return f.under(name)
	}
	m.key.SetString(name)
	before := m.all.Len()
	m.all.SetMapIndex(m.key, m.elem)
	if m.all.Len() == before {
		return failed(reasonTwice).under(name)
	}
	return nil
}

func (m *members) value() reflect.Value {
	if m.raws != nil {
		return reflect.ValueOf(m.raws)
	}
	return m.all
}
