package finder

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/results"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// plan is how the tools of an audience are listed.
type plan struct {
	form   views.Form
	budget int
	expose int         // how many found tools join the list of a session
	view   *views.View // nil for none
}

// all reports whether the list has all tools, and never anything else.
func (p *plan) all() bool { return p.form == "" || p.form == views.ListAll }

// DefaultBudget is how many tokens a list may take where nobody says.
const DefaultBudget = 10_000

// Options are settings of a finder.
type Options struct {
	// Engine ranks; nil is one with the vocabulary of mcpctl.
	Engine *search.Engine
	// List and Budget are for clients without a view: views.ListAll and DefaultBudget if
	// they are zero.
	List   views.Form
	Budget int
	// Expose is how many found tools join the list of a session, for clients without a view.
	Expose int
	// Native are the names of programs that search by themselves, in the place of those
	// that are known to; nil for these.
	Native []string
	// NoPrefix says that tools have the names of their servers.
	NoPrefix bool
}

// Finder lists tools for clients that are to search, and answers these. All methods may be
// called concurrently.
type Finder struct {
	o       Options
	catalog *catalog.Publisher
	set     *upstream.Set
	stored  ResultCache

	mu      sync.Mutex // guards what follows
	engine  *search.Engine
	indexed map[string]*inventory.Inventory // what the engine was given of each server
}

// New returns a finder of the tools of a catalog.
func New(o Options, c *catalog.Publisher, set *upstream.Set) *Finder {
	f := &Finder{o: o, catalog: c, set: set}
	context.AfterFunc(set.Lifetime, f.stored.Close)
	return f
}

// plan returns how an audience is listed tools, by its catalog.
func (f *Finder) plan(c *catalog.Catalog, audience upstream.Audience) plan {
	if audience.View == "" {
		return plan{form: f.o.List, budget: f.o.Budget, expose: f.o.Expose}
	}
	v := c.View()
	if v == nil { // which shows nothing
		return plan{}
	}
	return plan{form: v.Form(), budget: cmp.Or(v.Budget(), f.o.Budget), expose: v.Expose(), view: v}
}

// searches reports whether the list of an audience has tools that search, and whether the
// program of the client has decided about that.
func (f *Finder) searches(c *catalog.Catalog, from *upstream.Caller, plan *plan, program Program) (searches, private bool) {
	switch plan.form {
	case views.ListSearch:
		return true, false
	case views.ListAuto:
		if program.Searches(f.o.Native) {
			return false, true
		}
		cost, budget := f.cost(c, plan), cmp.Or(plan.budget, DefaultBudget)
		if from.Client == nil { // what was listed before has no say, so that replicas agree
			return cost > budget, true
		}
		return from.Client.TooLong(cost, budget), true
	case views.ListAll:
	}
	return false, false
}

// List answers a list method out of a catalog. Meta is the metadata of the request. A nil
// Finder leaves all lists as they are.
func (f *Finder) List(ctx context.Context, c *catalog.Publisher, from *upstream.Caller, k inventory.Kind, params, meta []byte) ([]byte, error) {
	result, err := c.List(ctx, from.Audience, k, params, from.Modern(), f.arrange(from, meta))
	if f == nil || k != inventory.Resources || err != nil {
		return result, err
	}
	return listDeclarations(c, from.Audience, result), nil
}

// arrange returns what makes the list of tools for a client another one, nil where it stays
// as it is.
func (f *Finder) arrange(from *upstream.Caller, meta []byte) func(*catalog.Catalog) (*catalog.Catalog, bool) {
	if f == nil {
		return nil
	}
	if from.View == "" && (f.o.List == "" || f.o.List == views.ListAll) {
		return nil
	}
	return func(c *catalog.Catalog) (*catalog.Catalog, bool) {
		plan := f.plan(c, from.Audience)
		searches, private := f.searches(c, from, &plan, programOf(from, meta))
		if !searches && !plan.reads() {
			return c, private
		}
		if searches && f.set.Lifetime.Err() == nil {
			f.set.Work.Go(f.follow)
		}
		found := catalog.Found{All: !searches, Own: func() []byte {
			return f.own(c, &plan).definitions(&plan, searches, func() []Server { return stockOf(c).Servers() })
		}}
		if searches && from.Client != nil && plan.expose > 0 {
			found.Names = from.Client.Found()
		}
		return c.Searched(found), private
	}
}

// own returns the names of the tools that are no server's, which no server's tool has.
func (f *Finder) own(c *catalog.Catalog, plan *plan) Own {
	prefix := ""
	if f.o.NoPrefix {
		prefix = Prefix
	}
	routes, o := c.Routes[inventory.Tools], NewOwn(prefix)
	if v := plan.view; v != nil {
		o = Own{v.Tool(bare.Search).Name(o.Search), v.Tool(bare.Call).Name(o.Call), v.Tool(bare.CallRead).Name(o.CallRead), v.Tool(bare.Read).Name(o.Read)}
	}
	for routes[o.Search] != nil || routes[o.Call] != nil || routes[o.CallRead] != nil || routes[o.Read] != nil {
		prefix += Prefix
		o = NewOwn(prefix)
	}
	return o
}

// stocked is what searches need of a catalog.
type stocked struct {
	*Index
	items map[string]catalog.Item // by name
}

// attached is what is kept with a catalog.
type attached struct {
	stock func() *stocked // which is made once
	code  Cache
}

func attachedTo(c *catalog.Catalog) *attached {
	return c.Attached(func() any {
		return &attached{stock: sync.OnceValue(func() *stocked { return stockUp(c) })}
	}).(*attached)
}

func codeOf(c *catalog.Catalog) *Cache { return &attachedTo(c).code }

func stockOf(c *catalog.Catalog) *stocked { return attachedTo(c).stock() }

func stockUp(c *catalog.Catalog) *stocked {
	s := &stocked{items: map[string]catalog.Item{}}
	var all []Tool
	for t := range c.Tools() {
		s.items[t.Name] = t
		all = append(all, Tool{t.Route.Backend.Name, t.Route.Bare, t.Name})
	}
	s.Index = NewIndex(all)
	return s
}

// follow has the engine index what servers offer now. It returns at once.
func (f *Finder) follow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.engine == nil {
		if f.engine = f.o.Engine; f.engine == nil {
			f.engine = &search.Engine{Vocabulary: search.Default()}
		}
		f.indexed = map[string]*inventory.Inventory{}
	}
	now := f.catalog.Offers()
	for server := range f.indexed {
		if now[server] == nil {
			f.engine.Drop(server)
			delete(f.indexed, server)
		}
	}
	for server, inv := range now {
		if f.indexed[server] == inv {
			continue
		}
		f.indexed[server] = inv
		docs := make([]search.Doc, 0, len(inv.Items[inventory.Tools]))
		for i := range inv.Items[inventory.Tools] {
			item := &inv.Items[inventory.Tools][i]
			docs = append(docs, search.Doc{Group: server, Name: item.Name, Definition: item.Raw})
		}
		f.engine.Build(server, docs)
	}
}

// Call is a call of a tool that is no server's, or the read of a resource.
type Call struct {
	// Result is what it is answered with, nil where there is a call inside it: Line and Msg
	// are that. ReadOnly says that its tool has to be read-only.
	Result   []byte
	Line     []byte
	Msg      *rawjson.Message
	ReadOnly bool
	// Via is the name that the tool has where nothing renames it, "" for a resource.
	Via string
	// Of is the call whose result is read, nil for none. Gone says that the result is not
	// there for the client: a resource has no other answer.
	Of   *Earlier
	Gone *runtime.Error
	// Fields are those that it wants of the result, nil for all.
	Fields *results.Fields
}

// Take answers a call of a tool that is no server's, or takes the call out that is inside it;
// and it answers the read of a resource of the proxy's own. It reports false for other requests.
// The error is that of the call inside.
func (f *Finder) Take(ctx context.Context, from *upstream.Caller, method string, line []byte, m *rawjson.Message) (call Call, taken bool, err error) {
	if method == revision.MethodResourcesRead {
		if call, taken = f.Read(from, line, m); taken {
			return call, true, nil
		}
		call.Result, err = readDeclaration(ctx, f.catalog, from.Audience, codeOf, line, m)
		return call, call.Result != nil, err
	}
	if from.View == "" && (f.o.List == "" || f.o.List == views.ListAll) {
		return call, false, nil
	}
	c := f.catalog.Of(from.Audience)
	plan := f.plan(c, from.Audience)
	if plan.all() && !plan.reads() {
		return call, false, nil
	}
	name, ok := rawjson.String(line, m.Name)
	if !ok {
		return call, false, nil
	}
	switch own := f.own(c, &plan); {
	case name == own.Read && plan.reads():
		return f.read(from, c, name, m.Arguments.Of(line)), true, nil
	case plan.all():
	case name == own.Search:
		return f.search(ctx, from, own, &plan, m.Arguments.Of(line)), true, nil
	case name == own.Call, name == own.CallRead:
		call, err = f.inner(ctx, from, own, &plan, line, m, name == own.CallRead)
		return call, true, err
	}
	return call, false, nil
}

// search answers a call of search_tools.
func (f *Finder) search(ctx context.Context, from *upstream.Caller, own Own, plan *plan, arguments []byte) Call {
	q, err := ParseQuery(arguments)
	if err != nil {
		return Call{Result: Result(err.Error(), true)}
	}
	f.catalog.Discover(ctx, from.Audience, f.catalog.Grace())
	f.follow()
	c := f.catalog.Of(from.Audience)
	stocked := stockOf(c)
	s := Stock{stocked.Index, f.catalog.Unknown(from.Audience), func(name string) []byte {
		return stocked.items[name].Definition(f.catalog, from.Modern())
	}}
	f.catalog.MarkSeen(from.Audience, c)
	text, names := own.Answer(ctx, f.engine, s, q)
	if plan.expose > 0 {
		expose(from, names, plan.expose)
	}
	return Call{Result: Result(text, false)}
}

// maxExposed bounds the found tools in the list of a session.
const maxExposed = 50

// expose has tools join the list of a session, which is told before the answer. A client of
// the stateless era has none: its lists do not depend on other requests.
func expose(from *upstream.Caller, names []string, most int) {
	if from.Client == nil || from.Modern() || !from.Client.Find(names, min(most, maxExposed)) {
		return
	}
	if from.Emit != nil {
		from.Emit(revision.NotificationToolsListChanged, nil)
	} else {
		from.Client.Tell(revision.NotificationToolsListChanged, nil)
	}
}

// inner returns the call that is inside a call.
func (f *Finder) inner(ctx context.Context, from *upstream.Caller, own Own, plan *plan, line []byte, m *rawjson.Message, readOnly bool) (call Call, err error) {
	in, err := ParseInner(m.Arguments.Of(line))
	if err != nil {
		return Call{Result: Result(err.Error(), true)}, nil
	}
	if in.Name == own.Search || in.Name == own.Call || in.Name == own.CallRead || in.Name == own.Read && plan.reads() {
		return Call{Result: Result(in.Name+" is called as it is, not through another tool.", true)}, nil
	}
	switch to, err := f.catalog.Resolve(ctx, from.Audience, inventory.Tools, in.Name); {
	case err != nil: // which the call inside will say
	case readOnly && !f.catalog.ReadOnly(to):
		return Call{Result: Result(in.Name+" is not known to change nothing: use "+own.Call+".", true)}, nil
	default:
		definition := to.Definition
		if t, ok := stockOf(f.catalog.Of(from.Audience)).items[in.Name]; ok { // as its clients see it
			definition = t.Definition(f.catalog, from.Modern())
		}
		if wrong := Check(in.Name, definition, in.Arguments); wrong != "" {
			return Call{Result: Result(wrong, true)}, nil
		}
	}
	call = Call{Msg: new(rawjson.Message), ReadOnly: readOnly, Fields: in.Fields, Via: bare.Call}
	if readOnly {
		call.Via = bare.CallRead
	}
	arguments := in.Arguments
	if arguments == nil {
		arguments = []byte(`{}`)
	}
	edits := []rawjson.Edit{{Span: m.Name, New: in.Quoted}, {Span: m.Arguments, New: arguments}}
	slices.SortFunc(edits, func(a, b rawjson.Edit) int { return a.Start - b.Start })
	call.Line = rawjson.Splice(nil, line, edits...)
	return call, rawjson.Scan(call.Line, call.Msg)
}

// programOf returns the program of a client. Meta is the metadata of its request.
func programOf(from *upstream.Caller, meta []byte) (p Program) {
	if from.Client != nil {
		p.Name, p.Version = from.Client.Program()
		return p
	}
	at, err := rawjson.Field(meta, "io.modelcontextprotocol/clientInfo")
	if err != nil || !at.Present() {
		return p
	}
	p.Name, _ = rawjson.FieldString(at.Of(meta), "name")
	p.Version, _ = rawjson.FieldString(at.Of(meta), "version")
	return p
}
