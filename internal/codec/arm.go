package codec

import "reflect"

// UnionArm is one type of a union and how its values are known. Of the arms
// that have the value's kind, those with Member want that member to have one of
// Values, those with Keys want one of these to be there; the first that is left
// takes the value. Arms with Try are tried one after the other.
type UnionArm struct {
	Type   reflect.Type
	Kinds  []string // JSON kinds: "string", "number", "boolean", "array", "object", "null"; none is all
	Member string
	Values []string // JSON texts
	Keys   []string
	Try    bool
	// Unknown is the arm of what fits no other; its type is a []byte that holds
	// the JSON text.
	Unknown bool
}
