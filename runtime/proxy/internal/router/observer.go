package router

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// observer tells the rooms what happens at the servers.
type observer struct{ rt *Router }

func (o *observer) Listed(b *upstream.Backend, offers *inventory.Inventory, said inventory.ListSet) (news bool) {
	return o.rt.Catalog.Publish(b, offers, said)
}

func (o *observer) Opening(ctx context.Context, c *upstream.Conn) {
	o.rt.desk.RestoreLevel(ctx, c)
	o.rt.Hub.Restore(ctx, c)
}

func (o *observer) Question(ctx context.Context, c *upstream.Conn, method string, params json.RawMessage) (json.RawMessage, error) {
	return o.rt.desk.Question(ctx, c, method, params)
}

func (o *observer) Logged(c *upstream.Conn, params json.RawMessage) { o.rt.desk.Logged(c, params) }

func (o *observer) ResourceUpdated(l *upstream.Slot, params json.RawMessage) {
	o.rt.Hub.Updated(l, params)
}

func (o *observer) Moved(who *upstream.Client, l *upstream.Slot) { o.rt.Hub.Move(who, l) }

func (o *observer) Replaced(old, successor *upstream.Backend) {
	o.rt.Hub.Replaced(old, successor)
	o.rt.TaskOwners.forget(old)
}

func (o *observer) Ended(b *upstream.Backend) { o.rt.Catalog.Forget(b) }
