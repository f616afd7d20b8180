package proxy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/store"
)

const (
	// discoverTime is how long lists wait for a server that has offered nothing
	// yet, from when it began to be connected.
	discoverTime = 30 * time.Second
	// refreshDelay is how long after a list was answered servers are connected
	// whose part of it is from an earlier process: whoever has just started wants
	// the machine for something else.
	refreshDelay = time.Second
	// refreshAge is how old what a server was seen to offer may be, by whatever
	// process, without being looked at again.
	refreshAge = 10 * time.Minute
	// refreshAtOnce is how many servers are connected for that at once; the others
	// wait for their turn.
	refreshAtOnce = 4
)

// discover connects the backends that have offered nothing yet, all at once,
// and waits for them: for the slowest, not for one after the other, and for
// none longer than its time. Those that failed a moment ago are left alone.
// Whoever is late is heard when it answers: clients are told then.
func (p *Proxy) discover(ctx context.Context) {
	now := time.Now()
	var wg sync.WaitGroup
	for _, b := range p.all() {
		if b.due(now) {
			wg.Go(func() { b.meet(ctx) }) // its failure is reported with the list
		}
	}
	wg.Wait()
}

// due tells whether a list should wait for the backend: it has offered nothing
// yet, or what is stored was offered where it could ask other things; and it has
// not failed a moment ago, and is not late already.
func (b *backend) due(now time.Time) bool {
	stored := b.known.Load()
	if stored && b.met.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.primary
	if b.closed || stored && (b.modern || b.storedOffer == b.p.declares()) {
		return false
	}
	if a := l.attempt; a != nil {
		return !a.late && now.Before(a.begun.Add(b.set().discoveryTime()))
	}
	return !now.Before(l.retryAt) && l.breaker.opened(now).IsZero()
}

// discoveryTime is how long lists wait for the server.
func (s *Server) discoveryTime() time.Duration {
	switch {
	case s.DiscoveryTimeout < 0:
		return requestCeiling
	case s.DiscoveryTimeout == 0:
		return discoverTime
	}
	return s.DiscoveryTimeout
}

// meet connects the backend, which tells what it offers, and waits for that as
// long as lists do.
func (b *backend) meet(ctx context.Context) {
	a, err := b.primary.join()
	if err != nil {
		return
	}
	bound := b.set().discoveryTime()
	t := time.NewTimer(time.Until(a.begun.Add(bound)))
	defer t.Stop()
	select {
	case <-a.done:
	case <-b.left:
	case <-ctx.Done():
	case <-t.C:
		b.overdue(a, bound)
	}
}

// overdue notes that a connecting has taken too long for lists to wait for it.
// It goes on, for the calls that need the backend.
func (b *backend) overdue(a *attempt, bound time.Duration) {
	b.mu.Lock()
	news := b.primary.attempt == a && !a.late
	if news {
		a.late = true
		b.primary.lastErr = &runtime.TimeoutError{Op: "connect", After: bound}
	}
	b.mu.Unlock()
	if news {
		b.p.log.Warn("backend is late: lists go without it", "server", b.name, "after", bound)
		b.p.publish(b, nil, changeKinds{})
	}
}

// refreshing is the looking at servers of which nothing but what is stored is
// known. The zero value is ready.
type refreshing struct {
	mu  sync.Mutex // guards what follows
	now bool       // it is being done, or about to be
}

// refresh sees to it that servers are connected, in the background, whose part
// of the lists is old and from an earlier process. It waits for nothing.
func (p *Proxy) refresh() {
	if len(p.outdated(time.Now())) == 0 {
		return
	}
	r := &p.refreshing
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now || p.lifetime.Err() != nil {
		return
	}
	r.now = true
	p.work.Go(func() {
		p.refreshAll()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now = false
	})
}

// outdated gives the backends to look at: those that are known by a catalogue
// that is old, because they have not been connected yet or a list could not be
// had, and that have not failed a moment ago.
func (p *Proxy) outdated(now time.Time) (out []*backend) {
	for _, b := range p.all() {
		if !b.known.Load() || b.set().Start == StartCached {
			continue
		}
		b.mu.Lock()
		ready := (!b.met.Load() || b.lists.lacking && b.primary.ready.Load() == nil) && !b.closed && b.primary.attempt == nil && !now.Before(b.primary.retryAt)
		age := now.Sub(b.verified) // less than nothing where the clock was set back
		old := b.lists.lacking || age >= refreshAge || age < -setBack
		b.mu.Unlock()
		if ready && old {
			out = append(out, b)
		}
	}
	return out
}

func (p *Proxy) refreshAll() {
	if !p.pause(refreshDelay) {
		return
	}
	p.recallNews(p.outdated(time.Now()))
	slots := make(chan struct{}, refreshAtOnce)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, b := range p.outdated(time.Now()) {
		select {
		case slots <- struct{}{}:
		case <-p.lifetime.Done():
			return
		}
		wg.Go(func() {
			defer func() { <-slots }()
			b.meet(p.lifetime)
		})
	}
}

// pause waits, unless the proxy ends before.
func (p *Proxy) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.lifetime.Done():
		return false
	}
}

// recallNews takes over what other processes have found out since about backends
// that are not connected.
func (p *Proxy) recallNews(backends []*backend) {
	records, err := p.recallRecords(backends)
	if err != nil {
		return // the servers can be asked
	}
	var us []*update
	for _, b := range backends {
		r := records[b.name]
		b.mu.Lock()
		news := r.Catalog.Verified.After(b.verified)
		same := b.stored == sumOf(r.Catalog.Data)
		if news && same {
			b.verified = r.Catalog.Verified
		}
		b.mu.Unlock()
		if news && !same && !b.met.Load() {
			if cat := b.recallCatalog(r.Catalog); cat != nil {
				us = append(us, &update{b: b, cat: cat})
			}
		}
	}
	p.publishAll(us...)
}

// recallRecords reads what is stored of backends.
func (p *Proxy) recallRecords(backends []*backend) (map[string]store.Record, error) {
	var ids []store.ID
	for _, b := range backends {
		if digest := b.set().Digest; digest != "" {
			ids = append(ids, store.ID{Name: b.name, Digest: digest})
		}
	}
	if p.o.Store == nil || len(ids) == 0 {
		return nil, errNothingStored
	}
	ctx, cancel := context.WithTimeout(p.lifetime, recallBound)
	defer cancel()
	return p.o.Store.Load(ctx, ids)
}

var errNothingStored = errors.New("nothing is stored")
