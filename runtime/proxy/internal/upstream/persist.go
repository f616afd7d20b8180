package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"

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

// Store is a proxy.Store.
type Store interface {
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
	p := b.Set
	if p.o.Store == nil || b.Config().Digest == "" {
		return
	}
	c.ID = store.ID{Name: b.Name, Digest: b.Config().Digest}
	k := &p.keeping
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || b.IsReplaced() && p.has(b.Name) {
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
	if !k.writing && p.Lifetime.Err() == nil { // else Close writes
		k.writing = true
		p.Work.Go(p.write)
	}
}

// has tells whether there is a server with a name.
func (s *Set) has(name string) bool {
	return slices.ContainsFunc(s.All(), func(b *Backend) bool { return b.Name == name })
}

// write writes what waits, until there is nothing left or the proxy ends, which
// writes the rest itself.
func (s *Set) write() {
	for {
		select {
		case <-time.After(keepPause):
		case <-s.Lifetime.Done():
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Lifetime), keepBound)
	defer cancel()
	err := s.o.Store.Keep(ctx, changes)
	if err == nil {
		return
	}
	s.keeping.failed(s.Log, "what servers offer is not kept for the next start", err)
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

// Recall returns what is kept of backends, those of a new proxy or of a new
// configuration.
func (s *Set) Recall(backends []*Backend) (all []Recalled) {
	records, err := s.recallRecords(backends)
	if err != nil {
		if !errors.Is(err, errNothingStored) {
			s.keeping.failed(s.Log, "what servers offered before cannot be read", err)
		}
		return nil
	}
	for _, b := range backends {
		r, ok := records[b.Name]
		if !ok {
			continue
		}
		b.RecallUsage(r.Usage)
		if cat := b.recallCatalog(r.Catalog); cat != nil {
			all = append(all, Recalled{b, cat})
		}
	}
	return all
}

// Recalled is what a backend offered to an earlier process, or to another one.
type Recalled struct {
	Backend *Backend
	Offers  *inventory.Inventory
}

// recallCatalog reads a stored catalogue and takes over what it tells of the
// server; nil where there is none of use.
func (b *Backend) recallCatalog(kept store.Catalog) *inventory.Inventory {
	if kept.Data == nil {
		return nil
	}
	cat, head, err := inventory.Decode(b.Log, kept.Data)
	if err != nil {
		b.Log.Debug("what a server offered before is of no use", "err", err)
		return nil
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if !b.ConnectedOnce.Load() {
		b.modern, b.speaksBothEras, b.Remote, b.storedCapabilities = head.Modern, head.Dual, head.Remote, head.Offer
	}
	b.storedDigest, b.Verified, cat.Verified = sumOf(kept.Data), kept.Verified, kept.Verified
	return cat
}

// Save has what the backend offers kept for the processes to come, and notes
// when it was seen to.
func (b *Backend) Save(cat *inventory.Inventory) {
	b.Mu.Lock()
	if cat.Whole() { // or it is looked at again
		b.Verified = cat.Verified
	}
	verified := b.Verified
	b.Mu.Unlock()
	if b.Set.o.Store == nil || b.Config().Digest == "" {
		return
	}
	b.Mu.Lock()
	head := inventory.Head{Modern: b.modern, Dual: b.speaksBothEras, Remote: b.Remote}
	b.Mu.Unlock()
	data := inventory.Encode(cat, head)
	if data == nil {
		return // what was kept before is better than nothing
	}
	sum := sumOf(data)
	b.Mu.Lock()
	same := b.storedDigest == sum
	b.storedDigest = sum
	b.Mu.Unlock()
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

// RecallNews returns what other processes have found out since about backends
// that are not connected.
func (s *Set) RecallNews(backends []*Backend) (all []Recalled) {
	records, err := s.recallRecords(backends)
	if err != nil {
		return nil // the servers can be asked
	}
	for _, b := range backends {
		r := records[b.Name]
		b.Mu.Lock()
		news := r.Catalog.Verified.After(b.Verified)
		same := b.storedDigest == sumOf(r.Catalog.Data)
		if news && same {
			b.Verified = r.Catalog.Verified
		}
		b.Mu.Unlock()
		if news && !same && !b.ConnectedOnce.Load() {
			if cat := b.recallCatalog(r.Catalog); cat != nil {
				all = append(all, Recalled{b, cat})
			}
		}
	}
	return all
}

// recallRecords reads what is stored of backends.
func (s *Set) recallRecords(backends []*Backend) (map[string]store.Record, error) {
	var ids []store.ID
	for _, b := range backends {
		if digest := b.Config().Digest; digest != "" {
			ids = append(ids, store.ID{Name: b.Name, Digest: digest})
		}
	}
	if s.o.Store == nil || len(ids) == 0 {
		return nil, errNothingStored
	}
	ctx, cancel := context.WithTimeout(s.Lifetime, recallBound)
	defer cancel()
	return s.o.Store.Load(ctx, ids)
}

var errNothingStored = errors.New("nothing is stored")

// usage gives what is known of the backend's use, and of its questions.
func (b *Backend) usage() store.Usage {
	u := b.Activity.Usage()
	b.Mu.Lock()
	defer b.Mu.Unlock()
	u.Asks, u.Untold = b.asksClients, b.unattributed
	return u
}

// RecallUsage takes over how the backend was used in earlier processes. It is to
// be called before its first request.
func (b *Backend) RecallUsage(u store.Usage) {
	b.Activity.Resume(u)
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.asksClients, b.unattributed, b.storedUsage = u.Asks, u.Untold, u
}

// KeepUsage has the backend's use kept for processes to come, where there is
// anything new to it.
func (b *Backend) KeepUsage() {
	u := b.usage()
	b.Mu.Lock()
	news := u != b.storedUsage
	b.storedUsage = u
	b.Mu.Unlock()
	if news {
		b.keep(store.Change{Usage: &u})
	}
}
