package policy

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/mcpctl/mcpctl/internal/access"
)

// Source is a text of Cedar policies.
type Source struct {
	// Name is the file, for people.
	Name string
	// Line is where the text begins in the file, 0 for its first line. Policies of the
	// small form are each a source with the line of their rule.
	Line int
	Text []byte
}

// Config is what a Set is made of.
type Config struct {
	// Groups are the members of each group: IDs of principals, mail addresses, groups of
	// issuers ("idp:engineers"), and "local" for who is asked nothing.
	Groups map[string][]string
	// Labels are what each label is given to: servers, and globs of items.
	Labels map[string][]string
	// FromAnnotations says that tools have the labels untrusted and outbound whose
	// trusted annotations say openWorld.
	FromAnnotations bool
	// Sources are all policies.
	Sources []Source
	// Plain says that every request is decided by all policies, without verdict tables.
	// It is slow, and decides alike.
	Plain bool
}

// Set is compiled policies. It is immutable and may be used concurrently. Nil allows all.
type Set struct {
	rules  []*rule // by id
	groups map[string][]string
	// labels are the globs of each label, those in policies included.
	labels          map[string][]glob
	fromAnnotations bool
	plain           bool
	// reads is what all rules read of principals, scopes those that they ask for.
	reads  principalReads
	scopes map[string]bool
	// named are the items that rules name.
	named map[types.EntityUID]bool
	// marks are labels that rules look for in conversations; allMarks that any may be.
	marks    map[string]bool
	allMarks bool
	digest   string
}

// Problem is what is wrong with a policy, and where.
type Problem struct {
	// File, Line and Column are where, zero for unknown.
	File         string
	Line, Column int
	Text         string
	// Remedy is what to write, "" for unknown.
	Remedy string
}

// Error returns FILE:LINE:COLUMN: TEXT, as far as it is known where.
func (p *Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		where += ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	}
	if where == "" {
		return p.Text
	}
	return where + ": " + p.Text
}

// Digest stands for the text of all policies, groups and labels, "" for nil.
func (s *Set) Digest() string {
	if s == nil {
		return ""
	}
	return s.digest
}

// Policies returns all policies in the order of their ids.
func (s *Set) Policies() []*Policy {
	if s == nil {
		return nil
	}
	out := make([]*Policy, len(s.rules))
	for i, r := range s.rules {
		out[i] = r.Policy
	}
	return out
}

// Request is what conditions read of one request.
type Request struct {
	// Principal is nil for local.
	Principal *access.Principal
	// Arguments is the raw object of a call, nil for none.
	Arguments []byte
	// Seen are labels of the conversation, Found those of the guards for this message.
	Seen, Found []string
	Now         time.Time
	// Addr is the client's, the zero value for unknown.
	Addr netip.Addr
	// Transport is stdio, http, sse or socket.
	Transport string
	// Task says that the call is made as a task.
	Task bool
}

// Verdict is the answer of policies.
type Verdict uint8

// Verdicts.
const (
	Deny Verdict = iota
	Allow
	Ask
)

// Outcome is what the policies say of one request.
type Outcome struct {
	// Verdict is Allow also where limits are yet to be counted: Over.
	Verdict Verdict
	// By are the policies that have decided: those that refuse, the permit whose scopes are
	// missing, or permits, of which not all may be named.
	By []*Policy
	// Over are limits that the request counts for, in the order of their ids. Ask are
	// the policies that want a person's yes.
	Over, Ask []*Policy
	// Scopes are all that the credential would need, where it lacks one.
	Scopes []string
	// Reason is for people, of a Deny.
	Reason string
	// Would are shadows that would have denied.
	Would []*Policy
	// Skipped are policies that could not be evaluated.
	Skipped []*Policy
}

// Policy is one policy, for answers and for people. It is immutable.
type Policy struct {
	// ID is unique in its Set.
	ID string
	// Permit says that it is a permit, and no forbid.
	Permit bool
	// Reason is its @reason, "" for none.
	Reason string
	// File, Line and Column are where it is.
	File         string
	Line, Column int
	// Limit is its @over, nil for none.
	Limit *Limit
	// Question is its @ask with {tool}, {server} and {prompt}, "" for none. PerFlow says
	// that a yes counts for the rest of the conversation.
	Question string
	PerFlow  bool
	// Scopes are its @scope.
	Scopes []string
	// Shadow says that it is evaluated and never counts.
	Shadow bool
	// MayMatchNothing says that it may name what does not exist.
	MayMatchNothing bool
}

// Limit is how many requests a policy lets pass.
type Limit struct {
	// N requests in each Every; Burst at once, at least 1.
	N     int
	Every time.Duration
	Burst int
	// Per says what is counted apart: some of "principal", "group", "server", "tool",
	// "flow"; nil for all together.
	Per []string
}
