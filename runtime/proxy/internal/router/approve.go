package router

import (
	"context"

	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/asking"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// approve asks the client's person whether a request may go on. The error is a
// *access.Denied where they have not said so.
func (rt *Router) approve(ctx context.Context, from *upstream.Origin, q *gate.Question) error {
	answer, err := asking.Person(ctx, from, q)
	if err != nil {
		return err
	}
	return rt.o.Catalog.Gate.Answered(q, answer)
}
