// Package codec writes and reads the types of generated clients as JSON. It
// goes by struct tags, with a plan that is made once for each type, and reads
// in one pass.
//
// encoding/json cannot: it does not tell absent, null and zero apart in every
// case, matches member names without regard to case, drops members it does not
// know, refuses integers that are written 1.0 or 1e3, and rounds numbers
// without a word.
//
// # Tags
//
// A struct is written and read here if one of its fields has a tag mcp. All
// others, and types with a MarshalJSON or UnmarshalJSON of their own, are left
// to encoding/json.
//
//	A T        `json:"a"`                    required, not null
//	A *T       `json:"a,omitzero"`           may be absent: a zero value, such as nil
//	A *T       `json:"a" mcp:"null"`         required, may be null: nil
//	A Opt[T]   `json:"a,omitzero"`           may be absent or null
//	A *T       `json:"a" mcp:"indirect"`     required, not null; nil is an error
//	A T        `json:"-" name:"a,b"`         a name that the tag json cannot spell; json:",omitzero" where it may be absent
//	_ struct{} `name:"a" const:"\"x\""`      a member with one value, JSON text; there is no field for it
//	X map[string]T `json:"-" mcp:"rest"`     members without a field
//	X map[string]T `json:"-" mcp:"rest,lenient"`  besides, null counts as absent where it is not allowed
//	_ struct{} `mcp:"closed"`                there are no other members
//	O json.RawMessage `json:"-" mcp:"other"` a value that is no object (with mcp:"tuple": no array)
//	R T        `json:"-"`                    no member
//
//	_ struct{} `mcp:"tuple"`                 an array; its fields are
//	V T        `mcp:"item"`                  the next item, not null
//	V *T       `mcp:"item,null"`             the next item, may be null: nil
//	V *T       `mcp:"item,optional"`         the next item, if there is one
//	_ struct{} `mcp:"item" const:"1"`        the next item, which has one value
//	R []T      `mcp:"rest"`                  all further items; none are allowed without it
//
// Slices and maps are written as [] and {} where nil does not mean absent or
// null. A pointer as an element of a slice or map may be null. json.RawMessage
// and the types that may be any JSON take null as a value like others.
//
// # What holds of all of it
//
// Member names are compared exactly, after unescaping; a member that comes
// twice is an error. Text that is no UTF-8 becomes U+FFFD, as in encoding/json.
// Members are written in the order of the fields, then the rest by name, maps
// by name, without spaces and without escapes for HTML. Raw JSON is checked,
// and kept byte by byte. Failures are a [Fault].
package codec
