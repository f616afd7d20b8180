package upstream

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
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
// nothing. Of a server one entry is kept, so what is learned under one that has
// been replaced is not.
func (b *Backend) keep(c store.Change) {
	set := b.Set
	if !b.isKept() {
		return
	}
	c.ID = store.ID{Name: b.Name, Digest: b.Config().Digest}
	k := &set.keeping
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || b.IsReplaced() && slices.ContainsFunc(set.All(), func(other *Backend) bool { return other.Name == b.Name }) {
		return
	}
	k.add(c)
	if !k.writing && set.Lifetime.Err() == nil { // else Close writes
		k.writing = true
		set.Work.Go(set.write)
	}
}

// isKept reports whether what is learned of the backend is kept.
func (b *Backend) isKept() bool { return b.Set.o.Store != nil && b.Config().Digest != "" }

// add adds a change to what waits: it replaces an earlier one of the same part. The
// caller holds the lock.
func (k *keeping) add(c store.Change) {
	maps.DeleteFunc(k.pending, func(id store.ID, _ store.Change) bool { return id.Name == c.ID.Name && id != c.ID })
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
		s.store(changes)
	}
}

// flush writes what waits, for the last time.
func (s *Set) flush() {
	if changes := s.keeping.take(true); changes != nil {
		s.store(changes)
	}
}

// take returns what waits, nil for nothing: whoever was writing has ended then.
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

func (s *Set) store(changes []store.Change) {
	// What is learned is not given up because the proxy ends meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Lifetime), keepBound)
	defer cancel()
	if err := s.o.Store.Keep(ctx, changes); err != nil {
		s.keeping.logFailure(s.Log, "what servers offer is not kept for the next start", err)
	}
}

// logFailure logs that the store fails, once: else it would be with each change.
func (k *keeping) logFailure(logger *slog.Logger, what string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.said != err.Error() {
		logger.Warn(what, "err", err)
	}
	k.said = err.Error()
}

// Recalled is what a backend offered to an earlier process, or to another one.
type Recalled struct {
	Backend *Backend
	Offers  *inventory.Inventory
}

// Recall returns what is kept of backends, those of a new proxy or of a new
// configuration.
func (s *Set) Recall(backends []*Backend) (all []Recalled) {
	records, err := s.recallRecords(backends)
	if err != nil {
		if !errors.Is(err, errNothingStored) {
			s.keeping.logFailure(s.Log, "what servers offered before cannot be read", err)
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

// RecallNews returns what other processes have found out since about backends
// that are not connected.
func (s *Set) RecallNews(backends []*Backend) (all []Recalled) {
	records, err := s.recallRecords(backends)
	if err != nil {
		return nil // the servers can be asked
	}
	for _, b := range backends {
		r := records[b.Name]
		b.mu.Lock()
		news := r.Catalog.Verified.After(b.known.verified)
		same := b.known.digest == sumOf(r.Catalog.Data)
		if news && same {
			b.known.verified = r.Catalog.Verified
		}
		b.mu.Unlock()
		if news && !same && !b.ConnectedOnce.Load() {
			if cat := b.recallCatalog(r.Catalog); cat != nil {
				all = append(all, Recalled{b, cat})
			}
		}
	}
	return all
}

var errNothingStored = errors.New("nothing is stored")

// recallRecords reads what is stored of backends.
func (s *Set) recallRecords(backends []*Backend) (map[string]store.Record, error) {
	var ids []store.ID
	for _, b := range backends {
		if b.isKept() {
			ids = append(ids, store.ID{Name: b.Name, Digest: b.Config().Digest})
		}
	}
	if len(ids) == 0 {
		return nil, errNothingStored
	}
	ctx, cancel := context.WithTimeout(s.Lifetime, recallBound)
	defer cancel()
	return s.o.Store.Load(ctx, ids)
}

// recallCatalog reads a stored catalogue and takes over what it says of the server;
// nil where there is none of use.
func (b *Backend) recallCatalog(kept store.Catalog) *inventory.Inventory {
	if kept.Data == nil {
		return nil
	}
	cat, head, err := inventory.Decode(b.Log, kept.Data)
	if err != nil {
		b.Log.Debug("what a server offered before is of no use", "err", err)
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	k := &b.known
	if !b.ConnectedOnce.Load() {
		k.modern, k.speaksBoth, k.remote, k.capabilities = head.Modern, head.Dual, head.Remote, head.Offer
	}
	k.digest, k.verified, cat.Verified = sumOf(kept.Data), kept.Verified, kept.Verified
	return cat
}

// Save has what the backend offers kept for the processes to come, and notes
// when it was seen to.
func (b *Backend) Save(cat *inventory.Inventory) {
	b.mu.Lock()
	k := &b.known
	if cat.Whole() { // or it is looked at again
		k.verified = cat.Verified
	}
	head, verified := inventory.Head{Modern: k.modern, Dual: k.speaksBoth, Remote: k.remote}, k.verified
	b.mu.Unlock()
	if !b.isKept() {
		return
	}
	data := inventory.Encode(cat, head)
	if data == nil {
		return // what was kept before is better than nothing
	}
	sum := sumOf(data)
	b.mu.Lock()
	same := k.digest == sum
	k.digest = sum
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

// RecallUsage takes over how the backend was used in earlier processes, and whether
// it asks. It is to be called before its first request.
func (b *Backend) RecallUsage(u store.Usage) {
	b.Activity.Resume(u)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known.asksClients, b.known.unattributed, b.known.usage = u.Asks, u.Untold, u
}

// KeepUsage has the backend's use kept for processes to come, where there is
// anything new to it.
func (b *Backend) KeepUsage() {
	u := b.Activity.Usage()
	b.mu.Lock()
	u.Asks, u.Untold = b.known.asksClients, b.known.unattributed
	news := u != b.known.usage
	b.known.usage = u
	b.mu.Unlock()
	if news {
		b.keep(store.Change{Usage: &u})
	}
}
