// Package gate is what the router asks before it lets a request through: the policies that
// count now, and the state that they need: limits, the labels of conversations, and what
// people have allowed.
package gate

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// Config is what a Gate decides by.
type Config struct {
	// Set are the policies; nil allows all.
	Set *policy.Set
	// Guards look at what is delivered, and at the arguments of calls that have
	// conditions; nil for none.
	Guards *guards.Guards
	// Forget is after how long without a request that has conditions or marks a
	// conversation loses its labels; 0 is Forget.
	Forget time.Duration
	// Quiet leaves reasons and ids of policies out of errors.
	Quiet bool
}

// Gate holds the policies that count now. All methods may be called concurrently. A nil
// Gate allows all.
type Gate struct {
	config atomic.Pointer[Config]
	limits *Limiter
	flows  *Flows
	page   atomic.Pointer[func(id, principal string) string]
	// Consent has the calls that people are asked about on a page.
	Consent Approvals
}

// New returns a gate.
func New(c Config) *Gate {
	g := &Gate{limits: NewLimiter(), flows: NewFlows(c.Forget)}
	g.config.Store(&c)
	return g
}

// Set returns the policies that count now, nil for none.
func (g *Gate) Set() *policy.Set {
	if g == nil {
		return nil
	}
	return g.config.Load().Set
}

// Guarded reports whether every result is looked at: [Gate.Deliver] is then asked for
// those without conditions and marks, too.
func (g *Gate) Guarded() bool { return g != nil && g.config.Load().Guards != nil }

// SetPage sets what returns the address of the page on which a principal is asked about a
// call that has an id in Consent, where their client cannot ask them.
func (g *Gate) SetPage(page func(id, principal string) string) { g.page.Store(&page) }

// Replace sets the configuration. Call proxy.Repolicy afterwards.
func (g *Gate) Replace(c Config) {
	g.flows.SetForget(c.Forget)
	g.config.Store(&c)
}

// RestoreQuotas takes what the quotas of today have had before, in other processes. It is
// called once, before the first request.
func (g *Gate) RestoreQuotas(ctx context.Context, k LimitStore) error {
	return g.limits.Restore(ctx, time.Now(), k)
}

// KeepQuotas has quotas of a day outlive the process, until ctx ends: it adds to what a
// Keeper has every SyncInterval and at the end. failed is told of errors; the quotas
// of this process count on.
func (g *Gate) KeepQuotas(ctx context.Context, k LimitStore, failed func(error)) {
	tick := time.NewTicker(SyncInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := g.limits.Sync(ctx, time.Now(), k); err != nil && ctx.Err() == nil {
				failed(err)
			}
		case <-ctx.Done():
			if err := g.limits.Sync(context.WithoutCancel(ctx), time.Now(), k); err != nil {
				failed(err)
			}
			return
		}
	}
}

// Use is one use of an item.
type Use struct {
	policy.Request
	// Server and Item are the server's names.
	Server, Item string
	// Flow is the conversation: see FlowKey. Owner is whose share of the remembered
	// conversations it takes.
	Flow, Owner string
	// Labels are those of hooks for this message: they are in Found with those of guards.
	Labels []string
	// By are the policies that have decided last, whatever Quiet says, and Would shadows
	// that would have denied.
	By, Would []*policy.Policy

	// agreed are policies that a person has said yes to, counted limits that it has been
	// counted for.
	agreed, counted []*policy.Policy
}

// Follow makes u a later use of the same call: it has the call's arguments, does not count again
// for a limit, and needs no second approval.
func (u *Use) Follow(call *Use) {
	u.Arguments, u.Task = call.Arguments, call.Task
	u.agreed, u.counted = slices.Clip(call.agreed), call.counted
}

// Decide answers a request: it evaluates the conditions, counts for limits, and returns the
// question that is still open. Nil, nil lets the request pass. The error is a
// *access.Denied. Seen, Found, By and Would are set in u, and Now where it is zero. c may
// be nil. A request that has changed is decided about again with the same Use: it counts for no
// limit twice, and nobody is asked twice.
func (g *Gate) Decide(c *policy.Conditions, u *Use) (q *Question, err error) {
	if g == nil || c == nil {
		return nil, nil
	}
	d := g.deciding(u)
	defer d.recover(&err)
	if u.Now.IsZero() {
		u.Now = time.Now()
	}
	u.Found = nil
	if len(u.Arguments) > 0 {
		u.Found = d.Guards.Look(u.Arguments)
	}
	u.Found = labels(u.Found, u.Labels)
	out, err := d.evaluate(c)
	if err == nil {
		err = d.count(without(out.Over, u.counted))
		u.counted = out.Over
	}
	if out.Ask = without(out.Ask, u.agreed); err != nil || len(out.Ask) == 0 {
		return nil, err
	}
	return d.question(out.Ask), nil
}

// Deliver decides whether a result goes to the client, and returns it without what guards
// take away. marks are labels that the conversation has from then on; c may be nil. It is
// called before the first byte goes. The error is a *access.Denied. Seen, Found, Now, By and
// Would are set in u, which is that of Decide. A result counts for no limit, and what a person
// has allowed to be used is delivered; nobody else can be asked any more.
func (g *Gate) Deliver(c *policy.Conditions, marks []string, u *Use, result []byte) (out []byte, err error) {
	if g == nil {
		return result, nil
	}
	d := g.deciding(u)
	defer d.recover(&err)
	u.Now, u.By, u.Would = time.Now(), nil, nil
	clean, found, failed := d.Guards.Clean(result)
	if failed != nil {
		return nil, d.denied("a guard has failed", nil)
	}
	found = labels(found, u.Labels)
	u.Found = found
	if c != nil {
		said, err := d.evaluate(c)
		if err != nil {
			return nil, err
		}
		open := without(said.Ask, u.agreed)
		if len(open) > 0 {
			u.By = open
			return nil, d.denied("nobody can be asked about a result", open)
		}
	}
	g.flows.Add(u.Now, u.Owner, d.flow, marks)
	g.flows.Add(u.Now, u.Owner, d.flow, found)
	return clean, nil
}

// without returns the policies that are not among some.
func without(all, some []*policy.Policy) []*policy.Policy {
	if len(some) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(p *policy.Policy) bool { return slices.Contains(some, p) })
}

// labels returns the labels of guards and hooks, sorted, each once.
func labels(guards, hooks []string) []string {
	if len(hooks) == 0 {
		return guards
	}
	all := slices.Concat(guards, hooks)
	slices.Sort(all)
	return slices.Compact(all)
}

// Quiet reports whether errors leave out who has decided, and why.
func (g *Gate) Quiet() bool { return g != nil && g.config.Load().Quiet }

// decision is one decision.
type decision struct {
	*Config
	g    *Gate
	use  *Use
	flow string // key
}

func (g *Gate) deciding(u *Use) *decision {
	return &decision{Config: g.config.Load(), g: g, use: u, flow: u.Flow}
}

// evaluate evaluates conditions. The error is that they deny.
func (d *decision) evaluate(c *policy.Conditions) (policy.Outcome, error) {
	u := d.use
	u.Seen = d.g.flows.Seen(u.Now, u.Owner, d.flow)
	out := c.Decide(&u.Request)
	u.By, u.Would = out.By, out.Would
	if out.Verdict != policy.Allow && out.Verdict != policy.Ask {
		denied := d.denied(out.Reason, out.By)
		denied.Scopes = out.Scopes
		return out, denied
	}
	return out, nil
}

// count counts the request for limits. The error is that one is used up.
func (d *decision) count(over []*policy.Policy) error {
	if len(over) == 0 {
		return nil
	}
	wants, of := d.wants(over)
	i, again := d.g.limits.Take(d.use.Now, wants)
	if i < 0 {
		return nil
	}
	d.use.By = of[i : i+1]
	denied := d.denied("", d.use.By)
	denied.Code, denied.RetryAfter = access.CodeLimited, again
	return denied
}

// Left returns how many requests like one still pass today by each quota of some policies:
// the fewest, where it counts apart for several groups. Rates and what counts for each
// conversation are left out.
func (g *Gate) Left(u *Use, over []*policy.Policy) map[*policy.Policy]int {
	d := g.deciding(u)
	left := map[*policy.Policy]int{}
	wants, of := d.wants(over)
	for i, p := range of {
		if p.Limit.Every != Day || slices.Contains(p.Limit.Per, "flow") {
			continue
		}
		n := g.limits.Left(u.Now, &wants[i])
		if fewest, ok := left[p]; !ok || n < fewest {
			left[p] = n
		}
	}
	return left
}

// wants returns the limits that a request counts for, and whose each is.
func (d *decision) wants(over []*policy.Policy) (wants []Want, of []*policy.Policy) {
	for _, p := range over {
		if p.Limit == nil {
			continue
		}
		for _, key := range d.keys(p) {
			owner := ""
			if slices.Contains(p.Limit.Per, "flow") { // clients name conversations
				owner = d.use.Owner
			}
			wants = append(wants, Want{Key: key, Owner: owner, N: max(p.Limit.N, 1), Every: max(p.Limit.Every, 1), Burst: max(p.Limit.Burst, 1)})
			of = append(of, p)
		}
	}
	return wants, of
}

// keys returns what a limit counts a request under: once, or for each group.
func (d *decision) keys(p *policy.Policy) []string {
	parts := []string{p.ID}
	groups := []string{""}
	for _, per := range p.Limit.Per {
		switch per {
		case "principal":
			parts = append(parts, d.use.Principal.Key())
		case "server":
			parts = append(parts, "server", d.use.Server)
		case "tool":
			parts = append(parts, "server", d.use.Server, d.use.Item)
		case "flow":
			parts = append(parts, d.flow)
		case "group":
			groups = d.groups()
		}
	}
	keys := make([]string, len(groups))
	for i, group := range groups {
		keys[i] = FlowKey(append(parts, group)...)
	}
	return keys
}

// groups returns those that the request counts for: none is one of its own.
func (d *decision) groups() []string {
	if all := d.Set.GroupsOf(d.use.Principal); len(all) > 0 {
		return all
	}
	return []string{""}
}

// denied returns a refusal, by what policies say.
func (d *decision) denied(reason string, policies []*policy.Policy) *access.Denied {
	refusal := &access.Denied{Code: access.CodeDenied, Reason: reason, Server: d.use.Server, Item: d.use.Item}
	if len(policies) > 0 {
		refusal.Policy = policies[0].ID
		if reason == "" {
			refusal.Reason = policies[0].Reason
		}
	}
	if d.Quiet {
		refusal.Reason, refusal.Policy = "", ""
	}
	return refusal
}

// recover makes a refusal of a panic.
func (d *decision) recover(err *error) {
	if r := recover(); r != nil {
		d.use.By = nil
		*err = d.denied("the policies cannot be evaluated", nil)
	}
}
