package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Resolve finds where an exposed tool or prompt leads that a client asks for. For a name
// that is not known yet, the server is connected that its prefix names, and no other is
// waited for; where it has none, all are of which nothing is known. Before the route is
// used, it is to be settled; see Settle.
func (p *Publisher) Resolve(ctx context.Context, audience upstream.Audience, k inventory.Kind, name string) (*Route, error) {
	c := p.Of(audience)
	if r := c.Routes[k][name]; r != nil {
		return r, nil
	}
	asked := name
	if part := c.visibility.part; part != nil && k == inventory.Tools { // which may have renamed it
		asked = cmp.Or(part.view.Exposed(name), name)
	}
	owner := c.names.Owner(asked)
	server := owner
	if server == "" && !p.o.NoPrefix {
		server = c.spelt(c.splits(name), name)
	}
	if b := c.named[server]; b != nil && !b.ConnectedOnce.Load() {
		if err := b.EnsureDiscovered(ctx, audience.Who); err != nil {
			return nil, err
		}
	}
	unowned := owner == "" && (p.o.NoPrefix || !c.names.Separates(name))
	if unowned && server == "" || p.o.NoPrefix {
		p.Discover(ctx, audience, 0)
	}
	if err := deadline.Err(ctx); err != nil {
		return nil, err
	}
	c = p.Of(audience)
	if r := c.Routes[k][name]; r != nil {
		return r, nil
	}
	if b := p.Only(audience); b != nil {
		to := routeTo(b, name, false)
		to.Hooks = p.o.Hooks.Now().Of(b.Name, name, name, nil)
		if r := c.unlisted(to, k); r != nil {
			return r, nil
		}
		return nil, unknown(k, name)
	}
	for _, b := range p.visible(audience) {
		if err := p.Inventory(b).Failure(k); err != nil && (unowned || owner == b.Name) {
			// Not its answer to this request, so not to be passed on as one.
			return nil, b.Fail(fmt.Errorf("%s: %v", k.Listing().Method, err)) //nolint:errorlint // see above
		}
	}
	if r := c.alias(name); r != nil && k == inventory.Tools && unowned && !p.o.NoPrefix {
		return r, nil
	}
	if r := p.otherwiseSpelt(c, k, name); r != nil {
		return r, nil
	}
	return nil, unknown(k, name)
}

// Only returns the server that the proxy stands for, nil where it has servers of its
// own, and where the principal may not see it.
func (p *Publisher) Only(audience upstream.Audience) *upstream.Backend {
	if all := p.set.All(); p.o.Single && len(all) == 1 && p.Of(audience).shows(all[0]) {
		return all[0]
	}
	return nil
}

// ResolveURI finds the backend that a resource URI belongs to; see claim. Where
// what is known is enough, no other server is waited for. Before the route is used, it is
// to be settled; see Settle.
func (p *Publisher) ResolveURI(ctx context.Context, audience upstream.Audience, uri string) (*Route, error) {
	r, err := findURI(ctx, audience, p, uri)
	if err != nil {
		return nil, err
	}
	if r = p.Of(audience).unlisted(r, inventory.Resources); r == nil {
		return nil, noneLists(uri)
	}
	return r, nil
}

func findURI(ctx context.Context, audience upstream.Audience, p *Publisher, uri string) (*Route, error) {
	if r, err := p.claimed(ctx, audience, uri); r != nil || err != nil {
		return r, err
	}
	p.Discover(ctx, audience, 0)
	if err := deadline.Err(ctx); err != nil {
		return nil, err
	}
	if r, err := p.claimed(ctx, audience, uri); r != nil || err != nil {
		return r, err
	}
	c := p.Of(audience)
	for _, claim := range []Claim{c.owners.OfScheme(uri), c.owners.Matching("", uri)} {
		switch {
		case claim.Sole():
			return c.to(claim, uri)
		case !claim.Nobody():
			return nil, c.several("may have", claim, uri)
		}
	}
	if b := p.Only(audience); b != nil {
		return routeTo(b, uri, false), nil
	}
	if len(c.readers) != 1 {
		return nil, noneLists(uri)
	}
	for _, b := range p.visible(audience) {
		if !b.IsListed.Load() {
			err := cmp.Or(b.Pool.Failure(), errors.New("it has not told yet what it has"))
			return nil, b.Fail(fmt.Errorf("may have %s: %v", uri, err)) //nolint:errorlint // no answer to this request
		}
	}
	return routeTo(c.readers[0], uri, false), nil
}

// claimed finds the backend of a URI by the server that it names, the lists, the
// templates and the links that servers have handed out; nil where none of them
// says.
func (p *Publisher) claimed(ctx context.Context, audience upstream.Audience, uri string) (*Route, error) {
	c := p.Of(audience)
	if server, bare, ok := c.owners.Named(uri); ok {
		b := c.named[server]
		if b == nil {
			return nil, notFound(uri, "there is no server "+server)
		}
		if !b.IsListed.Load() {
			b.Discover(ctx, audience.Who, 0, true)
			c = p.Of(audience)
		}
		return c.unwrapped(b, uri, bare), deadline.Err(ctx)
	}
	claim := c.owners.OfURI(uri).And(p.handedOut.Claim(uri).Of(c.knows))
	if claim.Nobody() {
		return nil, nil
	}
	return c.to(claim, uri)
}

// unwrapped returns the route of a URI in wrapped form. A server may list a URI
// that looks so, and where there is one server none is wrapped.
func (c *Catalog) unwrapped(b *upstream.Backend, uri, bare string) *Route {
	r := c.Routes[inventory.Resources][uri]
	wrapped := Wrapped(uri)
	switch {
	case r != nil && r.Backend == b:
		return r
	case c.owners.Exact[uri].Has(b.Name), c.single && !wrapped && !c.owners.Exact[bare].Has(b.Name):
		return routeTo(b, uri, false)
	}
	return routeTo(b, bare, true)
}

// to returns the route of a URI in the form of its server, given who has it.
func (c *Catalog) to(claim Claim, uri string) (*Route, error) {
	if !claim.Sole() {
		return nil, c.several("have", claim, uri)
	}
	b := c.named[claim.Server]
	if b == nil {
		return nil, notFound(uri, "its server "+claim.Server+" is not configured any more")
	}
	if r := c.Routes[inventory.Resources][uri]; r != nil && r.Backend == b {
		return r, nil
	}
	return routeTo(b, uri, false), nil
}

// several refuses a URI that several servers have, or may have, with the forms that each
// lead to one of them.
func (c *Catalog) several(have string, claim Claim, uri string) error {
	var forms []string
	for _, server := range claim.Servers() {
		if c.named[server] != nil {
			forms = append(forms, Wrap(server, uri))
		}
	}
	text := "several servers " + have + " " + uri
	if len(forms) > 0 {
		text += ": ask for one of " + strings.Join(forms, ", ")
	}
	return notFound(uri, text)
}

// routeTo returns the route to what a backend calls by a URI.
func routeTo(b *upstream.Backend, bare string, wrapped bool) *Route {
	return &Route{Backend: b, Bare: bare, Quoted: rawjson.Quote(nil, bare), Wrapped: wrapped}
}

// noneLists refuses a URI that nobody lists.
func noneLists(uri string) error { return notFound(uri, "no server lists "+uri) }

// notFound returns the error for a resource that is not there (2025-11-25,
// Resources, Error Handling).
func notFound(uri, message string) error {
	data := append(rawjson.Quote([]byte(`{"uri":`), uri), '}')
	return &runtime.Error{Code: runtime.CodeResourceNotFound, Message: message, Data: data}
}

// Template finds a resource template by its exposed form, or by the server's own
// where one server has it; nil where there is none.
func (p *Publisher) Template(ctx context.Context, audience upstream.Audience, key string) *Route {
	for again := true; ; again = false {
		c := p.Of(audience)
		if r := c.Routes[inventory.Templates][key]; r != nil {
			return r
		}
		if claim := c.owners.Exact[key]; claim.Sole() && c.named[claim.Server] != nil && !c.held[c.named[claim.Server]].Holds(lockfile.Templates, key) {
			if r := c.unlisted(routeTo(c.named[claim.Server], key, false), inventory.Templates); r != nil {
				return r
			}
		}
		if !again {
			return nil
		}
		p.Discover(ctx, audience, 0)
	}
}

// alias finds a tool of a server with apps by its server's own name for it: apps
// have that name in their pages. One server alone must have, or ever have had, it;
// a tool for apps alone is found only where no other server has apps, since
// nothing says whose app is calling.
func (c *Catalog) alias(name string) *Route {
	r := c.bareTools()[name]
	if r == nil || !c.apps[r.Backend] || inventory.AppOf(r.Definition).Only && len(c.apps) > 1 {
		return nil
	}
	return r
}
