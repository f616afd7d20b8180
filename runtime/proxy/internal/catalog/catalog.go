package catalog

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Catalog is what clients may see and where it leads. It is immutable.
type Catalog struct {
	// Routes lead from an exposed name, URI or template to its backend.
	Routes [inventory.Kinds]map[string]*Route
	lists  [inventory.Kinds]list
	pages  pages // the answers that were given already
	// readers are the backends with resources.
	readers []*upstream.Backend
	// single: all URIs are exposed as they are, because there is one backend and
	// there has been no other.
	single bool
	named  map[string]*upstream.Backend
	names  Names
	owners *Owners
	// removed are the servers that are not configured any more.
	removed []string
	// bareTools lead from a backend's own name of a tool to the tool, nil where
	// several have or had it; apps are the backends with user interfaces.
	bareTools func() map[string]*Route
	apps      map[*upstream.Backend]bool
	// held has the backends of which something may be held back, with what is; nil
	// where no server is to be held.
	held map[*upstream.Backend]*lockfile.Verdict
	// former are the names now of tools and prompts that had others; see addFormerNames.
	former     [inventory.Kinds]map[string]string
	visibility visibility
}

// list is one of the lists that clients see.
type list struct {
	sections []*Section // by backend
	count    int        // of items
	pinned   int        // sections in front that have one pinned item each
	byName   func() []placed
	version  func() string
	fresh    inventory.Freshness
	missing  []inventory.Missing // what it leaves out
	partial  []byte              // the report of that, nil for nothing
	shown    sync.Once           // it has been given out; see Publisher.show
	own      []byte              // after all others; see Found
}

// Route is where an exposed name leads.
type Route struct {
	Backend *upstream.Backend
	// Bare is what the backend calls it, Quoted is that as JSON.
	Bare       string
	Quoted     []byte
	Definition []byte // the item as the backend sent it
	// Mirrors are the arguments of a tool that HTTP requests of the stateless era
	// repeat as headers.
	Mirrors []revision.Mirror
	// Wrapped: the exposed URI is not the backend's own.
	Wrapped bool
	// Wraps: clients of the handshake era see a tool's output schema wrapped in an
	// object, so what it returns must be wrapped, too.
	Wraps bool
	// Support is how a tool of the handshake era is called as a task, "" for not
	// at all; see bridge.TaskSupport.
	Support string
	// Rules are what policies say of its use, nil: it may be used in any way.
	Rules *Rules
	// Edit is what the view changes of a tool, nil for nothing.
	Edit  *views.ToolEdit
	Hooks *hooks.Chain // look into the calls of a tool, nil for none

	at      int               // its place in what its server lists
	digest  *inventory.Digest // nil for what is in no list
	renamed bool              // by the view
}

// newCatalog builds all lists, backends in configured order and each one's items
// in its own. The caller holds Publisher.mu.
func newCatalog(p *Publisher) *Catalog {
	all := p.set.All()
	c := &Catalog{
		names: p.names, removed: p.tombstones.Removed(), single: len(all) == 1 && !all[0].Config().WrapURIs && len(p.tombstones.Removed()) == 0,
		held: p.holding(), named: map[string]*upstream.Backend{}, owners: NewOwners(), apps: map[*upstream.Backend]bool{}, pages: pages{of: map[pageKey]*page{}, size: new(atomic.Int64), most: maxPages},
	}
	former, known := slices.Collect(p.tombstones.All()), once(p.known())
	c.bareTools = sync.OnceValue(func() map[string]*Route { return c.byBareName(slices.Values(former), known) })
	for _, b := range all {
		c.named[b.Name] = b
	}
	c.claim(known, slices.Values(former))
	for k := range inventory.Kinds {
		c.gather(p, k)
		c.addFormerNames(p, k)
		l := &c.lists[k]
		l.missing = p.missingOf(k)
		l.finish()
	}
	c.visibility.inputs = p.inputs(c, former)
	c.visibility.obey(c)
	return c
}

// gather builds one list.
func (c *Catalog) gather(p *Publisher, k inventory.Kind) {
	l, n := &c.lists[k], 0
	var parts []inventory.Freshness
	for _, inv := range p.known() {
		n += len(inv.Items[k])
		if inv.Offered[k] {
			parts = append(parts, inv.Fresh[k])
		}
	}
	l.fresh = inventory.Merged(parts)
	c.Routes[k] = make(map[string]*Route, n)
	titles := titleOwners(p.known(), k, n)
	for b, inv := range p.known() {
		if len(inv.Items[k]) == 0 {
			continue
		}
		s := c.sectionOf(p, k, b, titles)
		left := make([]*entry, 0, len(s.entries))
		for _, e := range s.entries {
			if _, taken := c.Routes[k][e.exposed]; taken || c.isOthers(p, k, b, e.exposed) {
				b.Log.Warn("backend lists a name of another; it is left out", "name", e.item.Key)
				continue
			}
			c.Routes[k][e.exposed] = &e.route
			left = append(left, e)
		}
		if len(left) < len(s.entries) {
			s = s.with(left)
		}
		l.sections = append(l.sections, s)
		l.count += len(s.entries)
	}
}

// isOthers reports whether a name of a tool or prompt is another backend's.
func (c *Catalog) isOthers(p *Publisher, k inventory.Kind, b *upstream.Backend, exposed string) bool {
	switch {
	case k != inventory.Tools && k != inventory.Prompts:
		return false
	case p.o.NoPrefix:
		return c.reserved(p, k, b, exposed) != ""
	}
	return c.names.Others(b.Name, exposed)
}

// reserved returns the other server that a name without a prefix belongs to, "" for
// none: the one whose prefix it has, one that clients have been shown it of, one
// before the backend in the configuration.
func (c *Catalog) reserved(p *Publisher, k inventory.Kind, b *upstream.Backend, key string) string {
	if owner := c.names.Owner(key); owner != "" && owner != b.Name {
		return owner
	}
	if other := p.tombstones.ShownOfAnother(b.Name, k, key); other != "" {
		return other
	}
	if r := c.Routes[k][key]; r != nil && r.Backend != b {
		return r.Backend.Name
	}
	return ""
}

// same reports whether a list is the same in two catalogs.
func (c *Catalog) same(o *Catalog, k inventory.Kind) bool {
	return slices.EqualFunc(c.lists[k].sections, o.lists[k].sections, (*Section).same)
}

// addFormerNames keeps names that tools or prompts had before another
// configuration changed them, where nothing else is called so. No list has them,
// and no other process knows them.
func (c *Catalog) addFormerNames(p *Publisher, k inventory.Kind) {
	if p.o.NoPrefix || k != inventory.Tools && k != inventory.Prompts {
		return
	}
	for b, inv := range p.known() {
		if !p.offers[b].renamed {
			continue
		}
		keys := keysOf(inv.Items[k])
		now := c.names.Exposed(b.Name, keys)
		for i, former := range c.names.Form(b.Name, keys, !c.names.Unclear(b.Name)) {
			_, taken := c.Routes[k][former]
			if r := c.Routes[k][now[i]]; !taken && r != nil && r.Backend == b && !c.isOthers(p, k, b, former) {
				c.Routes[k][former] = r
				if c.former[k] == nil {
					c.former[k] = map[string]string{}
				}
				c.former[k][former] = now[i]
			}
		}
	}
}

// claim notes whose URIs are whose, by all that is listed or was, and which
// backends have resources and apps.
func (c *Catalog) claim(known iter.Seq2[*upstream.Backend, *inventory.Inventory], former iter.Seq[tombstone]) {
	for server := range c.named {
		c.owners.AddServer(server)
	}
	for b, inv := range known {
		if inv.Resources {
			c.readers = append(c.readers, b)
		}
		for i := range inv.Items[inventory.Tools] {
			it := &inv.Items[inventory.Tools][i]
			if it.Facts&inventory.Pictured == 0 {
				continue
			}
			a := inventory.AppOf(it.Raw)
			for _, uri := range a.URIs {
				c.owners.AddURI(b.Name, uri)
			}
			if len(a.URIs) > 0 || a.Only {
				c.apps[b] = true
			}
		}
		for _, k := range []inventory.Kind{inventory.Resources, inventory.Templates} {
			for i := range inv.Items[k] {
				key := inv.Items[k][i].Key
				c.owners.Add(b.Name, k, key)
				if strings.HasPrefix(key, "ui://") {
					c.apps[b] = true
				}
			}
		}
	}
	for _, server := range c.removed {
		c.owners.AddServer(server)
	}
	for f := range former {
		if f.Kind == inventory.Resources || f.Kind == inventory.Templates {
			c.owners.Add(f.Server, f.Kind, f.Key)
		}
	}
}

// byBareName returns the tools by their servers' own names, where one server alone has
// that name. former has the names that servers list no more; known may have tools that
// the list leaves out.
func (c *Catalog) byBareName(former iter.Seq[tombstone], known iter.Seq2[*upstream.Backend, *inventory.Inventory]) map[string]*Route {
	claims := map[string]Claim{}
	for f := range former {
		if f.Kind == inventory.Tools {
			claims[f.Key] = claims[f.Key].With(f.Server)
		}
	}
	for b, inv := range known {
		for i := range inv.Items[inventory.Tools] {
			key := inv.Items[inventory.Tools][i].Key
			claims[key] = claims[key].With(b.Name)
		}
	}
	bare := make(map[string]*Route, c.lists[inventory.Tools].count)
	for _, s := range c.lists[inventory.Tools].sections {
		for _, e := range s.entries {
			if r := &e.route; claims[r.Bare].Sole() {
				bare[r.Bare] = r
			}
		}
	}
	return bare
}

// titleOwners returns who lists each title, nil for several backends. n is how many
// items there are.
func titleOwners(known iter.Seq2[*upstream.Backend, *inventory.Inventory], k inventory.Kind, n int) map[string]*upstream.Backend {
	var owners map[string]*upstream.Backend
	for b, inv := range known {
		for i := range inv.Items[k] {
			title := inv.Items[k][i].Title
			if title == "" {
				continue
			}
			if owners == nil {
				owners = make(map[string]*upstream.Backend, n)
			}
			if was, ok := owners[title]; !ok {
				owners[title] = b
			} else if was != b {
				owners[title] = nil
			}
		}
	}
	return owners
}

func keysOf(items []inventory.Item) []string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = items[i].Key
	}
	return keys
}

// exposedKeys returns what clients call each item of a backend's list. before is
// the section of the same list in the catalog before, nil for none.
func (c *Catalog) exposedKeys(p *Publisher, k inventory.Kind, b *upstream.Backend, before *Section) []string {
	bare := k == inventory.Resources || k == inventory.Templates
	if before != nil && !bare && !p.o.NoPrefix && before.unclear == c.names.Unclear(b.Name) {
		return before.keys
	}
	keys := keysOf(p.offers.inventory(b).Items[k])
	if bare {
		for i, uri := range keys {
			keys[i] = c.exposeURI(b, uri)
		}
		return keys
	}
	prefixed := c.names.Exposed(b.Name, keys)
	if !p.o.NoPrefix {
		return prefixed
	}
	for i, key := range keys {
		if owner := c.reserved(p, k, b, key); owner != "" {
			p.o.Logger.Warn("two servers offer one name; the later keeps its prefix", "name", key, "servers", []string{owner, b.Name}, "exposed", prefixed[i])
			keys[i] = prefixed[i]
		}
	}
	return keys
}

// missingOf returns the backends that a list leaves out and what kind of failure that is
// for, nil for none. All clients get it, and an error may hold what is another's: a
// server's answer, or its stderr. The log and [proxy.Proxy.Status] have the error.
func (p *Publisher) missingOf(k inventory.Kind) (out []inventory.Missing) {
	for _, b := range p.set.All() {
		err := b.Pool.Failure()
		if o := p.offers[b]; o != nil && o.inventory != nil && !o.inherited {
			if err = o.inventory.Failed[k]; p.o.Single { // what it says counts as if the client had asked it
				out = append(out, o.inventory.Missing[k]...)
			}
		}
		if err != nil {
			out = append(out, inventory.Missing{Server: b.Name, Kind: upstream.ErrorKind(err)})
		}
	}
	return out
}

// finish makes what follows from the other fields.
func (l *list) finish() {
	if len(l.missing) > 0 {
		l.partial, _ = json.Marshal(l.missing) // strings always have a JSON form
	}
	l.byName = sync.OnceValue(l.sorted)
	l.version = sync.OnceValue(func() string { return versionOf(l.sections, l.own) })
}
