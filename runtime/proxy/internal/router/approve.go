package router

import (
	"context"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/gate"
)

// approve asks a person whether a request may go on. The error is a *access.Denied where
// they have not said so.
func (rt *Router) approve(_ context.Context, q *gate.Question, u *gate.Use) error {
	d := &access.Denied{Code: access.CodeDenied, Reason: "a person is to allow this, and nobody can be asked: " + q.Text, Server: u.Server, Item: u.Item}
	if len(q.IDs) > 0 {
		d.Policy = q.IDs[0]
	}
	return d
}
