package runtime_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestOpt(t *testing.T) {
	absent, null, zero := runtime.Opt[int64]{}, runtime.Null[int64](), runtime.Some(int64(0))
	for _, tt := range []struct {
		o              runtime.Opt[int64]
		isZero, isNull bool
		value          bool
	}{{absent, true, false, false}, {null, false, true, false}, {zero, false, false, true}} {
		if _, ok := tt.o.Get(); tt.o.IsZero() != tt.isZero || tt.o.IsNull() != tt.isNull || ok != tt.value {
			t.Errorf("%+v: got %t %t %t", tt, tt.o.IsZero(), tt.o.IsNull(), ok)
		}
	}
	if absent.Equal(null) || null.Equal(zero) || !zero.Equal(runtime.Some(int64(0))) {
		t.Error("Equal mixes them up")
	}
}

// TestOptForeign: inside a struct that encoding/json writes.
func TestOptForeign(t *testing.T) {
	type own struct {
		A runtime.Opt[int64]    `json:"a,omitzero"`
		B runtime.Opt[int64]    `json:"b,omitzero"`
		C runtime.Opt[int64]    `json:"c,omitzero"`
		D runtime.Opt[[]string] `json:"d"`
	}
	v := own{B: runtime.Null[int64](), C: runtime.Some(int64(0)), D: runtime.Some[[]string](nil)}
	b, err := json.Marshal(v)
	if err != nil || string(b) != `{"b":null,"c":0,"d":[]}` {
		t.Errorf("got %s, %v", b, err)
	}
	var back own
	require.NoError(t, json.Unmarshal([]byte(`{"b":null,"c":1e1,"d":["x"]}`), &back))
	if c, _ := back.C.Get(); !back.A.IsZero() || !back.B.IsNull() || c != 10 {
		t.Errorf("got %+v", back)
	}
	if err := json.Unmarshal([]byte(`{"b":1,"c":null}`), &back); err != nil || back.B.IsNull() || !back.C.IsNull() {
		t.Errorf("read again: got %+v, %v", back, err)
	}
	err = json.Unmarshal([]byte(`{"d":["x",1]}`), &back)
	if field, ok := errors.AsType[*runtime.FieldError](err); !ok || field.Pointer != "/1" || field.Reason != "got 1, want a string" {
		t.Errorf("got %v", err)
	}
	if _, err := json.Marshal(runtime.Some(json.RawMessage("{"))); err == nil {
		t.Error("what is not JSON is written")
	}
}
