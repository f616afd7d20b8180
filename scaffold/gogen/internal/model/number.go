package model

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/codegen"
)

// Rational returns the exact value of a JSON number, or nil for one whose
// exponent makes it too large to write out.
func Rational(number string) *big.Rat {
	_, exp, _ := strings.Cut(strings.ToLower(number), "e")
	if len(strings.TrimLeft(exp, "+-0")) > 4 {
		return nil
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil
	}
	return r
}

// Int64 returns the value of a JSON number that is an integer of 64 bits, in
// whatever form it is written; false for any other number.
func Int64(number string) (int64, bool) {
	b, err := codegen.Canonical([]byte(number))
	if err != nil {
		return 0, false
	}
	i, err := strconv.ParseInt(string(b), 10, 64)
	return i, err == nil
}

// IsFloat64 reports whether a JSON number is the shortest text of a float64:
// comparing the floats is then comparing the numbers, and the number is written
// again as it was.
func IsFloat64(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	a, aerr := codegen.Canonical([]byte(number))
	b, berr := codegen.Canonical(strconv.AppendFloat(nil, f, 'g', -1, 64))
	return aerr == nil && berr == nil && string(a) == string(b)
}
