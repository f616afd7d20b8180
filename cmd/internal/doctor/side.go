package doctor

import (
	"context"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// atATime bounds how many servers are checked at a time: starting them costs processor
// time, and each has its own timeout only from when it begins.
const atATime = 6

// Servers checks servers side by side. changed, if not nil, is told the index of a server
// that begins, with a nil report, and of one that is done; it is called by one goroutine
// at a time.
func (d *Doctor) Servers(ctx context.Context, entries []config.Entry, changed func(i int, done *Report)) ([]*Report, error) {
	reports := make([]*Report, len(entries))
	var work sync.WaitGroup
	var mu sync.Mutex // serializes changed
	tell := func(i int, done *Report) {
		mu.Lock()
		defer mu.Unlock()
		if changed != nil {
			changed(i, done)
		}
	}
	room := make(chan struct{}, atATime)
	for i, entry := range entries {
		work.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if ctx.Err() != nil {
				return
			}
			tell(i, nil)
			reports[i] = d.Server(ctx, entry)
			tell(i, reports[i])
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return reports, nil
}
