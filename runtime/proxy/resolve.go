package proxy

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// listed serves a list method, once every backend has been asked.
func (p *Proxy) listed(ctx context.Context, k kind, r request) ([]byte, error) {
	p.discover(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.seen[k].Store(true)
	s := p.snap.Load()
	first, err := p.begins(s, k, r.params())
	if err != nil {
		return nil, err
	}
	if first == 0 {
		p.revalidate(k)
		p.refresh()
	}
	return p.page(s, k, r.from.modern(), first), nil
}

// revalidate sees to it that lists are asked for again whose time is over and
// whose server would not say that they have changed. The answer under way does
// not wait for that; clients are told if there is anything new.
func (p *Proxy) revalidate(k kind) {
	now := time.Now()
	p.mu.Lock()
	var stale []*backend
	for _, b := range p.all() {
		if c := b.catalog; c != nil && c.modern && c.silent[k] && now.After(c.fresh[k].until) {
			stale = append(stale, b)
		}
	}
	p.mu.Unlock()
	for _, b := range stale {
		b.changed(changeKinds{})
	}
}

// resolve finds where an exposed tool or prompt leads. For a name that is not
// known yet, the backends are connected that it can be of by its beginning, and
// no other is waited for; where its beginning does not tell, all are of which
// nothing is known.
func (p *Proxy) resolve(ctx context.Context, k kind, name string) (*route, error) {
	if r := p.snap.Load().routes[k][name]; r != nil {
		return r, nil
	}
	told, names := false, p.snap.Load().names
	var failure error
	for _, b := range p.all() {
		// The beginning only tells whom to ask; the table decides.
		if !names.may(b.name, name) {
			continue
		}
		told = true
		if b.met.Load() {
			continue
		}
		if _, err := b.primary.acquire(ctx); err != nil {
			failure = cmp.Or[error](failure, &backendError{server: b.name, err: err})
		}
		if r := p.snap.Load().routes[k][name]; r != nil {
			return r, nil
		}
	}
	if failure != nil {
		return nil, failure
	}
	if !told || p.o.NoPrefix {
		p.discover(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r := p.snap.Load().routes[k][name]; r != nil {
		return r, nil
	}
	if r := p.snap.Load().original(name); k == tools && r != nil {
		return r, nil
	}
	for _, b := range p.all() {
		if err := p.unlisted(b, k); err != nil && names.may(b.name, name) {
			// Not its answer to this request, so not to be passed on as one.
			return nil, &backendError{server: b.name, err: fmt.Errorf("%s: %v", k.listing().method, err)} //nolint:errorlint // see above
		}
	}
	return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: fmt.Sprintf("unknown %s: %s", strings.TrimSuffix(k.listing().member, "s"), name)}
}

// resolveURI finds the backend that a resource URI belongs to: by the lists, by
// its wrapped form, by the link that it was, by a template, by its scheme and
// authority, by being the only one that could have it.
func (p *Proxy) resolveURI(ctx context.Context, uri string) (*route, error) {
	s := p.snap.Load()
	if r := s.routes[resources][uri]; r != nil {
		return r, nil
	}
	if server, bare, ok := unwrapURI(uri); ok && s.named[server] != nil && strings.HasPrefix(uri, wrapPrefix) && s.bare[uri] == nil {
		return lead(s.named[server], bare, true), nil // whatever the others offer
	}
	server, bare, wrapped := unwrapURI(uri)
	if wrapped = wrapped && s.named[server] != nil; !wrapped {
		// Where what is known tells, no other server is waited for.
		if r, err := p.located(s, uri); r != nil || err != nil {
			return r, err
		}
	}
	p.discover(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s = p.snap.Load()
	if r := s.routes[resources][uri]; r != nil {
		return r, nil
	}
	if wrapped && s.bare[uri] == nil && s.named[server] != nil && (!s.plain || !strings.HasPrefix(uri, "ui:") || s.routes[resources][bare] != nil) {
		return lead(s.named[server], bare, true), nil
	}
	if r, err := p.located(s, uri); r != nil || err != nil {
		return r, err
	}
	if b := s.claims.owner(uri); b != nil {
		return lead(b, uri, false), nil
	}
	if len(s.readers) == 1 {
		return lead(s.readers[0], uri, false), nil
	}
	return nil, notFound(uri, "no server lists "+uri)
}

// located finds the backend of a URI by the lists, the links that servers have
// given and their templates; nil where none of them tells.
func (p *Proxy) located(s *snapshot, uri string) (*route, error) {
	if r, err := s.byBareURI(uri); r != nil || err != nil {
		return r, err
	}
	if b := p.notes.get(uri); b != nil {
		return lead(b, uri, false), nil
	}
	if b, err := s.byTemplate(uri); b != nil || err != nil {
		return lead(b, uri, false), err
	}
	return nil, nil
}

// lead gives the way to what a backend calls by a URI.
func lead(b *backend, bare string, wrapped bool) *route {
	return &route{b: b, bare: bare, quoted: rawjson.Quote(nil, bare), wrapped: wrapped}
}

// byBareURI finds a listed URI in the form of its server, which stands in text
// and in structured content, where it cannot be replaced.
func (s *snapshot) byBareURI(uri string) (*route, error) {
	forms := s.bare[uri]
	switch len(forms) {
	case 0:
		return nil, nil
	case 1:
		return lead(forms[0].to.b, uri, false), nil
	}
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.exposed
	}
	return nil, notFound(uri, "several servers have "+uri+": ask for one of "+strings.Join(names, ", "))
}

// byTemplate finds the one backend with a template that a URI in the server's
// own form can be an expansion of.
func (s *snapshot) byTemplate(uri string) (*backend, error) {
	var found *backend
	for _, r := range s.routes[templates] {
		switch {
		case r.b == found || !matches(r.bare, uri):
		case found != nil && s.claims.owner(uri) == nil:
			return nil, notFound(uri, "templates of several servers match "+uri)
		case found == nil || s.claims.owner(uri) == r.b:
			found = r.b
		}
	}
	return found, nil
}

// notFound says that a resource is not there (2025-11-25, Resources, Error
// Handling).
func notFound(uri, message string) error {
	data := append(rawjson.Quote([]byte(`{"uri":`), uri), '}')
	return &runtime.Error{Code: runtime.CodeResourceNotFound, Message: message, Data: data}
}

var expression = regexp.MustCompile(`\\\{([+#./;?&]?)[^{}]*\\\}`)

// matches tells whether a URI can be an expansion of a template (RFC 6570):
// {+x} and {#x} stand for anything, the other expressions for what has no
// slash but those that begin with one.
func matches(template, uri string) bool {
	if literal, _, _ := strings.Cut(template, "{"); !strings.HasPrefix(uri, literal) {
		return false // which spares most templates the work below
	}
	pattern := expression.ReplaceAllStringFunc(regexp.QuoteMeta(template), func(e string) string {
		switch e[2] {
		case '+', '\\', '/', ';', '?', '&', '#':
			return ".*"
		}
		return "[^/]*"
	})
	re, err := regexp.Compile("^" + pattern + "$")
	return err == nil && re.MatchString(uri)
}

// backendError is a failure of a backend or of the way to it, as opposed to an
// answer of it.
type backendError struct {
	server string
	err    error
}

// Error names the server, once: why it could not be connected often does already.
func (e *backendError) Error() string {
	why := e.err.Error()
	if strings.HasPrefix(why, e.server+": ") {
		return why
	}
	return e.server + ": " + why
}

func (e *backendError) Unwrap() error { return e.err }
