package codec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
)

type planKind uint8

const (
	planForeign planKind = iota // left to encoding/json
	planString
	planBool
	planInt
	planUint
	planFloat
	planNumber // json.Number
	planRaw    // json.RawMessage, and types made of it
	planSlice
	planMap
	planPointer
	planStruct
	planTuple
	planOpt
	planUnion
	planLiteral
)

// typePlan is how values of a type are written and read.
type typePlan struct {
	kind planKind
	typ  reflect.Type
	// null is set where a JSON null is a value of the type.
	null   bool
	elem   *typePlan // of a slice, map, pointer or Opt
	object *structPlan
	union  *unionPlan
	// wrong is what keeps the type from being used.
	wrong string
}

// The plans of all types met so far, which are never changed. In selfPlans are
// those that do not heed the type's own methods.
//
//nolint:gochecknoglobals // caches; what is in them depends on the type alone
var plans, selfPlans sync.Map

func planFor(t reflect.Type) *typePlan {
	if p, ok := plans.Load(t); ok {
		return p.(*typePlan)
	}
	b := planner{made: map[reflect.Type]*typePlan{}}
	p := b.plan(t)
	b.publish()
	return p
}

func selfPlan(t reflect.Type) *typePlan {
	if p, ok := selfPlans.Load(t); ok {
		return p.(*typePlan)
	}
	b := planner{made: map[reflect.Type]*typePlan{}}
	p := &typePlan{typ: t}
	b.native(p)
	b.publish()
	selfPlans.Store(t, p)
	return p
}

// planner makes the plan of a type and of those it consists of, itself included.
type planner struct{ made map[reflect.Type]*typePlan }

func (b *planner) publish() {
	for t, p := range b.made {
		plans.LoadOrStore(t, p)
	}
}

func (b *planner) plan(t reflect.Type) *typePlan {
	if p, ok := b.made[t]; ok {
		return p
	}
	if p, ok := plans.Load(t); ok {
		return p.(*typePlan)
	}
	p := &typePlan{typ: t}
	b.made[t] = p
	if isNative(t) {
		b.native(p)
	} else {
		p.null = true // what encoding/json makes of it is the type's affair
	}
	return p
}

// isNative reports whether a type is written and read here.
func isNative(t reflect.Type) bool {
	if t == reflect.TypeFor[json.RawMessage]() || t == reflect.TypeFor[json.Number]() {
		return true
	}
	if t.Kind() == reflect.Struct {
		return isTagged(t)
	}
	return t.Kind() == reflect.Pointer || !hasMethods(t)
}

// isTagged reports whether a struct, or the one it wraps, has a tag mcp.
func isTagged(t reflect.Type) bool {
	for f := range t.Fields() {
		if _, ok := f.Tag.Lookup("mcp"); ok {
			return true
		}
	}
	return wrapped(t) != nil
}

// wrapped returns the union or literal that is all a struct consists of.
func wrapped(t reflect.Type) reflect.Type {
	if t.NumField() != 1 || !t.Field(0).Anonymous || t.Field(0).Type.Kind() != reflect.Struct {
		return nil
	}
	if inner := t.Field(0).Type; holder(inner) != "" {
		return inner
	}
	return nil
}

// holder returns the tag mcp of a struct's first field if it is one of those that
// hold a value in a field that is not exported.
func holder(t reflect.Type) string {
	if t.NumField() == 0 || t.Field(0).IsExported() {
		return ""
	}
	switch tag := t.Field(0).Tag.Get("mcp"); tag {
	case "opt", "oneof", "literal":
		return tag
	}
	return ""
}

func hasMethods(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// native fills in the plan of a type that is written and read here, as far as
// it is of a kind that can be.
func (b *planner) native(p *typePlan) {
	t := p.typ
	switch t.Kind() {
	case reflect.String:
		p.kind = planString
		if t == reflect.TypeFor[json.Number]() {
			p.kind = planNumber
		}
	case reflect.Bool:
		p.kind = planBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.kind = planInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.kind = planUint
	case reflect.Float64:
		p.kind = planFloat
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			// A named one is a json.RawMessage that has lost its methods by getting
			// the name; []byte is base64 as in encoding/json.
			if t.Name() != "" {
				p.kind, p.null = planRaw, true
			} else {
				p.null = true
			}
			return
		}
		p.kind = planSlice
		p.elem = b.plan(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String || hasMethods(t.Key()) {
			p.null = true
			return
		}
		p.kind = planMap
		p.elem = b.plan(t.Elem())
	case reflect.Pointer:
		p.kind, p.null = planPointer, true
		p.elem = b.plan(t.Elem())
	case reflect.Struct:
		b.nativeStruct(p)
	default:
		p.null = true
	}
}

func (b *planner) nativeStruct(p *typePlan) {
	t := p.typ
	if inner := wrapped(t); inner != nil {
		t = inner
	}
	switch holder(t) {
	case "opt":
		p.kind, p.null = planOpt, true
		p.elem = b.plan(t.Field(0).Type.Elem())
	case "literal":
		p.kind, p.null = planLiteral, true
	case "oneof":
		p.kind = planUnion
		b.unionOf(p)
	default:
		p.kind = planStruct
		b.structOf(p)
	}
}
