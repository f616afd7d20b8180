package policies

import (
	"context"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// offerStore stores what a server offers in whole: what a command is shown of it depends on
// the policies, which may be others tomorrow. It implements [proxy.Store].
type offerStore struct {
	entry config.Entry
	p     *Policies
}

func (p *Policies) store(entry config.Entry) proxy.Store {
	if p.Keep == nil || entry.File == "" {
		return nil
	}
	return offerStore{entry, p}
}

// Load returns nothing: a command asks the server.
func (offerStore) Load(context.Context, []store.ID) (map[string]store.Record, error) { return nil, nil }

// Keep stores the lists that are there.
func (k offerStore) Keep(_ context.Context, changes []store.Change) error {
	for _, c := range changes {
		if c.Catalog == nil {
			continue
		}
		for l := range lockfile.Lists {
			if items, ok := proxy.StoredList(c.Catalog.Data, l.Member()); ok {
				k.p.Keep(k.entry, l.Member(), items)
			}
		}
	}
	return nil
}
