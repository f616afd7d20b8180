package codec_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

func seeds() []string {
	return []string{
		`{"text":"x","count":0,"tags":[],"null":"","nulls":[],"opt":null,"free":null,"a,\"b\"\n<":false,"kind":{"a":1},"more":[ 1.00 ]}`,
		`{"name":"a","children":[{"name":"b"}],"by":{"x":{"name":"c"}},"next":{"name":"e"},"opt":null}`,
		`{"l":"a","ls":["a",{"name":"b"},["c",[]],1],"o":{"name":"x"},"s":{"kind":"circle","r":1},"by":{"a":{"side":1,"kind":1.0}},"m":[1e0]}`,
		`[1.5,null,"a",null,{"x":[1,{}]}]`, `["v1",2]`, `[0,"\ud83d\ude00",null]`, `{"sub":{"sub":{"sub":120}},"x":1}`, `{"c":null,"d":["",null],"x":null}`,
		`{"b":true,"i":-1e2,"u":255,"s":-128,"f":1.5e-7,"n":1.00,"l":[],"m":{"a":1},"r":0,"d":"soon","y":"aGk=","a":{"x":[1,null]}}`,
		`{"l":null,"p":[],"n":{"a":1,"b":"\u0000"}}`, `null`, ` [ ] `, `{}`, `"`, `{"a":1}`, `9007199254740993`, `1e400`, "\"\xff\"", `{"a":{},"a":{}}`, `-`, `nul`, `[[[[1]]]]`,
	}
}

// fuzzed are types of every form.
func fuzzed() []any {
	return []any{
		new(all), new(closed), new(lenient), new(tree), new(chain), new(holdsLoose), new(loose), new(point), new(pair), new(tagged), new(scalars), new(holdsUnions),
		new(label), new(shape), new(amount), new(mode), new(outer), new([]float64), new(map[string]amount), new(runtime.Opt[runtime.URI]), new(json.RawMessage),
	}
}

// FuzzDecode: any text is read or refused; what is read is JSON, and is written
// as the same JSON, which is read as the same.
func FuzzDecode(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, of := range fuzzed() {
			v := reflect.New(reflect.TypeOf(of).Elem()).Interface()
			if err := codec.Decode([]byte(in), v); err != nil {
				continue
			}
			if !json.Valid([]byte(in)) {
				t.Fatalf("%T: %q is not JSON and was read", v, in)
			}
			out, err := codec.Encode(v)
			if err != nil {
				t.Fatalf("%T: %q was read and cannot be written: %v", v, in, err)
			}
			if !alike(value(t, in), value(t, string(out)), v) {
				t.Fatalf("%T: %q was written %q", v, in, out)
			}
			again := reflect.New(reflect.TypeOf(of).Elem()).Interface()
			if err := codec.Decode(out, again); err != nil {
				t.Fatalf("%T: %q was written %q, which cannot be read: %v", v, in, out, err)
			}
			if b, err := codec.Encode(again); err != nil || !bytes.Equal(b, out) {
				t.Fatalf("%T: %q was written %q, then %q, %v", v, in, out, b, err)
			}
		}
	})
}

func value(t *testing.T, s string) any {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return v
}

// alike compares values: integers exactly, other numbers also as float64. What
// a type is meant to drop may be missing in b.
func alike(a, b, of any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		return ok && alikeNumbers(string(a), string(n))
	case []any:
		s, ok := b.([]any)
		if !ok || len(a) != len(s) {
			return false
		}
		for i := range a {
			if !alike(a[i], s[i], of) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := b.(map[string]any)
		for name, v := range a {
			w, there := m[name]
			_, isLenient := of.(*lenient)
			_, isOuter := of.(*outer) // has a type that encoding/json reads
			switch {
			case !there && (isLenient && v == nil || isOuter):
			case !there || !alike(v, w, of) && !isOuter:
				return false
			}
		}
		return ok && len(m) <= len(a)
	default:
		return a == b
	}
}

func alikeNumbers(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > 400 || len(b) > 400 || hugeExponent(a) || hugeExponent(b) {
		return true // not worth the arithmetic
	}
	x, xok := new(big.Rat).SetString(a)
	y, yok := new(big.Rat).SetString(b)
	if !xok || !yok {
		return false
	}
	if x.Cmp(y) == 0 {
		return true
	}
	f, _ := x.Float64()
	g, _ := y.Float64()
	return !x.IsInt() && f == g
}

func hugeExponent(s string) bool {
	_, e, _ := strings.Cut(strings.ToLower(s), "e")
	return len(strings.TrimLeft(e, "+-0")) > 3
}

// FuzzRaw: what is kept raw is exactly what encoding/json calls valid, and
// keeps its bytes.
func FuzzRaw(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var raw json.RawMessage
		err := codec.Decode([]byte(in), &raw)
		if valid := json.Valid([]byte(in)); valid != (err == nil) {
			t.Fatalf("%q: got %v, valid: %t", in, err, valid)
		}
		if err != nil {
			return
		}
		if want := strings.Trim(in, " \t\r\n"); string(raw) != want {
			t.Fatalf("got %q, want %q", raw, want)
		}
		c, err := codec.CanonicalJSON(raw)
		if err != nil || !alike(value(t, in), value(t, string(c)), nil) {
			t.Fatalf("%q: canonical %q, %v", in, c, err)
		}
		if again, err := codec.CanonicalJSON(c); err != nil || !bytes.Equal(again, c) {
			t.Fatalf("%q: canonical %q, then %q, %v", in, c, again, err)
		}
	})
}

// FuzzStrings: strings are read and written as encoding/json does.
func FuzzStrings(f *testing.F) {
	for _, s := range []string{"", "a", "\x00\x1f\x7f", "\xff\xc0\xed\xa0\x80", "😀\u2028", `"\/`, "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := codec.Encode(&s)
		require.NoError(t, err)
		var got, want, back string
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%q was written %q: %v", s, out, err)
		}
		if !utf8.Valid(out) {
			t.Fatalf("%q was written %q", s, out)
		}
		theirs, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(theirs, &want))
		if err := codec.Decode(theirs, &back); err != nil || got != want || back != want {
			t.Fatalf("%q: got %q, %q, %v, want %q", s, got, back, err, want)
		}
		quoted := `"` + s + `"`
		errTheirs := json.Unmarshal([]byte(quoted), &want)
		if err := codec.Decode([]byte(quoted), &back); (err == nil) != (errTheirs == nil) || err == nil && back != want {
			t.Fatalf("%s: got %q, %v, want %q, %v", quoted, back, err, want, errTheirs)
		}
	})
}

// FuzzNumbers compares the reading of numbers with exact arithmetic.
func FuzzNumbers(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "1.0", "1e3", "1.5", "15e-1", "150e-1", "1E+2", "0.1e1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775808.0", "1e18", "1e19", "1e999999999", "0e999999999", "1e-999999999", "0.000000000000000000000001e24", "", "-", "01", "1.", "x", `"1"`, "true",
		"9007199254740993", "9007199254740992.0", "18446744073709552000", "18446744073709551616", "1e23", "1e308", "1e309", "5e-324", "1e-325", "0.1", "0.30000000000000004", "1e21", "123456789012345678901", "1e-9", "1e-7", "0.000001", "-1.5e-10",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 300 || strings.ContainsAny(s, " \t\r\n") {
			return
		}
		r, number := exact(s)
		var i int64
		if err := codec.Decode([]byte(s), &i); r != nil || !number {
			fits := number && r.IsInt() && r.Num().IsInt64()
			if fits != (err == nil) || fits && r.Num().Int64() != i {
				t.Fatalf("%s: got %d, %v", s, i, err)
			}
		}
		var x float64
		err := codec.Decode([]byte(s), &x)
		if !number {
			if err == nil {
				t.Fatalf("%s: got %v", s, x)
			}
			return
		}
		if r == nil {
			return
		}
		want, _ := r.Float64()
		out, encodeErr := codec.Encode(&x)
		if err != nil {
			if b, e := codec.Encode(&want); e == nil { // it is finite
				if back, ok := new(big.Rat).SetString(string(b)); ok && back.Cmp(r) == 0 {
					t.Fatalf("%s: refused without need: %v", s, err)
				}
			}
			return
		}
		if theirs, err := json.Marshal(x); err != nil || string(theirs) != string(out) {
			t.Fatalf("%s: written %s, encoding/json: %s, %v", s, out, theirs, err)
		}
		back, ok := new(big.Rat).SetString(string(out))
		if encodeErr != nil || !ok || x != want || r.IsInt() && back.Cmp(r) != 0 {
			t.Fatalf("%s: got %v, written %s, %v", s, x, out, encodeErr)
		}
	})
}

// exact gives a number's value; nil where its exponent is too large for that.
func exact(s string) (r *big.Rat, number bool) {
	if !json.Valid([]byte(s)) || strings.ContainsAny(s[:1], `tfn"[{`) {
		return nil, false
	}
	if hugeExponent(s) {
		return nil, true
	}
	r, number = new(big.Rat).SetString(s)
	return r, number
}
