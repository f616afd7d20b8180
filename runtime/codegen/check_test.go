package codegen_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/require"
)

// agree wants a check to find a value wrong exactly where the validator does.
func agree(t *testing.T, name, rule string, value any, got error) {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	want := validator(rule).Check(raw)
	if (got == nil) != (want == nil) {
		t.Errorf("%s: {%s} of %s: got %v, the validator says %v", name, rule, raw, got, want)
		return
	}
	if got == nil {
		return
	}
	var g, w *runtime.FieldError
	if !errors.As(got, &g) || !errors.As(want, &w) {
		t.Fatalf("%s: {%s} of %s: got %T, the validator gives %T", name, rule, raw, got, want)
	}
	if g.Pointer != w.Pointer {
		t.Errorf("%s: {%s} of %s: got %q, the validator points at %q", name, rule, raw, got, want)
	}
}

// validators are compiled once.
var validators = map[string]schema.Embedded{}

func validator(rule string) schema.Embedded {
	if _, ok := validators[rule]; !ok {
		validators[rule] = schema.Lazy("{" + rule + "}")
	}
	return validators[rule]
}

// limits are bounds that Go's numbers hold, round or lack.
var limits = []string{
	"0", "1", "-1", "2", "3", "7", "10", "1.0", "1e1", "1.5", "-2.5", "0.1", "0.2", "0.3", "0.01", "1e-7", "2.5e-7", "100", "1000", "1e21", "1e30", "-1e30", "4503599627370497",
	"9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"123456789012345678901234567890", "0.1000000000000000055511151231257827", "0.30000000000000004", "5e-324", "1.7976931348623157e308", "3e-325",
}

var integers = []int64{
	0, 1, -1, 2, 3, 6, 7, -7, 10, 100, 1000, 1<<53 - 1, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1,
}

var floats = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.1, 0.2, 0.3, 0.30000000000000004, 0.01, 0.07, 1.5, -2.5, 3, 7.5, 1e-7, 7.5e-7, 1e21, 1e22, 1e30, 4503599627370497, 1 << 53, 1 << 60, 1 << 63, -1 << 63,
	math.MaxFloat64, math.SmallestNonzeroFloat64, 123456789.125, 19.99, 4.35,
}

var numbers = []json.Number{
	"0", "-0", "0.0", "1", "1.0", "1e0", "10e-1", "1.5", "0.1", "0.10", "0.3", "9007199254740993", "9223372036854775808", "-9223372036854775809",
	"123456789012345678901234567890", "123456789012345678901234567891", "0.1000000000000000055511151231257827", "1e30", "1E+30", "3e-325", "12e-325",
}

func TestLimits(t *testing.T) {
	for _, limit := range limits {
		for _, v := range integers {
			textLimits(t, v, limit)
			if i, err := strconv.ParseInt(limit, 10, 64); err == nil {
				goLimits(t, v, i, limit)
			}
		}
		for _, v := range floats {
			textLimits(t, v, limit)
			if f, err := strconv.ParseFloat(limit, 64); err == nil && exact(t, f, limit) {
				goLimits(t, v, f, limit)
			}
		}
		for _, v := range numbers {
			textLimits(t, v, limit)
			agree(t, "AmongJSON", `"enum":["x",`+limit+`]`, v, codegen.AmongJSON(v, `"x"`, limit))
		}
	}
}

// exact reports whether the shortest text of f is the number that a text is.
func exact(t *testing.T, f float64, text string) bool {
	a, err := codegen.Canonical([]byte(text))
	require.NoError(t, err)
	b, err := codegen.Canonical(strconv.AppendFloat(nil, f, 'g', -1, 64))
	require.NoError(t, err)
	return string(a) == string(b)
}

func textLimits[T codegen.AnyNumber](t *testing.T, v T, limit string) {
	t.Helper()
	agree(t, "AtLeastText", `"minimum":`+limit, v, codegen.AtLeastText(v, limit))
	agree(t, "AtMostText", `"maximum":`+limit, v, codegen.AtMostText(v, limit))
	agree(t, "MoreThanText", `"exclusiveMinimum":`+limit, v, codegen.MoreThanText(v, limit))
	agree(t, "LessThanText", `"exclusiveMaximum":`+limit, v, codegen.LessThanText(v, limit))
	if !strings.HasPrefix(limit, "-") && limit != "0" {
		agree(t, "MultipleOfText", `"multipleOf":`+limit, v, codegen.MultipleOfText(v, limit))
	}
}

func goLimits[T codegen.Number](t *testing.T, v, limit T, text string) {
	t.Helper()
	agree(t, "AtLeast", `"minimum":`+text, v, codegen.AtLeast(v, limit))
	agree(t, "AtMost", `"maximum":`+text, v, codegen.AtMost(v, limit))
	agree(t, "MoreThan", `"exclusiveMinimum":`+text, v, codegen.MoreThan(v, limit))
	agree(t, "LessThan", `"exclusiveMaximum":`+text, v, codegen.LessThan(v, limit))
	agree(t, "Between", `"minimum":-1,"maximum":`+text, v, codegen.Between(v, -1, limit))
	if limit > 0 {
		agree(t, "MultipleOf", `"multipleOf":`+text, v, codegen.MultipleOf(v, limit))
	}
	agree(t, "Among", `"enum":[7,`+text+`]`, v, codegen.Among(v, 7, limit))
	agree(t, "AmongJSON", `"enum":["x",`+text+`]`, v, codegen.AmongJSON(v, `"x"`, text))
}

// Exponents that no library of whole numbers could spell out.
func TestVastExponents(t *testing.T) {
	for _, c := range []struct {
		v, of string
		want  bool
	}{
		{"1e1000000000", "7", false},
		{"7e1000000000", "7", true},
		{"1e1000000000", "1e-1000000000", true},
		{"1e-1000000000", "1e1000000000", false},
		{"0e999999999999999999999", "3", true},
		{"5e999999999999999999999", "5", true},
		{"3e10", "4", true},
		{"1e9223372036854775807", "1e-9223372036854775807", true},
	} {
		if got := codegen.MultipleOfText(json.Number(c.v), c.of) == nil; got != c.want {
			t.Errorf("%s a multiple of %s: got %v, want %v", c.v, c.of, got, c.want)
		}
	}
	for _, c := range []struct {
		v, limit string
		want     bool
	}{
		{"1e1000000000", "1", true}, {"-1e1000000000", "1", false}, {"1e-1000000000", "0", true}, {"1e99999999999999999999", "1e1000000000", true}, {"12e5", "1.2e6", true}, {"119e4", "1.2e6", false},
	} {
		if got := codegen.AtLeastText(json.Number(c.v), c.limit) == nil; got != c.want {
			t.Errorf("%s at least %s: got %v, want %v", c.v, c.limit, got, c.want)
		}
	}
	for _, v := range []json.Number{"", "x", "1x", "0x10", "Infinity", "NaN"} {
		if codegen.AtLeastText(v, "-1") == nil || codegen.MultipleOfText(v, "1") == nil {
			t.Errorf("%q is taken for a number", v)
		}
	}
	if codegen.AtLeast(math.NaN(), 0) == nil || codegen.MultipleOf(math.Inf(1), 1) == nil || codegen.Between(math.NaN(), 0, 1) == nil {
		t.Error("a float that is no number passes")
	}
}

func TestSizes(t *testing.T) {
	texts := []string{"", "a", "ab", "abc", "é", "éé", "日本語", "👍", "👍🏽", "a👍b", "e\u0301", "\xff", "\xff\xfe\xfd", "\u0000", strings.Repeat("日", 40)}
	for _, s := range texts {
		for least := range int64(5) {
			agree(t, "Length", fmt.Sprintf(`"minLength":%d`, least), s, codegen.Length(s, least, -1))
			for most := range int64(5) {
				agree(t, "Length", fmt.Sprintf(`"minLength":%d,"maxLength":%d`, least, most), s, codegen.Length(s, least, most))
			}
		}
	}
	if codegen.Length("ab", math.MaxInt64, -1) == nil {
		t.Error("a text is as long as can be")
	}
	for n := range 4 {
		list, object := make([]int, n), map[string]int{}
		for i := range n {
			object[strconv.Itoa(i)] = i
		}
		for least := range int64(4) {
			agree(t, "Items", fmt.Sprintf(`"minItems":%d`, least), list, codegen.Items(n, least, -1))
			agree(t, "Properties", fmt.Sprintf(`"minProperties":%d`, least), object, codegen.Properties(n, least, -1))
			for most := range int64(4) {
				agree(t, "Items", fmt.Sprintf(`"minItems":%d,"maxItems":%d`, least, most), list, codegen.Items(n, least, most))
				agree(t, "Properties", fmt.Sprintf(`"minProperties":%d,"maxProperties":%d`, least, most), object, codegen.Properties(n, least, most))
			}
		}
	}
}

func TestPattern(t *testing.T) {
	for _, pattern := range []string{"^a+$", "a", `\d{3}`, "^$", "[日本]", "^.*é$"} {
		quoted, err := json.Marshal(pattern)
		require.NoError(t, err)
		p := codegen.NewPattern(pattern)
		for _, s := range []string{"", "a", "aa", "ba", "123", "12", "日", "café"} {
			agree(t, "Match", `"pattern":`+string(quoted), s, codegen.Match(s, p))
		}
	}
	if err := codegen.Match("sk-secret", codegen.NewPattern("^pk-")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a text that has no match: got %v, want an error without the text", err)
	}
	if err := codegen.Match("a", codegen.NewPattern("(?=a)")); err == nil {
		t.Error("a pattern that does not compile finds nothing wrong")
	}
}

func TestUnique(t *testing.T) {
	raws := func(texts ...string) []json.RawMessage {
		out := make([]json.RawMessage, len(texts))
		for i, s := range texts {
			out[i] = json.RawMessage(s)
		}
		return out
	}
	check := func(list any, err error) {
		t.Helper()
		agreeNot(t, `"uniqueItems":true`, list, err)
	}
	for _, l := range [][]string{nil, {"a"}, {"a", "b"}, {"a", "b", "a"}, {"\xff", "\xfe"}} {
		if len(l) == 2 && l[0] == "\xff" {
			continue // both are written as U+FFFD, and neither is text
		}
		check(l, codegen.Unique(l))
	}
	check([]int64{1, 2, 1}, codegen.Unique([]int64{1, 2, 1}))
	check([]float64{0, math.Copysign(0, -1)}, codegen.Unique([]float64{0, math.Copysign(0, -1)}))
	check([]bool{true, false}, codegen.Unique([]bool{true, false}))
	long := make([]int64, 100)
	for i := range long {
		long[i] = int64(i)
	}
	check(long, codegen.Unique(long))
	long[99] = 50
	check(long, codegen.Unique(long))
	for _, l := range [][]json.RawMessage{
		raws(`1`, `1.0`), raws(`1`, `"1"`), raws(`true`, `1`), raws(`{"a":1,"b":2}`, `{"b":2,"a":1e0}`), raws(`{"a":1}`, `{"a":2}`), raws(`[1,2]`, `[2,1]`), raws(`[]`, `{}`, `null`, `false`, `0`, `""`),
		raws(`"\u0061"`, `"a"`), raws(`{"a":[{"b":null}]}`, `{ "a" : [ {"b" : null} ] }`), raws(`100`, `1e2`, `1e3`), raws(`0.1`, `0.10`), raws(`9007199254740993`, `9007199254740992`),
	} {
		check(l, codegen.Unique(l))
		check(l, codegen.UniqueJSON(l))
	}
	maps := []map[string]int64{{"a": 1}, {"a": 2}, {"a": 1}}
	check(maps, codegen.Unique(maps))
	one, two, other := "a", "b", "a"
	check([]*string{&one, &two, nil}, codegen.Unique([]*string{&one, &two, nil}))
	check([]*string{&one, &two, &other}, codegen.Unique([]*string{&one, &two, &other}))
	if err := codegen.Unique([]json.RawMessage{json.RawMessage("{"), nil}); err == nil {
		t.Error("what is no JSON is unique")
	}
}

// agreeNot is [agree] without the place: the validator points at the list, a
// check at the item.
func agreeNot(t *testing.T, rule string, value any, got error) {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	if want := validator(rule).Check(raw); (got == nil) != (want == nil) && string(raw) != "null" {
		t.Errorf("{%s} of %s: got %v, the validator says %v", rule, raw, got, want)
	}
}
