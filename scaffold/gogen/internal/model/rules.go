package model

import (
	"math/big"
	"slices"
)

// Rules are what typed code checks. Numbers are JSON texts, so that none is
// rounded; "" and nil are no rule.
type Rules struct {
	Minimum, Maximum                   string
	ExclusiveMinimum, ExclusiveMaximum string
	MultipleOf                         string
	MinLength, MaxLength               *int64   // code points
	Patterns                           []string // in Go's syntax
	MinItems, MaxItems                 *int64
	UniqueItems                        bool
	MinProperties, MaxProperties       *int64
	// Values are the JSON texts of all values allowed, for booleans and floats;
	// strings and integers have an enum declaration instead.
	Values []string
}

// Any reports whether there is a rule at all.
func (r *Rules) Any() bool {
	return r != nil && (r.Minimum != "" || r.Maximum != "" || r.ExclusiveMinimum != "" || r.ExclusiveMaximum != "" || r.MultipleOf != "" ||
		r.MinLength != nil || r.MaxLength != nil || len(r.Patterns) > 0 || r.MinItems != nil || r.MaxItems != nil ||
		r.UniqueItems || r.MinProperties != nil || r.MaxProperties != nil || len(r.Values) > 0)
}

// And returns the rules for values that follow both: the tighter of two bounds.
// It is not exact where no single number has the multiples common to two.
func (r *Rules) And(o *Rules) (both Rules, exact bool) {
	both, exact = *r, true
	both.Minimum = tighter(r.Minimum, o.Minimum, 1)
	both.ExclusiveMinimum = tighter(r.ExclusiveMinimum, o.ExclusiveMinimum, 1)
	both.Maximum = tighter(r.Maximum, o.Maximum, -1)
	both.ExclusiveMaximum = tighter(r.ExclusiveMaximum, o.ExclusiveMaximum, -1)
	both.MinLength, both.MaxLength = larger(r.MinLength, o.MinLength), smaller(r.MaxLength, o.MaxLength)
	both.MinItems, both.MaxItems = larger(r.MinItems, o.MinItems), smaller(r.MaxItems, o.MaxItems)
	both.MinProperties, both.MaxProperties = larger(r.MinProperties, o.MinProperties), smaller(r.MaxProperties, o.MaxProperties)
	both.UniqueItems = r.UniqueItems || o.UniqueItems
	for _, p := range o.Patterns {
		if !slices.Contains(both.Patterns, p) {
			both.Patterns = append(slices.Clip(both.Patterns), p)
		}
	}
	switch x, y := Rational(r.MultipleOf), Rational(o.MultipleOf); {
	case o.MultipleOf == "":
	case r.MultipleOf == "":
		both.MultipleOf = o.MultipleOf
	case x != nil && y != nil && new(big.Rat).Quo(x, y).IsInt():
	case x != nil && y != nil && new(big.Rat).Quo(y, x).IsInt():
		both.MultipleOf = o.MultipleOf
	default:
		exact = false
	}
	return both, exact
}

// Whole returns the rules for integers, with integers as bounds; false where one
// does not fit an int64.
func (r *Rules) Whole() (Rules, bool) {
	var out Rules
	ok := true
	one := big.NewInt(1)
	// set writes one bound: up rounds up, strict excludes the bound itself.
	set := func(to *string, text string, up, strict bool) {
		if text == "" {
			return
		}
		x := Rational(text)
		if x == nil {
			ok = false
			return
		}
		i := new(big.Int).Div(x.Num(), x.Denom()) // rounded down
		switch {
		case x.IsInt() && strict && up:
			i.Add(i, one)
		case x.IsInt() && strict:
			i.Sub(i, one)
		case !x.IsInt() && up:
			i.Add(i, one)
		}
		if !i.IsInt64() {
			ok = false
			return
		}
		sign := -1
		if up {
			sign = 1
		}
		*to = tighter(*to, i.String(), sign)
	}
	set(&out.Minimum, r.Minimum, true, false)
	set(&out.Minimum, r.ExclusiveMinimum, true, true)
	set(&out.Maximum, r.Maximum, false, false)
	set(&out.Maximum, r.ExclusiveMaximum, false, true)
	if r.MultipleOf != "" {
		// An integer is a multiple of p/q in lowest terms if it is one of p.
		m := Rational(r.MultipleOf)
		switch {
		case m == nil || !m.Num().IsInt64():
			ok = false
		case m.Num().Cmp(one) != 0:
			out.MultipleOf = m.Num().String()
		}
	}
	return out, ok
}

// tighter returns the larger bound for sign 1, the smaller for -1.
func tighter(a, b string, sign int) string {
	if a == "" {
		return b
	}
	if b == "" {
		return a
	}
	x, y := Rational(a), Rational(b)
	if x != nil && y != nil && y.Cmp(x) == sign {
		return b
	}
	return a
}

func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func smaller(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
