package proxy

import (
	"context"
	"encoding/json"
)

// observer tells the rooms what happens at the servers.
type observer struct{ rt *Router }

func (o *observer) listed(b *Backend, offers *Inventory, said changeKinds) (news bool) {
	return o.rt.catalog.publish(b, offers, said)
}

func (o *observer) opening(ctx context.Context, c *Conn) {
	o.rt.desk.restoreLevel(ctx, c)
	o.rt.hub.restore(ctx, c)
}

func (o *observer) question(ctx context.Context, c *Conn, method string, params json.RawMessage) (json.RawMessage, error) {
	return o.rt.desk.question(ctx, c, method, params)
}

func (o *observer) logged(c *Conn, params json.RawMessage) { o.rt.desk.logged(c, params) }

func (o *observer) resourceUpdated(l *Slot, params json.RawMessage) { o.rt.hub.updated(l, params) }

func (o *observer) moved(who *Client, l *Slot) { o.rt.hub.move(who, l) }

func (o *observer) replaced(old, successor *Backend) {
	o.rt.hub.replaced(old, successor)
	o.rt.taskOwners.forget(old)
}

func (o *observer) ended(b *Backend) { o.rt.catalog.forget(b) }
