package codec

import (
	"math"
	"strconv"
	"strings"
)

// decimal is the exact value of a JSON number: digits * 10^exp, where the
// digits neither begin nor end with a zero. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// maxExponent bounds the exponents that are counted with. Beyond it there is no
// number that fits a type of Go.
const maxExponent = 1_000_000_000

// parseDecimal reads a number that has been scanned; false if its exponent is
// beyond maxExponent.
func parseDecimal(s string) (d decimal, ok bool) {
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa := s
	exponent := 0
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa = s[:e]
		var err error
		exponent, err = strconv.Atoi(s[e+1:])
		switch {
		case strings.Trim(mantissa, "0.") == "":
			return decimal{}, true // zero, to whatever power
		case err != nil || exponent > maxExponent || exponent < -maxExponent:
			return d, false
		}
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	exponent -= len(frac)
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return decimal{}, true
	}
	d.digits = strings.TrimRight(digits, "0")
	d.exp = exponent + len(digits) - len(d.digits)
	return d, true
}

// isInteger reports whether there is no fractional part.
func (d decimal) isInteger() bool { return d.exp >= 0 }

// canonicalNumber writes a number in the one way that all of its value have; a
// number with an exponent beyond maxExponent stays as it is.
func canonicalNumber(out []byte, s string) []byte {
	d, ok := parseDecimal(s)
	if !ok {
		return append(out, s...)
	}
	if d.digits == "" {
		return append(out, '0')
	}
	if d.negative {
		out = append(out, '-')
	}
	const plain = 21 // digits that a number may have for the sake of having no exponent
	point := len(d.digits) + d.exp
	switch {
	case d.exp >= 0 && point <= plain:
		out = append(out, d.digits...)
		for range d.exp {
			out = append(out, '0')
		}
		return out
	case d.exp < 0 && point > 0:
		return append(append(append(out, d.digits[:point]...), '.'), d.digits[point:]...)
	case d.exp < 0 && point > -6:
		out = append(out, "0."...)
		for range -point {
			out = append(out, '0')
		}
		return append(out, d.digits...)
	}
	out = append(out, d.digits[0])
	if len(d.digits) > 1 {
		out = append(append(out, '.'), d.digits[1:]...)
	}
	return strconv.AppendInt(append(out, 'e'), int64(point-1), 10)
}

// plainInteger reads what most integers are: digits that fit without a doubt.
func plainInteger(raw []byte) (int64, bool) {
	digits := raw
	if len(raw) > 0 && raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(raw) {
		n = -n
	}
	return n, true
}

// integerText returns the digits of a number without a fractional part, however
// it is written: JSON Schema counts 1.0 and 1e3 as integers (2020-12,
// validation, 6.1.1), strconv does not. The reason is why it does not.
func integerText(s string) (digits, reason string) {
	d, ok := parseDecimal(s)
	switch {
	case ok && d.digits == "":
		return "0", ""
	case ok && !d.isInteger(), !ok && strings.Contains(strings.ToLower(s), "e-"):
		return "", "an integer"
	case !ok || len(d.digits)+d.exp > 20:
		return "", "an integer of 64 bits"
	}
	digits = d.digits + strings.Repeat("0", d.exp)
	if d.negative {
		digits = "-" + digits
	}
	return digits, ""
}

// maxExact is 2^53: below it every integer is a float64.
const maxExact = 1 << 53

// float reads a number. It refuses, with the reason, what a float64 would turn
// into another number without telling: integers that it writes otherwise,
// numbers too large, and those so small that they would be zero.
func float(s string) (f float64, reason string) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, "a number that float64 can hold"
	}
	if f == 0 {
		if d, ok := parseDecimal(s); !ok || d.digits != "" {
			return 0, "a number that float64 can tell from zero"
		}
		return f, ""
	}
	if math.Abs(f) < maxExact {
		return f, ""
	}
	d, ok := parseDecimal(s)
	if ok && d.isInteger() {
		if back, _ := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64)); back != d {
			return 0, "an integer that float64 does not round"
		}
	}
	return f, ""
}

// appendFloat writes a number as encoding/json does, ECMAScript's way; false if
// it is none.
func appendFloat(out []byte, f float64) ([]byte, bool) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return out, false
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	out = strconv.AppendFloat(out, f, format, -1, 64)
	if n := len(out); format == 'e' && n >= 4 && out[n-4] == 'e' && out[n-3] == '-' && out[n-2] == '0' {
		out[n-2] = out[n-1] // e-09 is written e-9
		out = out[:n-1]
	}
	return out, true
}
