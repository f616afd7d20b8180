package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of what is read; beyond them Parse and Validate refuse.
const (
	maxSchemaBytes  = 4 << 20
	maxSchemaDepth  = 200
	maxSchemaValues = 200_000
	maxDepth        = 1000  // of a value to validate
	maxDigits       = 10000 // of one number, and its exponent's size
)

// object is a JSON object in the order it was written. Of a member that comes
// twice the last value counts, at the place of the first.
type object struct {
	keys []string
	m    map[string]any
}

func (o *object) get(key string) any {
	if o == nil {
		return nil
	}
	return o.m[key]
}

// decoder reads JSON into string, json.Number, bool, nil, []any and *object.
type decoder struct {
	d      *json.Decoder
	depth  int
	values int
	// maximum depth and number of values
	limitDepth, limitValues int
}

func decode(raw []byte, depth, values int) (any, error) {
	d := &decoder{d: json.NewDecoder(bytes.NewReader(raw)), limitDepth: depth, limitValues: values}
	d.d.UseNumber()
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	if _, err := d.d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func (d *decoder) value() (any, error) {
	t, err := d.d.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if d.values++; d.values > d.limitValues {
		return nil, fmt.Errorf("more than %d values", d.limitValues)
	}
	switch t := t.(type) {
	case json.Number:
		return t, checkNumber(t)
	case json.Delim:
		if d.depth++; d.depth > d.limitDepth {
			return nil, fmt.Errorf("nested deeper than %d levels", d.limitDepth)
		}
		defer func() { d.depth-- }()
		if t == '{' {
			return d.object()
		}
		return d.array()
	}
	return t, nil
}

func (d *decoder) object() (any, error) {
	o := &object{m: map[string]any{}}
	for d.d.More() {
		t, err := d.d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		if _, twice := o.m[key]; !twice {
			o.keys = append(o.keys, key)
		}
		o.m[key] = v
	}
	_, err := d.d.Token()
	return o, err
}

func (d *decoder) array() (any, error) {
	a := []any{}
	for d.d.More() {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := d.d.Token()
	return a, err
}

// checkNumber refuses numbers that would take the exact arithmetic of the
// validator minutes and gigabytes: 1e999999999.
func checkNumber(n json.Number) error {
	mantissa, exp, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if len(mantissa) > maxDigits {
		return fmt.Errorf("a number has more than %d digits", maxDigits)
	}
	if exp == "" {
		return nil
	}
	if e, err := strconv.Atoi(exp); err != nil || e > maxDigits || e < -maxDigits {
		return fmt.Errorf("the number %.20s is out of bounds", string(n))
	}
	return nil
}

// text is the JSON of a decoded value, numbers as they were written, members
// in their order.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return string(v)
	case string:
		return Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = text(x)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *object:
		parts := make([]string, len(v.keys))
		for i, k := range v.keys {
			parts[i] = Quote(k) + ":" + text(v.m[k])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprint(v)
}

// Quote is a string as JSON, without the escapes that are only needed inside
// HTML.
func Quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
