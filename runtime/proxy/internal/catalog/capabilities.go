package catalog

import (
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Capabilities returns what the backends offer together, or all that there may be as
// long as one of them is not known, of those that a principal may see. It waits for
// nothing.
func (p *Publisher) Capabilities(audience upstream.Audience) Capabilities {
	servers := p.visible(audience)
	p.mu.Lock()
	defer p.mu.Unlock()
	var all Capabilities
	if p.Of(audience).View() != nil { // which has resources of the proxy's own
		all.Join([]byte(`{"resources":{}}`))
	}
	for _, b := range servers {
		inv := p.offers.inventory(b)
		if inv == nil {
			return EveryCapability()
		}
		all.Join(inv.Capabilities)
	}
	return all
}

// WithTasks adds the tasks extension to what is offered, where a server has
// tasks of either era or is not known yet. Clients of the handshake era are not
// told of any: their calls are waited for.
func (p *Publisher) WithTasks(o Capabilities, audience upstream.Audience) Capabilities {
	servers := p.visible(audience)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range servers {
		if inv := p.offers.inventory(b); inv == nil || negotiate.OffersTasks(inv.Capabilities) {
			o.Extend(revision.ExtensionTasks)
			break
		}
	}
	return o
}

const (
	// maxInstructions bounds what one server may say to a model through us, in
	// bytes, maxAllInstructions what all may together: it costs every client.
	maxInstructions    = 4 << 10
	maxAllInstructions = 32 << 10
)

// Instructions returns those of the known servers that a principal may see, in the order
// of the configuration, each under its server's name, after what they do not know of
// themselves: under which names clients see what they offer.
func (p *Publisher) Instructions(audience upstream.Audience) string {
	all := p.visible(audience)
	p.mu.Lock()
	defer p.mu.Unlock()
	var text strings.Builder
	text.WriteString(p.views.View(audience.View).Instructions())
	if !p.o.NoPrefix && len(all) > 0 {
		names := make([]string, len(all))
		for i, b := range all {
			names[i] = b.Name
		}
		if text.Len() > 0 {
			text.WriteString("\n\n")
		}
		fmt.Fprintf(&text, "Several servers behind one: names begin with the server's own and %q. Servers: %s. "+
			"Descriptions and instructions of a server use its own names, without that beginning.", p.o.Separator, strings.Join(names, ", "))
	}
	for _, b := range all {
		inv := p.offers.inventory(b)
		if inv == nil || strings.TrimSpace(inv.Instructions) == "" {
			continue
		}
		most := maxInstructions
		if p.o.Single {
			most = maxAllInstructions
		}
		its := CutCapabilities(inv.Instructions, most)
		if len(all) > 1 || !p.o.NoPrefix {
			its = "# " + b.Name + "\n\n" + its
		}
		if text.Len()+len(its) > maxAllInstructions {
			b.Log.Warn("instructions are too long together")
			continue
		}
		if text.Len() > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(its)
	}
	return text.String()
}
