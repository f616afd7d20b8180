package build

import "slices"

// admitsNull reports whether a schema may allow null; if in doubt, it does. It
// reads schemas as they are written, before they are merged.
func (d *document) admitsNull(s *schema) bool {
	if s == nil {
		return true
	}
	switch s.null.state {
	case known:
		return s.null.yes
	case working:
		return true // a union that is an arm of itself; kinds leaves it untyped
	case unknown:
	}
	s.null.state = working
	s.null.yes = d.computeNull(s)
	s.null.state = known
	return s.null.yes
}

func (d *document) computeNull(s *schema) bool {
	switch {
	case s.orNull:
		return true
	case s.never:
		return false
	case s.types != nil && !slices.Contains(s.types, "null"):
		return false
	case s.hasEnum && !slices.Contains(s.enum, nil):
		return false
	}
	if s.ref != "" {
		if target, err := d.resolve(s); err == nil && !d.admitsNull(target) {
			return false
		}
	}
	for _, arm := range s.allOf {
		if !d.admitsNull(arm) {
			return false
		}
	}
	for _, u := range s.unions {
		if !slices.ContainsFunc(u.arms, d.admitsNull) {
			return false
		}
	}
	return true
}

// nullInSeveralArms reports whether null is in more than one arm of a oneOf,
// which forbids it: only a validator can tell.
func (d *document) nullInSeveralArms(u union) bool {
	n := 0
	for _, arm := range u.arms {
		if d.admitsNull(arm) {
			n++
		}
	}
	return u.exclusive && n > 1
}

// withoutNull returns the target of a schema of the form "this, or null", so
// that it has the same type as elsewhere; other schemas as they are.
func (d *document) withoutNull(s *schema) *schema {
	bare := *s
	bare.unions = nil
	if len(s.unions) != 1 || !bare.allowsAll() || s.orNull {
		return s
	}
	var one *schema
	nulls := 0
	for _, arm := range s.unions[0].arms {
		if d.admitsNull(arm) {
			nulls++
		}
		if d.kinds(arm) == noKind {
			continue
		}
		if one != nil {
			return s
		}
		one = arm
	}
	if one == nil || nulls > 1 {
		return s
	}
	if target := d.follow(one); target != one {
		return target
	}
	return s
}
