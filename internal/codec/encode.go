package codec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
)

// encoder writes one value.
type encoder struct {
	buf   []byte
	depth int
	// keys are the names of the maps being written, sorted each for itself.
	keys []mapKey
}

type mapKey struct {
	name  string
	index int // of the value
}

// value writes v by its plan. Nil slices and maps are written empty, nil
// pointers null.
func (e *encoder) value(p *typePlan, v reflect.Value) *failure {
	switch p.kind {
	case planString:
		e.buf = appendString(e.buf, v.String())
	case planBool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case planInt:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case planUint:
		e.buf = strconv.AppendUint(e.buf, v.Uint(), 10)
	case planFloat:
		var ok bool
		if e.buf, ok = appendFloat(e.buf, v.Float()); !ok {
			return failed("JSON has no " + strconv.FormatFloat(v.Float(), 'g', -1, 64))
		}
	case planNumber:
		return e.number(v.String())
	case planRaw:
		return e.raw(v.Bytes())
	case planLiteral:
		text := p.holderField(v).String()
		if text == "" {
			return failed(reasonNotSet)
		}
		e.buf = append(e.buf, text...)
	case planForeign:
		return e.foreign(v)
	default:
		if e.depth++; e.depth > maxDepth {
			return failed(reasonDeep + ": does it contain itself?")
		}
		f := e.nested(p, v)
		e.depth--
		return f
	}
	return nil
}

// nested writes values that may hold others.
func (e *encoder) nested(p *typePlan, v reflect.Value) *failure {
	switch p.kind {
	case planPointer:
		if v.IsNil() {
			e.null()
			return nil
		}
		return e.value(p.elem, v.Elem())
	case planOpt:
		pointer := v.Field(0)
		if pointer.IsNil() {
			e.null()
			return nil
		}
		return e.value(p.elem, exportedPointer(pointer))
	case planSlice:
		return e.slice(p, v)
	case planMap:
		return e.object(p, v)
	case planStruct:
		return e.structValue(p, v)
	case planTuple:
		return e.tuple(p, v)
	default: // planUnion
		return e.union(p, v)
	}
}

func (e *encoder) null() { e.buf = append(e.buf, "null"...) }

func (e *encoder) number(s string) *failure {
	if s == "" {
		s = "0" // as in encoding/json: the zero value is zero
	}
	d := decoder{data: []byte(s)}
	if f := d.number(); f != nil || d.pos < len(s) {
		return failed("not a JSON number")
	}
	e.buf = append(e.buf, s...)
	return nil
}

func (e *encoder) raw(raw []byte) *failure {
	if len(raw) == 0 {
		return failed(reasonNotSet)
	}
	if f := checkJSON(raw); f != nil {
		return f
	}
	e.buf = append(e.buf, raw...)
	return nil
}

// foreign leaves a value to encoding/json.
func (e *encoder) foreign(v reflect.Value) *failure {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var err error
	if v.CanAddr() {
		err = enc.Encode(v.Addr().Interface())
	} else {
		err = enc.Encode(v.Interface())
	}
	if err != nil {
		return foreignFailure(err)
	}
	e.buf = append(e.buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	return nil
}

func (e *encoder) slice(p *typePlan, v reflect.Value) *failure {
	e.buf = append(e.buf, '[')
	for i := range v.Len() {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if f := e.value(p.elem, v.Index(i)); f != nil {
			return f.under(i)
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

// object writes a map with its own braces.
func (e *encoder) object(p *typePlan, v reflect.Value) *failure {
	e.buf = append(e.buf, '{')
	if f := e.members(p, v, nil); f != nil {
		return f
	}
	e.buf = append(e.buf, '}')
	return nil
}

// members writes the members of a map, sorted, into an object that has been
// begun. Taken, unless nil, tells why one cannot be written.
func (e *encoder) members(p *typePlan, v reflect.Value, taken func(name string) *failure) *failure {
	n := v.Len()
	if n == 0 {
		return nil
	}
	base := len(e.keys)
	var raws map[string]json.RawMessage
	var values reflect.Value
	if m, ok := reflect.TypeAssert[map[string]json.RawMessage](v); ok {
		raws = m
		for name := range m {
			e.keys = append(e.keys, mapKey{name: name})
		}
	} else {
		values = reflect.MakeSlice(reflect.SliceOf(p.typ.Elem()), n, n)
		key := reflect.New(p.typ.Key()).Elem()
		for it := v.MapRange(); it.Next(); {
			key.SetIterKey(it)
			i := len(e.keys) - base
			values.Index(i).SetIterValue(it)
			e.keys = append(e.keys, mapKey{key.String(), i})
		}
	}
	keys := e.keys[base:]
	slices.SortFunc(keys, compareKeys)
	for i := range keys {
		k := keys[i]
		if taken != nil {
			if f := taken(k.name); f != nil {
				return f.under(k.name)
			}
		}
		e.comma()
		e.buf = append(appendString(e.buf, k.name), ':')
		var f *failure
		if raws != nil {
			f = e.raw(raws[k.name])
		} else {
			f = e.value(p.elem, values.Index(k.index))
		}
		if f != nil {
			return f.under(k.name)
		}
	}
	clear(e.keys[base:])
	e.keys = e.keys[:base]
	return nil
}

func compareKeys(a, b mapKey) int {
	switch {
	case a.name < b.name:
		return -1
	case a.name > b.name:
		return 1
	}
	return 0
}

// comma separates a member from the one before it.
func (e *encoder) comma() {
	if e.buf[len(e.buf)-1] != '{' {
		e.buf = append(e.buf, ',')
	}
}
