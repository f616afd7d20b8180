package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/test/require"
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
	// What is not JSON is not tried again with the next arm.
	if err := codec.Decode([]byte(in[:len(in)/2]), &v); err == nil || !strings.Contains(err.Error(), "breaks off") {
		t.Errorf("got %.300v", err)
	}
	// A discriminator at the end is looked for past all that is inside.
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"sub":`, depth) + `1` + strings.Repeat(`,"kind":"node"}`, depth))
	}
	var c delayed
	if err := codec.Decode(nested(30), &c); err != nil {
		t.Error(err)
	}
	if err := codec.Decode(nested(4000), &c); err == nil || !strings.Contains(err.Error(), "unions in unions") {
		t.Errorf("got %.300v", err)
	}
}

// TestFirstMember: one that comes first, as it mostly does, is found without a
// look at the rest, however deep it is.
func TestFirstMember(t *testing.T) {
	const depth = 3000
	in := strings.Repeat(`{"kind":"node","sub":`, depth) + `1` + strings.Repeat(`}`, depth)
	var v delayed
	if err := codec.Decode([]byte(in), &v); err != nil {
		t.Fatalf("got %.300v", err)
	}
}

// many has arms that only trying tells apart.
type many struct{ codegen.OneOf[manyArm] }

type (
	manyArm     interface{ isMany() }
	manyInvalid struct {
		X *string  `json:"x,omitzero"`
		_ struct{} `mcp:"closed"`
	}
	manyRight struct {
		X *string  `json:"x,omitzero"`
		_ struct{} `mcp:"closed"`
	}
	manyUnknown json.RawMessage
)

func (manyInvalid) isMany() {}
func (manyRight) isMany()   {}
func (manyUnknown) isMany() {}

// Validate passes none with an x, as a rule on it would.
func (m manyInvalid) Validate() error {
	if m.X != nil {
		return errors.New("x")
	}
	return nil
}

func (many) Arms() []codegen.Arm {
	return append(slices.Repeat([]codegen.Arm{codegen.ArmOfFirst[manyInvalid]("object")}, 60), codegen.ArmOfFirst[manyRight]("object"), codegen.ArmUnknown[manyUnknown]())
}

// TestManyArms: a union by itself reads what it holds for each arm, and may.
func TestManyArms(t *testing.T) {
	in := "[" + strings.Repeat(`{"x":"`+strings.Repeat("a", 1000)+`"},`, 200) + `{}]`
	var v []many
	if err := codec.Decode([]byte(in), &v); err != nil {
		t.Fatalf("got %.300v", err)
	}
	if _, ok := v[0].Value().(manyRight); !ok {
		t.Errorf("got %T", v[0].Value())
	}
}

// delayed has its discriminator wherever the server puts it.
type delayed struct{ codegen.OneOf[unknownArm] }

type (
	unknownArm interface{ isDeep() }
	deepNode   struct {
		Sub  delayed  `json:"sub"`
		Kind string   `json:"kind"`
		_    struct{} `mcp:"closed"`
	}
	deepUnknown json.RawMessage
)

func (deepNode) isDeep()    {}
func (deepUnknown) isDeep() {}

func (delayed) Arms() []codegen.Arm {
	return []codegen.Arm{codegen.ArmOfMember[deepNode]("kind", `"node"`), codegen.ArmUnknown[deepUnknown]()}
}

// retried tries two arms at each level, of which the first fails at its end.
type retried struct{ codegen.OneOf[retriedArm] }

type (
	retriedArm  interface{ isRetried() }
	retriedText struct {
		Sub retried  `json:"sub"`
		X   string   `json:"x"`
		_   struct{} `mcp:"closed"`
	}
	retriedInt struct {
		Sub retried  `json:"sub"`
		X   int64    `json:"x"`
		_   struct{} `mcp:"closed"`
	}
	retriedUnknown json.RawMessage
)

func (retriedText) isRetried()    {}
func (retriedInt) isRetried()     {}
func (retriedUnknown) isRetried() {}

func (retried) Arms() []codegen.Arm {
	return []codegen.Arm{codegen.ArmOfFirst[retriedText]("object"), codegen.ArmOfFirst[retriedInt]("object"), codegen.ArmUnknown[retriedUnknown]()}
}

// TestRetried: what takes 2^n tries ends with an error, from the depth on where
// that matters.
func TestRetried(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"sub":`, depth) + `0` + strings.Repeat(`,"x":1}`, depth))
	}
	var v retried
	if err := codec.Decode(nested(8), &v); err != nil {
		t.Error(err)
	} else if _, ok := v.Value().(retriedInt); !ok {
		t.Errorf("got %#v", v.Value())
	}
	if err := codec.Decode(nested(60), &v); err == nil || !strings.Contains(err.Error(), "unions in unions") {
		t.Errorf("got %.300v", err)
	}
}

// told are told apart by the members that are there, before any is tried.
type told struct{ codegen.OneOf[toldArm] }

type (
	toldArm  interface{ isTold() }
	toldNeed struct {
		Sub told     `json:"sub"`
		X   int64    `json:"x"`
		_   struct{} `mcp:"closed"`
	}
	toldKind struct {
		Sub told     `json:"sub"`
		_   struct{} `name:"kind" const:"\"b\""`
		_   struct{} `mcp:"closed"`
	}
	toldOpen struct {
		Sub  told                       `json:"sub"`
		Rest map[string]json.RawMessage `json:"-" mcp:"rest"`
	}
	toldUnknown json.RawMessage
)

func (toldNeed) isTold()    {}
func (toldKind) isTold()    {}
func (toldOpen) isTold()    {}
func (toldUnknown) isTold() {}

func (told) Arms() []codegen.Arm {
	return []codegen.Arm{
		codegen.ArmOfFirst[toldNeed]("object"), codegen.ArmOfFirst[toldKind]("object"), codegen.ArmOfFirst[toldOpen]("object"), codegen.ArmUnknown[toldUnknown](),
	}
}

// TestTold: each of these would take 2^60 tries.
func TestTold(t *testing.T) {
	for _, end := range []string{``, `,"x":1,"y":2`, `,"kind":"c"`} {
		var v told
		in := strings.Repeat(`{"sub":`, 60) + `0` + strings.Repeat(end+`}`, 60)
		if err := codec.Decode([]byte(in), &v); err != nil {
			t.Errorf("%s: %.200v", end, err)
		} else if _, ok := v.Value().(toldOpen); !ok {
			t.Errorf("%s: got %#.200v", end, v.Value())
		}
	}
}

// TestAfterFailure: what a failure leaves behind is gone.
func TestAfterFailure(t *testing.T) {
	circle := &tree{}
	circle.Next = circle
	for range 20 {
		if _, err := codec.Encode(circle); err == nil {
			t.Fatal("a circle was written")
		}
		if b, err := codec.Encode([]tree{{Name: "a"}}); err != nil || string(b) != `[{"name":"a"}]` {
			t.Fatalf("got %s, %v", b, err)
		}
	}
}

// TestManyUnions: a long list is not a deep one.
func TestManyUnions(t *testing.T) {
	const one = `{"kind":"square","side":1}`
	in := "[" + strings.Repeat(one+",", 11000) + one + "]"
	var list []shape
	if err := codec.Decode([]byte(in), &list); err != nil || len(list) != 11001 {
		t.Errorf("got %d, %v", len(list), err)
	}
	in = `[{"sub":1}` + strings.Repeat(`,{"sub":1,"y":{}}`, 11000) + "]"
	var amounts []amount
	require.NoError(t, codec.Decode([]byte(in), &amounts))
	for i := range amounts[1:] {
		if _, ok := amounts[i+1].Value().(amountOther); !ok {
			t.Fatalf("got %#v", amounts[i+1])
		}
	}
}

// TestOwnBytes: nothing that was read shares memory with the text, or with what
// the value held before.
func TestOwnBytes(t *testing.T) {
	text := []byte(`{"text":"abc","null":"def","nulls":[1,2],"free":["ghi"],"kind":{"a":1},"x":"jkl"}`)
	var v all
	require.NoError(t, codec.Decode(text, &v))
	before, err := codec.Encode(&v)
	require.NoError(t, err)
	nulls := v.Nulls
	clear(text)
	if after, err := codec.Encode(&v); err != nil || string(after) != string(before) {
		t.Errorf("got %s, %v, want %s", after, err, before)
	}
	if err := codec.Decode([]byte(`{"text":"","null":null,"nulls":[3],"kind":{"a":1}}`), &v); err != nil || nulls[0] != 1 {
		t.Errorf("got %v, %v", nulls, err)
	}
}

// TestIntoUsed: what a value held before is gone.
func TestIntoUsed(t *testing.T) {
	for _, tt := range []struct {
		of         any
		full, want string
	}{
		{new(all), `{"text":"a","count":1,"tags":["x"],"null":"","nulls":[1],"opt":1,"free":1,"kind":{"a":1},"x":1}`, `{"text":"","null":null,"nulls":null,"kind":{"a":1}}`},
		{new(all), `{"text":"a","null":"","nulls":[1],"opt":null,"kind":{"a":1}}`, `{"text":"","null":null,"nulls":null,"opt":2,"kind":{"a":1}}`},
		{new(all), `{"text":"a","null":"","nulls":[1],"opt":2,"kind":{"a":1}}`, `{"text":"","null":null,"nulls":null,"opt":null,"kind":{"a":1}}`},
		{new(loose), `"x"`, `{"b":1}`},
		{new(loose), `{"a":1,"b":1}`, `"x"`},
		{new(point), `[1,"a","b",2,3,4]`, `[1,null]`},
		{new(holdsUnions), `{"l":"a","s":{"kind":"star"},"ls":["a"],"by":{"a":1},"o":"x","m":1}`, `{"l":["b"]}`},
		{new(map[string]int64), `{"a":1}`, `{"b":2}`},
		{new([]*string), `["a","b"]`, `[null]`},
	} {
		for _, s := range []string{tt.full, tt.want} {
			require.NoError(t, codec.Decode([]byte(s), tt.of))
		}
		if got, err := codec.Encode(tt.of); err != nil || string(got) != tt.want {
			t.Errorf("got %s, %v, want %s", got, err, tt.want)
		}
	}
}

// TestManyFields: more than fit the array of those met.
func TestManyFields(t *testing.T) {
	const n = 300
	fields := []reflect.StructField{{Name: "Closed", Type: reflect.TypeFor[string](), Tag: `mcp:"closed"`}}
	text := "{"
	for i := range n {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int64](), Tag: reflect.StructTag(fmt.Sprintf(`json:"f%d"`, i))})
		text += fmt.Sprintf(`"f%d":%d,`, i, i)
	}
	text = text[:len(text)-1] + "}"
	v := reflect.New(reflect.StructOf(fields)).Interface()
	require.NoError(t, codec.Decode([]byte(text), v))
	if got, err := codec.Encode(v); err != nil || string(got) != text {
		t.Errorf("got %s, %v", got, err)
	}
	if err := codec.Decode([]byte(strings.Replace(text, `"f299":299`, `"f1":1`, 1)), v); err == nil || err.Error() != "at /f1: there is more than one member of this name" {
		t.Errorf("got %v", err)
	}
	if err := codec.Decode([]byte(strings.Replace(text, `,"f299":299`, ``, 1)), v); err == nil || err.Error() != "at /f299: required and missing" {
		t.Errorf("got %v", err)
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
	require.NoError(t, codec.Decode([]byte(`{"sub":"x"}`), &v))
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

// TestExponents: a short text does not become a long number.
func TestExponents(t *testing.T) {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	for _, s := range []string{"1e999999999", "-1e-999999999", "1e9999999999999999999", "123e4000000000", "0e999999999", "0.00e99999999999999999999"} {
		for _, of := range []any{new(int64), new(uint64), new(float64), new(mode)} {
			_ = codec.Decode([]byte(s), of)
		}
	}
	goruntime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("got %d bytes", n)
	}
}
