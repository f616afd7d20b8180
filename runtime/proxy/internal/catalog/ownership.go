package catalog

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// What clients ask for belongs to one server or to none:
//
//   - A name of a tool or prompt belongs to the server that its prefix names, see
//     Names.Owner.
//   - A URI in wrapped form belongs to the server that it names.
//   - Any other URI belongs to the server that has listed it, has a template for
//     it, or has handed it out in a result; to nobody where several have.
//   - Any URI left goes by its scheme and authority.
//   - A task belongs to the server that its id names.
//   - Progress, questions and news of resources belong to the connection over
//     which they come; each has its own tokens and subscriptions.
//
// What has belonged to a server belongs to it for as long as the proxy lives, also
// when the server does not list it any more, cannot be reached or was removed:
// requests for it are refused then. What another server lists changes that only
// in one way: what several claim is nobody's.

// Claim is who has something: nobody, one server by its name, or several.
type Claim struct {
	Server string
	others []string // never edited
}

// With returns the claim of those who have it and one server more.
func (c Claim) With(server string) Claim {
	switch {
	case c.Server == "":
		return Claim{Server: server}
	case c.Has(server):
		return c
	}
	return Claim{c.Server, append(slices.Clone(c.others), server)}
}

// And returns the claim of those who have it in either.
func (c Claim) And(o Claim) Claim {
	if o.Nobody() {
		return c
	}
	c = c.With(o.Server)
	for _, server := range o.others {
		c = c.With(server)
	}
	return c
}

// Of returns the claim of those servers alone that are known.
func (c Claim) Of(known func(server string) bool) (out Claim) {
	if c.Server != "" && known(c.Server) {
		out = out.With(c.Server)
	}
	for _, server := range c.others {
		if known(server) {
			out = out.With(server)
		}
	}
	return out
}

// Nobody reports whether there is no server.
func (c Claim) Nobody() bool { return c.Server == "" }

// Sole reports whether there is one server.
func (c Claim) Sole() bool { return c.Server != "" && c.others == nil }

// Is reports whether a server has it alone.
func (c Claim) Is(server string) bool { return c.Sole() && c.Server == server }

// Servers returns all who have it, sorted.
func (c Claim) Servers() []string {
	if c.Nobody() {
		return nil
	}
	return slices.Sorted(slices.Values(append([]string{c.Server}, c.others...)))
}

// Has reports whether a server has it, alone or not.
func (c Claim) Has(server string) bool {
	return c.Server == server || slices.Contains(c.others, server)
}

// Owners say whose a URI is, by what servers list and have listed. They are
// immutable once they are built. Schemes and authorities are in lower case.
type Owners struct {
	servers, folds map[string]bool              // configured now or before; folds in lower case
	Exact          map[string]Claim             // who lists a URI or a template as it is
	templates      map[string][]*listedTemplate // by scheme, "" where that is a variable
	schemes        map[string]Claim             // who lists something of a scheme
	whole          map[string]Claim             // whose templates match any authority of a scheme
	authorities    map[string]Claim             // who lists something of a scheme, "://" and an authority
}

// listedTemplate is a URI template and who lists it.
type listedTemplate struct {
	text    string
	claim   Claim
	matches func(uri string) bool
}

// NewOwners returns owners of nothing.
func NewOwners() *Owners {
	return &Owners{
		servers: map[string]bool{}, folds: map[string]bool{}, Exact: map[string]Claim{}, templates: map[string][]*listedTemplate{},
		schemes: map[string]Claim{}, whole: map[string]Claim{}, authorities: map[string]Claim{},
	}
}

// AddServer notes a server that is configured, or was.
func (o *Owners) AddServer(name string) {
	o.servers[name], o.folds[strings.ToLower(name)] = true, true
}

// AddURI notes that a server lists a URI.
func (o *Owners) AddURI(server, uri string) {
	o.Exact[uri] = o.Exact[uri].With(server)
	scheme, ok := SchemeOf(uri)
	if !ok {
		return
	}
	o.schemes[scheme] = o.schemes[scheme].With(server)
	authority := authorityOf(uri, scheme)
	if strings.ContainsRune(authority, '{') {
		o.whole[scheme] = o.whole[scheme].With(server)
		return
	}
	key := scheme + "://" + strings.ToLower(authority)
	o.authorities[key] = o.authorities[key].With(server)
}

// Add notes that a server lists a resource or a template.
func (o *Owners) Add(server string, k inventory.Kind, key string) {
	if k == inventory.Templates {
		o.addTemplate(server, key)
		return
	}
	o.AddURI(server, key)
}

// addTemplate notes that a server lists a URI template.
func (o *Owners) addTemplate(server, text string) {
	listed := !o.Exact[text].Nobody()
	o.AddURI(server, text)
	scheme, _ := SchemeOf(text)
	if listed {
		for _, t := range o.templates[scheme] {
			if t.text == text {
				t.claim = t.claim.With(server)
				return
			}
		}
	}
	o.templates[scheme] = append(o.templates[scheme], &listedTemplate{text, Claim{Server: server}, Matcher(text)})
}

// OfURI returns who lists a URI or has a template for it.
func (o *Owners) OfURI(uri string) Claim {
	c := o.Exact[uri]
	scheme, ok := SchemeOf(uri)
	if !ok {
		return c
	}
	return c.And(matching(o.templates[scheme], uri))
}

// Contested reports whether another server lists a URI than the one named, or
// has a template for it.
func (o *Owners) Contested(uri, server string) bool {
	if c := o.Exact[uri]; !c.Nobody() && !c.Is(server) {
		return true
	}
	scheme, ok := SchemeOf(uri)
	if !ok {
		return false
	}
	return slices.ContainsFunc(o.templates[scheme], func(t *listedTemplate) bool { return !t.claim.Is(server) && t.matches(uri) })
}

// matching returns whose templates a URI matches.
func matching(templates []*listedTemplate, uri string) (c Claim) {
	for _, t := range templates {
		if t.matches(uri) {
			c = c.And(t.claim)
		}
	}
	return c
}

// Matching returns whose templates that begin with a scheme, "" for a variable, a URI
// matches.
func (o *Owners) Matching(scheme, uri string) Claim { return matching(o.templates[scheme], uri) }

// OfScheme returns who has a URI's scheme and authority or, where nobody lists
// that authority, its scheme.
func (o *Owners) OfScheme(uri string) Claim {
	scheme, ok := SchemeOf(uri)
	if !ok {
		return Claim{}
	}
	found := o.authorities[scheme+"://"+strings.ToLower(authorityOf(uri, scheme))].And(o.whole[scheme])
	if found.Nobody() {
		return o.schemes[scheme]
	}
	return found
}

// Named returns the server that a URI in wrapped form names, configured now or
// before, and what that server calls it.
func (o *Owners) Named(uri string) (server, bare string, ok bool) {
	server, bare, ok = Unwrap(uri)
	return server, bare, ok && o.folds[strings.ToLower(server)]
}

// LooksWrapped reports whether a server's own URI could be taken for the wrapped
// form of one.
func (o *Owners) LooksWrapped(uri string) bool {
	if Wrapped(uri) {
		return true
	}
	_, _, ok := o.Named(uri)
	return ok
}

var expression = lazy.Regexp(`\\\{([+#./;?&]?)[^{}]*\\\}`)

// Matcher returns a function that reports whether a URI can be an expansion of a
// template (RFC 6570): {+x} and {#x} match anything, other expressions what has no
// slash, but those that begin with one.
func Matcher(template string) func(uri string) bool {
	literal, _, _ := strings.Cut(template, "{")
	compiled := sync.OnceValue(func() *regexp.Regexp {
		pattern := expression().ReplaceAllStringFunc(regexp.QuoteMeta(template), func(e string) string {
			switch e[2] {
			case '+', '\\', '/', ';', '?', '&', '#':
				return ".*"
			}
			return "[^/]*"
		})
		re, err := regexp.Compile("^(?s:" + pattern + ")$")
		if err != nil {
			return nil // too large: it stands for nothing
		}
		return re
	})
	return func(uri string) bool {
		if !strings.HasPrefix(uri, literal) {
			return false // which spares most templates the work below
		}
		re := compiled()
		return re != nil && re.MatchString(uri)
	}
}
