package policy

import (
	"net/netip"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access"
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
}

// Set is compiled policies. It is immutable and may be used concurrently. Nil allows all.
type Set struct{}

// Compile returns the policies of a configuration. Its error is a *Problem.
func Compile(Config) (*Set, error) { return &Set{}, nil }

// Problem is what is wrong with a policy, and where.
type Problem struct {
	// File, Line and Column are where, zero for unknown.
	File         string
	Line, Column int
	Text         string
	// Remedy is what to write, "" for unknown.
	Remedy string
}

func (p *Problem) Error() string { return p.Text }

// Digest stands for the text of all policies, groups and labels.
func (s *Set) Digest() string { return "" }

// World is a Set and the items of all servers. It is immutable but for the views that it
// remembers, and may be used concurrently.
type World struct{}

// World binds the policies to servers and items.
func (s *Set) World([]Server, []Item) *World { return &World{} }

// View returns what a principal may see. Principals that policies do not tell apart have
// one view, so views can be compared by their pointers. Nil is the principal local.
func (w *World) View(*access.Principal) *View { return &View{} }

// View is what one principal may see and do. It is immutable.
type View struct{}

// Server reports whether a server is visible: some item of it could be, listed or not.
func (v *View) Server(name string) bool { return true }

// Item returns whether item i of the World is visible, and the conditions of using it:
// nil where it may be used in any way.
func (v *View) Item(i int) (visible bool, c *Conditions) { return true, nil }

// Unlisted is Item for one that is in no list.
func (v *View) Unlisted(Item) (visible bool, c *Conditions) { return true, nil }

// On returns whether an action on a server can be allowed, and its conditions.
func (v *View) On(action Action, server string) (possible bool, c *Conditions) { return true, nil }

// Delivery returns the conditions under which a result of item i is delivered, nil for
// none; Marks are the labels that the conversation has from then on, nil for none that a
// policy asks for.
func (v *View) Delivery(i int) (c *Conditions, marks []string) { return nil, nil }

// Conditions are the policies that only a request decides. They are immutable.
type Conditions struct{}

// Static reports whether the answer depends on the request alone: no limit counts, and
// nobody is asked.
func (c *Conditions) Static() bool { return true }

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
	// Front is stdio, http, sse or socket.
	Front string
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
	// By are the policies that have decided.
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

// Decide evaluates the conditions. It does not count for limits and asks nobody.
func (c *Conditions) Decide(*Request) Outcome { return Outcome{Verdict: Allow} }

// Policy is one policy, for answers and for people. It is immutable.
type Policy struct {
	// ID is unique in its Set.
	ID string
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
