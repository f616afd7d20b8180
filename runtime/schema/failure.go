package schema

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// failure is a way in which a value does not fit a schema.
type failure interface {
	// issues words it for people.
	issues(s *Schema) []Issue
}

func (i Issue) issues(*Schema) []Issue { return []Issue{i} }

// mismatch is a value of another type.
type mismatch struct {
	at   string
	want []string
	got  string
}

func (m mismatch) issues(*Schema) []Issue {
	return []Issue{{Pointer: m.at, Message: wantGot(m.want, m.got)}}
}

// unlisted is a value that is none of an enumeration.
type unlisted struct {
	at   string
	got  any
	want []any
}

func (u unlisted) issues(*Schema) []Issue { return []Issue{EnumIssue(u.at, u.got, u.want)} }

// unknown is a member that the schema does not allow.
type unknown struct {
	tokens []string // of the object
	name   string
}

func (u unknown) issues(s *Schema) []Issue {
	near := plain.Nearest(u.name, s.names(u.tokens), 1)
	return []Issue{{Pointer: Pointer(pointer(u.tokens), u.name), Message: "unknown name", Near: first(near)}}
}

// misnamed is a member whose name itself does not fit.
type misnamed struct {
	at, name string
	causes   []failure
}

func (m misnamed) issues(s *Schema) []Issue {
	var out []Issue
	for _, issue := range s.collect(m.causes) {
		out = append(out, Issue{Pointer: Pointer(m.at, m.name), Message: "the name: " + issue.Message, Near: issue.Near})
	}
	return out
}

// endless is a reference that leads back to itself without a step into the
// value: a fault of the schema, not the value's.
type endless struct {
	places []string
}

func (e endless) issues(*Schema) []Issue { return nil }

// cyclic finds the failure that is the schema's fault.
func cyclic(fails []failure) (endless, bool) {
	for _, f := range fails {
		switch f := f.(type) {
		case endless:
			return f, true
		case misnamed:
			if e, ok := cyclic(f.causes); ok {
				return e, true
			}
		case unfit:
			for _, arm := range f.arms {
				if e, ok := cyclic(arm); ok {
					return e, true
				}
			}
		}
	}
	return endless{}, false
}

func (s *Schema) collect(fails []failure) []Issue {
	var out []Issue
	for _, f := range fails {
		out = append(out, f.issues(s)...)
	}
	return out
}

// unfit is a value that fits none of several alternatives.
type unfit struct {
	at   string
	arms [][]failure // what is wrong by each of them
}

// mismatch returns the type mismatch that an arm fails with at the place
// itself, if it fails with that alone.
func (u unfit) mismatch(arm []failure) (mismatch, bool) {
	if len(arm) != 1 {
		return mismatch{}, false
	}
	switch f := arm[0].(type) {
	case mismatch:
		return f, f.at == u.at
	case unfit:
		if len(f.arms) == 1 && f.at == u.at {
			return u.mismatch(f.arms[0])
		}
	}
	return mismatch{}, false
}

// issues explains why none of the alternatives fits: by the only one that was
// meant, where that can be told, and by their sum elsewhere.
func (u unfit) issues(s *Schema) []Issue {
	var meant [][]Issue
	var want []string
	got := ""
	for _, arm := range u.arms {
		if m, ok := u.mismatch(arm); ok {
			got = m.got
			want = append(want, m.want...)
			continue
		}
		meant = append(meant, s.collect(arm))
	}
	if len(meant) > 1 {
		// A discriminator that does not match rules an alternative out.
		rest := slices.DeleteFunc(slices.Clone(meant), func(l []Issue) bool {
			return slices.ContainsFunc(l, func(i Issue) bool {
				return strings.HasPrefix(i.Message, "must be ") && strings.Count(i.Pointer, "/") == strings.Count(u.at, "/")+1
			})
		})
		if len(rest) == 1 {
			meant = rest
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0]
	case len(meant) == 0:
		return []Issue{{Pointer: u.at, Message: wantGot(want, got)}}
	}
	return []Issue{{Pointer: u.at, Message: "fits none of the allowed forms: " + u.reasons(meant)}}
}

// reasons is the first reason of each alternative.
func (u unfit) reasons(meant [][]Issue) string {
	var reasons []string
	for _, l := range meant {
		if len(l) == 0 {
			continue
		}
		reason := l[0].Message
		if l[0].Pointer != u.at {
			reason = strings.TrimPrefix(l[0].Pointer, u.at+"/") + " " + reason
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	const most = 3
	if len(reasons) > most {
		reasons = append(reasons[:most], "…")
	}
	return strings.Join(reasons, "; or ")
}
