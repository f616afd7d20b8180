package schema

import (
	"fmt"
)

// rule is a compiled schema. It does not change once the compiler has ended.
type rule struct {
	res   *resource
	at    string  // pointer in its document
	never bool    // the schema false
	gates []check // those of which the first that fails ends the rule
	rest  []check
}

// check is one keyword of a schema, or several that need one another. It tells
// the visit what is wrong with its value.
type check interface {
	check(v *visit)
}

// run is one validation.
type run struct {
	steps  int
	tracks bool // some rule asks what others have seen
}

// exhausted reports whether the run has taken more steps than it may.
func (r *run) exhausted() bool { return r.steps > maxSteps }

// maxSteps bounds the schemas that one validation looks at. A schema of ten
// lines whose branches refer to one another twice each would otherwise keep
// the validator busy for years.
const maxSteps = 2_000_000

// visit is a rule at a value.
type visit struct {
	run    *run
	rule   *rule
	value  any
	parent *visit // nil at the root
	step   string // from the parent's value
	moved  bool   // the value is another one than the parent's
	quiet  bool   // only whether it fits is asked
	failed bool
	fails  []failure // none if quiet
	seen   seen
}

// seen is which members or items of a value some keyword has spoken of.
type seen struct {
	all   bool
	names map[string]bool
	first int          // so many items
	items map[int]bool // and these
}

func (s *seen) name(n string) {
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[n] = true
}

func (s *seen) item(i int) {
	if s.items == nil {
		s.items = map[int]bool{}
	}
	s.items[i] = true
}

func (s *seen) add(other *seen) {
	s.all = s.all || other.all
	s.first = max(s.first, other.first)
	for n := range other.names {
		s.name(n)
	}
	for i := range other.items {
		s.item(i)
	}
}

// same tries another rule at the same value. If it fits, what it has seen
// counts here, too.
func (v *visit) same(r *rule, quiet bool) *visit {
	child := &visit{run: v.run, rule: r, value: v.value, parent: v, quiet: v.quiet || quiet}
	child.apply()
	if !child.failed && v.run.tracks {
		v.seen.add(&child.seen)
	}
	return child
}

// below tries a rule at a member or an item.
func (v *visit) below(r *rule, step string, value any) *visit {
	child := &visit{run: v.run, rule: r, value: value, parent: v, step: step, moved: true, quiet: v.quiet}
	child.apply()
	return child
}

// must takes over what is wrong at another visit.
func (v *visit) must(child *visit) {
	if child.failed {
		v.failed = true
		v.fails = append(v.fails, child.fails...)
	}
}

// fail notes what is wrong. The function is called unless the visit is quiet.
func (v *visit) fail(what func() failure) {
	v.failed = true
	if !v.quiet {
		v.fails = append(v.fails, what())
	}
}

// wrong notes a single failure at the visit's value.
func (v *visit) wrong(format string, args ...any) {
	v.fail(func() failure { return Issue{Pointer: v.at(), Message: fmt.Sprintf(format, args...)} })
}

func (v *visit) apply() {
	if v.run.steps++; v.run.exhausted() {
		v.failed = true
		return
	}
	if v.rule.never {
		v.wrong("not allowed here")
		return
	}
	if v.endless() {
		v.fail(func() failure { return endless{v.references()} })
		return
	}
	for _, c := range v.rule.gates {
		if c.check(v); v.failed {
			return
		}
	}
	for _, c := range v.rule.rest {
		if c.check(v); v.failed && (v.quiet || v.run.exhausted()) {
			return
		}
	}
}

// endless reports whether the visit's rule is being tried at its value already.
func (v *visit) endless() bool {
	for at := v; at.parent != nil && !at.moved; at = at.parent {
		if at.parent.rule == v.rule {
			return true
		}
	}
	return false
}

// references are the schemas that led from the rule back to itself.
func (v *visit) references() []string {
	places := []string{}
	for at := v.parent; ; at = at.parent {
		place := at.rule.at
		if place == "" {
			place = "/"
		}
		places = append(places, place)
		if at.rule == v.rule {
			return places
		}
	}
}

// tokens is the place of the value.
func (v *visit) tokens() []string {
	if v.parent == nil {
		return nil
	}
	tokens := v.parent.tokens()
	if v.moved {
		tokens = append(tokens, v.step)
	}
	return tokens
}

// at is the place of the value as a pointer.
func (v *visit) at() string { return pointer(v.tokens()) }

// outermost finds the first resource on the way to the visit for which the
// function returns a rule.
func (v *visit) outermost(find func(*resource) *rule) *rule {
	var found *rule
	for at := v; at != nil; at = at.parent {
		if r := find(at.rule.res); r != nil {
			found = r
		}
	}
	return found
}
