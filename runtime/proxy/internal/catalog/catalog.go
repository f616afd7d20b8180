package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Catalog is what clients may see and where it leads. It is immutable.
type Catalog struct {
	// Routes lead from an exposed name, URI or template to its backend.
	Routes [inventory.Kinds]map[string]*Route
	// sections are what the lists hold, by backend, and count how much that is;
	// pages are the answers that were given already.
	sections [inventory.Kinds][]*Section
	count    [inventory.Kinds]int
	pages    pages
	versions [inventory.Kinds]version
	// fresh is how long each list may be kept, partial the report of what it
	// leaves out, nil where it leaves out nothing.
	fresh   [inventory.Kinds]inventory.Freshness
	partial [inventory.Kinds][]byte
	// readers are the backends with resources.
	readers []*upstream.Backend
	// single tells that all URIs are exposed as they are: there is one backend,
	// and there has been no other.
	single bool
	// named are the backends by name, owners tell whose a URI is.
	named  map[string]*upstream.Backend
	owners *owners
	// bareTools lead from a backend's own name of a tool to the tool, nil where
	// several have or had it; apps are the backends with user interfaces.
	bareTools func() map[string]*Route
	apps      map[*upstream.Backend]bool
	// names are how names are exposed and whose they are.
	names namer
	// shown tells whether a list has been given out; see Proxy.show.
	shown [inventory.Kinds]sync.Once
}

// Route is where an exposed name leads.
type Route struct {
	Backend *upstream.Backend
	// Bare is what the backend calls it, quoted is that as JSON.
	Bare   string
	Quoted []byte
	// Definition is the item as the backend sent it.
	Definition []byte
	// Mirrors are the arguments of a tool that HTTP requests of the stateless era
	// repeat as headers.
	Mirrors []revision.Mirror
	// Wrapped tells that the exposed URI is not the backend's own.
	Wrapped bool
	// Wraps tells that clients of the handshake era see a tool's output schema
	// wrapped in an object, so that what it returns must be wrapped, too.
	Wraps bool
	// Support tells how a tool of the handshake era is called as a task, ""
	// not at all; see bridge.TaskSupport.
	Support string
}

// newSnapshot builds the lists of all catalogues, backends in configured order
// and each one's items in its own. The caller holds publisher.mu.
func newSnapshot(p *Publisher) *Catalog {
	s := &Catalog{
		names: p.Names, single: len(p.set.All()) == 1 && !p.set.All()[0].Config().WrapURIs && len(p.past.removed) == 0,
		named: map[string]*upstream.Backend{}, owners: newOwners(), apps: map[*upstream.Backend]bool{},
	}
	formerTools := p.past.keys(inventory.Tools)
	s.bareTools = sync.OnceValue(func() map[string]*Route { return s.byBareName(formerTools) })
	for _, b := range p.set.All() {
		s.named[b.Name] = b
		if has := p.InventoryOf(b); has != nil && has.Resources {
			s.readers = append(s.readers, b)
		}
	}
	s.claim(p)
	for k := range inventory.Kinds {
		s.gather(p, k)
		s.formerNames(p, k)
		s.partial[k] = partialReport(p, k)
	}
	return s
}

// gather puts one list together.
func (s *Catalog) gather(p *Publisher, k inventory.Kind) {
	var parts []inventory.Freshness
	n := 0
	for _, b := range p.set.All() {
		if cat := p.InventoryOf(b); cat != nil {
			n += len(cat.Items[k])
			if cat.Offered[k] {
				parts = append(parts, cat.Fresh[k])
			}
		}
	}
	s.fresh[k] = inventory.Merged(parts)
	s.Routes[k] = make(map[string]*Route, n)
	titles := titleOwners(p, k)
	for _, b := range p.set.All() {
		if has := p.InventoryOf(b); has == nil || len(has.Items[k]) == 0 {
			continue
		}
		sh := s.sectionOf(p, k, b, titles)
		var gone map[int]bool
		for i := range sh.entries {
			e := &sh.entries[i]
			if _, taken := s.Routes[k][e.exposed]; taken || s.isOthers(p, k, b, e.exposed) {
				b.Log.Warn("backend lists a name of another; it is left out", "name", e.item.Key)
				if gone == nil {
					gone = map[int]bool{}
				}
				gone[i] = true
				continue
			}
			s.Routes[k][e.exposed] = &sh.routes[i]
		}
		if gone != nil {
			sh = sh.without(gone)
		}
		s.sections[k] = append(s.sections[k], sh)
		s.count[k] += len(sh.entries)
	}
}

// isOthers reports whether a name of a tool or prompt is another backend's.
func (s *Catalog) isOthers(p *Publisher, k inventory.Kind, b *upstream.Backend, exposed string) bool {
	if k != inventory.Tools && k != inventory.Prompts {
		return false
	}
	if p.o.NoPrefix {
		owner := s.names.owner(exposed)
		return owner != "" && owner != b.Name || p.past.shown.ofAnother(b.Name, k, exposed) != ""
	}
	return s.names.others(b.Name, exposed)
}

// same tells whether a list is the same in two snapshots.
func (s *Catalog) same(o *Catalog, k inventory.Kind) bool {
	return slices.EqualFunc(s.sections[k], o.sections[k], (*Section).same)
}

// formerNames has names go on leading where they led before another configuration
// gave a server's tools or prompts other ones, as far as nothing else is called
// so. No list has them, and no other process knows them.
func (s *Catalog) formerNames(p *Publisher, k inventory.Kind) {
	if p.o.NoPrefix || k != inventory.Tools && k != inventory.Prompts {
		return
	}
	for _, b := range p.set.All() {
		o := p.offers[b]
		if o == nil || !o.renamed || o.inventory == nil {
			continue
		}
		items := o.inventory.Items[k]
		keys := make([]string, len(items))
		for i, it := range items {
			keys[i] = it.Key
		}
		now := p.Names.exposed(b.Name, keys)
		for i, former := range p.Names.form(b.Name, keys, !p.Names.unclear[b.Name]) {
			_, taken := s.Routes[k][former]
			if r := s.Routes[k][now[i]]; !taken && r != nil && r.Backend == b && !s.isOthers(p, k, b, former) {
				s.Routes[k][former] = r
			}
		}
	}
}

// claim notes whose URIs are whose, by all that is listed or was.
func (s *Catalog) claim(p *Publisher) {
	for _, b := range p.set.All() {
		s.owners.addServer(b.Name)
		has := p.InventoryOf(b)
		if has == nil {
			continue
		}
		for i := range has.Items[inventory.Tools] {
			it := &has.Items[inventory.Tools][i]
			if it.Facts&inventory.Pictured == 0 {
				continue
			}
			a := appOf(it.Raw)
			for _, uri := range a.uris {
				s.owners.addURI(b.Name, uri)
			}
			if len(a.uris) > 0 || a.only {
				s.apps[b] = true
			}
		}
		for _, it := range has.Items[inventory.Resources] {
			s.owners.addURI(b.Name, it.Key)
			if strings.HasPrefix(it.Key, "ui://") {
				s.apps[b] = true
			}
		}
		for _, it := range has.Items[inventory.Templates] {
			s.owners.addTemplate(b.Name, it.Key)
			if strings.HasPrefix(it.Key, "ui://") {
				s.apps[b] = true
			}
		}
	}
	for _, server := range p.past.removed {
		s.owners.addServer(server)
	}
	for server, lists := range p.past.of {
		for uri := range lists[inventory.Resources] {
			s.owners.addURI(server, uri)
		}
		for template := range lists[inventory.Templates] {
			s.owners.addTemplate(server, template)
		}
	}
}

// byBareName finds the tools by the names that their servers give them. former
// are those of tools that servers list no more.
func (s *Catalog) byBareName(former map[string]claim) map[string]*Route {
	originals := make(map[string]*Route, s.count[inventory.Tools])
	for _, sh := range s.sections[inventory.Tools] {
		for i := range sh.routes {
			r := &sh.routes[i]
			if _, taken := originals[r.Bare]; taken || !former[r.Bare].with(r.Backend.Name).sole() {
				r = nil
			}
			originals[sh.routes[i].Bare] = r
		}
	}
	return originals
}

// titled counts the backends that list a title.
type titled struct {
	last *upstream.Backend
	n    int
}

// titleOwners counts how many backends list each title.
func titleOwners(p *Publisher, k inventory.Kind) map[string]titled {
	n := 0
	for _, b := range p.set.All() {
		has := p.InventoryOf(b)
		if has == nil {
			continue
		}
		for i := range has.Items[k] {
			if has.Items[k][i].Title != "" {
				n++
			}
		}
	}
	owners := make(map[string]titled, n)
	for _, b := range p.set.All() {
		has := p.InventoryOf(b)
		if has == nil || n == 0 {
			continue
		}
		for i := range has.Items[k] {
			it := &has.Items[k][i]
			if it.Title == "" {
				continue
			}
			if was := owners[it.Title]; was.last != b {
				owners[it.Title] = titled{b, was.n + 1}
			}
		}
	}
	return owners
}

// exposedKeys gives what clients call each item of a backend's list. before is
// the shelf of the same list in the snapshot before, nil for none.
func (s *Catalog) exposedKeys(p *Publisher, k inventory.Kind, b *upstream.Backend, before *Section) []string {
	bare := k == inventory.Resources || k == inventory.Templates
	if before != nil && !bare && !p.o.NoPrefix && before.unclear == s.names.unclear[b.Name] {
		return before.keys
	}
	items := p.InventoryOf(b).Items[k]
	keys := make([]string, len(items))
	for i := range items {
		if keys[i] = items[i].Key; bare {
			keys[i] = s.exposeURI(b, keys[i])
		}
	}
	if bare {
		return keys
	}
	prefixed := s.names.exposed(b.Name, keys)
	if !p.o.NoPrefix {
		return prefixed
	}
	for i, key := range keys {
		if owner := s.reserved(p, k, b, key); owner != "" {
			p.log.Warn("two servers offer one name; the later keeps its prefix", "name", key, "servers", []string{owner, b.Name}, "exposed", prefixed[i])
			keys[i] = prefixed[i]
		}
	}
	return keys
}

// reserved returns the server whose a name without a prefix is, "" where a
// backend may have it: one whose prefix it has, one that clients have been shown
// it of, one before it in the configuration.
func (s *Catalog) reserved(p *Publisher, k inventory.Kind, b *upstream.Backend, key string) string {
	if owner := s.names.owner(key); owner != "" && owner != b.Name {
		return owner
	}
	if other := p.past.shown.ofAnother(b.Name, k, key); other != "" {
		return other
	}
	if r := s.Routes[k][key]; r != nil && r.Backend != b {
		return r.Backend.Name
	}
	return ""
}

// unsafeIcons gives the edits that take icons out whose source is neither https
// nor data (2025-11-25, Icons).
func unsafeIcons(item []byte) []rawjson.Edit {
	if !bytes.Contains(item, []byte(`"icons"`)) {
		return nil
	}
	spans, err := rawjson.List(item, rawjson.Whole(item), "icons")
	if err != nil {
		return nil
	}
	return rawjson.Removals(spans, func(i int) bool {
		icon := spans[i].Of(item)
		src, err := rawjson.Field(icon, "src")
		if err != nil {
			return true
		}
		uri, _ := rawjson.String(icon, src)
		scheme, _ := schemeOf(uri)
		scheme = strings.ToLower(scheme)
		return scheme != "https" && scheme != "data"
	})
}

// partialReport names the backends that a list leaves out and what kind of
// failure that is for, nil for none: [{"server":…,"kind":…}]. All clients get it,
// and an error may hold what is another's: a server's answer, or its stderr. The
// log and [Proxy.Status] have the error.
func partialReport(p *Publisher, k inventory.Kind) []byte {
	type missing struct {
		Server string `json:"server"`
		Kind   string `json:"kind"`
	}
	var out []missing
	for _, b := range p.set.All() {
		err := b.Failure()
		if o := p.offers[b]; o != nil && o.inventory != nil && !o.inherited {
			err = o.inventory.Failed[k]
		}
		if err != nil {
			out = append(out, missing{b.Name, upstream.KindOf(err)})
		}
	}
	if out == nil {
		return nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		panic("proxy: a report of strings has no JSON form: " + err.Error())
	}
	return raw
}
