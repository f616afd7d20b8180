package catalog

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// refreshDelay is how long after a list was answered servers are connected
	// whose part of it is from an earlier process: whoever has just started wants
	// the machine for something else.
	refreshDelay = time.Second
	// refreshAtOnce is how many servers are connected for that at once.
	refreshAtOnce = 4
	// comingTime is how often clients are told, at most, of servers that have come
	// after a list.
	comingTime = 2 * time.Second
	// sayAfter is how long a list waits for servers before the log has which.
	sayAfter = time.Second
)

// Discover connects the backends that have offered nothing yet, all at once, and
// waits for those that have not failed before, for none longer than its time, nor than
// grace unless that is zero. Clients are told of what the others offer. audience wants to know,
// zero for nobody in particular.
func (p *Publisher) Discover(ctx context.Context, audience upstream.Audience, grace time.Duration) {
	all, now := p.visible(audience), time.Now()
	for _, b := range all {
		if b.Due(audience.Who, now, grace) == upstream.DueBackground {
			b.Connect(audience.Who)
		}
	}
	if wait := due(all, audience, grace); len(wait) > 0 {
		defer p.sayWaiting(audience, wait, grace)()
		meet(ctx, audience, wait, grace)
	}
}

// sayWaiting logs which backends lists wait for, once they have waited for sayAfter, until
// done.
func (p *Publisher) sayWaiting(audience upstream.Audience, wait []*upstream.Backend, grace time.Duration) (done func()) {
	if p.o.Single || p.waiting.Swap(true) {
		return func() {}
	}
	timer := time.AfterFunc(sayAfter, func() {
		var names []string
		for _, b := range due(wait, audience, grace) {
			names = append(names, b.Name)
		}
		if len(names) > 0 {
			p.o.Logger.Warn("waiting for " + strings.Join(names, ", ") + " …")
		}
	})
	return func() {
		timer.Stop()
		p.waiting.Store(false)
	}
}

// due returns the backends that a list waits for.
func due(all []*upstream.Backend, audience upstream.Audience, grace time.Duration) []*upstream.Backend {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(all), func(b *upstream.Backend) bool { return b.Due(audience.Who, now, grace) != upstream.DueWait })
}

// meet connects backends and waits for them. Failures are reported with the lists.
func meet(ctx context.Context, audience upstream.Audience, backends []*upstream.Backend, grace time.Duration) {
	var wg sync.WaitGroup
	for _, b := range backends {
		wg.Go(func() { b.Discover(ctx, audience.Who, grace, false) })
	}
	wg.Wait()
}

// announceComing tells clients once of what all backends offer that a list went
// without: one notification each would have them all list for each.
func (p *Publisher) announceComing() {
	if p.o.ListGrace <= 0 || len(coming(p.set.All())) == 0 || p.set.Lifetime.Err() != nil || p.gathering.Swap(true) {
		return
	}
	p.set.Work.Go(func() {
		defer p.gathering.Store(false)
		for all := coming(p.set.All()); len(all) > 0 && p.set.Lifetime.Err() == nil; all = coming(p.set.All()) {
			p.gatherComing(all)
		}
	})
}

// gatherComing puts off what would be announced until some backends have come, for
// comingTime.
func (p *Publisher) gatherComing(all []<-chan struct{}) {
	p.mu.Lock()
	p.Listeners.holdBack(p.Current.Load())
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.set.Lifetime, comingTime)
	defer cancel()
	for _, wait := range all {
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
	p.mu.Lock() // another is not built meanwhile
	defer p.mu.Unlock()
	p.Listeners.release(p.Current.Load())
}

// coming returns what is closed when each backend has come that is being connected and
// has offered nothing yet.
func coming(all []*upstream.Backend) (each []<-chan struct{}) {
	for _, b := range all {
		if wait := b.Coming(); wait != nil {
			each = append(each, wait)
		}
	}
	return each
}

// Refresh connects, in the background, servers whose part of the lists is old and
// from an earlier process, if clients have seen any list.
func (p *Publisher) Refresh() {
	if !p.Listeners.anySeen() || len(outdated(p.set.All())) == 0 || p.set.Lifetime.Err() != nil || p.refreshing.Swap(true) {
		return
	}
	p.set.Work.Go(func() {
		defer p.refreshing.Store(false)
		p.refreshAll()
	})
}

// outdated returns the backends to look at.
func outdated(all []*upstream.Backend) []*upstream.Backend {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(all), func(b *upstream.Backend) bool { return !b.Outdated(now) })
}

func (p *Publisher) refreshAll() {
	if deadline.Pause(p.set.Lifetime, refreshDelay) != nil {
		return
	}
	p.Adopt(p.set.RestoreNew(outdated(p.set.All())))
	var group errgroup.Group
	group.SetLimit(refreshAtOnce)
	for _, b := range outdated(p.set.All()) {
		group.Go(func() error {
			if p.set.Lifetime.Err() == nil {
				b.Discover(p.set.Lifetime, nil, 0, false)
			}
			return nil
		})
	}
	_ = group.Wait()
}
