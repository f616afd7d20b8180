package gateway

import (
	"context"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// stored is the database about the servers of a configuration, and what commands have listed
// of those of which it has nothing.
type stored struct {
	*store.DB
	lists   find.KnownLists
	entries *atomic.Pointer[map[string]config.Entry] // those of the gateway
}

// Load implements [proxy.Store].
func (s *stored) Load(ctx context.Context, servers []store.ID) (map[string]store.Record, error) {
	records, err := s.DB.Load(ctx, servers)
	if err != nil {
		return nil, err
	}
	out, entries := map[string]store.Record{}, *s.entries.Load()
	for _, id := range servers {
		r, ok := records[id.Name]
		if e := entries[id.Name]; r.Catalog.Data == nil && e.Name != "" && e.Digest() == id.Digest {
			r.Catalog.Data = proxy.CatalogueOf(s.lists.OfCommands(e))
		}
		if ok || r.Catalog.Data != nil {
			out[id.Name] = r
		}
	}
	return out, nil
}
