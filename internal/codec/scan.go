package codec

import (
	"strconv"
	"unicode/utf8"
)

// decoder reads one JSON text from its beginning to its end.
type decoder struct {
	data  []byte
	pos   int
	depth int
	// again is how many bytes have been read more than once, to find the arms of
	// unions.
	again int
	// trying is how many unions are trying an arm around the place.
	trying int
	// scratch is for strings with escapes.
	scratch []byte
}

// space passes white space.
func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// next returns the byte at the place, 0 at the end.
func (d *decoder) next() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

// unexpected is what is wrong with a text that is not JSON here.
func (d *decoder) unexpected() *failure {
	if d.pos >= len(d.data) {
		return fatal("not JSON: the text breaks off")
	}
	r, _ := utf8.DecodeRune(d.data[d.pos:])
	return fatal("not JSON: unexpected " + strconv.QuoteRune(r) + " at byte " + strconv.Itoa(d.pos+1))
}

// kind is the JSON kind that a value which begins with c has, "" if none does.
func kindOf(c byte) string {
	switch c {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return "number"
	}
	return ""
}

// mismatch says that the value here is not what is wanted. Of what it is it
// tells the kind, and a number's digits: other values may be secrets.
func (d *decoder) mismatch(want string) *failure {
	var got string
	switch kind := kindOf(d.next()); kind {
	case "":
		return d.unexpected()
	case "null":
		if want == "" {
			return failed(reasonNull)
		}
		return failed(reasonNull + ", want " + want)
	case "array", "object":
		got = "an " + kind
	case "number":
		const limit = 40
		start := d.pos
		if f := d.number(); f != nil {
			return f
		}
		got = string(d.data[start:d.pos])
		if len(got) > limit {
			got = got[:limit] + "…"
		}
		d.pos = start
	default:
		got = "a " + kind
	}
	return failed("got " + got + ", want " + want)
}

// literal passes true, false or null.
func (d *decoder) literal(word string) *failure {
	for i := range len(word) {
		if d.next() != word[i] {
			return d.unexpected()
		}
		d.pos++
	}
	return nil
}

// text passes a string and gives its inside and whether that is the text as it
// stands: without escapes, and ASCII or checked to be UTF-8.
func (d *decoder) text() (inside []byte, plain bool, f *failure) {
	d.pos++
	start := d.pos
	ascii, escapes := true, false
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		switch {
		case c == '"':
			inside = d.data[start:d.pos]
			d.pos++
			return inside, !escapes && (ascii || utf8.Valid(inside)), nil
		case c == '\\':
			escapes = true
			if f := d.escape(); f != nil {
				return nil, false, f
			}
		case c < ' ':
			return nil, false, d.unexpected()
		default:
			ascii = ascii && c < utf8.RuneSelf
			d.pos++
		}
	}
	return nil, false, d.unexpected()
}

func (d *decoder) escape() *failure {
	d.pos++
	switch d.next() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		d.pos++
		return nil
	case 'u':
		d.pos++
		for range 4 {
			if d.pos >= len(d.data) || hexValue(d.data[d.pos]) > 15 {
				return d.unexpected()
			}
			d.pos++
		}
		return nil
	}
	return d.unexpected()
}

// name passes a member's name and the colon behind it. The bytes hold until the
// next name or string is read.
func (d *decoder) name() ([]byte, *failure) {
	if d.next() != '"' {
		return nil, d.unexpected()
	}
	name, plain, f := d.text()
	if f != nil {
		return nil, f
	}
	if !plain {
		d.scratch = unescape(d.scratch[:0], name)
		name = d.scratch
	}
	d.space()
	if d.next() != ':' {
		return nil, d.unexpected()
	}
	d.pos++
	d.space()
	return name, nil
}

// number passes a number.
func (d *decoder) number() *failure {
	if d.next() == '-' {
		d.pos++
	}
	if d.next() == '0' {
		d.pos++
	} else if !d.digits() {
		return d.unexpected()
	}
	if d.next() == '.' {
		d.pos++
		if !d.digits() {
			return d.unexpected()
		}
	}
	if d.next()|0x20 == 'e' {
		d.pos++
		if c := d.next(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return d.unexpected()
		}
	}
	return nil
}

// digits passes digits; there must be one.
func (d *decoder) digits() bool {
	start := d.pos
	for d.pos < len(d.data) && '0' <= d.data[d.pos] && d.data[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > start
}

// more passes a comma, or the end of an array or object, and the space behind
// a comma.
func (d *decoder) more(end byte) (bool, *failure) {
	d.space()
	switch d.next() {
	case ',':
		d.pos++
		d.space()
		return true, nil
	case end:
		d.pos++
		return false, nil
	}
	return false, d.unexpected()
}

// begin passes the beginning of an array or object and tells whether there is
// anything in it. The caller counts depth down again.
func (d *decoder) begin(end byte) (bool, *failure) {
	if d.depth++; d.depth > maxDepth {
		return false, fatal(reasonDeep)
	}
	d.pos++
	d.space()
	if d.next() == end {
		d.pos++
		return false, nil
	}
	return true, nil
}

// skip passes any value, checks that it is JSON, and gives its bytes.
func (d *decoder) skip() ([]byte, *failure) {
	start := d.pos
	f := d.pass()
	return d.data[start:d.pos], f
}

func (d *decoder) pass() *failure {
	switch d.next() {
	case '"':
		_, _, f := d.text()
		return f
	case '{':
		return d.passAll('}')
	case '[':
		return d.passAll(']')
	case 't':
		return d.literal("true")
	case 'f':
		return d.literal("false")
	case 'n':
		return d.literal("null")
	default:
		return d.number()
	}
}

// passAll passes an array or object.
func (d *decoder) passAll(end byte) *failure {
	more, f := d.begin(end)
	for f == nil && more {
		if end == '}' {
			if d.next() != '"' {
				return d.unexpected()
			}
			if _, _, f = d.text(); f != nil {
				return f
			}
			d.space()
			if d.next() != ':' {
				return d.unexpected()
			}
			d.pos++
			d.space()
		}
		if f = d.pass(); f == nil {
			more, f = d.more(end)
		}
	}
	d.depth--
	return f
}

// checkJSON returns what keeps a text from being one JSON value.
func checkJSON(raw []byte) *failure {
	d := decoder{data: raw}
	d.space()
	if f := d.pass(); f != nil {
		return f
	}
	d.space()
	if d.pos < len(raw) {
		return d.unexpected()
	}
	return nil
}
