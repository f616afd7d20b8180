package proxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/parking"
	"github.com/mcpctl/mcpctl/runtime/seal"
)

// routerOptions are settings of a router; see proxy.Options.
type routerOptions struct {
	// Ring seals what clients keep for the proxy.
	Ring *seal.Ring
	// Info is who the proxy says it is; Raw the same as JSON.
	Info   runtime.Implementation
	Raw    json.RawMessage
	Logger *slog.Logger
}

// Router answers one request of a client: out of what the proxy knows, or by a
// backend. All methods may be called concurrently.
type Router struct {
	o       routerOptions
	set     *Set
	catalog *Publisher
	desk    *Desk
	hub     *Hub

	parking      *parking.Lot
	taskOwners        taskOwners                           // of tasks
	lastDeclared atomic.Pointer[json.RawMessage] // see declared
}

// newRouter returns a router over the rooms that know what it needs.
func newRouter(o routerOptions, set *Set, catalog *Publisher, desk *Desk, hub *Hub) *Router {
	rt := &Router{o: o, set: set, catalog: catalog, desk: desk, hub: hub, parking: parking.NewLot(0)}
	hub.tasks = rt.followTasks
	return rt
}

// close ends the calls that wait for their clients.
func (rt *Router) close() { rt.parking.Close() }

// leave ends what a client had: its session is over.
func (rt *Router) leave(who *Client) {
	if !who.close() {
		return
	}
	rt.hub.forgetClient(who)
	rt.desk.forget(who)
	rt.set.release(who)
}

// lifetime is that of the proxy.
func (rt *Router) lifetime() context.Context { return rt.set.lifetime }

// begin connects the servers that are always to be connected: there is a client, or
// will be.
func (rt *Router) begin() { rt.set.begin() }

// solo says that there will be one client.
func (rt *Router) solo(who *Client) { rt.set.solo.Store(who) }

// join has a client told of every change of a list, until leave, which ends all
// that it has.
func (rt *Router) join(who *Client, l listener) (leave func()) {
	unlisten := rt.catalog.listen(l)
	return func() {
		unlisten()
		rt.leave(who)
	}
}

// rootsChanged has servers told that a client's roots have changed.
func (rt *Router) rootsChanged(who *Client) { rt.desk.rootsChanged(who) }

// filterOf reads what a subscriptions/listen asks for.
func filterOf(r Request) (filter, error) {
	return parseFilter(r.msg.Notifications.Of(r.line), bridge.DeclaresTasks(r.msg.MetaCapabilities.Of(r.line)))
}

// listenModern serves a subscriptions/listen.
func (rt *Router) listenModern(ctx context.Context, r Request, f filter, to channel) {
	rt.hub.listen(ctx, r.msg.ID.Of(r.line), &r.from, f, to)
}
