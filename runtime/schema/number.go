package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// bound is one of "minimum" and "maximum" and those that exclude the bound.
type bound struct {
	limit    *big.Rat
	sign     int // -1 is a minimum, 1 a maximum
	excludes bool
}

func (b bound) check(v *visit) {
	n, ok := v.value.(json.Number)
	if !ok {
		return
	}
	got := ratOf(n)
	side := got.Cmp(b.limit) * b.sign
	switch {
	case b.excludes && side >= 0 && b.sign < 0:
		v.wrong("%s is not above %s", rat(got), rat(b.limit))
	case b.excludes && side >= 0:
		v.wrong("%s is not below %s", rat(got), rat(b.limit))
	case side > 0 && b.sign < 0:
		v.wrong("%s is below the minimum %s", rat(got), rat(b.limit))
	case side > 0:
		v.wrong("%s is above the maximum %s", rat(got), rat(b.limit))
	}
}

// multiple is "multipleOf".
type multiple struct{ of *big.Rat }

func (m multiple) check(v *visit) {
	n, ok := v.value.(json.Number)
	if !ok {
		return
	}
	got := ratOf(n)
	if !new(big.Rat).Quo(got, m.of).IsInt() {
		v.wrong("%s is not a multiple of %s", rat(got), rat(m.of))
	}
}

// canonical returns a text that is the same for values that are equal as JSON,
// and for no others: 1 equals 1.0, and the order of members does not count.
func canonical(v any) string {
	return string(appendCanonical(nil, v))
}

func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case json.Number:
		digits, exp := decimal(string(v))
		return strconv.AppendInt(append(append(b, digits...), 'e'), int64(exp), 10)
	case string:
		return strconv.AppendQuote(b, v)
	case []any:
		b = append(b, '[')
		for _, x := range v {
			b = append(appendCanonical(b, x), ',')
		}
		return append(b, ']')
	case *object:
		b = append(b, '{')
		for _, k := range slices.Sorted(slices.Values(v.keys)) {
			b = append(appendCanonical(append(strconv.AppendQuote(b, k), ':'), v.m[k]), ',')
		}
		return append(b, '}')
	}
	return append(b, text(v)...)
}

// decimal returns a JSON number as its digits, without a zero at either end, and
// the power of ten that they are taken by. Zero is "0" by 0.
func decimal(n string) (digits string, exp int) {
	n, sign := strings.TrimPrefix(n, "-"), n[:len(n)-len(strings.TrimPrefix(n, "-"))]
	mantissa, power, _ := strings.Cut(strings.ToLower(n), "e")
	exp, _ = strconv.Atoi(power) // bounded when it was read
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", 0
	}
	trimmed := strings.TrimRight(digits, "0")
	return sign + trimmed, exp + len(digits) - len(trimmed)
}
