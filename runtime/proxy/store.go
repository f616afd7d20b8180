package proxy

import (
	"context"

	"github.com/mcpctl/mcpctl/runtime/store"
)

// Store keeps what the proxy has learned of servers for the processes to come.
// [store.DB] is one. Its methods may be called concurrently; the proxy calls
// them on goroutines of their own. A failure costs what was learned, no more.
type Store interface {
	// Load gives what is kept of servers, by name. A server of which nothing is
	// kept, or under another digest, is absent.
	Load(ctx context.Context, servers []store.ID) (map[string]store.Record, error)
	// Keep keeps changes, all of them or none.
	Keep(ctx context.Context, changes []store.Change) error
}
