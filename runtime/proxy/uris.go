package proxy

import (
	"net/url"
	"strings"
	"sync"
)

// Clients see a server's URI as it is where one server alone has its scheme and
// authority, and wrapped otherwise: mcpctl+SCHEME://SERVER/REST, where REST is
// what stands behind the scheme's colon, every byte of it. ui:// keeps its
// scheme, which hosts insist on: ui://SERVER/REST. https and http stay as they
// are: they promise that a client can fetch them itself.
const wrapPrefix = "mcpctl+"

// wrapURI gives the form of a server's URI or template that names the server.
func wrapURI(server, uri string) string {
	server = url.PathEscape(server)
	if rest, ok := strings.CutPrefix(uri, "ui://"); ok {
		return "ui://" + server + "/" + rest
	}
	scheme, ok := schemeOf(uri)
	if !ok {
		return wrapPrefix + "://" + server + "/" + uri
	}
	return wrapPrefix + scheme + "://" + server + "/" + uri[len(scheme)+1:]
}

// unwrapURI takes a wrapped URI apart; false for any other. A ui URI may look
// wrapped and be none: only the server's name tells.
func unwrapURI(uri string) (server, bare string, ok bool) {
	scheme, rest, ok := strings.Cut(uri, "://")
	server, rest, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 {
		return "", "", false
	}
	server, err := url.PathUnescape(server)
	inner, wrapped := strings.CutPrefix(scheme, wrapPrefix)
	switch {
	case err != nil:
		return "", "", false
	case scheme == "ui":
		return server, "ui://" + rest, true
	case !wrapped:
		return "", "", false
	case inner == "":
		return server, rest, true
	}
	return server, inner + ":" + rest, true
}

// schemeOf gives the scheme of a URI as it is written (RFC 3986, 3.1).
func schemeOf(uri string) (string, bool) {
	for i := range len(uri) {
		switch c := uri[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return uri[:i], true
		default:
			return "", false
		}
	}
	return "", false
}

// authorityOf gives what stands between // and the path, "" for none.
func authorityOf(uri string, scheme string) string {
	rest, ok := strings.CutPrefix(uri[len(scheme)+1:], "//")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// claim is who has a scheme, or an authority of it: one server, or several.
type claim struct {
	b       *backend
	several bool
}

func (c claim) with(b *backend) claim {
	if c.b == nil {
		return claim{b: b}
	}
	return claim{c.b, c.several || c.b != b}
}

// claims tell whose a URI is, by what the servers list.
type claims struct {
	schemes     map[string]claim // every server that lists a URI of the scheme
	whole       map[string]claim // those whose templates stand for any authority of it
	authorities map[string]claim // by scheme, "://" and authority
}

func newClaims() claims {
	return claims{map[string]claim{}, map[string]claim{}, map[string]claim{}}
}

// add notes that a server lists a URI or template.
func (c claims) add(b *backend, uri string) {
	scheme, ok := schemeOf(uri)
	if !ok {
		return
	}
	name := strings.ToLower(scheme)
	c.schemes[name] = c.schemes[name].with(b)
	authority := authorityOf(uri, scheme)
	if strings.ContainsRune(authority, '{') {
		c.whole[name] = c.whole[name].with(b)
		return
	}
	key := name + "://" + strings.ToLower(authority)
	c.authorities[key] = c.authorities[key].with(b)
}

// owner gives the only server that has a URI's scheme and authority, or, where
// nobody lists that authority, its scheme; nil for none.
func (c claims) owner(uri string) *backend {
	scheme, ok := schemeOf(uri)
	if !ok {
		return nil
	}
	name := strings.ToLower(scheme)
	found := c.authorities[name+"://"+strings.ToLower(authorityOf(uri, scheme))]
	if w := c.whole[name]; w.b != nil {
		found = claim{w.b, w.several || found.several || found.b != nil && found.b != w.b}
	}
	if found.b == nil {
		found = c.schemes[name]
	}
	if found.several {
		return nil
	}
	return found.b
}

// exposeURI gives what clients call a server's URI or template.
func (s *snapshot) exposeURI(b *backend, uri string) string {
	if s.plain {
		return uri
	}
	scheme, _ := schemeOf(uri)
	switch strings.ToLower(scheme) {
	case "data":
		return uri
	case "https", "http":
		if !s.twice[uri] {
			return uri
		}
	default:
		if !b.set().WrapURIs && !s.looksWrapped(uri) && s.owns(b, uri) {
			return uri
		}
	}
	return wrapURI(b.name, uri)
}

// owns tells whether a URI is a server's alone, also where another backend of its
// name has come in its place while a call was under way.
func (s *snapshot) owns(b *backend, uri string) bool {
	owner := s.claims.owner(uri)
	return owner != nil && owner.name == b.name
}

// looksWrapped tells whether a server's own URI could be taken for the wrapped
// form of another's.
func (s *snapshot) looksWrapped(uri string) bool {
	if strings.HasPrefix(uri, wrapPrefix) {
		return true
	}
	server, _, ok := unwrapURI(uri)
	return ok && s.named[server] != nil
}

// maxNotes bounds how many links are remembered; the oldest make room. One that
// is longer than maxNoted bytes is not remembered.
const (
	maxNotes = 4096
	maxNoted = 8 << 10
)

// notes remember which server has handed out a link that is exposed as it is
// and in no list. The zero value is ready.
type notes struct {
	mu    sync.Mutex // guards what follows
	of    map[string]*backend
	order []string // the oldest at next once it is full
	next  int
}

func (n *notes) add(uri string, b *backend) {
	if len(uri) > maxNoted {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]*backend{}
	}
	if _, there := n.of[uri]; there {
		n.of[uri] = b
		return
	}
	if len(n.order) < maxNotes {
		n.order = append(n.order, uri)
	} else {
		delete(n.of, n.order[n.next])
		n.order[n.next] = uri
		n.next = (n.next + 1) % maxNotes
	}
	n.of[uri] = b
}

func (n *notes) get(uri string) *backend {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.of[uri]
}
