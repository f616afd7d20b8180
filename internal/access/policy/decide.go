package policy

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
)

// Conditions are the policies that only a request decides. They are immutable.
type Conditions struct {
	*decision
	view *View
	item *entry
}

// Static reports whether the answer depends on the request alone: no limit counts, and
// nobody is asked.
func (c *Conditions) Static() bool {
	return !slices.ContainsFunc(c.forbids, func(t term) bool { return t.rule.Limit != nil || t.rule.Question != "" }) &&
		!slices.ContainsFunc(c.others, func(other *Conditions) bool { return !other.Static() })
}

// Decide evaluates the conditions. It does not count for limits and asks nobody.
func (c *Conditions) Decide(r *Request) (out Outcome) {
	defer func() {
		if recover() != nil {
			out = Outcome{Reason: "the policies cannot be evaluated"}
		}
	}()
	if len(c.others) > 0 {
		return c.strictest(r)
	}
	e, failed := c.evaluation(r)
	if failed != nil {
		return *failed
	}
	var plain, missing []*Policy
	for _, p := range e.satisfied(c.forbids, &out) {
		switch {
		case p.Limit != nil:
			out.Over = append(out.Over, p)
		case p.Question != "":
			out.Ask = append(out.Ask, p)
		default:
			plain = append(plain, p)
		}
	}
	policies := e.satisfied(c.permits, &out)
	allowed := c.permitted || len(policies) > 0
	if !allowed && len(plain) == 0 {
		missing = e.satisfied(c.unscoped, &out)
	}
	out.Would = e.satisfied(c.shadows, &out)
	switch {
	case len(plain) > 0:
		out.By, out.Reason = plain, reasonOf(plain, out.Skipped)
	case !allowed:
		out.Reason = "no policy allows it"
		if len(missing) > 0 {
			needs := slices.MinFunc(missing, func(a, b *Policy) int { return cmp.Compare(c.missing(a), c.missing(b)) })
			out.By, out.Scopes, out.Reason = []*Policy{needs}, needs.Scopes, "the credential lacks a scope"
			if needs.Reason != "" {
				out.Reason = needs.Reason
			}
		}
	default:
		out.By, out.Verdict = append(slices.Clip(c.permittedBy), policies...), Allow
		if len(out.Ask) > 0 {
			out.Verdict = Ask
		}
		return out
	}
	out.Over, out.Ask = nil, nil
	return out
}

// strictest returns the strictest outcome of all forms of a URI: a refusal, or the limits and
// questions of all.
func (c *Conditions) strictest(r *Request) Outcome {
	own := *c.decision
	own.others = nil
	out := (&Conditions{decision: &own, view: c.view, item: c.item}).Decide(r)
	for _, other := range c.others {
		if out.Verdict == Deny {
			return out
		}
		o := other.Decide(r)
		if o.Verdict == Deny {
			return o
		}
		out.Verdict = max(out.Verdict, o.Verdict)
		for _, list := range [][2]*[]*Policy{{&out.Over, &o.Over}, {&out.Ask, &o.Ask}, {&out.Would, &o.Would}, {&out.Skipped, &o.Skipped}} {
			for _, p := range *list[1] {
				if !slices.Contains(*list[0], p) {
					*list[0] = append(*list[0], p)
				}
			}
		}
	}
	return out
}

// missing returns how many scopes of a policy the credential lacks.
func (c *Conditions) missing(p *Policy) int {
	n := 0
	for _, s := range p.Scopes {
		if !slices.Contains(c.view.scopes, s) {
			n++
		}
	}
	return n
}

// reasonOf returns the first reason that policies have.
func reasonOf(policies, failed []*Policy) string {
	for _, p := range policies {
		if p.Reason != "" {
			return p.Reason
		}
	}
	for _, p := range policies {
		if slices.Contains(failed, p) {
			return "the policy cannot be evaluated"
		}
	}
	return ""
}

// evaluation is the evaluation of conditions for one request.
type evaluation struct {
	entities types.EntityGetter
	request  cedar.Request
}

// evaluation reads what is needed of a request. It returns the outcome of one that cannot
// be read.
func (c *Conditions) evaluation(r *Request) (evaluation, *Outcome) {
	e := evaluation{entities: &entities{snapshot: c.view.snapshot, principal: c.view.principal, item: c.item}, request: cedar.Request{
		Principal: c.view.principal.UID, Action: types.NewEntityUID("Action", types.String(c.action)), Resource: c.item.uid,
	}}
	context := r.context(c.all.context)
	if c.all.context&readsCall != 0 && c.action == Call {
		var values Values
		if len(c.all.args) > 0 {
			var err error
			if values, err = c.item.reader(c.key, c.all.args).Read(r.Arguments); err != nil {
				// What shadows alone read keeps nobody from calling.
				if values, err = New(c.reads.args, c.item.inputSchema()).Read(r.Arguments); err != nil {
					return e, &Outcome{Reason: err.Error()}
				}
			}
		}
		addCall(context, values, c.view.snapshot.empty)
	}
	e.request.Context = types.NewRecord(context)
	return e, nil
}

// context returns those members of the context that are read, without those of the
// arguments.
func (r *Request) context(keys contextKeys) types.RecordMap {
	out := make(types.RecordMap, 8)
	if keys&readsSeen != 0 {
		out["seen"] = stringSet(r.Seen)
	}
	if keys&readsFound != 0 {
		out["found"] = stringSet(r.Found)
	}
	if keys&readsNow != 0 {
		out["now"] = types.NewDatetime(r.Now)
	}
	if keys&readsIP != 0 && r.Addr.IsValid() {
		addr := r.Addr.Unmap().WithZone("")
		prefix, _ := addr.Prefix(addr.BitLen())
		out["ip"] = types.IPAddr(prefix)
	}
	if keys&readsTransport != 0 {
		out["front"] = types.String(r.Transport)
	}
	if keys&readsTask != 0 {
		out["task"] = types.Boolean(r.Task)
	}
	return out
}

// addCall adds what is read of the arguments to a context.
func addCall(context types.RecordMap, values Values, empty types.Value) {
	for form, name := range [...]types.String{Raw: "args", Clean: "clean", Host: "host"} {
		context[name] = empty
		if values[form] != nil {
			context[name] = types.NewRecord(values[form])
		}
	}
}

// terms are policies that cedar evaluates.
type terms []term

// All returns the policies that are left, by their index.
func (t terms) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for i := range t {
			if t[i].left != nil && !yield(cedar.PolicyID(t[i].rule.ID), t[i].left) {
				return
			}
		}
	}
}

// satisfied returns the policies of a list that hold, and adds those that fail to what was
// skipped. A forbid that fails holds.
func (e *evaluation) satisfied(list []term, out *Outcome) []*Policy {
	if len(list) == 0 {
		return nil
	}
	_, said := cedar.Authorize(terms(list), e.entities, e.request)
	var hold []*Policy
	for i := range list {
		t := &list[i]
		id := cedar.PolicyID(t.rule.ID)
		holds := t.always || slices.ContainsFunc(said.Reasons, func(r cedar.DiagnosticReason) bool { return r.PolicyID == id })
		if t.failed || slices.ContainsFunc(said.Errors, func(e cedar.DiagnosticError) bool { return e.PolicyID == id }) {
			out.Skipped = append(out.Skipped, t.rule.Policy)
			holds = !t.rule.Permit
		}
		if holds {
			hold = append(hold, t.rule.Policy)
		}
	}
	return hold
}
