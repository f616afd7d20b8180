package auditing

import (
	"maps"
	"slices"
	"sync"
	"weak"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// maxRedactors is how many redactors are kept that no connection has: bodies of its calls may
// still be on their way to the log.
const maxRedactors = 1024

// Redactors know the secrets of connections: one redactor is for all connections to a server
// for a principal, "" for everybody's. They clean the bodies that are kept. All methods may be
// called concurrently. The zero value has none.
type Redactors struct {
	mu     sync.Mutex // guards what follows
	all    map[owner]known
	recent []*secret.Redactor // the last that were used, which stay
}

type owner struct{ server, principal string }

// ownerOf returns whose connections those for a principal are: this machine's user is nobody
// in particular.
func ownerOf(server, principal string) owner {
	if principal == access.Local {
		principal = ""
	}
	return owner{server, principal}
}

// known is a redactor that a connection or recent has.
type known struct {
	redactor weak.Pointer[secret.Redactor]
	of       any // the configuration whose secrets it has, nil for none
}

// Of returns the redactor of a server for a principal.
func (r *Redactors) Of(server, principal string) *secret.Redactor {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := ownerOf(server, principal)
	one := r.get(o)
	if one != nil {
		return one
	}
	if len(r.all) >= 2*maxRedactors {
		maps.DeleteFunc(r.all, func(_ owner, k known) bool { return k.redactor.Value() == nil })
	}
	if r.all == nil {
		r.all = map[owner]known{}
	}
	one = secret.NewRedactor()
	r.all[o] = known{redactor: weak.Make(one)}
	r.use(one)
	return one
}

// get returns a redactor, nil for none. The caller holds the lock.
func (r *Redactors) get(o owner) *secret.Redactor {
	one := r.all[o].redactor.Value()
	if one != nil {
		r.use(one)
	}
	return one
}

// use marks a redactor as in use, so that it stays. The caller holds the lock.
func (r *Redactors) use(one *secret.Redactor) {
	if i := slices.Index(r.recent, one); i >= 0 {
		r.recent = slices.Delete(r.recent, i, i+1)
	}
	r.recent = append(r.recent, one)
	if len(r.recent) > maxRedactors {
		r.recent = slices.Delete(r.recent, 0, 1)
	}
}

// Learned notes that a redactor has the secrets of a configuration, which is comparable.
func (r *Redactors) Learned(server, principal string, of any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := ownerOf(server, principal)
	if k, ok := r.all[o]; ok {
		k.of = of
		r.all[o] = k
	}
}

// Has reports whether a redactor has the secrets of a configuration.
func (r *Redactors) Has(server, principal string, of any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := ownerOf(server, principal)
	return r.get(o) != nil && r.all[o].of == of
}

// Clean returns a body, which is JSON, without the secrets of everybody's connections to a
// server, and of those for a principal. It reports false where none are known.
func (r *Redactors) Clean(server, principal string, body []byte) (clean []byte, ok bool) {
	r.mu.Lock()
	all := []*secret.Redactor{r.get(ownerOf(server, ""))}
	if o := ownerOf(server, principal); o.principal != "" {
		all = append(all, r.get(o))
	}
	r.mu.Unlock()
	for _, one := range all {
		if one != nil {
			body, ok = one.JSON(body), true
		}
	}
	return body, ok
}
