package router

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"context"
	"encoding/json"
)

// Observer tells the rooms what happens at the servers.
type Observer struct{ Rt *Router }

func (o *Observer) Listed(b *upstream.Backend, offers *inventory.Inventory, said inventory.ChangeKinds) (news bool) {
	return o.Rt.Catalog.Publish(b, offers, said)
}

func (o *Observer) Opening(ctx context.Context, c *upstream.Conn) {
	o.Rt.desk.RestoreLevel(ctx, c)
	o.Rt.Hub.Restore(ctx, c)
}

func (o *Observer) Question(ctx context.Context, c *upstream.Conn, method string, params json.RawMessage) (json.RawMessage, error) {
	return o.Rt.desk.Question(ctx, c, method, params)
}

func (o *Observer) Logged(c *upstream.Conn, params json.RawMessage) { o.Rt.desk.Logged(c, params) }

func (o *Observer) ResourceUpdated(l *upstream.Slot, params json.RawMessage) {
	o.Rt.Hub.Updated(l, params)
}

func (o *Observer) Moved(who *upstream.Client, l *upstream.Slot) { o.Rt.Hub.Move(who, l) }

func (o *Observer) Replaced(old, successor *upstream.Backend) {
	o.Rt.Hub.Replaced(old, successor)
	o.Rt.TaskOwners.forget(old)
}

func (o *Observer) Ended(b *upstream.Backend) { o.Rt.Catalog.Forget(b) }
