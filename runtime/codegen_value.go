package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// encodeValue appends v as JSON. Unlike json.Marshal it writes nil slices and
// maps as empty ones, leaves raw messages as they are and escapes no HTML.
func encodeValue(out []byte, v reflect.Value) ([]byte, error) {
	t := v.Type()
	switch {
	case isRaw(t):
		raw := v.Bytes()
		if raw == nil {
			return append(out, "null"...), nil
		}
		if !json.Valid(raw) {
			return nil, fmt.Errorf("not JSON: %s", clip(raw))
		}
		return append(out, raw...), nil
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			return append(out, "null"...), nil
		}
		return encodeValue(out, v.Elem())
	}
	if m, ok := reflect.TypeAssert[json.Marshaler](v); ok {
		b, err := m.MarshalJSON()
		return append(out, b...), err
	}
	switch t.Kind() {
	case reflect.Slice:
		out = append(out, '[')
		for i := range v.Len() {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = encodeValue(out, v.Index(i)); err != nil {
				return nil, at(strconv.Itoa(i), err)
			}
		}
		return append(out, ']'), nil
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		out = append(out, '{')
		for _, k := range keys {
			var err error
			if out, err = encodeValue(encodeKey(out, k.String()), v.MapIndex(k)); err != nil {
				return nil, at(k.String(), err)
			}
		}
		return append(out, '}'), nil
	default: // encoding/json has the rest right
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Interface()); err != nil {
		return nil, err
	}
	return append(out, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...), nil
}

// encodeKey appends a member name and a colon, after a comma where one is due.
func encodeKey(out []byte, name string) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	// A string always has a JSON form.
	out, _ = encodeValue(out, reflect.ValueOf(name))
	return append(out, ':')
}

// decodeValue reads JSON into v, which must be settable. It takes 1.0 and 1e3
// for the integers they are, and null only where v can tell it from zero.
func decodeValue(raw json.RawMessage, v reflect.Value) error {
	t := v.Type()
	if isRaw(t) {
		v.SetBytes(bytes.Clone(raw))
		return nil
	}
	if t.Kind() == reflect.Pointer {
		if isNull(raw) {
			v.SetZero()
			return nil
		}
		p := reflect.New(t.Elem())
		if err := decodeValue(raw, p.Elem()); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	if u, ok := reflect.TypeAssert[json.Unmarshaler](v.Addr()); ok {
		return u.UnmarshalJSON(raw)
	}
	if isNull(raw) {
		return errors.New("null is not allowed")
	}
	switch t.Kind() {
	case reflect.Slice:
		return decodeSlice(raw, v)
	case reflect.Map:
		return decodeMap(raw, v)
	case reflect.Int64:
		i, err := parseInteger(string(bytes.TrimSpace(raw)))
		if err != nil {
			return err
		}
		v.SetInt(i)
		return nil
	case reflect.String:
		if t == reflect.TypeFor[json.Number]() && !startsNumber(raw) {
			return mismatch("a number", raw)
		}
	default: // encoding/json has the rest right
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		return mismatch(describe(t), raw)
	}
	return nil
}

func decodeSlice(raw json.RawMessage, v reflect.Value) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return mismatch("an array", raw)
	}
	s := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if err := decodeValue(item, s.Index(i)); err != nil {
			return at(strconv.Itoa(i), err)
		}
	}
	v.Set(s)
	return nil
}

func decodeMap(raw json.RawMessage, v reflect.Value) error {
	var items map[string]json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return mismatch("an object", raw)
	}
	m := reflect.MakeMapWithSize(v.Type(), len(items))
	for k, item := range items {
		e := reflect.New(v.Type().Elem()).Elem()
		if err := decodeValue(item, e); err != nil {
			return at(k, err)
		}
		m.SetMapIndex(reflect.ValueOf(k), e)
	}
	v.Set(m)
	return nil
}

// parseInteger reads a JSON number that has no fractional part, however it is
// written: JSON Schema counts 1.0 and 1e3 as integers (2020-12, validation
// 6.1.1), strconv does not.
func parseInteger(s string) (int64, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	if s == "" || !startsNumber(json.RawMessage(s)) || !json.Valid([]byte(s)) {
		return 0, mismatch("an integer", json.RawMessage(s))
	}
	mantissa, exp, _ := strings.Cut(strings.ToLower(s), "e")
	neg := strings.HasPrefix(mantissa, "-")
	whole, frac, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	frac = strings.TrimRight(frac, "0")
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return 0, nil
	}
	shift := -len(frac)
	if exp != "" {
		e, err := strconv.Atoi(exp)
		if err != nil || e > 1000 || e < -1000-len(digits) {
			return 0, mismatch("an integer of 64 bits", json.RawMessage(s))
		}
		shift += e
	}
	for shift < 0 && strings.HasSuffix(digits, "0") {
		digits = digits[:len(digits)-1]
		shift++
	}
	if shift < 0 {
		return 0, mismatch("an integer", json.RawMessage(s))
	}
	if len(digits)+shift > 19 {
		return 0, mismatch("an integer of 64 bits", json.RawMessage(s))
	}
	digits += strings.Repeat("0", shift)
	if neg {
		digits = "-" + digits
	}
	i, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, mismatch("an integer of 64 bits", json.RawMessage(s))
	}
	return i, nil
}

func startsNumber(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// pathError is a failure at a place inside a JSON value.
type pathError struct {
	path string // a JSON pointer
	err  error
}

func (e *pathError) Error() string { return "at " + e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// at puts a step in front of the path of an error.
func at(step string, err error) error {
	step = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
	if p, ok := err.(*pathError); ok { //nolint:errorlint // only the outermost has the whole path
		return &pathError{path: step + p.path, err: p.err}
	}
	return &pathError{path: step, err: err}
}

func mismatch(want string, got json.RawMessage) error {
	return fmt.Errorf("got %s, want %s", clip(got), want)
}

func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	default:
		return t.String()
	}
}

// clip shortens JSON for a message.
func clip(raw json.RawMessage) string {
	const limit = 60
	s := strings.TrimSpace(string(raw))
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

func isRaw(t reflect.Type) bool { return t == reflect.TypeFor[json.RawMessage]() }

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func nilable(v reflect.Value) bool {
	k := v.Kind()
	return k == reflect.Pointer || k == reflect.Slice || k == reflect.Map
}

// sameJSON compares two JSON texts by value; numbers by their digits, or as
// floats where they are written differently.
func sameJSON(a, b json.RawMessage) bool {
	decode := func(raw json.RawMessage) (v any, ok bool) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		return v, d.Decode(&v) == nil
	}
	av, aok := decode(a)
	bv, bok := decode(b)
	return aok && bok && sameValue(av, bv)
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok || a == b {
			return ok
		}
		i, ierr := parseInteger(string(a))
		j, jerr := parseInteger(string(b))
		if ierr == nil || jerr == nil {
			return ierr == nil && jerr == nil && i == j
		}
		x, xerr := a.Float64()
		y, yerr := b.Float64()
		return xerr == nil && yerr == nil && x == y
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !sameValue(v, w) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}
