package codec

import (
	"reflect"
	"slices"
)

// unionPlan is how the arm of a value is found.
type unionPlan struct {
	path    []int // of the field that holds the value
	arms    []armPlan
	unknown reflect.Type // nil: there is none
}

type armPlan struct {
	UnionArm
	plan *typePlan
	// values are the canonical texts of Values.
	values []string
}

func (a *armPlan) takes(kind string) bool {
	return len(a.Kinds) == 0 || slices.Contains(a.Kinds, kind)
}

// unionOf asks a value of the type for its arms. A OneOf by itself does not
// know them, and can only be written.
func (b *planner) unionOf(p *typePlan) {
	up := &unionPlan{path: []int{0}}
	p.union = up
	if wrapped(p.typ) != nil {
		up.path = []int{0, 0}
	}
	u, ok := reflect.TypeAssert[interface{ Arms() []UnionArm }](reflect.Zero(p.typ))
	if !ok {
		return
	}
	for _, arm := range u.Arms() {
		if arm.Unknown {
			up.unknown = arm.Type
			continue
		}
		a := armPlan{UnionArm: arm, plan: b.plan(arm.Type)}
		for _, text := range arm.Values {
			canonical, err := CanonicalJSON([]byte(text))
			if err != nil {
				p.wrong = "a value of member " + arm.Member + " is not JSON"
			}
			a.values = append(a.values, string(canonical))
		}
		p.null = p.null || a.takes("null")
		up.arms = append(up.arms, a)
	}
}
