package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Capabilities is a server's capabilities object as the proxy declares it.
type Capabilities struct {
	Tools       *listCapability            `json:"tools,omitempty"`
	Prompts     *listCapability            `json:"prompts,omitempty"`
	Resources   *listCapability            `json:"resources,omitempty"`
	Completions *struct{}                  `json:"completions,omitempty"`
	Logging     *struct{}                  `json:"logging,omitempty"`
	Extensions  map[string]json.RawMessage `json:"extensions,omitempty"`
}

// listCapability is a capability whose lists may change: those of a proxy always may.
type listCapability struct {
	Subscribe   bool `json:"subscribe,omitempty"`
	ListChanged bool `json:"listChanged"`
}

// EveryCapability returns all that a proxy can offer, for clients that are told once,
// when not all backends may be known. Lists may be empty.
func EveryCapability() Capabilities {
	return Capabilities{
		Tools: &listCapability{ListChanged: true}, Prompts: &listCapability{ListChanged: true},
		Resources: &listCapability{Subscribe: true, ListChanged: true}, Completions: &struct{}{}, Logging: &struct{}{},
		Extensions: map[string]json.RawMessage{revision.ExtensionUI: json.RawMessage(`{}`)},
	}
}

// Capabilities returns what the backends offer together, or all that there may be as
// long as one of them is not known, of those that a principal may see. It waits for
// nothing.
func (p *Publisher) Capabilities(who upstream.Audience) Capabilities {
	servers := visible(p, who)
	p.mu.Lock()
	defer p.mu.Unlock()
	var all Capabilities
	for _, b := range servers {
		has := p.offers.inventory(b)
		if has == nil {
			return EveryCapability()
		}
		all.join(has.Capabilities)
	}
	return all
}

// join adds what a server declares. Extensions are those that are carried
// whatever server has them.
func (o *Capabilities) join(raw json.RawMessage) {
	var has Capabilities
	if json.Unmarshal(raw, &has) != nil {
		return
	}
	lists := func(all **listCapability, its *listCapability) {
		if its == nil {
			return
		}
		if *all == nil {
			*all = &listCapability{ListChanged: true}
		}
		(*all).Subscribe = (*all).Subscribe || its.Subscribe
	}
	lists(&o.Tools, has.Tools)
	lists(&o.Prompts, has.Prompts)
	lists(&o.Resources, has.Resources)
	if has.Completions != nil {
		o.Completions = has.Completions
	}
	if has.Logging != nil {
		o.Logging = has.Logging
	}
	if has.Extensions[revision.ExtensionUI] != nil {
		o.extend(revision.ExtensionUI)
	}
}

func (o *Capabilities) extend(extension string) {
	if o.Extensions = maps.Clone(o.Extensions); o.Extensions == nil {
		o.Extensions = map[string]json.RawMessage{}
	}
	o.Extensions[extension] = json.RawMessage(`{}`)
}

// WithTasks adds the tasks extension to what is offered, where a server has
// tasks of either era or is not known yet. Clients of the handshake era are not
// told of any: their calls are waited for.
func (o Capabilities) WithTasks(p *Publisher, who upstream.Audience) Capabilities {
	servers := visible(p, who)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range servers {
		if has := p.offers.inventory(b); has == nil || bridge.OffersTasks(has.Capabilities) {
			o.extend(revision.ExtensionTasks)
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
func (p *Publisher) Instructions(who upstream.Audience) string {
	all := visible(p, who)
	p.mu.Lock()
	defer p.mu.Unlock()
	var text strings.Builder
	if !p.o.NoPrefix && len(all) > 0 {
		names := make([]string, len(all))
		for i, b := range all {
			names[i] = b.Name
		}
		fmt.Fprintf(&text, "Several servers behind one: names begin with the server's own and %q. Servers: %s. "+
			"Descriptions and instructions of a server use its own names, without that beginning.", p.o.Separator, strings.Join(names, ", "))
	}
	for _, b := range all {
		has := p.offers.inventory(b)
		if has == nil || strings.TrimSpace(has.Instructions) == "" {
			continue
		}
		most := maxInstructions
		if p.o.Single {
			most = maxAllInstructions
		}
		its := cut(has.Instructions, most)
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

// cut shortens a text to a number of bytes, at a whole character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = " […]"
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
