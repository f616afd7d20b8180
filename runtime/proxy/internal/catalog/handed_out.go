package catalog

import (
	"sync"
)

// maxHandedOut bounds how many links of one server are remembered; the oldest
// make room. One that is longer than maxHandedOutURI bytes is not remembered.
const (
	maxHandedOut    = 4096
	maxHandedOutURI = 8 << 10
)

// handedOutLinks remembers which server has handed out a URI, in a result, that
// clients see as it is and that is in no list. It is kept by the server's name:
// a link leads to whatever is configured under it, and nowhere when nothing is.
// A server makes room among its own links only. The zero value is ready.
type handedOutLinks struct {
	Mu sync.Mutex // guards what follows
	of map[string]claim
	by map[string]*linksOf // by server
}

// linksOf is a server's links, the oldest at next once they are as many as
// they may be.
type linksOf struct {
	uris []string
	next int
}

// add notes that a server has handed out a link. A link of two servers is
// nobody's.
func (h *handedOutLinks) add(uri, server string) {
	if len(uri) > maxHandedOutURI {
		return
	}
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if was, there := h.of[uri]; there {
		h.of[uri] = was.with(server)
		return
	}
	if h.of == nil {
		h.of, h.by = map[string]claim{}, map[string]*linksOf{}
	}
	o := h.by[server]
	if o == nil {
		o = new(linksOf)
		h.by[server] = o
	}
	if len(o.uris) < maxHandedOut {
		o.uris = append(o.uris, uri)
	} else {
		delete(h.of, o.uris[o.next])
		o.uris[o.next] = uri
		o.next = (o.next + 1) % maxHandedOut
	}
	h.of[uri] = claim{server: server}
}

// claim returns who has handed out a link.
func (h *handedOutLinks) claim(uri string) claim {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	return h.of[uri]
}

// forget drops the links of a server.
func (h *handedOutLinks) forget(server string) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if o := h.by[server]; o != nil {
		for _, uri := range o.uris {
			delete(h.of, uri)
		}
		delete(h.by, server)
	}
}
