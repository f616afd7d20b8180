package policy

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"
)

// Explanation is why a request is answered as it is.
type Explanation struct {
	// Visible says that the principal sees the item.
	Visible bool
	// Outcome is that of Conditions.Decide. Of an item that is hidden, or allowed without
	// conditions, By are the policies that make it so.
	Outcome Outcome
	// Groups are those of the principal, Labels those of the item and its server.
	Groups, Labels []string
	// ReadOnly says that the policies take a tool for one that changes nothing, and Believed
	// that they believe its annotations.
	ReadOnly, Believed bool
	// Policies are all that are about this principal, action and item, by their ids.
	Policies []Applied
}

// Applied is a policy that is about a request.
type Applied struct {
	*Policy
	// Holds says that it is satisfied: a forbid also where it fails.
	Holds bool
	// Failed is why it cannot be evaluated, "" otherwise.
	Failed string
	// Lacks are the scopes that the credential lacks.
	Lacks []string
	// Conditions are its conditions, in order; those after the first that is false or
	// fails are not evaluated and not here.
	Conditions []Condition
}

// Condition is a part of a policy: what stands between its ands.
type Condition struct {
	// Text is the condition in Cedar.
	Text  string
	Holds bool
	// Failed is why it cannot be evaluated, "" otherwise.
	Failed string
	// Values are what it reads, in Cedar: "context.args.amount" and "501".
	Values []Value
}

// Value is what a condition has read.
type Value struct{ Name, Text string }

// Explain returns why a request is answered as it is. Of an action on a server, the item
// has its name alone.
func (v *View) Explain(action Action, it Item, r *Request) Explanation {
	out := Explanation{Visible: true, Outcome: Outcome{Verdict: Allow}}
	set := v.snapshot.set
	if set == nil {
		return out
	}
	out.Groups = set.GroupsOf(r.Principal)
	e := v.snapshot.entryOf(it)
	out.Labels = slices.Concat(e.labels, e.server.labels)
	out.ReadOnly, out.Believed = e.hints.readOnly, it.Kind == Tool && (e.server.Trusted || it.Pinned)
	d, _ := v.decide(action, e)
	visible, conditions := (&Conditions{decision: d, view: v, item: e}).answer()
	out.Visible = visible
	switch {
	case conditions != nil:
		out.Outcome = conditions.Decide(r)
	case !visible:
		out.Outcome.Verdict = Deny
	}
	for _, rule := range set.rules {
		if a, ok := v.appliedTo(rule, action, e, r, out.Groups); ok {
			out.Policies = append(out.Policies, a)
			if conditions == nil && a.Holds && !a.Shadow && a.Permit == visible && len(a.Lacks) == 0 {
				out.Outcome.By = append(out.Outcome.By, a.Policy)
			}
		}
	}
	if !out.Visible {
		out.Outcome.Reason = "no policy allows it"
		if len(out.Outcome.By) > 0 {
			out.Outcome.Reason = reasonOf(out.Outcome.By, nil)
		}
		if d.reason != "" {
			out.Outcome.Reason, out.Outcome.By = d.reason, []*Policy{d.forbids[0].rule.Policy}
		}
	}
	return out
}

// entryOf returns an item, or a server for one without a name.
func (w *Snapshot) entryOf(it Item) *entry {
	switch s := w.servers[it.Server]; {
	case it.Name != "":
		return w.entry(it)
	case s != nil:
		return s.entry(w)
	}
	return w.set.server(Server{Name: it.Server}).entry(w)
}

// appliedTo evaluates one rule for one request. Of a URI with several forms it takes the first
// in which a forbid holds, or one in which the rule is about it.
func (v *View) appliedTo(r *rule, action Action, e *entry, req *Request, groups []string) (out Applied, ok bool) {
	at := env{
		Principal: types.NewEntityUID("User", types.String(userID(req.Principal))),
		Action:    types.NewEntityUID("Action", types.String(action)),
	}
	all := []*entry{e}
	for _, f := range e.others() {
		all = append(all, f.entry)
	}
	for _, e := range all {
		at.Entities, at.Resource = &entities{snapshot: v.snapshot, principal: userEntity(req.Principal, groups), item: e}, e.uid
		got, about := v.applied(r, at, e, req)
		if about && (!ok || got.Holds && !r.Permit && !out.Holds) {
			out, ok = got, true
		}
		if r.Permit {
			break
		}
	}
	return out, ok
}

// applied evaluates one rule for one request. It reports false for one that is about
// something else.
func (v *View) applied(r *rule, at env, e *entry, req *Request) (out Applied, ok bool) {
	defer func() {
		if recover() != nil {
			out, ok = Applied{Policy: r.Policy, Holds: !r.Permit, Failed: "it panics"}, true
		}
	}()
	if !inScope(at, r.syntax) {
		return out, false
	}
	out = Applied{Policy: r.Policy, Holds: true}
	for _, s := range r.Scopes {
		if !slices.Contains(v.scopes, s) {
			out.Lacks = append(out.Lacks, s)
		}
	}
	context := req.context(r.reads.context)
	if r.reads.context&readsCall != 0 && string(at.Action.(types.EntityUID).ID) == string(Call) {
		values, err := New(r.reads.args, e.inputSchema()).Read(req.Arguments)
		if err != nil {
			out.Failed, out.Holds = err.Error(), !r.Permit
			return out, true
		}
		addCall(context, values, v.snapshot.empty)
	}
	at.Context = types.NewRecord(context)
	for _, c := range conditionsOf(r.syntax) {
		got := c.evaluate(at)
		out.Conditions = append(out.Conditions, got)
		if got.Failed != "" {
			out.Failed, out.Holds = got.Failed, !r.Permit
			break
		}
		if !got.Holds {
			out.Holds = false
			break
		}
	}
	return out, true
}
