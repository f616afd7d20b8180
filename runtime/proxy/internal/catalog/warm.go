package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"context"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/deadline"
)

const (
	// refreshDelay is how long after a list was answered servers are connected
	// whose part of it is from an earlier process: whoever has just started wants
	// the machine for something else.
	refreshDelay = time.Second
	// refreshAtOnce is how many servers are connected for that at once; the others
	// wait for their turn.
	refreshAtOnce = 4
)

// Discover connects the backends that have offered nothing yet, all at once,
// and waits for them: for the slowest, not for one after the other, and for
// none longer than its time. Those that failed a moment ago are left alone.
// Whoever is late is heard when it answers: clients are told then.
func (p *Publisher) Discover(ctx context.Context) {
	now := time.Now()
	var wg sync.WaitGroup
	for _, b := range p.set.All() {
		if b.IsDue(now) {
			wg.Go(func() { b.Meet(ctx) }) // its failure is reported with the list
		}
	}
	wg.Wait()
}

// refreshing is the looking at servers of which nothing but what is stored is
// known. The zero value is ready.
type refreshing struct {
	mu  sync.Mutex // guards what follows
	now bool       // it is being done, or about to be
}

// refresh sees to it that servers are connected, in the background, whose part
// of the lists is old and from an earlier process. It waits for nothing.
func (p *Publisher) refresh() {
	if len(p.Outdated(time.Now())) == 0 {
		return
	}
	r := &p.refreshing
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now || p.set.Lifetime.Err() != nil {
		return
	}
	r.now = true
	p.set.Work.Go(func() {
		p.refreshAll()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now = false
	})
}

// Outdated returns the backends to look at.
func (p *Publisher) Outdated(now time.Time) (out []*upstream.Backend) {
	for _, b := range p.set.All() {
		if b.Outdated(now) {
			out = append(out, b)
		}
	}
	return out
}

func (p *Publisher) refreshAll() {
	if deadline.Pause(p.set.Lifetime, refreshDelay) != nil {
		return
	}
	p.TakeOver(p.set.RecallNews(p.Outdated(time.Now())))
	slots := make(chan struct{}, refreshAtOnce)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, b := range p.Outdated(time.Now()) {
		select {
		case slots <- struct{}{}:
		case <-p.set.Lifetime.Done():
			return
		}
		wg.Go(func() {
			defer func() { <-slots }()
			b.Meet(p.set.Lifetime)
		})
	}
}
