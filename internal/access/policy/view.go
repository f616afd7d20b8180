package policy

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cedar-policy/cedar-go/types"
)

// View is what one principal may see and do. It is immutable.
type View struct {
	snapshot  *Snapshot
	id        string
	principal types.Entity
	scopes    []string

	once sync.Once // build
	// left are the rules that are left of each action for the principal, whatever the
	// resource.
	left map[Action][]leftover
	// table says of each item how it is decided: hidden, allowed, or an index of
	// conditions.
	table      []uint32
	conditions []Conditions
	// policies are the ids of the policies that allow the items of each class without conditions,
	// its those of the items that are decided apart.
	policies [][]string
	its      map[int][]string
	size     int
	// delivery are the conditions of results, by class; on those of actions on servers.
	delivery []*decision
	on       sync.Map

	used    atomic.Bool // since it was last looked for views that are idle
	counted bool        // by World.mu
}

// What a table says of an item; the rest is an index of conditions.
const (
	hidden uint32 = iota
	allowed
	conditional
)

// leftover is what is left of a rule for a principal and an action.
type leftover struct {
	rule    *rule
	residue residue
	reads   reads
	// lacks says that the credential lacks a scope that the rule needs.
	lacks bool
	// term is the rest where it does not depend on the resource.
	term term
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
	w := v.snapshot
	v.left = make(map[Action][]leftover)
	anything := v.ofPrincipal()
	for _, a := range actions() {
		v.left[a] = v.filter(a, anything)
		v.size += 200 * len(v.left[a])
	}
	byClass := make([]*decision, len(w.classes))
	v.table = make([]uint32, len(w.items))
	v.policies, v.its = make([][]string, len(w.classes)), make(map[int][]string)
	for i, e := range w.items {
		d := byClass[e.class.index]
		if d == nil {
			var shared bool
			if d, shared = v.decide(e.Kind.Action(), e); shared {
				byClass[e.class.index] = d
			}
		}
		switch {
		case !d.visible:
		case !d.conditional:
			v.table[i] = allowed
			if byClass[e.class.index] != d {
				v.its[i] = idsOf(d.permittedBy)
			} else if v.policies[e.class.index] == nil {
				v.policies[e.class.index] = idsOf(d.permittedBy)
			}
		default:
			v.table[i] = conditional + uint32(len(v.conditions)) //nolint:gosec // there are fewer
			v.conditions = append(v.conditions, Conditions{decision: d, view: v, item: e})
		}
	}
	v.conditions = slices.Clip(v.conditions)
	if slices.ContainsFunc(v.left[Deliver], func(l leftover) bool { return !l.rule.Permit }) {
		v.delivery = make([]*decision, len(w.classes))
		for i, c := range w.classes {
			if d, shared := v.decide(Deliver, c.first); shared {
				v.delivery[i] = d
			}
		}
	}
	v.size += 4*len(v.table) + 32*len(v.conditions) + 440*len(byClass) + 80*len(v.its) + 4096
}

// ofPrincipal returns the rules that are left for the principal.
func (v *View) ofPrincipal() (out []leftover) {
	at := v.env("", nil)
	at.Action, at.Resource = unknownAction(), unknownResource()
	for _, r := range v.snapshot.set.rules {
		if rest := safely(at, r.syntax); !rest.never {
			out = append(out, leftover{rule: r, residue: rest, lacks: v.lacks(r)})
		}
	}
	return out
}

// filter returns the rules that are left for an action.
func (v *View) filter(action Action, from []leftover) (out []leftover) {
	at := v.env(action, nil)
	at.Resource = unknownResource()
	for _, l := range from {
		if l.residue = safely(at, l.residue.left); l.residue.never {
			continue
		}
		l.reads = readsOfLeft(l.residue.left)
		if l.reads.resource == readsNothing {
			l.term = l.residue.term(l.rule, l.reads)
		}
		out = append(out, l)
	}
	return out
}

// safely evaluates a policy. One that panics fails.
func safely(at env, p *syntax) (out residue) {
	defer func() {
		if recover() != nil {
			out = residue{failed: "it panics", left: p}
		}
	}()
	return partially(at, p)
}

// env is the environment of an action of the principal with an item, nil for none that is
// known.
func (v *View) env(action Action, e *entry) env {
	out := env{
		Entities:  &entities{snapshot: v.snapshot, principal: v.principal, item: e},
		Principal: v.principal.UID,
		Action:    types.NewEntityUID("Action", types.String(action)),
		Context:   unknownContext(),
	}
	if e != nil {
		out.Resource = e.uid
	}
	return out
}

// Item returns whether item i of the World is visible, and the conditions of using it:
// nil where it may be used in any way.
func (v *View) Item(i int) (visible bool, c *Conditions) {
	if v.snapshot.set == nil {
		return true, nil
	}
	at := v.table[i]
	if at < conditional {
		return at == allowed, nil
	}
	return true, &v.conditions[at-conditional]
}

// By returns the ids of the policies that let item i of the World be used in any way, nil
// where it is hidden, has conditions, or no policy is asked. It is not to be changed.
func (v *View) By(i int) []string {
	if v.snapshot.set == nil || v.table[i] != allowed {
		return nil
	}
	if ids, ok := v.its[i]; ok {
		return ids
	}
	return v.policies[v.snapshot.items[i].class.index]
}

// UnlistedBy returns the ids of the policies that allow an item that is in no list, or
// hide it, whatever the request; nil for none.
func (v *View) UnlistedBy(it Item) (ids []string) {
	if v.snapshot.set == nil {
		return nil
	}
	return v.because(it.Kind.Action(), v.snapshot.entry(it))
}

// OnBy is UnlistedBy for an action on a server.
func (v *View) OnBy(action Action, server string) []string {
	if v.snapshot.set == nil {
		return nil
	}
	return v.because(action, v.snapshot.entryOf(Item{Server: server}))
}

// because returns what allows an item, or hides it, whatever the request.
func (v *View) because(action Action, e *entry) (ids []string) {
	d, _ := v.decide(action, e)
	if d.visible {
		return idsOf(d.permittedBy)
	}
	for _, t := range d.forbids {
		if t.always && (t.rule.plainly() || d.reason != "") {
			ids = append(ids, t.rule.ID)
		}
	}
	return ids
}

// idsOf returns the ids of policies.
func idsOf(all []*Policy) []string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.ID
	}
	return out
}

// Unlisted is Item for one that is in no list.
func (v *View) Unlisted(it Item) (visible bool, c *Conditions) {
	if v.snapshot.set == nil {
		return true, nil
	}
	return v.entry(it.Kind.Action(), v.snapshot.entry(it))
}

// entry decides an item that is in no list.
func (v *View) entry(action Action, e *entry) (visible bool, c *Conditions) {
	d, _ := v.decide(action, e)
	return (&Conditions{decision: d, view: v, item: e}).answer()
}

// On returns whether an action on a server can be allowed, and its conditions.
func (v *View) On(action Action, server string) (possible bool, c *Conditions) {
	if v.snapshot.set == nil {
		return true, nil
	}
	type key struct {
		action Action
		server string
	}
	s := v.snapshot.servers[server]
	if s == nil {
		return v.entry(action, v.snapshot.set.server(Server{Name: server}).entry(v.snapshot))
	}
	if d, ok := v.on.Load(key{action, server}); ok {
		return d.(*Conditions).answer()
	}
	e := s.entry(v.snapshot)
	d, _ := v.decide(action, e)
	c = &Conditions{decision: d, view: v, item: e}
	v.on.Store(key{action, server}, c)
	return c.answer()
}

// answer returns what there is to say of conditions that may be none.
func (c *Conditions) answer() (visible bool, _ *Conditions) {
	if !c.conditional {
		return c.visible, nil
	}
	return true, c
}

// Delivery returns the conditions under which a result of item i is delivered, nil for
// none; Marks are the labels that the conversation has from then on, nil for none that a
// policy asks for.
func (v *View) Delivery(i int) (c *Conditions, marks []string) {
	if v.snapshot.set == nil {
		return nil, nil
	}
	e := v.snapshot.items[i]
	if v.delivery == nil {
		return nil, e.class.marks
	}
	d := v.delivery[e.class.index]
	if d == nil {
		d, _ = v.decide(Deliver, e)
	}
	if !d.conditional {
		return nil, e.class.marks
	}
	return &Conditions{decision: d, view: v, item: e}, e.class.marks
}

// UnlistedDelivery is Delivery for an item that is in no list.
func (v *View) UnlistedDelivery(it Item) (c *Conditions, marks []string) {
	if v.snapshot.set == nil {
		return nil, nil
	}
	e := v.snapshot.entry(it)
	_, c = v.entry(Deliver, e)
	return c, v.snapshot.set.marksOf(e)
}

// marksOf returns the labels of an item, in any form of its URI, and of its server that policies look for in
// conversations.
func (s *Set) marksOf(e *entry) []string {
	if !s.allMarks && len(s.marks) == 0 {
		return nil
	}
	var out []string
	all := slices.Concat(e.labels, e.server.labels)
	for _, f := range e.others() {
		all = append(all, f.labels...)
	}
	for _, l := range all {
		if (s.allMarks || s.marks[l]) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}
