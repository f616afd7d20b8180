package policy

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
)

// View is what one principal may see and do. It is immutable.
type View struct {
	world     *World
	id        string
	principal types.Entity
	scopes    []string

	once sync.Once // build
	// table says of each item how it is decided.
	table []verdict
	size  int

	used    atomic.Bool // since it was last looked for views that are idle
	counted bool        // by World.mu
}

// verdict is how an item is decided: hidden, or visible under conditions.
type verdict struct {
	visible    bool
	conditions *Conditions
}

// use notes that the view is used.
func (v *View) use() *View {
	if !v.used.Load() {
		v.used.Store(true)
	}
	return v
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// build makes the table.
func (v *View) build() {
	v.table = make([]verdict, len(v.world.items))
	for i, e := range v.world.items {
		v.table[i] = v.decide(kindActions[e.Kind], e.uid, e)
	}
	v.size = 200 + 16*len(v.table)
}

// Item returns whether item i of the World is visible, and the conditions of using it:
// nil where it may be used in any way.
func (v *View) Item(i int) (visible bool, c *Conditions) {
	if v.world.set == nil {
		return true, nil
	}
	return v.table[i].visible, v.table[i].conditions
}

// Unlisted is Item for one that is in no list.
func (v *View) Unlisted(it Item) (visible bool, c *Conditions) {
	if v.world.set == nil {
		return true, nil
	}
	e := v.world.entry(it)
	out := v.decide(kindActions[it.Kind], e.uid, e)
	return out.visible, out.conditions
}

// On returns whether an action on a server can be allowed, and its conditions.
func (v *View) On(action Action, server string) (possible bool, c *Conditions) {
	if v.world.set == nil {
		return true, nil
	}
	out := v.decide(action, types.NewEntityUID("Server", types.String(server)), nil)
	return out.visible, out.conditions
}

// Delivery returns the conditions under which a result of item i is delivered, nil for
// none; Marks are the labels that the conversation has from then on, nil for none that a
// policy asks for.
func (v *View) Delivery(i int) (c *Conditions, marks []string) {
	if v.world.set == nil {
		return nil, nil
	}
	e := v.world.items[i]
	return v.decide(Deliver, e.uid, e).conditions, v.world.set.marksOf(e)
}

// marksOf returns the labels of an item and its server that policies look for in
// conversations.
func (s *Set) marksOf(e *entry) []string {
	if !s.allMarks && len(s.marks) == 0 {
		return nil
	}
	var out []string
	for _, l := range slices.Concat(e.labels, e.server.labels) {
		if (s.allMarks || s.marks[l]) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// decide evaluates all policies as far as they do not depend on the context.
func (v *View) decide(action Action, resource types.EntityUID, e *entry) (out verdict) {
	defer func() {
		if recover() != nil {
			out = verdict{} // hidden
		}
	}()
	at := env{
		Entities:  &entities{world: v.world, principal: v.principal, item: e},
		Principal: v.principal.UID,
		Action:    types.NewEntityUID("Action", types.String(action)),
		Resource:  resource,
		Context:   unknownContext(),
	}
	c := &Conditions{view: v, env: at, item: e, action: action}
	for _, r := range v.world.set.rules {
		rest := partially(at, r.syntax)
		if rest.never {
			continue
		}
		c.add(r, rest, v.scopes)
	}
	return c.settle()
}

// term is what is left of a rule.
type term struct {
	rule *rule
	// always says that it holds whatever the request, or fails for a forbid.
	always bool
	// left is the rest otherwise.
	left  *cedar.Policy
	reads reads
}

// add adds what is left of a rule.
func (c *Conditions) add(r *rule, rest residue, scopes []string) {
	t := term{rule: r, always: rest.always || rest.failed != ""}
	if rest.left != nil {
		t.left, t.reads = compiled(rest.left), readsOfLeft(rest.left)
	}
	switch {
	case r.Permit && (rest.failed != "" || r.Shadow || c.action == Deliver):
	case r.Permit && slices.ContainsFunc(r.Scopes, func(s string) bool { return !slices.Contains(scopes, s) }):
		c.unscoped = append(c.unscoped, t)
	case r.Permit:
		c.permits = append(c.permits, t)
	case r.Shadow:
		c.shadows = append(c.shadows, t)
	default:
		c.forbids = append(c.forbids, t)
	}
}

// settle returns the verdict, without what cannot change it.
func (c *Conditions) settle() verdict {
	if c.action == Deliver {
		c.allowed = true
	} else if len(c.permits)+len(c.unscoped) == 0 {
		return verdict{}
	}
	for _, t := range c.permits {
		c.allowed = c.allowed || t.always
	}
	for _, t := range c.forbids {
		if t.always && t.rule.Limit == nil && t.rule.Question == "" && c.action != Deliver {
			return verdict{}
		}
	}
	if c.allowed && !c.view.world.set.plain {
		c.permits, c.unscoped = nil, nil
		if len(c.forbids)+len(c.shadows) == 0 {
			return verdict{visible: true}
		}
	}
	return verdict{visible: true, conditions: c}
}
