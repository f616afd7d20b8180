package codegen_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/require"
)

// wrongAt wants a [*runtime.FieldError] at a place; "-" is no error.
func wrongAt(t *testing.T, err error, pointer string) {
	t.Helper()
	var f *runtime.FieldError
	switch {
	case err == nil && pointer == "-":
	case err == nil || pointer == "-":
		t.Errorf("got %v, want a failure at %q", err, pointer)
	case !errors.As(err, &f):
		t.Errorf("got %T", err)
	case f.Pointer != pointer || f.Reason == "":
		t.Errorf("got %q at %q, want a failure at %q", f.Reason, f.Pointer, pointer)
	}
}

func short(s string) error { return codegen.Length(s, 0, 1) }

type color string

func (color) Values() []color { return []color{"red", "green"} }
func (c color) Valid() bool   { return c == "red" || c == "green" }

func TestChecksTogether(t *testing.T) {
	a, long := "a", "long"
	wrongAt(t, codegen.First(), "-")
	wrongAt(t, codegen.First(nil, codegen.At(short(long), "x"), codegen.At(short(long), "y")), "/x")
	wrongAt(t, codegen.At(codegen.At(short(long), 3), "a/b~c"), "/a~1b~0c/3")

	wrongAt(t, codegen.If(nil, short), "-")
	wrongAt(t, codegen.If(&a, short), "-")
	wrongAt(t, codegen.If(&long, short), "")
	wrongAt(t, codegen.IfOpt(runtime.Opt[string]{}, short), "-")
	wrongAt(t, codegen.IfOpt(runtime.Null[string](), short), "-")
	wrongAt(t, codegen.IfOpt(runtime.Some(long), short), "")
	wrongAt(t, codegen.Must(nil, short), "")
	wrongAt(t, codegen.Must(&a, nil), "-")
	wrongAt(t, codegen.Must(&a, short), "-")
	wrongAt(t, codegen.Must(&long, short), "")

	some := func(l []string) error { return codegen.Items(len(l), 1, -1) }
	wrongAt(t, codegen.IfList(nil, some), "-")
	wrongAt(t, codegen.IfList([]string{}, some), "")
	members := func(m map[string]string) error { return codegen.Properties(len(m), 1, -1) }
	wrongAt(t, codegen.IfMap(nil, members), "-")
	wrongAt(t, codegen.IfMap(map[string]string{}, members), "")

	wrongAt(t, codegen.Each([]string{a, long, long}, short), "/1")
	wrongAt(t, codegen.EachRest([]string{a, long}, short, 2), "/3")
	wrongAt(t, codegen.Each([]string(nil), short), "-")
	for range 20 { // whatever order the map has
		wrongAt(t, codegen.EachValue(map[string]string{"c": long, "b/": long, "a": a, "d": long}, short), "/b~1")
	}
	wrongAt(t, codegen.NoExtra[json.RawMessage](nil), "-")
	wrongAt(t, codegen.NoExtra(map[string]json.RawMessage{"y": nil, "x": nil}), "/x")
	wrongAt(t, codegen.NoRest([]string{}, 2), "-")
	wrongAt(t, codegen.NoRest([]string{a}, 2), "/2")
	wrongAt(t, codegen.NoGap(true, true, false, false), "-")
	wrongAt(t, codegen.NoGap(true, false, true), "")
	if got := codegen.Count(true, false, true); got != 2 {
		t.Errorf("Count: got %d, want 2", got)
	}

	wrongAt(t, codegen.Enum(color("red")), "-")
	wrongAt(t, codegen.Enum(color("blue")), "")
	wrongAt(t, codegen.Among(true, false), "")
	wrongAt(t, codegen.Among(true, true), "-")

	wrongAt(t, codegen.CheckArm[json.RawMessage](nil), "")
	wrongAt(t, codegen.CheckArm[json.RawMessage](json.RawMessage("1")), "")
	wrongAt(t, codegen.CheckArm[json.RawMessage]("text"), "-")
	wrongAt(t, codegen.CheckArm[json.RawMessage](validating(long)), "")
	wrongAt(t, codegen.CheckArm[json.RawMessage](validating(a)), "-")

	object := map[string]int64{"a": 1}
	wrongAt(t, codegen.CheckSchema(schema.Lazy(`{"properties":{"a":{"maximum":1}}}`), &object), "-")
	wrongAt(t, codegen.CheckSchema(schema.Lazy(`{"properties":{"a":{"maximum":0}}}`), &object), "/a")
}

type validating string

func (v validating) Validate() error { return short(string(v)) }

func TestErrorsNameTheValues(t *testing.T) {
	err := codegen.Enum(color("blue"))
	if want := `"blue" is not one of the values that the schema allows: "red", "green"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What is right costs nothing.
func TestChecksAllocateNothing(t *testing.T) {
	a, n := "a", 3.5
	list, items := []string{"a", "b"}, map[string]string{"a": "b"}
	pattern := codegen.NewPattern("^a$")
	_ = codegen.Match(a, pattern) // compiles it
	check := func() error {
		return codegen.First(
			codegen.At(codegen.First(codegen.Length(a, 1, 3), codegen.Match(a, pattern)), "a"),
			codegen.At(codegen.If(&n, func(v float64) error {
				return codegen.First(codegen.Between(v, 1, 10), codegen.MultipleOf(v, 7))
			}), "n"),
			codegen.At(codegen.If(&n, func(v float64) error { return codegen.AtLeast(v, 0) }), "n"),
			codegen.At(codegen.Each(list, short), "list"),
			codegen.At(codegen.IfList(list, func(v []string) error {
				return codegen.First(codegen.Items(len(v), 1, 4), codegen.Unique(v), codegen.Each(v, short))
			}), "list"),
			codegen.At(codegen.EachValue(items, short), "items"),
			codegen.At(codegen.Enum(color("red")), "color"),
			codegen.NoExtra(map[string]json.RawMessage(nil)),
			codegen.Properties(1+codegen.Count(list != nil, items != nil), 1, 3),
		)
	}
	n = 7
	require.NoError(t, check())
	if got := testing.AllocsPerRun(100, func() { _ = check() }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func TestDefaults(t *testing.T) {
	one, two := int64(1), int64(2)
	p := &one
	codegen.Default(&p, two)
	if *p != 1 {
		t.Error("a default took the place of a value")
	}
	p = nil
	codegen.Default(&p, two)
	if p == nil || *p != 2 {
		t.Errorf("got %v, want 2", p)
	}
	for _, o := range []runtime.Opt[int64]{runtime.Some(one), runtime.Null[int64]()} {
		before := o
		if codegen.DefaultOpt(&o, two); !o.Equal(before) {
			t.Errorf("a default took the place of %v", before)
		}
	}
	var o runtime.Opt[int64]
	codegen.DefaultOpt(&o, two)
	if v, ok := o.Get(); !ok || v != 2 {
		t.Errorf("got %v, want 2", o)
	}
	var list []string
	codegen.DefaultJSON(&list, `["a"]`)
	codegen.DefaultJSON(&list, `["b"]`)
	if len(list) != 1 || list[0] != "a" {
		t.Errorf(`got %q, want ["a"]`, list)
	}
	empty := []string{}
	if codegen.DefaultJSON(&empty, `["a"]`); len(empty) != 0 {
		t.Errorf("a default took the place of an empty list: %q", empty)
	}
	var numbers []int64
	if codegen.DefaultJSON(&numbers, `[1,"two"]`); numbers != nil {
		t.Errorf("got %v of a default that is no list of integers", numbers)
	}
	var text *string
	if codegen.DefaultJSON(&text, `7`); text != nil {
		t.Errorf("got %q of a default that is no string", *text)
	}
}
