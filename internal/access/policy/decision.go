package policy

import (
	"slices"
	"strconv"

	"github.com/cedar-policy/cedar-go"
)

// decision is how an item, or all items of a class, are decided.
type decision struct {
	visible bool
	// conditional says that a request decides.
	conditional bool
	action      Action
	// permitted says that some permit holds for every request.
	permitted   bool
	permittedBy []*Policy // the permits that do
	// granted says that no permit is needed: results of what was allowed are delivered,
	// and a server whose tools are allowed may ask, and has accounts to link.
	granted bool
	// permits and forbids count; unscoped are permits that the credential has not the
	// scopes for.
	permits, unscoped, forbids, shadows []term
	// others are the conditions of the other forms of a URI that have some.
	others []*Conditions
	// reason is why it is hidden, "" where the policies say it.
	reason string
	// reads is what those that count read, all what the shadows read, too.
	reads, all reads
	key        string // of all.args
}

// term is what is left of a rule.
type term struct {
	rule *rule
	// always says that it holds whatever the request, failed that it cannot be evaluated:
	// a forbid holds then.
	always, failed bool
	// left is the rest otherwise.
	left  *cedar.Policy
	reads reads
}

// term returns what is left of a rule, ready to be evaluated.
func (r *residue) term(of *rule, reads reads) term {
	if !r.conditional() {
		return term{rule: of, always: true, failed: r.failed != ""}
	}
	return term{rule: of, left: compiled(r.left), reads: reads}
}

// decide evaluates all policies as far as they do not depend on the context, for all forms of
// a URI. Shared says that all items of the class are decided so.
func (v *View) decide(action Action, e *entry) (d *decision, shared bool) {
	d, shared = v.decideForm(action, e, false)
	if !d.visible || e.read == nil {
		return d, shared
	}
	for _, f := range e.read.forms {
		switch other, _ := v.decideForm(action, f.entry, f.deniesOnly); {
		case !other.visible:
			return other, false
		case other.conditional:
			d.others = append(d.others, &Conditions{decision: other, view: v, item: f.entry})
			d.conditional = true
		}
	}
	if e.read.Ambiguous && action == Read {
		if r := v.differing(action, e); r != nil {
			return &decision{action: action, forbids: []term{{rule: r, always: true}}, reason: "ambiguous URI"}, false
		}
	}
	return d, false
}

// decideForm is decide for one form of a URI, or what has no other. DeniesOnly says that no
// permit is needed.
func (v *View) decideForm(action Action, e *entry, deniesOnly bool) (d *decision, shared bool) {
	defer func() {
		if recover() != nil {
			d, shared = &decision{}, false // hidden
		}
	}()
	d = &decision{action: action, granted: deniesOnly || action == Deliver || (action == Question || action == Link) && v.Server(e.server.Name)}
	if e.vague {
		v.vaguely(d, e)
		return d, false
	}
	shared = true
	at := v.env(action, e)
	for i := range v.left[action] {
		l := &v.left[action][i]
		if !e.class.about(l.rule) {
			continue
		}
		t := l.term
		if l.reads.resource != readsNothing {
			shared = shared && l.reads.resource < readsItem
			rest := safely(at, l.residue.left)
			if rest.never {
				continue
			}
			t = rest.term(l.rule, readsOfLeft(rest.left))
		}
		d.add(t, l.lacks)
	}
	d.settle(v)
	return d, shared
}

// add adds what is left of a rule.
func (d *decision) add(t term, lacks bool) {
	switch {
	case t.rule.Permit && (t.failed || t.rule.Shadow || d.action == Deliver):
	case t.rule.Permit && lacks:
		d.unscoped = append(d.unscoped, t)
	case t.rule.Permit:
		d.permits = append(d.permits, t)
	case t.rule.Shadow:
		d.shadows = append(d.shadows, t)
	default:
		d.forbids = append(d.forbids, t)
	}
}

// settle leaves out what cannot change the verdict.
func (d *decision) settle(v *View) {
	for _, t := range d.permits {
		if t.always {
			d.permittedBy = append(d.permittedBy, t.rule.Policy)
		}
	}
	d.permitted = d.granted || len(d.permittedBy) > 0
	refused := slices.ContainsFunc(d.forbids, func(t term) bool { return t.always && t.rule.plainly() })
	d.visible = d.permitted || len(d.permits)+len(d.unscoped) > 0
	if d.action != Deliver {
		d.visible = d.visible && !refused
	}
	if !d.visible {
		return
	}
	if d.permitted {
		d.permits, d.unscoped = nil, nil
	}
	for _, list := range [][]term{d.permits, d.unscoped, d.forbids} {
		for i := range list {
			d.reads.merge(&list[i].reads)
		}
	}
	d.all = d.reads
	for i := range d.shadows {
		d.all.merge(&d.shadows[i].reads)
	}
	d.conditional = !d.permitted || len(d.forbids)+len(d.shadows) > 0
	d.key = keyOf(d.all.args)
	if v.snapshot.set.plain {
		d.plain(v)
	}
}

// plain makes all policies decide every request.
func (d *decision) plain(v *View) {
	d.conditional, d.permitted, d.permittedBy = true, d.granted, nil
	d.permits, d.unscoped, d.forbids, d.shadows = nil, nil, nil, nil
	for _, r := range v.snapshot.set.rules {
		d.all.context |= r.reads.context
		d.add(term{rule: r, left: r.plain}, v.lacks(r))
	}
}

// lacks reports whether the credential lacks a scope that a rule needs.
func (v *View) lacks(r *rule) bool {
	return slices.ContainsFunc(r.Scopes, func(s string) bool { return !slices.Contains(v.scopes, s) })
}

// keyOf returns a text that stands for what is read of arguments.
func keyOf(reads []ReadArguments) string {
	var out []byte
	for _, r := range reads {
		out = append(out, '0'+byte(r.Form))
		if r.Has {
			out = append(out, '?')
		}
		for _, name := range r.Path {
			out = strconv.AppendQuote(out, name)
		}
	}
	return string(out)
}

// plainly reports whether a rule refuses without counting or asking.
func (r *rule) plainly() bool { return r.Limit == nil && r.Question == "" }

// merge adds what another policy reads.
func (r *reads) merge(other *reads) {
	r.context |= other.context
	r.args = append(slices.Clip(r.args), other.args...)
}
