package upstream

import (
	"encoding/binary"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/store"
)

// keep has a part of what is kept of the backend replaced, soon. It waits for
// nothing. Of a server one entry is kept, so what is learned under one that has
// been replaced is not.
func (b *Backend) keep(c store.Change) {
	if !b.isKept() {
		return
	}
	c.ID = store.ID{Name: b.Name, Digest: b.Config().Digest}
	b.Set.persisting.Put(c, func() bool {
		return b.IsReplaced() && slices.ContainsFunc(b.Set.All(), func(other *Backend) bool { return other.Name == b.Name })
	})
}

// isKept reports whether what is learned of the backend is kept.
func (b *Backend) isKept() bool { return b.Set.o.Store != nil && b.Config().Digest != "" }

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
		s.persisting.LogFailure("what servers offered before cannot be read", err)
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

// recallRecords reads what is stored of backends, by name; nil for nothing.
func (s *Set) recallRecords(backends []*Backend) (map[string]store.Record, error) {
	var ids []store.ID
	for _, b := range backends {
		if b.isKept() {
			ids = append(ids, store.ID{Name: b.Name, Digest: b.Config().Digest})
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.persisting.Load(ids)
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
