package upstream

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
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

// writeQueue writes what is learned of servers some time after it was learned: no request
// waits for it, and a burst of changes is one write. Its lock is held for memory work only,
// and no other lock is taken under it.
type writeQueue struct {
	store    Store
	log      *slog.Logger
	lifetime context.Context //nolint:containedctx // of its goroutine
	work     *sync.WaitGroup // has that goroutine

	mu      sync.Mutex // guards what follows
	pending map[store.ID]store.Change
	writing bool   // a goroutine writes
	said    string // why reading or writing failed, as it was logged
	closed  bool
}

// newWriteQueue returns a queue that writes to a store until lifetime ends; Flush follows.
func newWriteQueue(lifetime context.Context, work *sync.WaitGroup, to Store, logger *slog.Logger) *writeQueue {
	return &writeQueue{store: to, log: logger, lifetime: lifetime, work: work}
}

// Put has a change written, soon: it replaces an earlier one of the same part that
// still waits. Of a server one entry is kept. current returns the entry that the change
// belongs to, and false where the server has been replaced: then it is dropped. It is
// called under the lock, so that a change cannot take the place of a newer entry.
func (k *writeQueue) Put(c store.Change, current func() (store.ID, bool)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	id, ok := current()
	if !ok {
		return
	}
	c.ID = id
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
	if !k.writing && k.lifetime.Err() == nil { // else Flush writes
		k.writing = true
		k.work.Go(k.write)
	}
}

// write writes what waits, until there is nothing left or the lifetime ends.
func (k *writeQueue) write() {
	for {
		select {
		case <-time.After(keepPause):
		case <-k.lifetime.Done():
			return
		}
		if !k.writeAll(false) {
			return
		}
	}
}

// Flush writes what waits, for the last time.
func (k *writeQueue) Flush() { k.writeAll(true) }

// writeAll reports false where nothing waits.
func (k *writeQueue) writeAll(last bool) bool {
	changes := k.take(last)
	if changes == nil {
		return false
	}
	// What is learned is not given up because the proxy ends meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.lifetime), keepBound)
	defer cancel()
	if err := k.store.Keep(ctx, changes); err != nil {
		k.LogFailure("what servers offer is not kept for the next start", err)
	}
	return true
}

// take returns what waits, nil for nothing: whoever was writing has ended then.
func (k *writeQueue) take(last bool) []store.Change {
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

// Load reads what is stored of servers.
func (k *writeQueue) Load(ids []store.ID) (map[string]store.Record, error) {
	ctx, cancel := context.WithTimeout(k.lifetime, recallBound)
	defer cancel()
	return k.store.Load(ctx, ids)
}

// LogFailure logs that the store fails, once: else it would be with each change. That it takes
// too long is no reason to warn: servers are asked, and what they offer is kept the next time.
func (k *writeQueue) LogFailure(what string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	level := slog.LevelWarn
	if errors.Is(err, store.ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		level = slog.LevelInfo
	}
	if k.said != err.Error() {
		k.log.Log(k.lifetime, level, what, "err", err)
	}
	k.said = err.Error()
}
