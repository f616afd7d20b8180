package codegen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Canonical gives the one text of all that stand for the same JSON value:
// members sorted by name and the last of those that repeat one, no spaces,
// strings with no escapes but the necessary, numbers by their exact value
// (1.0 and 1e0 are 1).
func Canonical(raw []byte) ([]byte, error) {
	v, err := decodeAny(raw)
	if err != nil {
		return nil, err
	}
	return appendCanonical(nil, v)
}

// decodeAny reads one JSON value; numbers keep their digits.
func decodeAny(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("no JSON value")
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func appendCanonical(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case json.Number:
		return append(out, canonicalNumber(string(v))...), nil
	case string:
		return appendText(out, v), nil
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = appendCanonical(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case map[string]any:
		out = append(out, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, name), ':')
			var err error
			if out, err = appendCanonical(out, v[name]); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	default:
		return nil, fmt.Errorf("%T is no JSON value", v)
	}
}

// appendText writes a string as RFC 8785, section 3.2.2.2, has it.
func appendText(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r >= ' ':
			out = append(out, string(r)...)
		case r == '\b':
			out = append(out, `\b`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\f':
			out = append(out, `\f`...)
		case r == '\r':
			out = append(out, `\r`...)
		default:
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		}
	}
	return append(out, '"')
}

// plainDigits is how long a number may get for the sake of having no exponent.
const plainDigits = 21

// canonicalNumber writes a JSON number's exact value, which RFC 8785 would
// round to a double. One whose exponent does not fit an int stays as it is.
func canonicalNumber(s string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	exp := 0
	if exponent != "" {
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil || exp > 1e9 || exp < -1e9 {
			return s
		}
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	exp -= len(frac)
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return "0"
	}
	exp += len(digits)
	digits = strings.TrimRight(digits, "0")
	exp -= len(digits) // the value is digits * 10^exp
	point := len(digits) + exp
	switch {
	case exp >= 0 && point <= plainDigits:
		return sign + digits + strings.Repeat("0", exp)
	case point > 0 && exp < 0:
		return sign + digits[:point] + "." + digits[point:]
	case point <= 0 && point > -6:
		return sign + "0." + strings.Repeat("0", -point) + digits
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	return sign + digits + "e" + strconv.Itoa(point-1)
}
