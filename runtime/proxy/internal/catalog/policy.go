package catalog

import "github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"

// Repolicy replaces the catalog by one under the policies that count now.
func Repolicy(p *Publisher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	after := newCatalog(p)
	before := p.Current.Swap(after)
	p.Listeners.announce(before, after, inventory.ListSet{})
}
