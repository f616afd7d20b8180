package codegen

import (
	"reflect"

	"github.com/mcpctl/mcpctl/internal/codec"
)

// OneOf holds one value of a type that is an arm of a union; generated unions embed
// it. V is the interface of the arms. The zero value holds none and has no JSON
// form.
//
//	type Label struct{ codegen.OneOf[LabelArm] }
//	type LabelArm interface{ isLabel() }
//	type LabelName string
//	type LabelUnknown json.RawMessage
//
//	var labelArms = []codegen.Arm{codegen.ArmOfKind[LabelName]("string"), codegen.ArmUnknown[LabelUnknown]()}
//
//	func (Label) Arms() []codegen.Arm             { return labelArms }
//	func (u *Label) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, u) }
type OneOf[V any] struct {
	value V `mcp:"oneof"`
}

// NewOneOf holds v.
func NewOneOf[V any](v V) OneOf[V] { return OneOf[V]{value: v} }

// Value returns the value for a type switch, nil for none.
func (o OneOf[V]) Value() V { return o.value }

// MarshalJSON writes the value.
func (o OneOf[V]) MarshalJSON() ([]byte, error) { return Marshal(&o) }

// Arm is one type of a union, and the rule by which a JSON value belongs to it.
// Values that match no arm go to that of [ArmUnknown].
type Arm = codec.UnionArm

// ArmOfKind takes all values of these JSON kinds: "string", "number",
// "boolean", "array", "object".
func ArmOfKind[T any](kinds ...string) Arm {
	return Arm{Type: reflect.TypeFor[T](), Kinds: kinds}
}

// ArmOfMember takes the objects in which a member has one of these values,
// which are JSON texts.
func ArmOfMember[T any](member string, values ...string) Arm {
	return Arm{Type: reflect.TypeFor[T](), Kinds: []string{"object"}, Member: member, Values: values}
}

// ArmOfKeys takes the objects that have one of these members.
func ArmOfKeys[T any](keys ...string) Arm {
	return Arm{Type: reflect.TypeFor[T](), Kinds: []string{"object"}, Keys: keys}
}

// ArmOfFirst takes the values of these kinds, or of all without kinds, that decode
// as T, if no arm before it does. Arms whose Validate passes go first.
func ArmOfFirst[T any](kinds ...string) Arm {
	return Arm{Type: reflect.TypeFor[T](), Kinds: kinds, Try: true}
}

// ArmUnknown keeps the JSON text of values that match no other arm. T is a []byte.
func ArmUnknown[T ~[]byte]() Arm {
	return Arm{Type: reflect.TypeFor[T](), Unknown: true}
}
