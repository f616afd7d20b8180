package codegen

// Literal is what generated enums of mixed values embed: one JSON value that
// can be compared with ==, whichever way it was written. The zero value is none
// and has no JSON form.
//
//	type Mode struct{ codegen.Literal }
//	var ModeAuto = Mode{codegen.NewLiteral(`"auto"`)}
type Literal struct {
	text string `mcp:"literal"`
}

// NewLiteral takes a JSON text. One that is none makes the zero value.
func NewLiteral(text string) Literal {
	b, err := Canonical([]byte(text))
	if err != nil {
		return Literal{}
	}
	return Literal{text: string(b)}
}

// String gives the JSON text, "" for the zero value.
func (l Literal) String() string { return l.text }

// MarshalJSON writes the value.
func (l Literal) MarshalJSON() ([]byte, error) { return Marshal(&l) }

// UnmarshalJSON reads any JSON value.
func (l *Literal) UnmarshalJSON(b []byte) error { return Unmarshal(b, l) }
