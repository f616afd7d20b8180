package proxy

import (
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
	// routes lead from an exposed name, URI or template to its backend.
	routes [kinds]map[string]*route
	// sections are what the lists hold, by backend, and count how much that is;
	// pages are the answers that were given already.
	sections [kinds][]*Section
	count    [kinds]int
	pages    pages
	versions [kinds]version
	// fresh is how long each list may be kept, partial the report of what it
	// leaves out, nil where it leaves out nothing.
	fresh   [kinds]freshness
	partial [kinds][]byte
	// readers are the backends with resources.
	readers []*Backend
	// single tells that all URIs are exposed as they are: there is one backend,
	// and there has been no other.
	single bool
	// named are the backends by name, owners tell whose a URI is.
	named  map[string]*Backend
	owners *owners
	// bareTools lead from a backend's own name of a tool to the tool, nil where
	// several have or had it; apps are the backends with user interfaces.
	bareTools func() map[string]*route
	apps      map[*Backend]bool
	// names are how names are exposed and whose they are.
	names namer
	// shown tells whether a list has been given out; see Proxy.show.
	shown [kinds]sync.Once
}

// route is where an exposed name leads.
type route struct {
	b *Backend
	// bare is what the backend calls it, quoted is that as JSON.
	bare   string
	quoted []byte
	// definition is the item as the backend sent it.
	definition []byte
	// mirrors are the arguments of a tool that HTTP requests of the stateless era
	// repeat as headers.
	mirrors []revision.Mirror
	// wrapped tells that the exposed URI is not the backend's own.
	wrapped bool
	// wraps tells that clients of the handshake era see a tool's output schema
	// wrapped in an object, so that what it returns must be wrapped, too.
	wraps bool
	// support tells how a tool of the handshake era is called as a task, ""
	// not at all; see bridge.TaskSupport.
	support string
}

// newSnapshot builds the lists of all catalogues, backends in configured order
// and each one's items in its own. The caller holds publisher.mu.
func newSnapshot(p *Publisher) *Catalog {
	s := &Catalog{
		names: p.names, single: len(p.set.all()) == 1 && !p.set.all()[0].config().WrapURIs && len(p.past.removed) == 0,
		named: map[string]*Backend{}, owners: newOwners(), apps: map[*Backend]bool{},
	}
	formerTools := p.past.keys(tools)
	s.bareTools = sync.OnceValue(func() map[string]*route { return s.byBareName(formerTools) })
	for _, b := range p.set.all() {
		s.named[b.name] = b
		if has := p.inventoryOf(b); has != nil && has.resources {
			s.readers = append(s.readers, b)
		}
	}
	s.claim(p)
	for k := range kinds {
		s.gather(p, k)
		s.formerNames(p, k)
		s.partial[k] = partialReport(p, k)
	}
	return s
}

// gather puts one list together.
func (s *Catalog) gather(p *Publisher, k kind) {
	var parts []freshness
	n := 0
	for _, b := range p.set.all() {
		if cat := p.inventoryOf(b); cat != nil {
			n += len(cat.items[k])
			if cat.offered[k] {
				parts = append(parts, cat.fresh[k])
			}
		}
	}
	s.fresh[k] = merged(parts)
	s.routes[k] = make(map[string]*route, n)
	titles := titleOwners(p, k)
	for _, b := range p.set.all() {
		if has := p.inventoryOf(b); has == nil || len(has.items[k]) == 0 {
			continue
		}
		sh := s.sectionOf(p, k, b, titles)
		var gone map[int]bool
		for i := range sh.entries {
			e := &sh.entries[i]
			if _, taken := s.routes[k][e.exposed]; taken || s.isOthers(p, k, b, e.exposed) {
				b.log.Warn("backend lists a name of another; it is left out", "name", e.item.key)
				if gone == nil {
					gone = map[int]bool{}
				}
				gone[i] = true
				continue
			}
			s.routes[k][e.exposed] = &sh.routes[i]
		}
		if gone != nil {
			sh = sh.without(gone)
		}
		s.sections[k] = append(s.sections[k], sh)
		s.count[k] += len(sh.entries)
	}
}

// isOthers reports whether a name of a tool or prompt is another backend's.
func (s *Catalog) isOthers(p *Publisher, k kind, b *Backend, exposed string) bool {
	if k != tools && k != prompts {
		return false
	}
	if p.o.NoPrefix {
		owner := s.names.owner(exposed)
		return owner != "" && owner != b.name || p.past.shown.ofAnother(b.name, k, exposed) != ""
	}
	return s.names.others(b.name, exposed)
}

// same tells whether a list is the same in two snapshots.
func (s *Catalog) same(o *Catalog, k kind) bool {
	return slices.EqualFunc(s.sections[k], o.sections[k], (*Section).same)
}

// formerNames has names go on leading where they led before another configuration
// gave a server's tools or prompts other ones, as far as nothing else is called
// so. No list has them, and no other process knows them.
func (s *Catalog) formerNames(p *Publisher, k kind) {
	if p.o.NoPrefix || k != tools && k != prompts {
		return
	}
	for _, b := range p.set.all() {
		o := p.offers[b]
		if o == nil || !o.renamed || o.inventory == nil {
			continue
		}
		items := o.inventory.items[k]
		keys := make([]string, len(items))
		for i, it := range items {
			keys[i] = it.key
		}
		now := p.names.exposed(b.name, keys)
		for i, former := range p.names.form(b.name, keys, !p.names.unclear[b.name]) {
			_, taken := s.routes[k][former]
			if r := s.routes[k][now[i]]; !taken && r != nil && r.b == b && !s.isOthers(p, k, b, former) {
				s.routes[k][former] = r
			}
		}
	}
}

// claim notes whose URIs are whose, by all that is listed or was.
func (s *Catalog) claim(p *Publisher) {
	for _, b := range p.set.all() {
		s.owners.addServer(b.name)
		has := p.inventoryOf(b)
		if has == nil {
			continue
		}
		for i := range has.items[tools] {
			it := &has.items[tools][i]
			if it.facts&pictured == 0 {
				continue
			}
			a := appOf(it.raw)
			for _, uri := range a.uris {
				s.owners.addURI(b.name, uri)
			}
			if len(a.uris) > 0 || a.only {
				s.apps[b] = true
			}
		}
		for _, it := range has.items[resources] {
			s.owners.addURI(b.name, it.key)
			if strings.HasPrefix(it.key, "ui://") {
				s.apps[b] = true
			}
		}
		for _, it := range has.items[templates] {
			s.owners.addTemplate(b.name, it.key)
			if strings.HasPrefix(it.key, "ui://") {
				s.apps[b] = true
			}
		}
	}
	for _, server := range p.past.removed {
		s.owners.addServer(server)
	}
	for server, lists := range p.past.of {
		for uri := range lists[resources] {
			s.owners.addURI(server, uri)
		}
		for template := range lists[templates] {
			s.owners.addTemplate(server, template)
		}
	}
}

// byBareName finds the tools by the names that their servers give them. former
// are those of tools that servers list no more.
func (s *Catalog) byBareName(former map[string]claim) map[string]*route {
	originals := make(map[string]*route, s.count[tools])
	for _, sh := range s.sections[tools] {
		for i := range sh.routes {
			r := &sh.routes[i]
			if _, taken := originals[r.bare]; taken || !former[r.bare].with(r.b.name).sole() {
				r = nil
			}
			originals[sh.routes[i].bare] = r
		}
	}
	return originals
}

// titled counts the backends that list a title.
type titled struct {
	last *Backend
	n    int
}

// titleOwners counts how many backends list each title.
func titleOwners(p *Publisher, k kind) map[string]titled {
	n := 0
	for _, b := range p.set.all() {
		has := p.inventoryOf(b)
		if has == nil {
			continue
		}
		for i := range has.items[k] {
			if has.items[k][i].title != "" {
				n++
			}
		}
	}
	owners := make(map[string]titled, n)
	for _, b := range p.set.all() {
		has := p.inventoryOf(b)
		if has == nil || n == 0 {
			continue
		}
		for i := range has.items[k] {
			it := &has.items[k][i]
			if it.title == "" {
				continue
			}
			if was := owners[it.title]; was.last != b {
				owners[it.title] = titled{b, was.n + 1}
			}
		}
	}
	return owners
}

// exposedKeys gives what clients call each item of a backend's list. before is
// the shelf of the same list in the snapshot before, nil for none.
func (s *Catalog) exposedKeys(p *Publisher, k kind, b *Backend, before *Section) []string {
	bare := k == resources || k == templates
	if before != nil && !bare && !p.o.NoPrefix && before.unclear == s.names.unclear[b.name] {
		return before.keys
	}
	items := p.inventoryOf(b).items[k]
	keys := make([]string, len(items))
	for i := range items {
		if keys[i] = items[i].key; bare {
			keys[i] = s.exposeURI(b, keys[i])
		}
	}
	if bare {
		return keys
	}
	prefixed := s.names.exposed(b.name, keys)
	if !p.o.NoPrefix {
		return prefixed
	}
	for i, key := range keys {
		if owner := s.reserved(p, k, b, key); owner != "" {
			p.log.Warn("two servers offer one name; the later keeps its prefix", "name", key, "servers", []string{owner, b.name}, "exposed", prefixed[i])
			keys[i] = prefixed[i]
		}
	}
	return keys
}

// reserved returns the server whose a name without a prefix is, "" where a
// backend may have it: one whose prefix it has, one that clients have been shown
// it of, one before it in the configuration.
func (s *Catalog) reserved(p *Publisher, k kind, b *Backend, key string) string {
	if owner := s.names.owner(key); owner != "" && owner != b.name {
		return owner
	}
	if other := p.past.shown.ofAnother(b.name, k, key); other != "" {
		return other
	}
	if r := s.routes[k][key]; r != nil && r.b != b {
		return r.b.name
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
func partialReport(p *Publisher, k kind) []byte {
	type missing struct {
		Server string `json:"server"`
		Kind   string `json:"kind"`
	}
	var out []missing
	for _, b := range p.set.all() {
		err := b.failure()
		if o := p.offers[b]; o != nil && o.inventory != nil && !o.inherited {
			err = o.inventory.failed[k]
		}
		if err != nil {
			out = append(out, missing{b.name, kindOf(err)})
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
