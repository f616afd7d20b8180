package policies

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/lazy"
)

// What a replay says, beside the verdicts: that a limit was used up, and that what decides is
// not known.
const (
	limited = "limit"
	unknown = "unknown"
)

// ownPolicies begins the ids of what refuses requests and is no policy of the configuration.
const ownPolicies = "mcpctl."

// cut is the last element of a list that is longer than a record may have it.
const cut = "…"

// again returns the request of a record, to be decided again. It is false for what no policy
// decides. arguments are those of the call, nil for unknown.
func (l *loaded) again(r *audit.Record, arguments []byte) (*request, bool) {
	action := policy.Action(r.Kind)
	switch action {
	case policy.Call, policy.Get, policy.Read, policy.Question, policy.Link, policy.Operate, policy.Deliver:
	default:
		return nil, false
	}
	if r.Target.Server == "" || slices.ContainsFunc(r.Decision.By, func(id string) bool { return strings.HasPrefix(id, ownPolicies) }) {
		return nil, false
	}
	of := &request{
		action: action, server: r.Target.Server, name: r.Target.Item, as: r.Principal.ID, arguments: arguments,
		seen: r.Decision.Seen, found: r.Decision.Found, now: r.Time, addr: r.Principal.Addr,
	}
	of.principal = l.asked(r)
	return of, true
}

// asked returns who has asked, nil for local. Of what is not in the record, it is assumed:
// that a name with an @ is an address that counts, and that the credential has all scopes
// that policies ask for, but those that it was refused for.
func (l *loaded) asked(r *audit.Record) *access.Principal {
	if r.Principal.ID == "" || r.Principal.ID == access.Local {
		return nil
	}
	principal := &access.Principal{ID: r.Principal.ID, Name: r.Principal.Name, Groups: r.Principal.Groups, Client: r.Principal.Client, Provider: r.Principal.Via}
	if strings.Contains(principal.Name, "@") {
		principal.Email = strings.ToLower(principal.Name)
	}
	for _, of := range l.policies() {
		for _, s := range of.Scopes {
			if !slices.Contains(r.Decision.Scopes, s) {
				principal.Scopes = append(principal.Scopes, s)
			}
		}
	}
	slices.Sort(principal.Scopes)
	principal.Scopes = slices.Compact(principal.Scopes)
	return principal
}

func (l *loaded) policies() []*policy.Policy {
	if l.set == nil {
		return nil
	}
	return l.set.Policies()
}

// notRecorded finds what a condition reads that no record has: arguments, the endpoint, whether
// a call is a task, and further claims of a token. A context that is read as a whole counts,
// too.
var notRecorded = lazy.Regexp(`\bcontext(\.(args|clean|host|task|front)\b|\s+has\s+"?(args|clean|host|task|front)\b|[^.\s]|\s*$)|\.(hasTag|getTag)\(`)

// argumentsRead finds the part of it that arguments answer.
var argumentsRead = lazy.Regexp(`\bcontext(\.(args|clean|host)\b|\s+has\s+"?(args|clean|host)\b)`)

// open reports whether it depends on what no record has whether a policy holds. arguments
// says that the arguments are known.
func open(a *policy.Applied, arguments bool) bool {
	reads := false
	for _, c := range a.Conditions {
		text := c.Text
		if arguments {
			text = argumentsRead().ReplaceAllString(text, "x")
		}
		unreadable := notRecorded().MatchString(text)
		if !unreadable && !c.Holds && c.Failed == "" {
			return false // whatever the others are
		}
		reads = reads || unreadable
	}
	return reads
}

// recorded is what policies say now of a request that was recorded.
type recorded struct {
	decision
	// open are the policies that leave the verdict open: what they read is not recorded.
	open []*policy.Policy
	// hooked says that it depends on what a hook would say. Unasked are hooks that cannot be
	// asked.
	hooked  bool
	unasked []string
}

// decideRecorded decides a request of a record with the policies of now, with the code that
// decides others. Its verdict is unknown where it depends on what the record does not have.
func (l *loaded) decideRecorded(r *request, record *audit.Record) recorded {
	d := recorded{decision: l.decide(r)}
	if l.set != nil {
		l.whatIsOpen(&d, r, record)
	}
	if d.verdict == allow || d.verdict == ask {
		var err error
		if d.unasked, err = l.decideHooks(context.Background(), r, &d.decision); err != nil { // the record has other arguments than a call
			d.verdict = unknown
		}
	}
	if d.allowed() && slices.ContainsFunc(record.Decision.By, func(id string) bool { return strings.HasPrefix(id, hookPolicies) }) {
		d.verdict, d.hooked = unknown, true // what the hook was shown is not recorded
	}
	if d.allowed() {
		l.limits(&d, record)
	}
	return d
}

// whatIsOpen finds whether the verdict depends on what the record does not have.
func (l *loaded) whatIsOpen(d *recorded, r *request, record *audit.Record) {
	var forbid, permit, mayForbid, mayPermit, mayAsk bool
	for i := range d.Policies {
		a := &d.Policies[i]
		asks := a.Question != ""
		switch undecided := open(a, r.arguments != nil || r.action != policy.Call); {
		case a.Shadow || a.Limit != nil:
		case undecided:
			d.open = append(d.open, a.Policy)
			mayPermit = mayPermit || a.Permit
			mayAsk = mayAsk || asks
			mayForbid = mayForbid || !a.Permit && !asks
		case a.Holds && a.Permit:
			permit = permit || len(a.Lacks) == 0
		case a.Holds && !asks:
			forbid = true
		}
	}
	switch {
	case forbid, len(d.open) == 0:
	case !permit && !mayPermit:
	case mayForbid, !permit, mayAsk && d.verdict != ask:
		d.verdict = unknown
	}
	if slices.Contains(record.Principal.Groups, cut) && len(l.Config.Groups) > 0 {
		d.verdict = unknown // what groups there are beside is not known
	}
}

// limits refuses again what a limit refused, if that limit still exists: no record says how
// much of it was used.
func (l *loaded) limits(d *recorded, record *audit.Record) {
	if record.Decision.Verdict != audit.VerdictLimit {
		return
	}
	for _, of := range d.Outcome.Over {
		if l.ruleIn(record.Decision.By, of.ID) {
			d.verdict, d.deciding, d.policies = limited, []*policy.Policy{of}, []string{of.ID}
			return
		}
	}
}

// ruleIn reports whether ids have that of a policy, or one that is of the same rule.
func (l *loaded) ruleIn(ids []string, id string) bool {
	rule := l.ruleOf(id)
	return slices.ContainsFunc(ids, func(of string) bool { return l.ruleOf(of) == rule })
}

func (l *loaded) ruleOf(id string) string {
	if l.Section == nil {
		return id
	}
	return l.Section.RuleOf(id)
}

// was returns what a record says of its request, in the words of commands.
func was(r *audit.Record) string {
	if r.Decision.Verdict == "" {
		return allow
	}
	return r.Decision.Verdict
}

// agrees reports whether what was decided is what would be decided now.
func (l *loaded) agrees(d *recorded, r *audit.Record) bool {
	switch was := was(r); d.verdict {
	case hidden:
		return was == deny
	case ask:
		// A person has said yes, or no; or nobody could be asked.
		return slices.ContainsFunc(d.policies, func(id string) bool { return l.ruleIn(r.Decision.By, id) })
	default:
		return was == d.verdict
	}
}
