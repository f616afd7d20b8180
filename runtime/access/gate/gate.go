// Package gate is what the router asks before it lets a request through: the policies that
// count now, and the state that they need: limits, the labels of conversations, and what
// people have allowed.
package gate

import (
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
)

// Gate holds the policies that count now. All methods may be called concurrently. A nil
// Gate allows all.
type Gate struct {
	set atomic.Pointer[policy.Set]
}

// New returns a gate with policies, nil for none.
func New(set *policy.Set) *Gate {
	g := new(Gate)
	g.set.Store(set)
	return g
}

// Set returns the policies that count now, nil for none.
func (g *Gate) Set() *policy.Set {
	if g == nil {
		return nil
	}
	return g.set.Load()
}

// Replace has other policies count from now on. Call proxy.Repolicy afterwards.
func (g *Gate) Replace(set *policy.Set) { g.set.Store(set) }

// Question is what a person is asked before a request goes on.
type Question struct {
	// Text is what is asked, IDs the policies that ask.
	Text string
	IDs  []string
}

// Use is one use of an item.
type Use struct {
	policy.Request
	// Server and Item are the server's names.
	Server, Item string
	// Flow is the conversation: see Flow.
	Flow string
}

// Decide answers a request: it evaluates the conditions, counts for limits, and returns the
// question that is still open. Nil, nil lets the request pass. The error is a
// *access.Denied.
func (g *Gate) Decide(c *policy.Conditions, u *Use) (*Question, error) {
	out := c.Decide(&u.Request)
	if out.Verdict == policy.Deny {
		return nil, &access.Denied{Code: access.CodeDenied, Reason: out.Reason, Server: u.Server, Item: u.Item, Scopes: out.Scopes}
	}
	return nil, nil
}
