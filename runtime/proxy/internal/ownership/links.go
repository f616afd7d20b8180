package ownership

import "sync"

const (
	// maxHandedOut bounds how many links of one server are remembered; the oldest
	// make room. One longer than maxHandedOutURI bytes is not remembered.
	maxHandedOut    = 4096
	maxHandedOutURI = 8 << 10
)

// Links remembers which server has handed out a URI, in a result, that
// clients see as it is and that is in no list. A link leads to whatever is
// configured under the server's name, and nowhere when nothing is. A server makes
// room among its own links only. The zero value is ready.
type Links struct {
	mu       sync.Mutex // guards what follows
	of       map[string]Claim
	byServer map[string]*linksOf
}

// linksOf is a server's links, the oldest at next once they are as many as
// they may be.
type linksOf struct {
	uris []string
	next int
}

// Add notes that a server has handed out a link. A link of two servers is
// nobody's.
func (h *Links) Add(uri, server string) {
	if len(uri) > maxHandedOutURI {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, there := h.of[uri]; there {
		h.of[uri] = was.With(server)
		return
	}
	if h.of == nil {
		h.of, h.byServer = map[string]Claim{}, map[string]*linksOf{}
	}
	o := h.byServer[server]
	if o == nil {
		o = new(linksOf)
		h.byServer[server] = o
	}
	if len(o.uris) < maxHandedOut {
		o.uris = append(o.uris, uri)
	} else {
		delete(h.of, o.uris[o.next])
		o.uris[o.next] = uri
		o.next = (o.next + 1) % maxHandedOut
	}
	h.of[uri] = Claim{Server: server}
}

// Claim returns who has handed out a link.
func (h *Links) Claim(uri string) Claim {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of[uri]
}

// Forget drops the links of a server.
func (h *Links) Forget(server string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.byServer[server]; o != nil {
		for _, uri := range o.uris {
			delete(h.of, uri)
		}
		delete(h.byServer, server)
	}
}
