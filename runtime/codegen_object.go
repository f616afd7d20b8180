package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Object ties the fields of a struct to the members of a JSON object. It is
// what generated types marshal and unmarshal with, because struct tags cannot
// tell absent from null from zero in every case, match names without regard to
// case and cannot spell every name. The zero value has no members.
//
// Fields are handed over as pointers. Encoding writes members in the order
// they were added, then the rest sorted by name.
type Object struct {
	members []member
	rest    reflect.Value // map[string]T, or invalid for none
}

type memberKind uint8

const (
	memberRequired memberKind = iota
	memberNullable
	memberOptional
	memberConst
)

type member struct {
	name  string
	kind  memberKind
	field reflect.Value   // what the pointer points to
	value json.RawMessage // of a constant
}

// Required adds a member that is always there and never null. A nil slice or
// map is written as an empty one; a nil json.RawMessage or pointer is an error.
func (o *Object) Required(name string, field any) *Object {
	return o.add(member{name: name, kind: memberRequired, field: reflect.ValueOf(field).Elem()})
}

// Nullable adds a member that is always there and may be null, which is a nil
// pointer, slice or map.
func (o *Object) Nullable(name string, field any) *Object {
	return o.add(member{name: name, kind: memberNullable, field: reflect.ValueOf(field).Elem()})
}

// Optional adds a member that may be absent: a nil pointer, slice, map or
// json.RawMessage, or an absent [Opt]. An empty slice or map is there. Where a
// null comes in for something that is not an Opt, it counts as absent.
func (o *Object) Optional(name string, field any) *Object {
	return o.add(member{name: name, kind: memberOptional, field: reflect.ValueOf(field).Elem()})
}

// Const adds a member whose only value is the given JSON text. It is written
// always and compared on reading.
func (o *Object) Const(name, value string) *Object {
	return o.add(member{name: name, kind: memberConst, value: json.RawMessage(value)})
}

// Rest sets the map[string]T that holds all members without a field. A member
// in it that has a field as well is written if the field is absent, and is an
// error otherwise.
func (o *Object) Rest(field any) *Object {
	o.rest = reflect.ValueOf(field).Elem()
	return o
}

func (o *Object) add(m member) *Object {
	o.members = append(o.members, m)
	return o
}

var errNotSet = errors.New("required and not set")

// Marshal encodes the object. Errors name the member by its JSON pointer.
func (o *Object) Marshal() ([]byte, error) {
	out := []byte{'{'}
	written := map[string]bool{}
	for i := range o.members {
		m := &o.members[i]
		var err error
		if out, err = m.encode(out, written); err != nil {
			return nil, at(m.name, err)
		}
	}
	if o.rest.IsValid() {
		keys := slices.Sorted(maps.Keys(written))
		names := make([]string, 0, o.rest.Len())
		for _, k := range o.rest.MapKeys() {
			names = append(names, k.String())
		}
		slices.Sort(names)
		for _, name := range names {
			if _, dup := slices.BinarySearch(keys, name); dup {
				return nil, at(name, errors.New("set twice: as a field and among the other members"))
			}
			var err error
			out = encodeKey(out, name)
			if out, err = encodeValue(out, o.rest.MapIndex(reflect.ValueOf(name))); err != nil {
				return nil, at(name, err)
			}
		}
	}
	return append(out, '}'), nil
}

// encode appends the member, if it is there, and notes that.
func (m *member) encode(out []byte, written map[string]bool) ([]byte, error) {
	switch m.kind {
	case memberConst:
		written[m.name] = true
		return append(encodeKey(out, m.name), m.value...), nil
	case memberOptional:
		if absent(m.field) {
			return out, nil
		}
	case memberRequired:
		switch {
		case isRaw(m.field.Type()), m.field.Kind() == reflect.Pointer:
			if m.field.IsNil() {
				return nil, errNotSet
			}
		}
	case memberNullable:
		if nilable(m.field) && m.field.IsNil() {
			written[m.name] = true
			return append(encodeKey(out, m.name), "null"...), nil
		}
	}
	written[m.name] = true
	return encodeValue(encodeKey(out, m.name), m.field)
}

// Unmarshal decodes an object into the fields. Names match exactly. Members
// without a field go to the rest, or nowhere. Errors name the member by its
// JSON pointer.
func (o *Object) Unmarshal(b []byte) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(b, &in); err != nil {
		return mismatch("an object", b)
	}
	if in == nil {
		return mismatch("an object", b)
	}
	for i := range o.members {
		m := &o.members[i]
		raw, ok := in[m.name]
		delete(in, m.name)
		if err := m.decode(raw, ok); err != nil {
			return at(m.name, err)
		}
	}
	if !o.rest.IsValid() || len(in) == 0 {
		return nil
	}
	rest := reflect.MakeMapWithSize(o.rest.Type(), len(in))
	for name, raw := range in {
		v := reflect.New(o.rest.Type().Elem()).Elem()
		if err := decodeValue(raw, v); err != nil {
			return at(name, err)
		}
		rest.SetMapIndex(reflect.ValueOf(name), v)
	}
	o.rest.Set(rest)
	return nil
}

func (m *member) decode(raw json.RawMessage, ok bool) error {
	if !ok {
		if m.kind == memberOptional {
			return nil
		}
		return errors.New("missing")
	}
	switch m.kind {
	case memberConst:
		if !sameJSON(raw, m.value) {
			return fmt.Errorf("got %s, want %s", clip(raw), m.value)
		}
		return nil
	case memberOptional:
		if _, opt := reflect.TypeAssert[json.Unmarshaler](m.field.Addr()); !opt && isNull(raw) {
			return nil
		}
	case memberNullable:
		if isNull(raw) && nilable(m.field) {
			m.field.SetZero()
			return nil
		}
	case memberRequired:
		if isNull(raw) && !isRaw(m.field.Type()) {
			return errors.New("null is not allowed")
		}
	}
	return decodeValue(raw, m.field)
}

// absent reports whether an optional field has no value.
func absent(v reflect.Value) bool {
	if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok {
		return z.IsZero()
	}
	return nilable(v) && v.IsNil()
}
