package catalog

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/lazy"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// What clients ask for belongs to one server or to none:
//
//   - A name of a tool or prompt belongs to the server that its prefix names, see
//     namer.owner.
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

// claim is who has something: nobody, one server by its name, or several.
type claim struct {
	server string
	others []string // never edited
}

// with returns the claim of those who have it and one server more.
func (c claim) with(server string) claim {
	switch {
	case c.server == "":
		return claim{server: server}
	case c.has(server):
		return c
	}
	return claim{c.server, append(slices.Clone(c.others), server)}
}

// and returns the claim of those who have it in either.
func (c claim) and(o claim) claim {
	if o.nobody() {
		return c
	}
	c = c.with(o.server)
	for _, server := range o.others {
		c = c.with(server)
	}
	return c
}

// nobody reports whether there is no server.
func (c claim) nobody() bool { return c.server == "" }

// sole reports whether there is one server.
func (c claim) sole() bool { return c.server != "" && c.others == nil }

// is reports whether a server has it alone.
func (c claim) is(server string) bool { return c.sole() && c.server == server }

// has reports whether a server has it, alone or not.
func (c claim) has(server string) bool {
	return c.server == server || slices.Contains(c.others, server)
}

// owners say whose a URI is, by what servers list and have listed. They are
// immutable once they are built. Schemes and authorities are in lower case.
type owners struct {
	servers, folds map[string]bool              // configured now or before; folds in lower case
	exact          map[string]claim             // who lists a URI or a template as it is
	templates      map[string][]*listedTemplate // by scheme, "" where that is a variable
	schemes        map[string]claim             // who lists something of a scheme
	whole          map[string]claim             // whose templates match any authority of a scheme
	authorities    map[string]claim             // who lists something of a scheme, "://" and an authority
}

// listedTemplate is a URI template and who lists it.
type listedTemplate struct {
	text    string
	by      claim
	matches func(uri string) bool
}

func newOwners() *owners {
	return &owners{
		servers: map[string]bool{}, folds: map[string]bool{}, exact: map[string]claim{}, templates: map[string][]*listedTemplate{},
		schemes: map[string]claim{}, whole: map[string]claim{}, authorities: map[string]claim{},
	}
}

// addServer notes a server that is configured, or was.
func (o *owners) addServer(name string) {
	o.servers[name], o.folds[strings.ToLower(name)] = true, true
}

// addURI notes that a server lists a URI.
func (o *owners) addURI(server, uri string) {
	o.exact[uri] = o.exact[uri].with(server)
	scheme, ok := schemeOf(uri)
	if !ok {
		return
	}
	o.schemes[scheme] = o.schemes[scheme].with(server)
	authority := authorityOf(uri, scheme)
	if strings.ContainsRune(authority, '{') {
		o.whole[scheme] = o.whole[scheme].with(server)
		return
	}
	key := scheme + "://" + strings.ToLower(authority)
	o.authorities[key] = o.authorities[key].with(server)
}

// add notes that a server lists a resource or a template.
func (o *owners) add(server string, k inventory.Kind, key string) {
	if k == inventory.Templates {
		o.addTemplate(server, key)
		return
	}
	o.addURI(server, key)
}

// addTemplate notes that a server lists a URI template.
func (o *owners) addTemplate(server, text string) {
	listed := !o.exact[text].nobody()
	o.addURI(server, text)
	scheme, _ := schemeOf(text)
	if listed {
		for _, t := range o.templates[scheme] {
			if t.text == text {
				t.by = t.by.with(server)
				return
			}
		}
	}
	o.templates[scheme] = append(o.templates[scheme], &listedTemplate{text, claim{server: server}, matcher(text)})
}

// ofURI returns who lists a URI or has a template for it.
func (o *owners) ofURI(uri string) claim {
	c := o.exact[uri]
	scheme, ok := schemeOf(uri)
	if !ok {
		return c
	}
	return c.and(matching(o.templates[scheme], uri))
}

// contested reports whether another server lists a URI than the one named, or
// has a template for it.
func (o *owners) contested(uri, server string) bool {
	if c := o.exact[uri]; !c.nobody() && !c.is(server) {
		return true
	}
	scheme, ok := schemeOf(uri)
	if !ok {
		return false
	}
	return slices.ContainsFunc(o.templates[scheme], func(t *listedTemplate) bool { return !t.by.is(server) && t.matches(uri) })
}

// matching returns whose templates a URI matches.
func matching(templates []*listedTemplate, uri string) (c claim) {
	for _, t := range templates {
		if t.matches(uri) {
			c = c.and(t.by)
		}
	}
	return c
}

// ofScheme returns who has a URI's scheme and authority or, where nobody lists
// that authority, its scheme.
func (o *owners) ofScheme(uri string) claim {
	scheme, ok := schemeOf(uri)
	if !ok {
		return claim{}
	}
	found := o.authorities[scheme+"://"+strings.ToLower(authorityOf(uri, scheme))].and(o.whole[scheme])
	if found.nobody() {
		return o.schemes[scheme]
	}
	return found
}

// named returns the server that a URI in wrapped form names, configured now or
// before, and what that server calls it.
func (o *owners) named(uri string) (server, bare string, ok bool) {
	server, bare, ok = UnwrapURI(uri)
	return server, bare, ok && o.folds[strings.ToLower(server)]
}

// looksWrapped reports whether a server's own URI could be taken for the wrapped
// form of one.
func (o *owners) looksWrapped(uri string) bool {
	if _, wrapped := cutFold(uri, wrapPrefix); wrapped {
		return true
	}
	_, _, ok := o.named(uri)
	return ok
}

var expression = lazy.Regexp(`\\\{([+#./;?&]?)[^{}]*\\\}`)

// matcher returns a function that reports whether a URI can be an expansion of a
// template (RFC 6570): {+x} and {#x} match anything, other expressions what has no
// slash, but those that begin with one.
func matcher(template string) func(uri string) bool {
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
