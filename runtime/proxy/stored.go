package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/store"
)

// Store keeps what the proxy has learned of servers for the processes to come.
// [store.DB] is one. Its methods may be called concurrently; the proxy calls
// them on goroutines of their own. A failure costs what was learned, no more.
type Store interface {
	// Load gives what is kept of servers, by name. A server of which nothing is
	// kept, or under another digest, is absent.
	Load(ctx context.Context, servers []store.ID) (map[string]store.Record, error)
	// Keep keeps changes, all of them or none.
	Keep(ctx context.Context, changes []store.Change) error
}

const (
	// keepPause is how long changes are gathered before they are written.
	keepPause = 200 * time.Millisecond
	// keepBound bounds one write, recallBound how long a start may take to read.
	keepBound   = 2 * time.Second
	recallBound = 500 * time.Millisecond
)

// keeping is what waits to be written. The zero value is ready.
type keeping struct {
	mu      sync.Mutex // guards what follows
	pending map[store.ID]store.Change
	writing bool   // a goroutine is at it
	said    string // why reading or writing failed, as it was logged
	closed  bool
}

// keep has a part of what is kept of the backend replaced, soon. It waits for
// nothing. A later change of a part replaces one that is not written yet. Of a
// server one entry is kept, so what is learned under one that has been replaced
// is not.
func (b *backend) keep(c store.Change) {
	p := b.p
	if p.o.Store == nil || b.set().Digest == "" {
		return
	}
	c.ID = store.ID{Name: b.name, Digest: b.set().Digest}
	k := &p.keeping
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || b.hasLeft() && p.has(b.name) {
		return
	}
	for id := range k.pending {
		if id.Name == c.ID.Name && id != c.ID {
			delete(k.pending, id)
		}
	}
	if k.pending == nil {
		k.pending = map[store.ID]store.Change{}
	}
	was := k.pending[c.ID]
	was.ID = c.ID
	switch {
	case c.Catalog != nil:
		was.Catalog, was.Verified = c.Catalog, time.Time{}
	case c.Verified.IsZero():
	case was.Catalog != nil:
		was.Catalog = &store.Catalog{Data: was.Catalog.Data, Verified: c.Verified}
	default:
		was.Verified = c.Verified
	}
	if c.Usage != nil {
		was.Usage = c.Usage
	}
	k.pending[c.ID] = was
	if !k.writing && p.lifetime.Err() == nil { // else Close writes
		k.writing = true
		p.work.Go(p.write)
	}
}

// has tells whether there is a server with a name.
func (p *Proxy) has(name string) bool {
	return slices.ContainsFunc(p.all(), func(b *backend) bool { return b.name == name })
}

// write writes what waits, until there is nothing left or the proxy ends, which
// writes the rest itself.
func (p *Proxy) write() {
	for {
		select {
		case <-time.After(keepPause):
		case <-p.lifetime.Done():
			return
		}
		changes := p.keeping.take(false)
		if changes == nil {
			return
		}
		p.written(changes)
	}
}

// flush writes what waits, for the last time.
func (p *Proxy) flush() {
	if changes := p.keeping.take(true); changes != nil {
		p.written(changes)
	}
}

// take gives what waits, nil for nothing: whoever was writing has ended then.
func (k *keeping) take(last bool) []store.Change {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = k.closed || last
	if len(k.pending) == 0 {
		k.writing = false
		return nil
	}
	changes := slices.Collect(maps.Values(k.pending))
	k.pending = nil
	return changes
}

func (p *Proxy) written(changes []store.Change) {
	// What is learned is not given up because the proxy ends meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.lifetime), keepBound)
	defer cancel()
	err := p.o.Store.Keep(ctx, changes)
	if err == nil {
		return
	}
	p.keeping.failed(p.log, "what servers offer is not kept for the next start", err)
}

// failed logs that the store does not do what it is for. It is said once: else
// it would be with each change.
func (k *keeping) failed(logger *slog.Logger, what string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.said != err.Error() {
		logger.Warn(what, "err", err)
	}
	k.said = err.Error()
}

// recall takes over what is kept of backends, those of a new proxy or of a new
// configuration.
func (p *Proxy) recall(backends []*backend) {
	records, err := p.recallRecords(backends)
	if err != nil {
		if !errors.Is(err, errNothingStored) {
			p.keeping.failed(p.log, "what servers offered before cannot be read", err)
		}
		return
	}
	var updates []*update
	for _, b := range backends {
		r, ok := records[b.name]
		if !ok {
			continue
		}
		b.recallUsage(r.Usage)
		if cat := b.recallCatalog(r.Catalog); cat != nil {
			updates = append(updates, &update{b: b, cat: cat})
		}
	}
	p.publishAll(updates...)
}

// recallCatalog reads a stored catalogue and takes over what it tells of the
// server; nil where there is none of use.
func (b *backend) recallCatalog(kept store.Catalog) *catalog {
	if kept.Data == nil {
		return nil
	}
	cat, head, err := decodeCatalog(b, kept.Data)
	if err != nil {
		b.p.log.Debug("what a server offered before is of no use", "server", b.name, "err", err)
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.met.Load() {
		b.modern, b.dual, b.remote, b.storedOffer = head.Modern, head.Dual, head.Remote, head.Offer
	}
	b.stored, b.verified, cat.verified = sumOf(kept.Data), kept.Verified, kept.Verified
	return cat
}

// save has what the backend offers kept for the processes to come, and notes
// when it was seen to.
func (b *backend) save(cat *catalog) {
	b.mu.Lock()
	if cat.whole() { // or it is looked at again
		b.verified = cat.verified
	}
	verified := b.verified
	b.mu.Unlock()
	if b.p.o.Store == nil || b.set().Digest == "" {
		return
	}
	b.mu.Lock()
	head := storedHead{Modern: b.modern, Dual: b.dual, Remote: b.remote}
	b.mu.Unlock()
	data := encodeCatalog(cat, head)
	if data == nil {
		return // what was kept before is better than nothing
	}
	sum := sumOf(data)
	b.mu.Lock()
	same := b.stored == sum
	b.stored = sum
	b.mu.Unlock()
	if same {
		b.keep(store.Change{Verified: verified})
	} else {
		b.keep(store.Change{Catalog: &store.Catalog{Data: data, Verified: verified}})
	}
}

// sumOf stands for a stored catalogue: its checksum and its length. 0 is none.
func sumOf(data []byte) uint64 {
	if len(data) < 4 {
		return 0
	}
	return uint64(binary.BigEndian.Uint32(data))<<32 | uint64(len(data))
}
