package doctor

import (
	"context"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// Servers checks servers side by side, those that are started each in its turn: its timeouts
// do not count the wait. changed, if not nil, is told the index of a server
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
	for i, entry := range entries {
		work.Go(func() {
			defer d.Turns.Wait(ctx, nil, entry.Command != "")()
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
