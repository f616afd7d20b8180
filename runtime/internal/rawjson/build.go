package rawjson

import "bytes"

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
