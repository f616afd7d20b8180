package catalog

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// maxBases bounds the views whose catalogs are kept. Beyond it all are forgotten, and made
// again when they are needed.
const maxBases = 64

// part is what a view shows of the catalog of all. What policies hide leaves that.
type part struct {
	// configured is the view as it was given, nil shows nothing. view has normal forms of
	// its URIs besides.
	configured, view *views.View
	shown            map[*upstream.Backend]*[inventory.Kinds][]bool
	edits            map[*inventory.Item]*edited
	pins             []*inventory.Item // in their order; nil for those that are not there
}

// edited is a tool as a view has it, where that differs.
type edited struct {
	name string
	item inventory.Item
	uris []rawjson.Edit
	edit *views.ToolEdit
}

// in returns the catalog of a view. One that is not configured shows nothing.
func (m *inputs) in(name string) *Catalog {
	if all := m.bases.Load(); all != nil {
		if base := (*all)[name]; base != nil {
			return base
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := map[string]*Catalog{}
	if all := m.bases.Load(); all != nil && len(*all) < maxBases {
		next = maps.Clone(*all)
	}
	if next[name] == nil {
		s := visibility{inputs: m, part: m.partOf(m.views.View(name))}
		base, size := m.full.narrowed(s, func(server string) bool { return s.part.mayShow(m, server) })
		base.visibility.obey(base)
		m.size.Add(int64(size))
		next[name] = base
		m.bases.Store(&next)
	}
	return next[name]
}

// obey leaves out of a catalog what policies hide from a principal.
func (s *visibility) obey(c *Catalog) {
	if s.inputs.set != nil {
		s.policies = &policies{inputs: s.inputs, base: c, views: map[*policy.View]*Catalog{}}
	}
}

func viewed(k inventory.Kind) views.Kind {
	return [inventory.Kinds]views.Kind{views.Tool, views.Prompt, views.Resource, views.Resource}[k]
}

// partOf finds what a view shows of what is listed, and how. A server's own URIs count: how
// they are exposed depends on other servers.
func (m *inputs) partOf(v *views.View) *part {
	p := &part{configured: v, view: v.WithForms(views.Resource, policy.NormalPattern), shown: map[*upstream.Backend]*[inventory.Kinds][]bool{}, edits: map[*inventory.Item]*edited{}}
	for i := range m.known {
		p.shown[m.known[i].b] = new([inventory.Kinds][]bool)
		for k := range inventory.Kinds {
			p.shown[m.known[i].b][k] = make([]bool, len(m.known[i].inv.Items[k]))
		}
	}
	pins := map[string]*inventory.Item{}
	for k := range inventory.Kinds {
		for _, s := range m.full.lists[k].sections {
			for _, e := range s.entries {
				name, readOnly := e.exposed, false
				switch {
				case viewed(k) == views.Resource:
					if name = e.item.Key; !p.showsListed(k, name) {
						continue
					}
				case k == inventory.Tools:
					readOnly = policy.ReadOnly(e.item.Raw, s.backend.Config().TrustAnnotations || m.pins.Pinned(s.backend.Name, pinned(k), e.item.Key, e.item.Raw))
				}
				if !v.Shows(viewed(k), name, readOnly) || k == inventory.Tools && !p.present(m, e) {
					continue
				}
				p.shown[s.backend][k][e.route.at] = true
				if k == inventory.Tools && slices.Contains(v.Pins(), name) {
					pins[name] = e.item
				}
			}
		}
	}
	for _, name := range v.Pins() {
		p.pins = append(p.pins, pins[name]) // nil for none
	}
	return p
}

// present notes how a tool is shown. It reports false where it cannot be shown as the view has
// it: then it is not there.
func (p *part) present(m *inputs, e *entry) bool {
	b, edit := e.route.Backend, p.view.Tool(e.exposed)
	name := edit.Name(e.exposed)
	raw, err := p.view.Present(b.Name, e.exposed, e.item.Raw)
	if err == nil && slices.Contains(p.view.Pins(), e.exposed) {
		raw, err = inventory.AlwaysLoaded(raw)
	}
	if r := m.full.Routes[inventory.Tools][name]; err == nil && name != e.exposed && r != nil && m.full.former[inventory.Tools][name] == "" {
		err = errors.New("another tool has the name " + name)
	}
	if err != nil {
		m.warn(e.exposed, err)
		return false
	}
	if edit == nil && len(raw) == len(e.item.Raw) && &raw[0] == &e.item.Raw[0] {
		return true
	}
	own := &edited{name: name, item: e.item.Edited(b.Log, raw), edit: edit}
	own.uris = m.full.exposedUI(b, inventory.Tools, &own.item)
	p.edits[e.item] = own
	return true
}

// as returns an entry of the catalog of all as the view has it.
func (own *edited) as(e *entry) *entry {
	out := *e
	out.own, out.exposed, out.uris = &own.item, own.name, own.uris
	out.titled = e.titled && own.item.Title == e.item.Title
	out.route.Edit, out.route.Mirrors, out.route.renamed = own.edit, own.item.Mirrors, own.name != e.exposed
	return &out
}

// pinnedFirst puts pinned tools before the others, each in a section of its own, and says
// how many these are.
func (p *part) pinnedFirst(all []*Section) (_ []*Section, pinned int) {
	first, rest := make([]*Section, len(p.pins)), make([]*Section, 0, len(all))
	for _, s := range all {
		others := slices.DeleteFunc(slices.Clone(s.entries), func(e *entry) bool {
			i := slices.Index(p.pins, e.item)
			if i >= 0 {
				first[i] = s.with([]*entry{e})
			}
			return i >= 0
		})
		switch {
		case len(others) == len(s.entries):
			rest = append(rest, s)
		case len(others) > 0:
			rest = append(rest, s.with(others))
		}
	}
	first = slices.DeleteFunc(first, func(s *Section) bool { return s == nil })
	return append(first, rest...), len(first)
}

// mayShow reports whether a view shows something of a server, or could: what is not known of it.
func (p *part) mayShow(m *inputs, server string) bool {
	beginnings := []string{""}
	if !m.bare {
		beginnings = m.full.names.Beginnings(server)
	}
	o := m.offers[m.full.named[server]]
	for k := range inventory.Kinds {
		if o != nil && slices.Contains(p.shown[o.b][k], true) {
			return true
		}
		of := beginnings
		if viewed(k) == views.Resource {
			of = []string{""}
		}
		unknown := o == nil || o.inv.Failed[k] != nil || viewed(k) == views.Resource && o.inv.Resources && o.inv.Items[k] == nil // or may have what it does not list
		if unknown && slices.ContainsFunc(of, func(begins string) bool { return p.view.MayShow(viewed(k), begins) }) {
			return true
		}
	}
	return false
}

// matches reports whether a view shows what a server calls by a name or URI, and may not list.
func (p *part) matches(m *inputs, k inventory.Kind, server, key string) bool {
	if p == nil {
		return true
	}
	switch {
	case viewed(k) == views.Resource:
		u, ok := policy.ParseURI(key)
		return p.view.Every(views.Resource) || ok && p.view.Shows(views.Resource, key, false) && p.view.Shows(views.Resource, u.Normal, false) && p.showsListed(k, key)
	case !m.bare:
		key = m.full.names.Exposed(server, []string{key})[0]
	}
	return p.view.Shows(viewed(k), key, false)
}

// showsListed reports whether a view shows a resource or template, as far as it may be written
// in other ways: what is left out is so in each of them, and an ambiguous URI has to be shown
// in all. The view shows none that is ambiguous where it leaves out something of the host.
func (p *part) showsListed(k inventory.Kind, key string) bool {
	u, _ := policy.ParseURI(key)
	if slices.ContainsFunc(u.Forms(), func(form string) bool { return p.view.LeavesOut(views.Resource, form) }) {
		return false
	}
	if !u.Ambiguous || k == inventory.Templates {
		return true
	}
	return !slices.ContainsFunc(u.Others, func(form string) bool { return !p.view.Shows(views.Resource, form, false) }) &&
		!slices.ContainsFunc(u.Places(), func(place string) bool {
			if !strings.HasSuffix(place, ":") {
				place += "/"
			}
			return p.view.MayLeaveOut(views.Resource, place)
		})
}

// showsUnlisted is matches for what is asked for: a URI for which a server has templates has
// to be one of those that the catalog shows.
func (p *part) showsUnlisted(k inventory.Kind, server, key string, c *Catalog) bool {
	m := c.visibility.inputs
	if p == nil || !p.matches(m, k, server, key) {
		return p == nil
	}
	scheme, _ := SchemeOf(key)
	return k != inventory.Resources || !m.full.owners.Matching(scheme, key).Has(server) || c.owners.Matching(scheme, key).Has(server)
}

// showsItem reports whether a view shows what a route of the catalog of all leads to.
func (p *part) showsItem(r *Route, k inventory.Kind) bool {
	if p == nil || r.digest == nil {
		return p == nil
	}
	return r.at < len(p.shown[r.Backend][k]) && p.shown[r.Backend][k][r.at]
}

// Review has the catalog follow other views.
func (p *Publisher) Review(set *views.Set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.views = set
	p.warned.Clear()
	after := newCatalog(p)
	before := p.Current.Swap(after)
	p.Listeners.announce(before, after, nil)
}

func (p *Publisher) warnOnce(tool string, why error) {
	if _, again := p.warned.LoadOrStore(tool+"\x00"+why.Error(), true); !again {
		p.o.Logger.Warn("a view cannot show a tool: it is left out", "tool", tool, "err", why)
	}
}
