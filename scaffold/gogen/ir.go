package gogen

// kind is the closed set of what a type can be.
type kind uint8

const (
	kindRaw    kind = iota // json.RawMessage
	kindString             // string
	kindBool               // bool
	kindInt                // int64
	kindFloat              // float64
	kindNumber             // json.Number: integers beyond 64 bits, or mixed with fractions
	kindList               // []elem
	kindMap                // map[string]elem
	kindNamed              // a declared type
)

// typ is the type of a value that is not null.
type typ struct {
	kind kind
	// elem is the element of a list or map; elemNull tells that it may be null.
	elem     *typ
	elemNull bool
	named    *named
	// why says what a raw value stands for that could not be typed, "" where
	// the schema itself allows anything.
	why string
}

// form is the closed set of declarations.
type form uint8

const (
	formStruct form = iota
	formStringEnum
	formIntEnum
	formDefined // a name for a list or map, where a schema refers to itself
	formWrapper // a result whose structured content is no object of its own
)

// named is a declared type.
type named struct {
	form form
	// want is the name it should have, goName the one it gets (scope.go).
	want, goName string
	// top declarations, parameters and results, get their names first.
	top bool
	// pos is the place in the input: tool name and pointer. Unique.
	pos, tool string
	doc       []string // paragraphs; the first begins with the name when emitted
	// fields of a struct: required ones first, then by JSON name.
	fields []*field
	// rest is the type of members without a field, nil for a closed object.
	rest     *typ
	restNull bool
	// result structs keep the raw result.
	result bool
	values []*enumValue
	// under is what a defined or wrapper type is made of.
	under     *typ
	underNull bool
}

// presence tells what a member may be besides a value.
type presence uint8

const (
	always         presence = iota // required, not null
	orNull                         // required, may be null
	orAbsent                       // optional, not null
	orAbsentOrNull                 // optional, may be null
	constant                       // required, one value only: no field
)

// field is one member of a struct.
type field struct {
	json, goName string
	typ          *typ
	presence     presence
	literal      string // JSON text of a constant
	doc          []string
	// indirect fields are pointers although they are required, because a type
	// that contains itself would have no size.
	indirect bool
}

// enumValue is one constant.
type enumValue struct {
	text   string // the string, or the digits
	goName string
	doc    string
}

// method is one tool.
type method struct {
	tool, goName string
	doc          []string
	// params is nil for a tool without parameters; rawParams asks for a JSON
	// object where they cannot be typed.
	params    *named
	rawParams bool
	// result is nil for a tool without an output schema.
	result *named
}

// pkg is a whole generated package.
type pkg struct {
	name, server string
	version      string // what the server calls itself, for the header
	digest       string
	methods      []*method
	// types in the order of their making: tools sorted, then depth first.
	types    []*named
	warnings []Warning
}

// count gives the number of fields, and how many of them are raw JSON for want
// of a type.
func (p *pkg) count() (fields, untyped int) {
	for _, t := range p.types {
		for _, f := range t.fields {
			fields++
			if f.presence != constant && f.typ.untyped() {
				untyped++
			}
		}
		if t.form == formWrapper {
			fields++
			if t.under.untyped() {
				untyped++
			}
		}
	}
	for _, m := range p.methods {
		if m.rawParams {
			fields++
			untyped++
		}
	}
	return fields, untyped
}

// leaf follows lists and maps to what they hold.
func (t *typ) leaf() *typ {
	for t.kind == kindList || t.kind == kindMap {
		t = t.elem
	}
	return t
}

// untyped reports whether a value is raw JSON for want of a type.
func (t *typ) untyped() bool {
	leaf := t.leaf()
	return leaf.kind == kindRaw && leaf.why != ""
}
