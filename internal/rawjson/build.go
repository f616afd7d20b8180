package rawjson

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Builder builds an object member by member, in the order they are added. The
// zero value is ready for use.
type Builder struct{ members []byte }

// Add appends a member; value is raw.
func (b *Builder) Add(name string, value []byte) {
	if b.members != nil {
		b.members = append(b.members, ',')
	}
	b.members = append(append(Quote(b.members, name), ':'), value...)
}

// Empty reports whether no member has been added.
func (b *Builder) Empty() bool { return b.members == nil }

// Object returns the raw object.
func (b *Builder) Object() []byte {
	return append(append([]byte{'{'}, b.members...), '}')
}

// Wrap returns a raw object of one member.
func Wrap(name string, value []byte) []byte {
	var b Builder
	b.Add(name, value)
	return b.Object()
}

// IsObject reports whether a valid raw value is an object.
func IsObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

// IsString reports whether a valid raw value without space around it is a
// string.
func IsString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// Normal returns a value in the form that all of its spellings share: no white
// space, the members of objects sorted, strings escaped where they have to be.
// Numbers stay as they are written. Text that is no JSON, or has a member twice,
// comes back as it is. The argument is not changed.
func Normal(text []byte) []byte {
	v := jsontext.Value(bytes.Clone(text))
	if v.Format(jsontext.ReorderRawObjects(true), jsontext.Multiline(false), jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false)) != nil {
		return text
	}
	return v
}
