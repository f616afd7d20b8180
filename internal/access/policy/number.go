package policy

import "math"

// number is a JSON number: digits × 10^exponent, without zeros at the end of digits.
type number struct {
	negative bool
	digits   uint64
	exponent int
}

// parseNumber reads a valid JSON number. It reports false for one that has more digits
// than any value here can hold.
func parseNumber(text []byte) (n number, ok bool) {
	i := 0
	if text[0] == '-' {
		n.negative = true
		i++
	}
	zeros := 0 // seen since the last other digit, and in no place of digits yet
	point := false
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '.':
			point = true
			continue
		case c < '0' || c > '9':
			e, ok := parseExponent(text[i+1:])
			switch {
			case n.digits == 0:
				return number{}, true
			case !ok:
				return n, false
			}
			n.exponent += e
			i = len(text)
			continue
		}
		if point {
			n.exponent--
		}
		if c == '0' {
			if n.digits > 0 {
				zeros++
			}
			continue
		}
		for range zeros + 1 {
			if n.digits > math.MaxUint64/10-1 {
				return n, false
			}
			n.digits *= 10
		}
		n.digits += uint64(c - '0')
		zeros = 0
	}
	if n.digits == 0 {
		return number{}, true
	}
	n.exponent += zeros
	return n, true
}

// parseExponent reads what follows the letter e. No value here holds a number with an
// exponent of more than four digits, but for zero.
func parseExponent(text []byte) (e int, ok bool) {
	negative := false
	switch text[0] {
	case '-':
		negative = true
		text = text[1:]
	case '+':
		text = text[1:]
	}
	for _, c := range text {
		if e > 9999 {
			return 0, false
		}
		e = 10*e + int(c-'0')
	}
	if negative {
		e = -e
	}
	return e, true
}

// scaled returns the number times 10^places, if that is a whole number of 64 bits.
func (n number) scaled(places int) (int64, bool) {
	if n.digits == 0 {
		return 0, true
	}
	e := n.exponent + places
	if e < 0 || e > 19 {
		return 0, false
	}
	v := n.digits
	for range e {
		if v > math.MaxUint64/10 {
			return 0, false
		}
		v *= 10
	}
	switch {
	case n.negative && v <= 1<<63:
		return -int64(v), true //nolint:gosec // of 1<<63 it is right, too
	case !n.negative && v < 1<<63:
		return int64(v), true //nolint:gosec // it was looked at
	}
	return 0, false
}
