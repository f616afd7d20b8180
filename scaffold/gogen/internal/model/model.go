// Package model is what a generated package consists of, before it is Go: the
// one form that schemas are built into (package build), names are chosen in
// (package names) and source is emitted from (package emit). It holds no
// schema to interpret and no syntax.
//
// Two rules make it safe to use. No type is narrower than its schema: every
// value that the schema allows has a place in it and comes out of it again
// equal. And what the types and [Rules] do not hold is never lost: the whole
// schema is then in [Decl.Schema] and checked by a validator.
package model

// Package is a whole generated package.
type Package struct {
	Name   string // of the Go package
	Server string // the user's name of it
	// Implementation is the server's own name, such as "mcp-servers/everything
	// 2.0.0"; "" is left out.
	Implementation string
	Protocol       string // the revision in use; "" is left out
	Digest         string // of all sources: "sha256:" and hex
	Tools          []*Tool
	Prompts        []*Prompt
	Resources      []*Resource
	Templates      []*Template
	// Decls in the order of creation: tools by name, parameters before results, a
	// type before those inside it.
	Decls    []*Decl
	Warnings []Warning
}

// Warning is about something that is less typed than in its schema.
type Warning struct {
	Tool    string
	Pointer string // inside the tool, such as "/inputSchema/properties/a"; "" for all of it
	Reason  string
}

// Tool is one method.
type Tool struct {
	Name   string
	GoName string
	Doc    []string // paragraphs; the first is what the method does
	// ReadOnly and Destructive are the server's claims.
	ReadOnly, Destructive bool
	Digest                string // of the definition, as package codegen computes it
	// Params is nil for a tool whose arguments are a raw JSON object and, with
	// Optional, for one without named arguments.
	Params *Decl
	// Optional is set where no argument is required: the parameters are then an
	// option of the call, so that adding optional arguments does not change the
	// method's signature.
	Optional bool
	// Result is nil for a tool without an output schema.
	Result *Decl
}

// Prompt is one function that gets a prompt.
type Prompt struct {
	Name   string
	GoName string
	Doc    []string
	// Params has string fields only; nil where the prompt takes no arguments.
	// Optional is as for a tool.
	Params   *Decl
	Optional bool
}

// Resource is one function that reads a resource.
type Resource struct {
	URI    string
	Name   string // as the server has it; not unique
	GoName string
	Doc    []string
}

// Template is one function that reads what a URI template (RFC 6570) leads to.
type Template struct {
	URITemplate string
	Name        string // as the server has it; not unique
	GoName      string
	Doc         []string
	Params      *Decl // a string, list or map a variable
}

// Kind is the closed set of what a value that is not null can be in Go.
type Kind uint8

// The kinds.
const (
	Raw     Kind = iota // json.RawMessage; null is a value like any other
	String              // string
	Bool                // bool
	Int                 // int64
	Float               // float64
	Decimal             // json.Number: integers beyond 64 bits, or all numbers on request
	List                // []Elem
	Map                 // map[string]Elem
	Named               // a declared type
	Format              // a named string of package runtime, such as runtime.DateTime
)

// Type is the type of the value at one place.
type Type struct {
	Kind     Kind
	Elem     *Type  // of List and Map
	ElemNull bool   // elements may be null
	Decl     *Decl  // of Named
	Format   string // of Format: the name in package runtime
	// Rules at this place, besides those of the declared type; nil is none.
	Rules *Rules
	// Why is the reason why a Raw value could not be typed; "" where the schema
	// itself allows anything.
	Why string
}

// Form is the closed set of declarations.
type Form uint8

// The forms.
const (
	Struct     Form = iota // an object
	StringEnum             // strings, some of which have constants
	IntEnum                // 64 bit integers, some of which have constants
	MixedEnum              // any JSON values, some of which have variables
	Defined                // a name for another type: a list or map that contains itself, an arm of a union
	Wrapper                // a result whose structured content is not an object
	Union                  // one of several types
	Tuple                  // an array with a type for each place
)

// Side is the direction of a declaration's values.
type Side uint8

// The sides.
const (
	Input  Side = iota // arguments, which mcpctl's users write
	Output             // results, which servers write and may have extended since
)

// Verb returns what a tool does with values of this side.
func (s Side) Verb() string {
	if s == Input {
		return "takes"
	}
	return "returns"
}

// Decl is a declared type.
type Decl struct {
	Form Form
	Side Side
	// Key is the declaration's place in the sources, spelled by names.Key. It is
	// unique and does not depend on what else is generated: it identifies the name
	// in the lock file.
	Key string
	// Tool is the name of the tool it belongs to; "" for prompts and templates.
	Tool string
	// Want is the wanted name after that of its tool, such as "MessageType" or
	// "LabelsItem", made by names.Exported and names.Join. It is unused on Top
	// declarations, which are named after what they belong to: EchoParams,
	// EchoResult, DynamicTextURI.
	Want string
	// Name is its Go name; package names sets it.
	Name string
	// Top declarations, parameters and results, get their names first.
	Top bool
	Doc []string // paragraphs; the first begins with the name when emitted
	// Fields of a Struct, required ones first, then by JSON name; of a Tuple, in
	// their order (JSON is then the index).
	Fields []*Field
	Additional
	Values []*Value
	// Under is what a Defined type or Wrapper is made of.
	Under     *Type
	UnderNull bool
	Choice
	Checks
}

// Additional is what a struct or tuple holds besides its fields.
type Additional struct {
	// Rest is the type of members or items without a field; nil for a closed
	// object.
	Rest     *Type
	RestNull bool
	// Loose structs also accept values that are not objects, like a schema with
	// properties and without a type.
	Loose bool
	// Result structs and wrappers keep the raw result.
	Result bool
}

// Choice is the arms of a Union, and how to choose among them.
type Choice struct {
	Arms   []*Arm
	Select Select
	Member string // the discriminator of SelectMember
}

// Checks are what the type itself does not express.
type Checks struct {
	Rules *Rules // of the value as a whole
	// Schema is canonical JSON, set on Top declarations only, where types and rules
	// do not express the whole schema. SchemaFor are the keywords concerned,
	// sorted: see package build.
	Schema    string
	SchemaFor []string
}

// Presence is what a member may be besides a value.
type Presence uint8

// What a member may be.
const (
	Always         Presence = iota // required, not null
	OrNull                         // required, may be null
	OrAbsent                       // optional, not null
	OrAbsentOrNull                 // optional, may be null
	Constant                       // required, one value only: no field
)

// Field is one member of a struct or one place of a tuple.
type Field struct {
	JSON     string
	Name     string // in Go
	Type     *Type
	Presence Presence
	Literal  string // JSON text of a Constant
	Default  string // JSON text of the server's default; "" is none
	// DefaultName is the name of the constant, where Default is a string, a number,
	// true or false; otherwise "". Package names sets it.
	DefaultName string
	Doc         []string
	// Indirect fields are pointers although they are required: a type that contains
	// itself would have no size.
	Indirect bool
}

// Value is one value of an enum.
type Value struct {
	Text string // the string, the digits, or the JSON text of a MixedEnum
	Name string
	Doc  string
}

// Select is how the arm of a union is found in a JSON value.
type Select uint8

// The ways to find an arm.
const (
	// SelectKind is by the JSON kind, which is different for all arms.
	SelectKind Select = iota
	// SelectMember is by the value of one member that every arm has (objects).
	SelectMember
	// SelectKeys is by the members that are present; each arm requires one that no
	// other arm has (objects).
	SelectKeys
	// SelectFirst is the first arm that accepts the value.
	SelectFirst
)

// Arm is one type of a union, a declared type of its own.
type Arm struct {
	Decl *Decl
	// Kinds are the JSON kinds of its values: "string", "number", "boolean",
	// "array", "object".
	Kinds []string
	// Values are the JSON texts of the discriminator that choose it.
	Values []string
	// Keys choose it by SelectKeys.
	Keys []string
}
