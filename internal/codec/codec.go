package codec

import (
	"reflect"
	"sync"
)

// maxDepth is how deep values may be nested, as in encoding/json.
const maxDepth = 10000

// Encode writes what v points to, or v. Methods of its own type are used, if it
// has any.
func Encode(v any) ([]byte, error) { return encodeRoot(v, planFor) }

// EncodeSelf is Encode for a MarshalJSON method: it is not called again.
func EncodeSelf(v any) ([]byte, error) { return encodeRoot(v, selfPlan) }

// Decode reads into what v points to. Methods of its own type are used, if it
// has any. After an error v holds some of the values.
func Decode(b []byte, v any) error { return decodeRoot(b, v, planFor) }

// DecodeSelf is Decode for an UnmarshalJSON method: it is not called again.
func DecodeSelf(b []byte, v any) error { return decodeRoot(b, v, selfPlan) }

func encodeRoot(v any, plan func(reflect.Type) *typePlan) ([]byte, error) {
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer {
		rv = rv.Elem()
	}
	if rv.Kind() == reflect.Interface {
		rv = rv.Elem()
	}
	if !rv.IsValid() {
		return []byte("null"), nil
	}
	e := encoderPool.Get().(*encoder)
	if f := e.value(plan(rv.Type()), rv); f != nil {
		e.release()
		return nil, f.fault()
	}
	out := append([]byte(nil), e.buf...)
	e.release()
	return out, nil
}

// encoderPool keeps buffers between calls.
//
//nolint:gochecknoglobals // a cache; no call sees what another left in it
var encoderPool = sync.Pool{New: func() any { return new(encoder) }}

func (e *encoder) release() {
	const keep, keepKeys = 1 << 20, 1 << 12 // what is larger goes to the garbage collector
	if cap(e.buf) > keep {
		e.buf = nil
	}
	if cap(e.keys) > keepKeys {
		e.keys = nil
	}
	clear(e.keys)
	e.buf, e.keys, e.depth = e.buf[:0], e.keys[:0], 0
	encoderPool.Put(e)
}

func decodeRoot(b []byte, v any, plan func(reflect.Type) *typePlan) error {
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Pointer || rv.IsNil() {
		return &Fault{Reason: "decoding needs a pointer to read into"}
	}
	rv = rv.Elem()
	d := decoder{data: b}
	d.space()
	f := d.value(plan(rv.Type()), rv)
	if f == nil {
		d.space()
		if d.pos < len(d.data) {
			f = d.unexpected()
		}
	}
	if f != nil {
		return f.fault()
	}
	return nil
}
