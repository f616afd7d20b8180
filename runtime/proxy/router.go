package proxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/parking"
)

// routerOptions are settings of a router and of the rooms under it.
type routerOptions struct {
	Backends setOptions
	Catalog  catalogOptions
	// Info is who the proxy says it is, as Catalog.Info is in JSON.
	Info   runtime.Implementation
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
	budget  *budget

	parking      *parking.Lot
	taskOwners   taskOwners                      // of tasks
	lastDeclared atomic.Pointer[json.RawMessage] // see declared

	reconfiguring sync.Mutex // held while the backends become others, and while they are closed
}

// newRouter returns a router without backends, and the rooms under it.
func newRouter(o routerOptions) *Router {
	set := newSet(o.Backends)
	rt := &Router{o: o, set: set, catalog: newPublisher(o.Catalog, set), desk: newDesk(set), budget: new(budget), parking: parking.NewLot(0)}
	rt.hub = newHub(set, rt.catalog, &rt.budget.unsent, rt.followTasks)
	set.observer = &observer{rt}
	return rt
}

// reconfigure puts other servers behind the proxy; see proxy.Proxy.Reconfigure.
func (rt *Router) reconfigure(servers []settings) (changes, error) {
	if err := distinct(servers); err != nil {
		return changes{}, err
	}
	rt.reconfiguring.Lock() // memory work but for recall, which is bounded; nobody else waits for it but close
	defer rt.reconfiguring.Unlock()
	if rt.set.lifetime.Err() != nil {
		return changes{}, errProxyClosed
	}
	r := rt.set.compare(servers)
	if r.same {
		return r.changes, nil
	}
	rt.catalog.takeOver(rt.set.recall(r.made))
	rt.catalog.enroll(r)
	rt.set.replace(r)
	rt.catalog.saveAgain(r)
	rt.catalog.refreshSeen() // what is stored of the new ones
	return r.changes, nil
}

// close ends the calls that wait for their clients and all backends, side by side,
// and returns when they are gone.
func (rt *Router) close() {
	rt.set.end()
	rt.parking.Close()
	rt.reconfiguring.Lock()
	defer rt.reconfiguring.Unlock()
	rt.set.close()
}

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
