package router

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/parking"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/questions"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/subscriptions"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Options are settings of a router and of the rooms under it.
type Options struct {
	Backends upstream.Options
	Catalog  catalog.Options
	// Info is who the proxy says it is, as Catalog.Info is in JSON.
	Info   runtime.Implementation
	Logger *slog.Logger
}

// Router answers one request of a client: out of what the proxy knows, or by a
// backend. All methods may be called concurrently.
type Router struct {
	o       Options
	Set     *upstream.Set
	Catalog *catalog.Publisher
	desk    *questions.Desk
	Hub     *subscriptions.Hub
	Budget  *limits.Budget

	Parking      *parking.Lot
	TaskOwners   taskOwners                      // of tasks
	lastDeclared atomic.Pointer[json.RawMessage] // see declared

	reconfiguring sync.Mutex // held while the backends become others, and while they are closed
}

// New returns a router without backends, and the rooms under it.
func New(o Options) *Router {
	set := upstream.NewSet(o.Backends)
	rt := &Router{o: o, Set: set, Catalog: catalog.NewPublisher(o.Catalog, set), desk: questions.New(set), Budget: new(limits.Budget), Parking: parking.NewLot(0)}
	rt.Hub = subscriptions.NewHub(set, rt.Catalog, &rt.Budget.Unsent, rt.followTasks)
	set.Observer = &observer{rt}
	return rt
}

// Reconfigure puts other servers behind the proxy; see proxy.Proxy.Reconfigure.
func (rt *Router) Reconfigure(servers []upstream.Settings) (upstream.Changes, error) {
	if err := upstream.Distinct(servers); err != nil {
		return upstream.Changes{}, err
	}
	rt.reconfiguring.Lock() // memory work but for recall, which is bounded; nobody else waits for it but close
	defer rt.reconfiguring.Unlock()
	if rt.Set.Lifetime.Err() != nil {
		return upstream.Changes{}, upstream.ErrProxyClosed
	}
	r := rt.Set.Compare(servers)
	if r.Same {
		return r.Changes, nil
	}
	rt.Catalog.TakeOver(rt.Set.Recall(r.Made))
	rt.Catalog.Enroll(r)
	rt.Set.Replace(r)
	rt.Catalog.SaveAgain(r)
	rt.Catalog.RefreshSeen() // what is stored of the new ones
	return r.Changes, nil
}

// Close ends the calls that wait for their clients and all backends, side by side,
// and returns when they are gone.
func (rt *Router) Close() {
	rt.Set.End()
	rt.Parking.Close()
	rt.reconfiguring.Lock()
	defer rt.reconfiguring.Unlock()
	rt.Set.Close()
}

// Leave ends what a client had: its session is over.
func (rt *Router) Leave(who *upstream.Client) {
	if !who.Close() {
		return
	}
	rt.Hub.ForgetClient(who)
	rt.desk.Forget(who)
	rt.Set.Release(who)
}

// Lifetime is that of the proxy.
func (rt *Router) Lifetime() context.Context { return rt.Set.Lifetime }

// Begin connects the servers that are always to be connected: there is a client, or
// will be.
func (rt *Router) Begin() { rt.Set.Begin() }

// Solo says that there will be one client.
func (rt *Router) Solo(who *upstream.Client) { rt.Set.Solo.Store(who) }

// Join has a client told of every change of a list, until leave, which ends all
// that it has.
func (rt *Router) Join(who *upstream.Client, l catalog.Listener) (leave func()) {
	unlisten := rt.Catalog.Listen(l)
	return func() {
		unlisten()
		rt.Leave(who)
	}
}

// RootsChanged has servers told that a client's roots have changed.
func (rt *Router) RootsChanged(who *upstream.Client) { rt.desk.RootsChanged(who) }

// FilterOf reads what a subscriptions/listen asks for.
func FilterOf(r Request) (subscriptions.Filter, error) {
	return subscriptions.ParseFilter(r.Msg.Notifications.Of(r.Line), bridge.DeclaresTasks(r.Msg.MetaCapabilities.Of(r.Line)))
}

// ListenModern serves a subscriptions/listen.
func (rt *Router) ListenModern(ctx context.Context, r Request, f subscriptions.Filter, to subscriptions.Channel) {
	rt.Hub.Listen(ctx, r.Msg.ID.Of(r.Line), &r.From, f, to)
}
