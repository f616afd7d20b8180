package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// Resolve finds where an exposed tool or prompt leads. For a name that is not
// known yet, the server is connected that its beginning names, and no other is
// waited for; where its beginning names none, all are of which nothing is known.
func (p *Publisher) Resolve(ctx context.Context, k inventory.Kind, name string) (*Route, error) {
	s := p.Current.Load()
	if r := s.Routes[k][name]; r != nil {
		return r, nil
	}
	owner := s.names.owner(name)
	if b := s.named[owner]; b != nil && !b.ConnectedOnce.Load() {
		if _, err := b.Primary.Acquire(ctx); err != nil {
			return nil, &upstream.Error{Server: owner, Err: err}
		}
	}
	anybodys := owner == "" && (p.o.NoPrefix || !s.names.separates(name))
	if anybodys || p.o.NoPrefix {
		p.Discover(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s = p.Current.Load()
	if r := s.Routes[k][name]; r != nil {
		return r, nil
	}
	for _, b := range p.set.All() {
		if err := p.Unlisted(b, k); err != nil && (anybodys || owner == b.Name) {
			// Not its answer to this request, so not to be passed on as one.
			return nil, &upstream.Error{Server: b.Name, Err: fmt.Errorf("%s: %v", k.Listing().Method, err)} //nolint:errorlint // see above
		}
	}
	if r := s.alias(name); r != nil && k == inventory.Tools && anybodys && !p.o.NoPrefix {
		return r, nil
	}
	return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: fmt.Sprintf("unknown %s: %s", strings.TrimSuffix(k.Listing().Member, "s"), name)}
}

// ResolveURI finds the backend that a resource URI belongs to; see ownership.go.
// Where what is known tells, no other server is waited for.
func (p *Publisher) ResolveURI(ctx context.Context, uri string) (*Route, error) {
	if r, err := p.claimed(ctx, uri); r != nil || err != nil {
		return r, err
	}
	p.Discover(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r, err := p.claimed(ctx, uri); r != nil || err != nil {
		return r, err
	}
	s := p.Current.Load()
	for _, c := range []claim{s.owners.ofScheme(uri), s.owners.ofAnyScheme(uri)} {
		if !c.nobody() {
			return s.to(c, uri)
		}
	}
	if len(s.readers) != 1 {
		return nil, notFound(uri, "no server lists "+uri)
	}
	for _, b := range p.set.All() {
		if b.IsListed.Load() {
			continue
		}
		err := cmp.Or(b.Failure(), errors.New("it has not told yet what it has"))
		return nil, &upstream.Error{Server: b.Name, Err: fmt.Errorf("may have %s: %v", uri, err)} //nolint:errorlint // no answer to this request
	}
	return routeTo(s.readers[0], uri, false), nil
}

// claimed finds the backend of a URI by the server that it names, by the lists,
// by the templates and by the links that servers have handed out; nil where none
// of them tells.
func (p *Publisher) claimed(ctx context.Context, uri string) (*Route, error) {
	s := p.Current.Load()
	if server, bare, ok := s.owners.named(uri); ok {
		b := s.named[server]
		if b == nil {
			return nil, notFound(uri, "there is no server "+server)
		}
		if !b.IsListed.Load() {
			b.Meet(ctx)
			s = p.Current.Load()
		}
		return s.unwrapped(b, uri, bare), ctx.Err()
	}
	c := s.owners.ofURI(uri).and(p.HandedOut.claim(uri))
	if c.nobody() {
		return nil, nil
	}
	return s.to(c, uri)
}

// unwrapped returns the way to what a URI in wrapped form names. A server may
// list a URI that looks so, and where there is one server none is wrapped.
func (s *Catalog) unwrapped(b *upstream.Backend, uri, bare string) *Route {
	r := s.Routes[inventory.Resources][uri]
	_, wrapped := cutFold(uri, wrapPrefix)
	switch {
	case r != nil && r.Backend == b:
		return r
	case s.owners.exact[uri].has(b.Name), s.single && !wrapped && !s.owners.exact[bare].has(b.Name):
		return routeTo(b, uri, false)
	}
	return routeTo(b, bare, true)
}

// to returns the way to a URI in the form of its server, given who has it.
func (s *Catalog) to(c claim, uri string) (*Route, error) {
	if !c.sole() {
		return nil, notFound(uri, "several servers have "+uri+s.alternatives(uri))
	}
	b := s.named[c.server]
	if b == nil {
		return nil, notFound(uri, "its server "+c.server+" is not configured any more")
	}
	if r := s.Routes[inventory.Resources][uri]; r != nil && r.Backend == b {
		return r, nil
	}
	return routeTo(b, uri, false), nil
}

// alternatives names the forms of a URI that each lead to one of the servers
// that list it, "" for none.
func (s *Catalog) alternatives(uri string) string {
	var forms []string
	for _, k := range []inventory.Kind{inventory.Resources, inventory.Templates} {
		for _, sh := range s.sections[k] {
			for i := range sh.routes {
				if r := &sh.routes[i]; r.Bare == uri && r.Wrapped {
					forms = append(forms, sh.entries[i].exposed)
				}
			}
		}
	}
	if forms == nil {
		return ""
	}
	return ": ask for one of " + strings.Join(forms, ", ")
}

// routeTo returns the way to what a backend calls by a URI.
func routeTo(b *upstream.Backend, bare string, wrapped bool) *Route {
	return &Route{Backend: b, Bare: bare, Quoted: rawjson.Quote(nil, bare), Wrapped: wrapped}
}

// notFound says that a resource is not there (2025-11-25, Resources, Error
// Handling).
func notFound(uri, message string) error {
	data := append(rawjson.Quote([]byte(`{"uri":`), uri), '}')
	return &runtime.Error{Code: runtime.CodeResourceNotFound, Message: message, Data: data}
}

// Template finds a resource template by its exposed form, or by the server's own
// where that is enough to tell whose it is.
func (p *Publisher) Template(ctx context.Context, key string) *Route {
	for again := true; ; again = false {
		s := p.Current.Load()
		if r := s.Routes[inventory.Templates][key]; r != nil {
			return r
		}
		if c := s.owners.exact[key]; c.sole() && s.named[c.server] != nil {
			return routeTo(s.named[c.server], key, false)
		}
		if !again {
			return nil
		}
		p.Discover(ctx)
	}
}
