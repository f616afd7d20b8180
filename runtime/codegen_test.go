package runtime_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
)

// item is what the generator writes, in short.
type item struct {
	ID    int64
	Tags  []string
	Note  *string
	State runtime.Opt[string]
	Next  runtime.Opt[item]
	Free  json.RawMessage
	Extra map[string]json.RawMessage
}

func (v *item) object() *runtime.Object {
	return new(runtime.Object).Required("id", &v.ID).Const("kind", `"item"`).Nullable("tags", &v.Tags).Optional("note", &v.Note).
		Optional("state", &v.State).Optional("next", &v.Next).Optional("free", &v.Free).Rest(&v.Extra)
}
func (v item) MarshalJSON() ([]byte, error)  { return v.object().Marshal() }
func (v *item) UnmarshalJSON(b []byte) error { return v.object().Unmarshal(b) }
func raw(s string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"x": json.RawMessage(s)}
}

func clone(t *testing.T, v item) (out item)  { t.Helper(); decode(t, encode(t, v), &out); return out }
func decode(t *testing.T, s string, v *item) { t.Helper(); fatal(t, json.Unmarshal([]byte(s), v)) }
func encode(t *testing.T, v item) string {
	t.Helper()
	b, err := v.MarshalJSON()
	fatal(t, err)
	return string(b)
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
func valueOf[T any](o runtime.Opt[T]) (v T)     { v, _ = o.Get(); return v }
func isValue[T any](o runtime.Opt[T]) (ok bool) { _, ok = o.Get(); return ok }

func TestObject(t *testing.T) {
	tests := []struct {
		name string
		v    item
		want string
	}{
		{"zero", item{}, `{"id":0,"kind":"item","tags":null}`},
		{"empty and null", item{Tags: []string{}, State: runtime.Null[string](), Free: []byte("null")}, `{"id":0,"kind":"item","tags":[],"state":null,"free":null}`},
		{
			"values",
			item{ID: -1, Note: new(""), State: runtime.Some("<"), Next: runtime.Some(item{ID: 2})},
			`{"id":-1,"kind":"item","tags":null,"note":"","state":"<","next":{"id":2,"kind":"item","tags":null}}`,
		},
		{"rest", item{Extra: raw(`1.00`)}, `{"id":0,"kind":"item","tags":null,"x":1.00}`},
		{"rest in place of an absent field", item{Extra: map[string]json.RawMessage{"note": []byte("7")}}, `{"id":0,"kind":"item","tags":null,"note":7}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := encode(t, tt.v); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if tt.v.Extra["note"] != nil {
				return // reads back as a field, which is a text
			}
			if diff := cmp.Diff(tt.v, clone(t, tt.v)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpt(t *testing.T) {
	absent, null, zero := runtime.Opt[int64]{}, runtime.Null[int64](), runtime.Some(int64(0))
	for _, tt := range []struct {
		o              runtime.Opt[int64]
		isZero, isNull bool
		value          bool
	}{{absent, true, false, false}, {null, false, true, false}, {zero, false, false, true}} {
		if tt.o.IsZero() != tt.isZero || tt.o.IsNull() != tt.isNull || isValue(tt.o) != tt.value {
			t.Errorf("%+v: got %t %t %t", tt, tt.o.IsZero(), tt.o.IsNull(), isValue(tt.o))
		}
	}
	if absent.Equal(null) || null.Equal(zero) || !zero.Equal(runtime.Some(int64(0))) {
		t.Error("Equal mixes them up")
	}
	// Inside a struct of the user's own, with tags.
	type own struct {
		A runtime.Opt[int64] `json:"a,omitzero"`
		B runtime.Opt[int64] `json:"b,omitzero"`
		C runtime.Opt[int64] `json:"c,omitzero"`
	}
	b, err := json.Marshal(own{A: absent, B: null, C: zero})
	fatal(t, err)
	if string(b) != `{"b":null,"c":0}` {
		t.Errorf("got %s", b)
	}
	var back own
	fatal(t, json.Unmarshal([]byte(`{"b":null,"c":1e1}`), &back))
	if !back.A.IsZero() || !back.B.IsNull() || valueOf(back.C) != 10 {
		t.Errorf("got %+v", back)
	}
	if err := json.Unmarshal([]byte(`{"c":"x"}`), &back); err == nil {
		t.Error("a text passes for a number")
	}
}

// FuzzInteger compares the reading of integers with exact arithmetic.
func FuzzInteger(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "1.0", "1e3", "1.5", "15e-1", "150e-1", "1E+2", "0.1e1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775808.0", "1e18", "1e19", "1e999999999", "0e999999999", "1e-999999999", "0.000000000000000000000001e24", "", "-", "01", "1.", "x", `"1"`, "true",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 {
			return
		}
		var v item
		err := json.Unmarshal([]byte(`{"kind":"item","tags":null,"id":`+s+`}`), &v)
		if strings.ContainsAny(s, `,{}[]": `+"\t\r\n") {
			return
		}
		want, ok := exact(s)
		if ok != (err == nil) || ok && v.ID != want {
			t.Errorf("%s: got %d, %v, want %d, %t", s, v.ID, err, want, ok)
		}
	})
}

func exact(s string) (int64, bool) {
	if !json.Valid([]byte(s)) || strings.ContainsAny(s[:1], "tfn") {
		return 0, false
	}
	mantissa, exp, _ := strings.Cut(strings.ToLower(s), "e")
	if e, ok := new(big.Int).SetString(strings.TrimPrefix(exp, "+"), 10); ok && e.CmpAbs(big.NewInt(2000)) > 0 {
		r, ok := new(big.Rat).SetString(mantissa)
		return 0, ok && r.Sign() == 0
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}
