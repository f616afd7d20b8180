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

// storage is a proxy.Store.
type storage interface {
	Load(ctx context.Context, servers []store.ID) (map[string]store.Record, error)
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
func (b *Backend) keep(c store.Change) {
	p := b.set
	if p.o.Store == nil || b.config().Digest == "" {
		return
	}
	c.ID = store.ID{Name: b.name, Digest: b.config().Digest}
	k := &p.keeping
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || b.isReplaced() && p.has(b.name) {
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
func (s *Set) has(name string) bool {
	return slices.ContainsFunc(s.all(), func(b *Backend) bool { return b.name == name })
}

// write writes what waits, until there is nothing left or the proxy ends, which
// writes the rest itself.
func (s *Set) write() {
	for {
		select {
		case <-time.After(keepPause):
		case <-s.lifetime.Done():
			return
		}
		changes := s.keeping.take(false)
		if changes == nil {
			return
		}
		s.written(changes)
	}
}

// flush writes what waits, for the last time.
func (s *Set) flush() {
	if changes := s.keeping.take(true); changes != nil {
		s.written(changes)
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

func (s *Set) written(changes []store.Change) {
	// What is learned is not given up because the proxy ends meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.lifetime), keepBound)
	defer cancel()
	err := s.o.Store.Keep(ctx, changes)
	if err == nil {
		return
	}
	s.keeping.failed(s.log, "what servers offer is not kept for the next start", err)
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

// recall returns what is kept of backends, those of a new proxy or of a new
// configuration.
func (s *Set) recall(backends []*Backend) (all []recalledInventory) {
	records, err := s.recallRecords(backends)
	if err != nil {
		if !errors.Is(err, errNothingStored) {
			s.keeping.failed(s.log, "what servers offered before cannot be read", err)
		}
		return nil
	}
	for _, b := range backends {
		r, ok := records[b.name]
		if !ok {
			continue
		}
		b.recallUsage(r.Usage)
		if cat := b.recallCatalog(r.Catalog); cat != nil {
			all = append(all, recalledInventory{b, cat})
		}
	}
	return all
}

// recalledInventory is what a backend offered to an earlier process, or to another one.
type recalledInventory struct {
	b      *Backend
	offers *Inventory
}

// recallCatalog reads a stored catalogue and takes over what it tells of the
// server; nil where there is none of use.
func (b *Backend) recallCatalog(kept store.Catalog) *Inventory {
	if kept.Data == nil {
		return nil
	}
	cat, head, err := decodeCatalog(b.log, kept.Data)
	if err != nil {
		b.log.Debug("what a server offered before is of no use", "err", err)
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.connectedOnce.Load() {
		b.modern, b.speaksBothEras, b.remote, b.storedCapabilities = head.Modern, head.Dual, head.Remote, head.Offer
	}
	b.storedDigest, b.verified, cat.verified = sumOf(kept.Data), kept.Verified, kept.Verified
	return cat
}

// save has what the backend offers kept for the processes to come, and notes
// when it was seen to.
func (b *Backend) save(cat *Inventory) {
	b.mu.Lock()
	if cat.whole() { // or it is looked at again
		b.verified = cat.verified
	}
	verified := b.verified
	b.mu.Unlock()
	if b.set.o.Store == nil || b.config().Digest == "" {
		return
	}
	b.mu.Lock()
	head := storedHead{Modern: b.modern, Dual: b.speaksBothEras, Remote: b.remote}
	b.mu.Unlock()
	data := encodeCatalog(cat, head)
	if data == nil {
		return // what was kept before is better than nothing
	}
	sum := sumOf(data)
	b.mu.Lock()
	same := b.storedDigest == sum
	b.storedDigest = sum
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

// recallNews returns what other processes have found out since about backends
// that are not connected.
func (s *Set) recallNews(backends []*Backend) (all []recalledInventory) {
	records, err := s.recallRecords(backends)
	if err != nil {
		return nil // the servers can be asked
	}
	for _, b := range backends {
		r := records[b.name]
		b.mu.Lock()
		news := r.Catalog.Verified.After(b.verified)
		same := b.storedDigest == sumOf(r.Catalog.Data)
		if news && same {
			b.verified = r.Catalog.Verified
		}
		b.mu.Unlock()
		if news && !same && !b.connectedOnce.Load() {
			if cat := b.recallCatalog(r.Catalog); cat != nil {
				all = append(all, recalledInventory{b, cat})
			}
		}
	}
	return all
}

// recallRecords reads what is stored of backends.
func (s *Set) recallRecords(backends []*Backend) (map[string]store.Record, error) {
	var ids []store.ID
	for _, b := range backends {
		if digest := b.config().Digest; digest != "" {
			ids = append(ids, store.ID{Name: b.name, Digest: digest})
		}
	}
	if s.o.Store == nil || len(ids) == 0 {
		return nil, errNothingStored
	}
	ctx, cancel := context.WithTimeout(s.lifetime, recallBound)
	defer cancel()
	return s.o.Store.Load(ctx, ids)
}

var errNothingStored = errors.New("nothing is stored")

// usage gives what is known of the backend's use, and of its questions.
func (b *Backend) usage() store.Usage {
	u := b.activity.usage()
	b.mu.Lock()
	defer b.mu.Unlock()
	u.Asks, u.Untold = b.asksClients, b.unattributed
	return u
}

// recallUsage takes over how the backend was used in earlier processes. It is to
// be called before its first request.
func (b *Backend) recallUsage(u store.Usage) {
	b.activity.resume(u)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asksClients, b.unattributed, b.storedUsage = u.Asks, u.Untold, u
}

// keepUsage has the backend's use kept for processes to come, where there is
// anything new to it.
func (b *Backend) keepUsage() {
	u := b.usage()
	b.mu.Lock()
	news := u != b.storedUsage
	b.storedUsage = u
	b.mu.Unlock()
	if news {
		b.keep(store.Change{Usage: &u})
	}
}
