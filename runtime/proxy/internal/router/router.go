package router

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/authorize"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/interaction"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/subscriptions"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Options are settings of a router and of the rooms under it.
type Options struct {
	Backends upstream.Options
	Catalog  catalog.Options
	Finder   finder.Options
	Journal  *journal.Journal // nil: nothing is recorded
	Logger   *slog.Logger
	// Login returns the login of a person that can answer a server's failure, nil where
	// none can. It is under way, or begun; its error says why it cannot begin. Nil:
	// nobody logs in.
	Login func(ctx context.Context, server string, principal *access.Principal, failure error) (Login, error)
}

// Router answers one request of a client: out of what the proxy knows, or by a
// backend. All methods may be called concurrently.
type Router struct {
	o              Options
	Set            *upstream.Set
	Catalog        *catalog.Publisher
	Finder         *finder.Finder // nil where all tools are listed
	serverRequests *interaction.ServerRequests
	Views          ViewSelector
	Authorizer     *authorize.Authorizer
	Hub            *subscriptions.Hub
	Budget         *limits.Budget
	Suspended      *interaction.SuspendedCalls

	TaskOwners   taskOwners
	logins       logins
	lastDeclared atomic.Pointer[json.RawMessage] // see Declared

	reconfiguring sync.Mutex // held while the backends are changed or closed
}

// New returns a router without backends, and the rooms under it.
func New(o Options) *Router {
	set := upstream.NewSet(o.Backends)
	rt := &Router{o: o, Set: set, Catalog: catalog.NewPublisher(o.Catalog, set), Budget: new(limits.Budget), Suspended: interaction.NewSuspendedCalls(0)}
	rt.Views.Gate = o.Catalog.Gate
	rt.Views.Set(o.Catalog.Views)
	rt.Authorizer = &authorize.Authorizer{Gate: o.Catalog.Gate, Catalog: rt.Catalog, Journal: o.Journal, Hooks: o.Catalog.Hooks, Logger: o.Logger}
	if !o.Catalog.Single { // which shows what its server shows
		rt.Finder = finder.New(o.Finder, rt.Catalog, set)
	}
	rt.serverRequests = interaction.New(set, func(ctx context.Context, from *upstream.Caller, server, method string) (func(error) error, error) {
		return rt.Authorizer.MayDo(ctx, &authorize.Asked{Kind: audit.KindQuestion, From: *from, Server: server, Item: method})
	})
	rt.Hub = subscriptions.NewHub(set, rt.Catalog, &rt.Budget.Unsent, rt.followTasks, rt.Authorizer.Subscription)
	set.Observer = &observer{rt.serverRequests, rt}
	return rt
}

// Reconfigure replaces the servers; see proxy.Proxy.Reconfigure.
func (rt *Router) Reconfigure(servers []upstream.Settings) (upstream.Changes, error) {
	if err := upstream.Distinct(servers); err != nil {
		return upstream.Changes{}, err
	}
	rt.reconfiguring.Lock() // for memory work and Recall, which is bounded; only Close waits for it
	defer rt.reconfiguring.Unlock()
	if rt.Set.Lifetime.Err() != nil {
		return upstream.Changes{}, upstream.ErrProxyClosed
	}
	r := rt.Set.Compare(servers)
	if r.Same {
		return r.Changes, nil
	}
	rt.Catalog.Adopt(rt.Set.Restore(r.Made))
	rt.Catalog.Reconfigure(r)
	rt.Set.Replace(r)
	rt.Catalog.Persist(r)
	rt.Catalog.Refresh() // what is stored of the new ones
	return r.Changes, nil
}

// Close ends the calls that wait for their clients and all backends, side by side,
// and returns when they are gone.
func (rt *Router) Close() {
	rt.Set.End()
	rt.Suspended.Close()
	rt.reconfiguring.Lock()
	defer rt.reconfiguring.Unlock()
	rt.Set.Close()
	rt.Authorizer.Flush()
}

// Start connects the servers that are to be connected without a call: there is a client, or
// will be. who is what it sees, zero for nobody in particular.
func (rt *Router) Start(audience upstream.Audience) {
	if rt.Set.HasBegun() {
		return
	}
	rt.Set.Start(func(b *upstream.Backend) bool { return rt.Catalog.Sees(audience, b) })
}

// Leave ends what a client had: its session is over.
func (rt *Router) Leave(client *upstream.Client) {
	if !client.Close() {
		return
	}
	rt.Hub.ForgetClient(client)
	rt.serverRequests.Forget(client)
	rt.Set.Release(client)
}

// Join has a client of an audience notified of every change of a list, until leave, which
// ends all that it has.
func (rt *Router) Join(client *upstream.Client, audience upstream.Audience, l catalog.Listener) (leave func()) {
	client.SetAudience(audience)
	unlisten := rt.Catalog.Listeners.Add(l, client.Audience, inventory.ListSet{Tools: true, Prompts: true, Resources: true})
	return func() {
		unlisten()
		rt.Leave(client)
	}
}

// RootsChanged notifies servers that a client's roots have changed.
func (rt *Router) RootsChanged(client *upstream.Client) { rt.serverRequests.RootsChanged(client) }

// FilterOf returns what a subscriptions/listen asks for.
func (r *Request) FilterOf() (subscriptions.Filter, error) {
	return subscriptions.ParseFilter(r.Msg.Notifications.Of(r.Line), negotiate.DeclaresTasks(r.Msg.MetaCapabilities.Of(r.Line)))
}

// ListenModern serves a subscriptions/listen.
func (rt *Router) ListenModern(ctx context.Context, r *Request, f subscriptions.Filter, to subscriptions.Channel) {
	rt.Hub.Listen(ctx, r.Msg.ID.Of(r.Line), &r.From, f, to)
}

// observer passes what happens at the servers on to the rooms.
type observer struct {
	*interaction.ServerRequests // has Question and Logged
	rt                          *Router
}

func (o *observer) Listed(b *upstream.Backend, offers *inventory.Inventory, said inventory.ListSet) (news bool) {
	return o.rt.Catalog.Publish(b, offers, said)
}

func (o *observer) Opening(ctx context.Context, c *upstream.Conn) {
	o.RestoreLevel(ctx, c)
	o.rt.Hub.Restore(ctx, c)
}

func (o *observer) Opened(ctx context.Context, c *upstream.Conn) { o.RestoreLevel(ctx, c) }

func (o *observer) ResourceUpdated(s *upstream.Slot, params json.RawMessage) {
	o.rt.Hub.Updated(s, params)
}

func (o *observer) Moved(client *upstream.Client, s *upstream.Slot) { o.rt.Hub.Move(client, s) }

func (o *observer) Replaced(old, successor *upstream.Backend) {
	o.rt.Hub.Replaced(old, successor)
	o.rt.TaskOwners.Forget(old)
}

func (o *observer) Ended(b *upstream.Backend) { o.rt.Catalog.Forget(b) }
