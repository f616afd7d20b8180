package codec

import "reflect"

// Opt, OneOf and Literal keep their values in fields that are not exported, so
// that only what was decoded or made by their functions gets there. Reflection
// reads such fields but neither sets them nor gives out what they hold; it does
// through a pointer.

// exportedPointer returns what a pointer in such a field points to.
func exportedPointer(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type().Elem(), v.UnsafePointer()).Elem()
}

// exported returns such a field of an addressable value.
func exported(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

// addressable returns v, or a copy that has an address.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// holderField returns the field of a union or literal, wrapped or by itself, to
// be read.
func (p *typePlan) holderField(v reflect.Value) reflect.Value {
	if p.typ.Field(0).Anonymous {
		v = v.Field(0)
	}
	return v.Field(0)
}

// union writes the value that is there.
func (e *encoder) union(p *typePlan, v reflect.Value) *failure {
	if p.wrong != "" {
		return failed(p.typ.String() + ": " + p.wrong)
	}
	value := exported(p.holderField(addressable(v))).Elem()
	if !value.IsValid() {
		return failed(reasonNotSet)
	}
	return e.value(planFor(value.Type()), value)
}
