package registries

import (
	"context"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/registry"
)

const (
	// releaseLookups bounds the requests for releases beside a prerelease.
	releaseLookups = 8
	// releaseTime is how long they may take together.
	releaseTime = 3 * time.Second
)

// preferReleases replaces prereleases by the release that add would take, as the copies
// know it or the registries say. If that is unknown the record stays. A registry that has
// just failed is not asked.
func (p *Command) preferReleases(ctx context.Context, copies *mirror.Mirror, found *Found) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	down := map[string]bool{}
	for _, part := range found.Parts {
		down[part.URL] = part.Err != nil
	}
	var wg sync.WaitGroup
	asked := 0
	for i := range found.Hits {
		h := &found.Hits[i]
		switch {
		case !registry.IsPrerelease(h.Record.Server.Version):
		case h.Release != nil:
			h.Record = *h.Release
		case asked < releaseLookups && !down[h.Registry]:
			asked++
			wg.Go(func() { p.askRelease(ctx, found.asked[h.Registry], copies, h) })
		}
	}
	wg.Wait()
}

func (p *Command) askRelease(ctx context.Context, c *registry.Client, copies *mirror.Mirror, h *mirror.Hit) {
	release, err := c.Release(ctx, h.Record)
	if err != nil {
		p.Log.Debug("release not found", "server", h.Record.Server.Name, "err", err)
		return
	}
	if copies != nil {
		if err := copies.KeepRelease(ctx, h.Registry, &h.Record, &release); err != nil {
			p.Log.Debug("release not stored", "server", h.Record.Server.Name, "err", err)
		}
	}
	h.Record = release
}
