package codegen

// Literal is one JSON value that can be compared with ==, in whatever form it was
// written; generated enums of mixed values embed it. The zero value is none and has
// no JSON form.
//
//	type Mode struct{ codegen.Literal }
//	var ModeAuto = Mode{codegen.NewLiteral(`"auto"`)}
type Literal struct {
	text string `mcp:"literal"`
}

// NewLiteral returns the value of a JSON text, zero for any other text.
func NewLiteral(text string) Literal {
	b, err := Canonical([]byte(text))
	if err != nil {
		return Literal{}
	}
	return Literal{text: string(b)}
}

// String returns the JSON text, "" for the zero value.
func (l Literal) String() string { return l.text }

// MarshalJSON writes the value.
func (l Literal) MarshalJSON() ([]byte, error) { return Marshal(&l) }

// UnmarshalJSON reads any JSON value.
func (l *Literal) UnmarshalJSON(b []byte) error { return Unmarshal(b, l) }
