package codec_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/internal/codec"
)

// TestDeep: nesting is bounded by an error, not by the stack.
func TestDeep(t *testing.T) {
	nest := func(open, inside, end string, n int) []byte {
		return []byte(strings.Repeat(open, n) + inside + strings.Repeat(end, n))
	}
	for _, tt := range []struct {
		name string
		of   any
		in   []byte
		fine bool
	}{
		{"raw", new(json.RawMessage), nest("[", "", "]", 10000), true},
		{"raw, too deep", new(json.RawMessage), nest("[", "", "]", 10001), false},
		{"tree", new(tree), nest(`{"name":"","children":[`, ``, `]}`, 4999), true},
		{"tree, too deep", new(tree), nest(`{"name":"","children":[`, ``, `]}`, 1<<20), false},
		{"opt, too deep", new(tree), nest(`{"name":"","opt":`, `{"name":""}`, `}`, 1<<17), false},
		{"union, too deep", new(label), nest(`[`, ``, `]`, 1<<17), false},
		{"literal, too deep", new(mode), nest(`[`, ``, `]`, 1<<17), false},
		{"breaks off", new(tree), nest(`{"name":"","next":`, ``, ``, 1<<17), false},
	} {
		if err := codec.Decode(tt.in, tt.of); (err == nil) != tt.fine {
			t.Errorf("%s: got %.300v", tt.name, err)
		} else if tt.fine {
			if _, err := codec.Encode(tt.of); err != nil {
				t.Errorf("%s: written: %.300v", tt.name, err)
			}
		}
	}
}

// TestUnionsInUnions: each level of amount tries two arms, so that without a
// bound this would take 2^2000 tries.
func TestUnionsInUnions(t *testing.T) {
	const depth = 2000
	in := strings.Repeat(`{"sub":`, depth) + `"unknown"` + strings.Repeat(`}`, depth)
	var v amount
	err := codec.Decode([]byte(in), &v)
	if err == nil {
		var out []byte
		if out, err = codec.Encode(&v); err == nil && string(out) != in {
			t.Errorf("got %.100s…", out)
		}
	}
	if err != nil && !strings.Contains(err.Error(), "unions in unions") {
		t.Errorf("got %.300v", err)
	}
	// A discriminator at the end is looked for past all that is inside.
	in = strings.Repeat(`{"sub":`, 4000) + `1` + strings.Repeat(`,"kind":"x"}`, 4000)
	var s shape
	if err := codec.Decode([]byte(in), &s); err != nil && !strings.Contains(err.Error(), "unions in unions") {
		t.Errorf("got %.300v", err)
	}
}

// TestFirstArm: the first that fits and that Validate passes, then the first
// that fits.
func TestFirstArm(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want any
	}{
		{`7`, amountSmall(7)},
		{`7.0`, amountSmall(7)},
		{`70`, amountInt(70)},
		{`700`, amountFloat(700)},
		{`7.5`, amountFloat(7.5)},
		{`1e400`, amountUnknown(`1e400`)},
		{`"x"`, amountUnknown(`"x"`)},
	} {
		var v amount
		if err := codec.Decode([]byte(tt.in), &v); err != nil {
			t.Errorf("%s: %v", tt.in, err)
		}
		if got, ok := tt.want.(amountUnknown); ok {
			if u, ok := v.Value().(amountUnknown); !ok || string(u) != string(got) {
				t.Errorf("%s: got %#v", tt.in, v.Value())
			}
		} else if v.Value() != tt.want {
			t.Errorf("%s: got %#v, want %#v", tt.in, v.Value(), tt.want)
		}
	}
	var v amount
	if err := codec.Decode([]byte(`{"sub":"x"}`), &v); err != nil {
		t.Fatal(err)
	}
	if _, ok := v.Value().(amountNode); !ok {
		t.Errorf("got %#v", v.Value())
	}
}

// TestModes: a literal can be compared.
func TestModes(t *testing.T) {
	var m mode
	if err := codec.Decode([]byte(` "\u0061uto" `), &m); err != nil || m != modeAuto {
		t.Errorf("got %v, %v", m, err)
	}
}

// TestConcurrently: plans are made while others use them.
func TestConcurrently(t *testing.T) {
	type node struct {
		Name string           `json:"name"`
		Kids []map[string]any `json:"kids,omitzero"`
		L    *label           `json:"l,omitzero"`
		_    struct{}         `mcp:"closed"`
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var v node
			const text = `{"name":"x","kids":[{}],"l":"y"}`
			if err := codec.Decode([]byte(text), &v); err != nil {
				t.Error(err)
			}
			if b, err := codec.Encode(v); err != nil || string(b) != text {
				t.Errorf("got %s, %v", b, err)
			}
		})
	}
	all.Wait()
}
