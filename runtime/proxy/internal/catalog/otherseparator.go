package catalog

import (
	"iter"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// separators are what gateways put between server and name. A client may have names of
// one in its configuration, or a model in its memory.
func separators() []string { return []string{"__", "___", ".", "/"} }

// split is a name read as that of a server's tool, with one separator or another.
type split struct{ server, bare string }

// splits returns the ways to read a name: each server that is configured, or was, whose
// name it begins with.
func (c *Catalog) splits(name string) (all []split) {
	read := func(server string) {
		for _, separator := range append(separators(), c.names.Separator) {
			for _, form := range []string{server, CleanName(server)} {
				bare, ok := strings.CutPrefix(name, form+separator)
				if one := (split{server, bare}); ok && bare != "" && !slices.Contains(all, one) {
					all = append(all, one)
				}
			}
		}
	}
	for server := range c.named {
		read(server)
	}
	for _, server := range c.removed {
		read(server)
	}
	return all
}

// spelt returns the one server that a name with another separator can be meant for, ""
// for none: it begins with no other server's name, of those configured and those that
// were.
func (c *Catalog) spelt(all []split, name string) string {
	if len(all) == 0 {
		return ""
	}
	server := all[0].server
	if owner := c.names.Owner(name); owner != "" && owner != server || c.named[server] == nil {
		return ""
	}
	if slices.ContainsFunc(all, func(s split) bool { return s.server != server }) {
		return ""
	}
	return server
}

// otherwiseSpelt returns the route of the one tool or prompt that a name with another
// separator can be meant for, nil where there is none or more than one, of those that
// its server lists or has listed. Nor where another server lists, or has listed, the
// whole name as its own.
func (p *Publisher) otherwiseSpelt(c *Catalog, k inventory.Kind, name string) (found *Route) {
	all := c.splits(name)
	b := c.named[c.spelt(all, name)]
	if b == nil || p.o.NoPrefix || c.listedByAnother(p, k, b, name) {
		return nil
	}
	for _, s := range all {
		r := c.listed(k, b, s.bare)
		if r == nil && !c.wasListed(p, k, s) {
			continue
		}
		if r == nil || r.renamed || found != nil {
			return nil
		}
		found = r
	}
	return found
}

// listed returns the route of what a backend lists under a name of its own, nil for
// nothing.
func (c *Catalog) listed(k inventory.Kind, b *upstream.Backend, bare string) *Route {
	for _, section := range c.lists[k].sections {
		if section.backend != b {
			continue
		}
		for _, e := range section.entries {
			if r := &e.route; r.Bare == bare {
				return r
			}
		}
	}
	return nil
}

// listedByAnother reports whether a backend other than b lists, or has listed, a name as
// its own.
func (c *Catalog) listedByAnother(p *Publisher, k inventory.Kind, b *upstream.Backend, name string) bool {
	known, former, done := c.history(p)
	defer done()
	for other, inv := range known {
		if other != b && slices.ContainsFunc(inv.Items[k], func(it inventory.Item) bool { return it.Key == name }) {
			return true
		}
	}
	for f := range former {
		if f.Server != b.Name && f.Kind == k && f.Key == name {
			return true
		}
	}
	return false
}

// wasListed reports whether a server has listed a name that it may list no more.
func (c *Catalog) wasListed(p *Publisher, k inventory.Kind, s split) bool {
	_, former, done := c.history(p)
	defer done()
	for f := range former {
		if f == (tombstone{Server: s.server, Kind: k, Key: s.bare}) {
			return true
		}
	}
	return false
}

// history returns what servers list and what they have listed, as a catalog shows it,
// until done.
func (c *Catalog) history(p *Publisher) (known iter.Seq2[*upstream.Backend, *inventory.Inventory], former iter.Seq[tombstone], done func()) {
	if !c.whole() {
		return c.seen(), c.formerlySeen(), func() {}
	}
	p.mu.Lock()
	return p.known(), p.tombstones.All(), p.mu.Unlock
}
