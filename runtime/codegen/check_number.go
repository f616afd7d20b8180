package codegen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Number is a number of a generated type. A float64 means the shortest decimal
// that parses as it, which is also how it is written.
type Number interface{ ~int64 | ~float64 }

// Between checks both limits of a number.
func Between[T Number](v, least, most T) error {
	if v >= least && v <= most {
		return nil
	}
	return wrong(fmt.Sprintf("is %v, not within %v to %v", v, least, most))
}

// AtLeast checks a minimum.
func AtLeast[T Number](v, least T) error {
	if v >= least {
		return nil
	}
	return wrong(fmt.Sprintf("is %v, less than %v", v, least))
}

// AtMost checks a maximum.
func AtMost[T Number](v, most T) error {
	if v <= most {
		return nil
	}
	return wrong(fmt.Sprintf("is %v, more than %v", v, most))
}

// MoreThan checks an exclusive minimum.
func MoreThan[T Number](v, limit T) error {
	if v > limit {
		return nil
	}
	return wrong(fmt.Sprintf("is %v, not more than %v", v, limit))
}

// LessThan checks an exclusive maximum.
func LessThan[T Number](v, limit T) error {
	if v < limit {
		return nil
	}
	return wrong(fmt.Sprintf("is %v, not less than %v", v, limit))
}

// MultipleOf checks that a number is a multiple, as decimals are: 0.3 is one
// of 0.1.
func MultipleOf[T Number](v, of T) error {
	const exact = 1 << 53
	var ok bool
	switch x, y := float64(v), float64(of); {
	case T(1)/2 == 0: // integers
		ok = of == 0 || int64(v)%int64(of) == 0
	case math.Abs(x) < exact && math.Abs(y) < exact && x == math.Trunc(x) && y == math.Trunc(y) && y != 0:
		ok = int64(x)%int64(y) == 0
	default:
		return MultipleOfText(v, numberText(of))
	}
	if ok {
		return nil
	}
	return wrong(fmt.Sprintf("is %v, not a multiple of %v", v, of))
}

// AnyNumber is a number of a generated type, or the text of one.
type AnyNumber interface{ ~int64 | ~float64 | ~string }

// AtLeastText is [AtLeast] with a limit that Go would round.
func AtLeastText[T AnyNumber](v T, limit string) error {
	return compareText(v, limit, "less than", func(c int) bool { return c >= 0 })
}

// AtMostText is [AtMost] with a limit that Go would round.
func AtMostText[T AnyNumber](v T, limit string) error {
	return compareText(v, limit, "more than", func(c int) bool { return c <= 0 })
}

// MoreThanText is [MoreThan] with a limit that Go would round.
func MoreThanText[T AnyNumber](v T, limit string) error {
	return compareText(v, limit, "not more than", func(c int) bool { return c > 0 })
}

// LessThanText is [LessThan] with a limit that Go would round.
func LessThanText[T AnyNumber](v T, limit string) error {
	return compareText(v, limit, "not less than", func(c int) bool { return c < 0 })
}

func compareText[T AnyNumber](v T, limit, otherwise string, fits func(int) bool) error {
	s := numberText(v)
	a, aok := parseDecimal(s)
	b, bok := parseDecimal(limit)
	switch {
	case !aok || !bok:
		return wrong("is " + s + ", which cannot be compared with " + limit)
	case !fits(a.compare(b)):
		return wrong("is " + s + ", " + otherwise + " " + limit)
	}
	return nil
}

// MultipleOfText is [MultipleOf] with a number that Go would round.
func MultipleOfText[T AnyNumber](v T, of string) error {
	s := numberText(v)
	a, aok := parseDecimal(s)
	b, bok := parseDecimal(of)
	switch {
	case !aok || !bok:
		return wrong("is " + s + ", which cannot be compared with " + of)
	case !a.multipleOf(b):
		return wrong("is " + s + ", not a multiple of " + of)
	}
	return nil
}

// numberText returns a number as it is written.
func numberText[T AnyNumber](v T) string {
	switch v := any(v).(type) {
	case json.Number:
		return string(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(v)
}

// decimal is digits * 10^exp with a sign; no digits are the number 0, and no
// digits begin or end with a 0.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

// parseDecimal reads a JSON number, exactly.
func parseDecimal(s string) (decimal, bool) {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') || !json.Valid([]byte(s)) {
		return decimal{}, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	var d decimal
	d.negative = strings.HasPrefix(mantissa, "-")
	whole, frac, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+frac, "0")
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	if exponent != "" {
		// Larger exponents exceed any text.
		const huge = math.MaxInt64 / 4
		e, err := strconv.ParseInt(exponent, 10, 64)
		switch {
		case err != nil && strings.HasPrefix(exponent, "-"), e < -huge:
			e = -huge
		case err != nil, e > huge:
			e = huge
		}
		d.exp = e
	}
	d.exp += int64(len(digits)-len(d.digits)) - int64(len(frac))
	return d, true
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compare is negative where d is less than e.
func (d decimal) compare(e decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 || d.sign() == 0 {
		return c
	}
	c := cmp.Compare(int64(len(d.digits))+d.exp, int64(len(e.digits))+e.exp)
	if c == 0 {
		c = strings.Compare(d.digits, e.digits) // fractions behind one point
	}
	return c * d.sign()
}

// multipleOf reports whether d is an integer times e. Only zero is a multiple of
// zero.
func (d decimal) multipleOf(e decimal) bool {
	if d.digits == "" || e.digits == "" {
		return d.digits == ""
	}
	a, aok := new(big.Int).SetString(d.digits, 10)
	b, bok := new(big.Int).SetString(e.digits, 10)
	if !aok || !bok {
		return false
	}
	ten := big.NewInt(10)
	shift := d.exp - e.exp
	if shift < 0 {
		// a does not end in 0: it must be a multiple of b * 10^-shift.
		if -shift >= int64(len(d.digits)) {
			return false
		}
		b.Mul(b, new(big.Int).Exp(ten, big.NewInt(-shift), nil))
		return a.Rem(a, b).Sign() == 0
	}
	power := new(big.Int).Exp(ten, big.NewInt(shift), b)
	return a.Mul(a, power).Rem(a, b).Sign() == 0
}
