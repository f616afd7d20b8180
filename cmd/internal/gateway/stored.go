package gateway

import (
	"context"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/known"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/store"
)

// stored is the database about the servers of a configuration, and what commands have listed
// of those of which it has nothing.
type stored struct {
	*store.DB
	lists known.Lists

	mu      sync.Mutex // guards entries
	entries map[string]config.Entry
}

// follow sets the servers of the configuration, which drops others in time.
func (s *stored) follow(file *config.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = map[string]config.Entry{}
	var names []string
	for _, e := range file.Entries() {
		s.entries[e.Name] = e
		names = append(names, e.Name)
	}
	s.Known(names)
}

// Load implements [proxy.Store].
func (s *stored) Load(ctx context.Context, servers []store.ID) (map[string]store.Record, error) {
	records, err := s.DB.Load(ctx, servers)
	if err != nil {
		return nil, err
	}
	out := map[string]store.Record{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range servers {
		r, ok := records[id.Name]
		if e := s.entries[id.Name]; r.Catalog.Data == nil && e.Name != "" && e.Digest() == id.Digest {
			r.Catalog.Data = proxy.CatalogueOf(s.lists.OfCommands(e))
		}
		if ok || r.Catalog.Data != nil {
			out[id.Name] = r
		}
	}
	return out, nil
}
