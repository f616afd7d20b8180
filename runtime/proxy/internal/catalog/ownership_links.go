package catalog

import (
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

const (
	// maxHandedOut bounds how many links of one server are remembered; the oldest of the
	// principal with the most make room. One longer than maxHandedOutURI bytes is not remembered.
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
	byServer map[string]linksOf
}

// linksOf are a server's links, by the principal whose call has brought them, the oldest first.
type linksOf map[string][]string

func (o linksOf) count() (n int) {
	for _, uris := range o {
		n += len(uris)
	}
	return n
}

// dropOldest makes room for a link of a principal, and returns the one that has gone.
func (o linksOf) dropOldest(principal string) (uri string) {
	held := map[string]int{}
	for owner, uris := range o {
		held[owner] = len(uris)
	}
	payer := limits.Payer(held, principal)
	uri = o[payer][0]
	if o[payer] = slices.Delete(o[payer], 0, 1); len(o[payer]) == 0 {
		delete(o, payer)
	}
	return uri
}

// Add notes that a server has handed out a link, to a call of a principal. A link of two
// servers is nobody's.
func (h *Links) Add(uri, server, principal string) {
	if len(uri) > maxHandedOutURI {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, ok := h.of[uri]; ok {
		h.of[uri] = was.With(server)
		return
	}
	if h.of == nil {
		h.of, h.byServer = map[string]Claim{}, map[string]linksOf{}
	}
	o := h.byServer[server]
	if o == nil {
		o = linksOf{}
		h.byServer[server] = o
	}
	if o.count() >= maxHandedOut {
		delete(h.of, o.dropOldest(principal))
	}
	o[principal] = append(o[principal], uri)
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
	for _, uris := range h.byServer[server] {
		for _, uri := range uris {
			delete(h.of, uri)
		}
	}
	delete(h.byServer, server)
}
