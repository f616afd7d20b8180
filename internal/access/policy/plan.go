package policy

import (
	"slices"
	"strings"
)

// Form is what of an argument is read.
type Form uint8

// Forms. Raw is the value, Clean the path that a string is, and Host the host of the URL
// that a string is.
const (
	Raw Form = iota
	Clean
	Host
	numForms
)

// ReadArguments is a member of the arguments that a policy reads.
type ReadArguments struct {
	Form Form
	// Path are the names that lead to it, at least one.
	Path []string
	// Has says that only whether it is there is read.
	Has bool
}

// member is a member of an object and what is read of it and of those below it. The root
// stands for the arguments themselves.
type member struct {
	name string
	// value says which forms are read whole; present that it is read whether it is there.
	value   [numForms]bool
	present [numForms]bool
	below   []*member
	schema  *argSchema
}

// plan returns the root of all reads.
func plan(reads []ReadArguments) *member {
	root := new(member)
	for _, r := range reads {
		m := root
		for _, name := range r.Path {
			i := slices.IndexFunc(m.below, func(b *member) bool { return b.name == name })
			if i < 0 {
				i = len(m.below)
				m.below = append(m.below, &member{name: name})
			}
			m = m.below[i]
			m.present[r.Form] = true
		}
		m.value[r.Form] = m.value[r.Form] || !r.Has
	}
	return root
}

// Unreadable is an argument that cannot be read exactly.
type Unreadable struct {
	// Pointer is the argument as a JSON pointer.
	Pointer string
}

// Error names the argument and has no part of its value.
func (u *Unreadable) Error() string { return "argument " + u.Pointer + " cannot be checked" }

// pointer returns the JSON pointer of a member below another.
func pointer(above, name string) string {
	return above + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
