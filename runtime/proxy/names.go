package proxy

import (
	"cmp"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
)

// Names are the names under which a proxy shows the tools and prompts of servers. They depend on
// its options alone. Methods may be called concurrently.
type Names struct {
	names catalog.Names
	bare  bool
}

// NamesOf returns the names of a proxy with some options: Servers, NoPrefix, Single, Separator and
// NameLimit count.
func NamesOf(o Options) Names {
	servers := make([]string, len(o.Servers))
	for i, s := range o.Servers {
		servers[i] = s.Name
	}
	return Names{catalog.NewNames(cmp.Or(o.Separator, defaultSeparator), cmp.Or(o.NameLimit, defaultNameLimit), servers, catalog.Names{}), o.NoPrefix || o.Single}
}

// Exposed returns the names for all tools, or all prompts, of one server. Without prefixes they are
// the server's own, also where another server has one of them.
func (n Names) Exposed(server string, names []string) []string {
	if n.bare {
		return names
	}
	return n.names.Exposed(server, names)
}

// Of reports whether an exposed name may be one of a server's.
func (n Names) Of(server, exposed string) bool {
	owner := n.names.Owner(exposed)
	return n.bare || owner == "" || owner == server
}
