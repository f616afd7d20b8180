package codec_test

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
)

// The types here are as generated ones are.

type all struct {
	Text   string                     `json:"text"`
	Count  *float64                   `json:"count,omitzero"`
	Tags   []string                   `json:"tags,omitzero"`
	Null   *string                    `json:"null" mcp:"null"`
	Nulls  []int64                    `json:"nulls" mcp:"null"`
	Opt    runtime.Opt[int64]         `json:"opt,omitzero"`
	Free   json.RawMessage            `json:"free,omitzero"`
	Weird  *bool                      `json:",omitzero" name:"a,\"b\"\n<"`
	_      struct{}                   `name:"kind" const:"{\"a\":1}"`
	Hidden string                     `json:"-"`
	Extra  map[string]json.RawMessage `json:"-" mcp:"rest"`
}

func (v all) MarshalJSON() ([]byte, error)  { return codegen.Marshal(&v) }
func (v *all) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, v) }

type closed struct {
	A int64    `json:"a"`
	_ struct{} `mcp:"closed"`
}

type lenient struct {
	A *int64          `json:"a,omitzero"`
	B json.RawMessage `json:"b,omitzero"`
	C *int64          `json:"c" mcp:"null"`
	D []*string       `json:"d,omitzero"`
	E *mode           `json:"e,omitzero"`
	// Members of one type.
	Extra map[string]*int64 `json:"-" mcp:"rest,lenient"`
}

type tree struct {
	Name     string            `json:"name"`
	Children []tree            `json:"children,omitzero"`
	By       map[string]tree   `json:"by,omitzero"`
	Next     *tree             `json:"next,omitzero"`
	Opt      runtime.Opt[tree] `json:"opt,omitzero"`
	_        struct{}          `mcp:"closed"`
}

type chain struct {
	Next *chain   `json:"next" mcp:"indirect"`
	_    struct{} `mcp:"closed"`
}

type loose struct {
	A     *int64                     `json:"a,omitzero"`
	Other json.RawMessage            `json:"-" mcp:"other"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest"`
}

type holdsLoose struct {
	L loose    `json:"l"`
	P *loose   `json:"p,omitzero"`
	N *loose   `json:"n" mcp:"null"`
	_ struct{} `mcp:"closed"`
}

type point struct {
	_    struct{}           `mcp:"tuple"`
	V0   float64            `mcp:"item"`
	V1   *string            `mcp:"item,null"`
	V2   *string            `mcp:"item,optional"`
	V3   runtime.Opt[int64] `mcp:"item,optional"`
	Rest []json.RawMessage  `mcp:"rest"`
}

type pair struct {
	_  struct{} `mcp:"tuple"`
	V0 int64    `mcp:"item"`
	V1 *int64   `mcp:"item,optional"`
}

type scalars struct {
	B bool             `json:"b"`
	I int64            `json:"i"`
	U uint8            `json:"u"`
	S int8             `json:"s"`
	F float64          `json:"f"`
	N json.Number      `json:"n"`
	L []string         `json:"l"`
	M map[string]int64 `json:"m"`
	R json.RawMessage  `json:"r"`
	D runtime.DateTime `json:"d"`
	Y []byte           `json:"y"`
	A any              `json:"a"`
	_ struct{}         `mcp:"closed"`
}

// tagged is a tuple that says what it is.
type tagged struct {
	_  struct{} `mcp:"tuple"`
	_  struct{} `mcp:"item" const:"\"v1\""`
	V1 int64    `mcp:"item"`
}

// label is a string, an object or a list, by its kind.
type label struct{ codegen.OneOf[labelArm] }

type (
	labelArm    interface{ isLabel() }
	labelName   string
	labelObject struct {
		Name string   `json:"name"`
		_    struct{} `mcp:"closed"`
	}
	labelList    []label
	labelUnknown json.RawMessage
)

func (labelName) isLabel()    {}
func (labelObject) isLabel()  {}
func (labelList) isLabel()    {}
func (labelUnknown) isLabel() {}

var labelArms = []codegen.Arm{
	codegen.ArmOfKind[labelName]("string"), codegen.ArmOfKind[labelObject]("object"), codegen.ArmOfKind[labelList]("array"),
	codegen.ArmUnknown[labelUnknown](),
}

func (label) Arms() []codegen.Arm             { return labelArms }
func (u *label) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, u) }

func newLabel[T labelName | labelObject | labelList](v T) label {
	arm, _ := any(v).(labelArm)
	return label{codegen.NewOneOf(arm)}
}

// shape is chosen by the member kind, or by the members that are there.
type shape struct{ codegen.OneOf[shapeArm] }

type (
	shapeArm interface{ isShape() }
	circle   struct {
		_ struct{} `name:"kind" const:"\"circle\""`
		R float64  `json:"r"`
		_ struct{} `mcp:"closed"`
	}
	square struct {
		Kind string                     `json:"kind"`
		Side float64                    `json:"side"`
		Rest map[string]json.RawMessage `json:"-" mcp:"rest"`
	}
	byKeys struct {
		Width float64                    `json:"width"`
		Rest  map[string]json.RawMessage `json:"-" mcp:"rest"`
	}
	shapeUnknown json.RawMessage
)

func (circle) isShape()       {}
func (square) isShape()       {}
func (byKeys) isShape()       {}
func (shapeUnknown) isShape() {}

var shapeArms = []codegen.Arm{
	codegen.ArmOfMember[circle]("kind", `"circle"`), codegen.ArmOfMember[square]("kind", `"square"`, `1.0`),
	codegen.ArmOfKeys[byKeys]("width", "height"), codegen.ArmUnknown[shapeUnknown](),
}

func (shape) Arms() []codegen.Arm             { return shapeArms }
func (u *shape) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, u) }

// amount takes the first arm that fits.
type amount struct{ codegen.OneOf[amountArm] }

type (
	amountArm   interface{ isAmount() }
	amountSmall int64
	amountInt   int64
	amountFloat float64
	amountNode  struct {
		Sub amount   `json:"sub"`
		_   struct{} `mcp:"closed"`
	}
	amountOther struct {
		Sub  amount                     `json:"sub"`
		Rest map[string]json.RawMessage `json:"-" mcp:"rest"`
	}
	amountUnknown json.RawMessage
)

func (amountSmall) isAmount()   {}
func (amountInt) isAmount()     {}
func (amountFloat) isAmount()   {}
func (amountNode) isAmount()    {}
func (amountOther) isAmount()   {}
func (amountUnknown) isAmount() {}

func (a amountSmall) Validate() error {
	if a > 9 {
		return errors.New("too large")
	}
	return nil
}

func (a amountInt) Validate() error {
	if a > 99 {
		return errors.New("too large")
	}
	return nil
}

func (a amountNode) Validate() error {
	if _, bad := a.Sub.Value().(amountUnknown); bad {
		return errors.New("unknown")
	}
	if v, ok := a.Sub.Value().(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

func (a amountOther) Validate() error { return amountNode{Sub: a.Sub}.Validate() }

var amountArms = []codegen.Arm{
	codegen.ArmOfFirst[amountSmall]("number"), codegen.ArmOfFirst[amountInt]("number"), codegen.ArmOfFirst[amountFloat]("number"),
	codegen.ArmOfFirst[amountNode]("object"), codegen.ArmOfFirst[amountOther]("object"), codegen.ArmUnknown[amountUnknown](),
}

func (amount) Arms() []codegen.Arm             { return amountArms }
func (u *amount) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, u) }

// mode is any of several JSON values.
type mode struct{ codegen.Literal }

var modeAuto = mode{codegen.NewLiteral(`"auto"`)}

type holdsUnions struct {
	L  label              `json:"l"`
	S  *shape             `json:"s,omitzero"`
	Ls []label            `json:"ls,omitzero"`
	By map[string]shape   `json:"by,omitzero"`
	O  runtime.Opt[label] `json:"o,omitzero"`
	M  *mode              `json:"m,omitzero"`
	_  struct{}           `mcp:"closed"`
}

// foreign types have JSON of their own.
type upper struct{ s string }

func (u upper) MarshalText() ([]byte, error) {
	if u.s == "bad" {
		return nil, errors.New("cannot be written")
	}
	return []byte("U" + u.s), nil
}

func (u *upper) UnmarshalText(b []byte) error {
	if len(b) == 0 || b[0] != 'U' {
		return errors.New("no U")
	}
	u.s = string(b[1:])
	return nil
}

// level is a number in Go and a word in JSON.
type level int

func (l level) MarshalText() ([]byte, error)  { return []byte(strings.Repeat("x", int(l))), nil }
func (l *level) UnmarshalText(b []byte) error { *l = level(len(b)); return nil }

type plain struct {
	A int `json:"a"`
	B int `json:"b,omitempty"`
}

type outer struct {
	U upper              `json:"u"`
	P plain              `json:"p"`
	O runtime.Opt[upper] `json:"o,omitzero"`
	N inner              `json:"n"`
	M map[string]upper   `json:"m,omitzero"`
	_ struct{}           `mcp:"closed"`
}

// inner is generated, and has no tag that says so.
type inner struct {
	A int64 `json:"a"`
}

func (v inner) MarshalJSON() ([]byte, error)  { return codegen.Marshal(&v) }
func (v *inner) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, v) }
