package policy

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

const (
	// maxViews and maxViewBytes bound the views that a World remembers. Of more the one
	// goes that was not used for long.
	maxViews     = 1000
	maxViewBytes = 64 << 20
	// maxKnown bounds the principals whose view is known at once. Of more all are
	// forgotten; their views stay.
	maxKnown = 10_000
)

// Snapshot is a Set and the items of all servers. It is immutable but for the views that it
// remembers, and may be used concurrently.
type Snapshot struct {
	set     *Set // nil allows all
	servers map[string]*server
	items   []*entry
	classes []*class
	// byID finds items that policies name; it is made when the first one does.
	byID func() map[types.EntityUID]*entry
	// empty is a record without members, made once.
	empty types.Value
	// all is the view of everybody where there is no Set.
	all *View

	// known is the view of each *access.Principal that was seen.
	known    sync.Map
	numKnown atomic.Int64
	local    atomic.Pointer[View]

	mu    sync.Mutex // guards what follows
	views map[string]*View
	bytes int
}

// server is a server of a World.
type server struct {
	Server
	uid types.EntityUID
	// labels are all that it has.
	labels []string
	entity types.Entity
}

// entry is an item of a World, or one that is in no list.
type entry struct {
	Item
	server *server
	uid    types.EntityUID
	// labels are those it has besides those of its server.
	labels []string
	// uri is that of a resource in its normal form.
	uri string
	// read is how else programs read it, nil for an ordinary URI.
	read *readings
	// vague says that it is not known which resource it is: of a template, and of a URI
	// without a scheme.
	vague  bool
	hints  hints
	class  *class
	entity atomic.Pointer[types.Entity]

	mu      sync.Mutex // guards readers
	readers map[string]*Reader
}

// readings are the forms of a URI that is no ordinary one, but for its normal one.
type readings struct {
	URI
	forms []form
}

// form is a resource in one of them.
type form struct {
	*entry
	// deniesOnly says that it needs no permit.
	deniesOnly bool
}

// others returns the forms of a URI besides the normal one.
func (e *entry) others() []form {
	if e.read == nil {
		return nil
	}
	return e.read.forms
}

// class are items that policies do not tell apart, but for their names and definitions.
type class struct {
	index int
	first *entry
	// rules are those that are about them by their scope, by the index of the rule.
	rules []bool
	// marks are the labels that conversations have after using them.
	marks []string
}

func (c *class) about(r *rule) bool { return c.rules[r.index] }

// Snapshot binds the policies to servers and items. An item of a server that is not among
// them has a server without labels.
func (s *Set) Snapshot(servers []Server, items []Item) *Snapshot {
	w := &Snapshot{set: s, servers: make(map[string]*server, len(servers)), views: make(map[string]*View), empty: types.Record{}}
	if s == nil {
		w.all = &View{snapshot: w}
		return w
	}
	for _, srv := range servers {
		w.servers[srv.Name] = s.server(srv)
	}
	w.items = make([]*entry, len(items))
	classes := make(map[string]*class)
	var key []byte
	for i := range items {
		e := w.bare(items[i])
		key = e.classKey(key[:0], s.named[e.uid])
		if e.class = classes[string(key)]; e.class == nil {
			e.class = w.class(e)
			e.class.index = len(w.classes)
			classes[string(key)] = e.class
			w.classes = append(w.classes, e.class)
		}
		w.items[i] = e
	}
	w.byID = sync.OnceValue(func() map[types.EntityUID]*entry {
		out := make(map[types.EntityUID]*entry, len(w.items))
		for _, e := range w.items {
			if out[e.uid] == nil {
				out[e.uid] = e
			}
		}
		return out
	})
	return w
}

func labelUIDs(labels ...string) []types.EntityUID {
	out := make([]types.EntityUID, len(labels))
	for i, l := range labels {
		out[i] = types.NewEntityUID("Label", types.String(l))
	}
	return out
}

func (s *Set) server(srv Server) *server {
	out := &server{Server: srv, uid: types.NewEntityUID("Server", types.String(srv.Name))}
	have := make(map[string]bool)
	for _, l := range srv.Labels {
		have[l] = true
	}
	for name, globs := range s.labels {
		for _, g := range globs {
			if g.server && match(g.pattern, srv.Name) {
				have[name] = true
			}
		}
	}
	out.labels = sorted(have)
	out.entity = types.Entity{
		UID: out.uid, Parents: types.NewEntityUIDSet(labelUIDs(out.labels...)...),
		Attributes: types.NewRecord(types.RecordMap{"transport": types.String(srv.Transport)}),
	}
	return out
}

// classKey appends what makes the class of an item. One that a policy names has a class of
// its own.
func (e *entry) classKey(key []byte, named bool) []byte {
	key = append(key, byte(e.Kind), e.hints.bits(e.Pinned))
	key = append(append(key, e.server.Name...), 0)
	for _, l := range e.labels {
		key = append(append(key, l...), 0)
	}
	key = append(key, 0)
	if named || e.vague || e.read != nil {
		key = append(key, e.uid.ID...)
	}
	return key
}

// class returns the class of an item that is like no other.
func (w *Snapshot) class(e *entry) *class {
	c := &class{first: e, rules: make([]bool, len(w.set.rules)), marks: w.set.marksOf(e)}
	at := env{Entities: &entities{snapshot: w, item: e}, Resource: e.uid}
	for i, r := range w.set.rules {
		c.rules[i] = inResource(at, r.syntax)
	}
	return c
}

// entry returns an item that is in no list.
func (w *Snapshot) entry(it Item) *entry {
	e := w.bare(it)
	e.class = w.class(e)
	return e
}

// entry returns a server as an item.
func (s *server) entry(w *Snapshot) *entry {
	e := &entry{Item: Item{Server: s.Name}, server: s, uid: s.uid}
	e.class = w.class(e)
	return e
}

// bare returns an item with its labels and without a class.
func (w *Snapshot) bare(it Item) *entry {
	e := &entry{Item: it, server: w.servers[it.Server]}
	if e.server == nil {
		e.server = w.set.server(Server{Name: it.Server})
	}
	switch it.Kind {
	case Resource:
		u, ok := ParseURI(it.Name)
		if !ok {
			e.vague, u.Normal = true, it.Name
		}
		e.called(w.set, u.Normal)
		e.readAs(w, u)
	case Template:
		e.called(w.set, it.Name)
		e.vague = true
	default:
		e.called(w.set, it.Name)
	}
	e.hints = hints{destructive: true, openWorld: true}
	if it.Kind == Tool && (e.server.Trusted || it.Pinned) {
		e.hints.read(it.Definition)
		if w.set.fromAnnotations && e.hints.openWorld {
			e.labels = append(e.labels, "untrusted", "outbound")
		}
	}
	slices.Sort(e.labels)
	e.labels = slices.Compact(e.labels)
	return e
}

// called gives an item the name by which policies know it, and the labels of that.
func (e *entry) called(s *Set, name string) {
	e.uri = name
	e.uid = types.NewEntityUID(e.Kind.entityType(), types.String(e.Server+"/"+name))
	for label, globs := range s.labels {
		for _, g := range globs {
			if g.kinds[e.Kind] && match(g.of(e.Kind), string(e.uid.ID)) {
				e.labels = append(e.labels, label)
				break
			}
		}
	}
}

// readAs adds the other forms of a resource, and the URI as it was sent.
func (e *entry) readAs(w *Snapshot, u URI) {
	all := u.Others
	if e.Name != u.Normal && !slices.Contains(all, e.Name) {
		all = append(all, e.Name)
	}
	if all == nil && !u.Ambiguous {
		return
	}
	e.read = &readings{URI: u}
	for _, uri := range all {
		f := form{&entry{Item: e.Item, server: e.server}, !u.Ambiguous || uri == e.Name}
		f.called(w.set, uri)
		slices.Sort(f.labels)
		f.class = w.class(f.entry)
		e.read.forms = append(e.read.forms, f)
	}
}

// hints are what is believed of the annotations of a tool. Where they are not there, and
// where nobody vouches for them, they are what the specification says: destructive and
// openWorld.
type hints struct{ readOnly, destructive, idempotent, openWorld bool }

// ReadOnly reports whether a tool changes nothing, as policies have it: by its definition, where
// its server's annotations are trusted.
func ReadOnly(definition []byte, trusted bool) bool {
	var h hints
	if trusted {
		h.read(definition)
	}
	return h.readOnly
}

func (h *hints) bits(pinned bool) (out byte) {
	for i, set := range [...]bool{h.readOnly, h.destructive, h.idempotent, h.openWorld, pinned} {
		if set {
			out |= 1 << i
		}
	}
	return out
}

// read reads the annotations in a tool's definition.
func (h *hints) read(definition []byte) {
	if !rawjson.IsObject(definition) {
		return
	}
	at, err := rawjson.Field(definition, "annotations")
	raw := at.Of(definition)
	if err != nil || !rawjson.IsObject(raw) {
		return
	}
	var of [4]rawjson.Span
	if rawjson.Fields(raw, of[:], "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint") != nil {
		return
	}
	for i, to := range []*bool{&h.readOnly, &h.destructive, &h.idempotent, &h.openWorld} {
		switch string(of[i].Of(raw)) {
		case "true":
			*to = true
		case "false":
			*to = false
		}
	}
}

// cedarEntity returns the entity of an item.
func (e *entry) cedarEntity() types.Entity {
	if made := e.entity.Load(); made != nil {
		return *made
	}
	out := e.server.entity
	if e.uid != e.server.uid {
		out = types.Entity{
			UID: e.uid, Parents: types.NewEntityUIDSet(append(labelUIDs(e.labels...), e.server.uid)...),
			Attributes: types.NewRecord(e.attributes()),
		}
	}
	e.entity.Store(&out)
	return out
}

func (e *entry) attributes() types.RecordMap {
	if e.Kind == Tool {
		return types.RecordMap{
			"name": types.String(e.Name), "pinned": types.Boolean(e.Pinned), "readOnly": types.Boolean(e.hints.readOnly),
			"destructive": types.Boolean(e.hints.destructive), "idempotent": types.Boolean(e.hints.idempotent), "openWorld": types.Boolean(e.hints.openWorld),
		}
	}
	if e.Kind == Prompt {
		return types.RecordMap{"name": types.String(e.Name), "pinned": types.Boolean(e.Pinned)}
	}
	scheme, _, _ := strings.Cut(e.uri, ":")
	out := types.RecordMap{"uri": types.String(e.uri), "scheme": types.String(scheme), "pinned": types.Boolean(e.Pinned)}
	if rawjson.IsObject(e.Definition) {
		if mime, ok := rawjson.FieldString(e.Definition, "mimeType"); ok && mime != "" {
			out["mime"] = types.String(mime)
		}
	}
	return out
}

// reader returns a reader of what is to be read of calls of a tool. Key stands for reads.
func (e *entry) reader(key string, reads []ReadArguments) *Reader {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.readers[key]
	if r == nil {
		r = New(reads, e.inputSchema())
		if e.readers == nil {
			e.readers = make(map[string]*Reader)
		}
		e.readers[key] = r
	}
	return r
}

// inputSchema returns the input schema of a tool, nil for none.
func (e *entry) inputSchema() []byte {
	if e.Kind != Tool || !rawjson.IsObject(e.Definition) {
		return nil
	}
	at, err := rawjson.Field(e.Definition, "inputSchema")
	if err != nil {
		return nil
	}
	return at.Of(e.Definition)
}

// entities are those that policies can ask for: the principal, the item, servers, and items
// of the World.
type entities struct {
	snapshot  *Snapshot
	principal types.Entity
	item      *entry
}

// Get returns an entity.
func (e *entities) Get(uid types.EntityUID) (types.Entity, bool) {
	switch {
	case e.item != nil && uid == e.item.uid:
		return e.item.cedarEntity(), true
	case uid == e.principal.UID:
		return e.principal, true
	case uid.Type == "Server":
		if e.item != nil && uid == e.item.server.uid { // it may be none of the World's
			return e.item.server.entity, true
		}
		if s := e.snapshot.servers[string(uid.ID)]; s != nil {
			return s.entity, true
		}
	case uid.Type == "Tool" || uid.Type == "Prompt" || uid.Type == "Resource":
		if other := e.snapshot.byID()[uid]; other != nil {
			return other.cedarEntity(), true
		}
	}
	return types.Entity{}, false
}

// View returns what a principal may see. Principals that policies do not tell apart have
// one view, so views can be compared by their pointers. Nil is the principal local.
func (w *Snapshot) View(p *access.Principal) *View {
	if w.set == nil {
		return w.all
	}
	if p == nil {
		if v := w.local.Load(); v != nil {
			return v
		}
	} else if v, ok := w.known.Load(p); ok {
		return v.(*View).use()
	}
	return w.find(p)
}

// find returns the view of a principal that was not seen before.
func (w *Snapshot) find(p *access.Principal) *View {
	groups := w.set.GroupsOf(p)
	id := w.set.identity(p, groups)
	w.mu.Lock()
	v := w.views[id]
	if v == nil {
		v = &View{snapshot: w, id: id, principal: userEntity(p, groups)}
		if p != nil {
			v.scopes = p.Scopes
		}
		w.views[id] = v
	}
	w.mu.Unlock()
	v.once.Do(v.build) // whoever comes in between waits for it
	w.remember(v)
	switch {
	case p == nil:
		w.local.Store(v)
	case w.numKnown.Add(1) > maxKnown:
		w.known.Clear()
		w.numKnown.Store(0)
	default:
		w.known.Store(p, v)
	}
	return v.use()
}

// remember counts a view that was built, and forgets others where there are too many.
func (w *Snapshot) remember(v *View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v.counted {
		return
	}
	v.counted = true
	w.bytes += v.size
	for len(w.views) > maxViews || w.bytes > maxViewBytes {
		gone := w.idlest(v)
		if gone == nil {
			return
		}
		delete(w.views, gone.id)
		w.bytes -= gone.size
		w.local.CompareAndSwap(gone, nil)
		w.known.Range(func(p, known any) bool {
			if known == gone {
				w.known.Delete(p)
				w.numKnown.Add(-1)
			}
			return true
		})
	}
}

// idlest returns a view that was not used since it was last asked for, other than one; nil
// where there is no other.
func (w *Snapshot) idlest(but *View) *View {
	var any *View
	for _, v := range w.views {
		if v == but || !v.counted {
			continue
		}
		if !v.used.Swap(false) {
			return v
		}
		any = v
	}
	return any
}
