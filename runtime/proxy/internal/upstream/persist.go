package upstream

import (
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// Persisted is what is kept of a backend for processes to come.
type Persisted struct {
	b *Backend

	mu       sync.Mutex // guards what follows; no other lock is taken under it
	usage    store.Usage
	digest   uint64    // stands for the catalogue that is kept, 0 for none, see inventory.Sum
	verified time.Time // when any process last saw it offer what is known; zero for never
}

// keep has a part of what is kept of the backend replaced, soon. It waits for
// nothing. Of a server one entry is kept, so what is learned under one that has
// been replaced is not.
func (p *Persisted) keep(c store.Change) {
	if !p.isStored() {
		return
	}
	p.b.Set.persisting.Put(c, func() (store.ID, bool) {
		replaced := p.b.IsReplaced() && slices.ContainsFunc(p.b.Set.All(), func(other *Backend) bool { return other.Name == p.b.Name })
		return store.ID{Name: p.b.Name, Digest: p.b.Config().Digest}, !replaced
	})
}

// isStored reports whether what is learned of the backend is kept.
func (p *Persisted) isStored() bool { return p.b.Set.o.Store != nil && p.b.Config().Digest != "" }

// Restored is what a backend offered to an earlier process, or to another one.
type Restored struct {
	Backend *Backend
	Offers  *inventory.Inventory
}

// Restore returns what is kept of backends, those of a new proxy or of a new
// configuration.
func (s *Set) Restore(backends []*Backend) (all []Restored) {
	records, err := s.recallRecords(backends)
	if err != nil {
		s.persisting.LogFailure("what servers offered before cannot be read", err)
		return nil
	}
	for _, b := range backends {
		r, ok := records[b.Name]
		if !ok {
			continue
		}
		b.Persisted.RestoreUsage(r.Usage)
		if cat := b.Persisted.restoreCatalog(r.Catalog); cat != nil {
			all = append(all, Restored{b, cat})
		}
	}
	return all
}

// RestoreNew returns what other processes have found out since about backends
// that are not connected.
func (s *Set) RestoreNew(backends []*Backend) (all []Restored) {
	records, err := s.recallRecords(backends)
	if err != nil {
		return nil // the servers can be asked
	}
	for _, b := range backends {
		r := records[b.Name]
		news, same := b.Persisted.compare(r.Catalog)
		if news && !same && !b.ConnectedOnce.Load() {
			if cat := b.Persisted.restoreCatalog(r.Catalog); cat != nil {
				all = append(all, Restored{b, cat})
			}
		}
	}
	return all
}

// recallRecords reads what is stored of backends, by name; nil for nothing.
func (s *Set) recallRecords(backends []*Backend) (map[string]store.Record, error) {
	var ids []store.ID
	for _, b := range backends {
		if b.Persisted.isStored() {
			ids = append(ids, store.ID{Name: b.Name, Digest: b.Config().Digest})
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.persisting.Load(ids)
}

// compare reports whether a stored catalogue was seen to hold later than the one
// that is known, and whether it is the same, which was seen to hold by then, too.
func (p *Persisted) compare(stored store.Catalog) (news, same bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news = stored.Verified.After(p.verified)
	same = p.digest == inventory.Sum(stored.Data)
	if news && same {
		p.verified = stored.Verified
	}
	return news, same
}

// restoreCatalog reads a stored catalogue and takes over what it says of the server;
// nil where there is none of use.
func (p *Persisted) restoreCatalog(stored store.Catalog) *inventory.Inventory {
	if stored.Data == nil {
		return nil
	}
	cat, head, err := inventory.Decode(p.b.Log, stored.Data)
	if err != nil {
		p.b.Log.Debug("what a server offered before is of no use", "err", err)
		return nil
	}
	p.b.Pool.learn(func(e *Era) {
		if !p.b.ConnectedOnce.Load() {
			e.Modern, e.SpeaksBoth, e.Remote, e.Offer = head.Modern, head.Dual, head.Remote, head.Offer
		}
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.digest, p.verified, cat.Verified = inventory.Sum(stored.Data), stored.Verified, stored.Verified
	return cat
}

// Save has what the backend offers kept for the processes to come, and notes
// when it was seen to.
func (p *Persisted) Save(cat *inventory.Inventory) {
	p.mu.Lock()
	if cat.Whole() { // or it is looked at again
		p.verified = cat.Verified
	}
	verified := p.verified
	p.mu.Unlock()
	if !p.isStored() {
		return
	}
	era := p.b.Pool.currentEra()
	data := cat.Encode(inventory.Head{Modern: era.Modern, Dual: era.SpeaksBoth, Remote: era.Remote})
	if data == nil {
		return // what was kept before is better than nothing
	}
	sum := inventory.Sum(data)
	p.mu.Lock()
	same := p.digest == sum
	p.digest = sum
	p.mu.Unlock()
	if same {
		p.keep(store.Change{Verified: verified})
	} else {
		p.keep(store.Change{Catalog: &store.Catalog{Data: data, Verified: verified}})
	}
}

// lastVerified returns when any process last saw the server offer what is known.
func (p *Persisted) lastVerified() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.verified
}

// forget has everything written again: the entry is another one.
func (p *Persisted) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.usage, p.digest = store.Usage{}, 0
}

// Digest stands for what is kept of what the backend offers, 0 for nothing.
func (p *Persisted) Digest() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.digest
}

// RestoreUsage takes over how the backend was used in earlier processes, and whether
// it asks. It is to be called before its first request.
func (p *Persisted) RestoreUsage(u store.Usage) {
	p.b.Activity.Resume(u)
	p.b.Pool.learn(func(e *Era) { e.AsksClients, e.Unattributed = u.Asks, u.Untold })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.usage = u
}

// SaveUsage has the backend's use kept for processes to come, where there is
// anything new to it.
func (p *Persisted) SaveUsage() {
	u := p.b.Activity.Usage()
	era := p.b.Pool.currentEra()
	u.Asks, u.Untold, u.Results = era.AsksClients, era.Unattributed, p.b.Activity.Results.Encode()
	p.mu.Lock()
	news := u != p.usage
	p.usage = u
	p.mu.Unlock()
	if news {
		p.keep(store.Change{Usage: &u})
	}
}
