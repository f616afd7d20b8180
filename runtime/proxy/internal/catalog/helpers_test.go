package catalog

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// unconnected hears nothing.
type unconnected struct{ upstream.Observer }

// publisherOf returns a publisher of servers that cannot be connected.
func publisherOf(tb testing.TB, o Options, servers ...string) *Publisher {
	tb.Helper()
	all := make([]upstream.Settings, len(servers))
	for i, name := range servers {
		all[i].Name = name
	}
	p, closes := stored(o, nil, all)
	tb.Cleanup(closes)
	return p
}

// stored returns a publisher of servers that cannot be connected, with what a store
// has of them.
func stored(o Options, from upstream.Store, servers []upstream.Settings) (p *Publisher, closes func()) {
	log := slog.New(slog.DiscardHandler)
	set := upstream.NewSet(upstream.Options{Logger: log, Store: from, Dial: func(context.Context, upstream.Key, *access.Principal, runtime.Handler) (*runtime.Client, error) {
		return nil, runtime.ErrClosed
	}})
	set.Observer = unconnected{}
	if o.Separator == "" {
		o.Separator = "__"
	}
	o.NameLimit, o.PageSize, o.Ring, o.Logger = 44, DefaultPage, seal.NewKeyring(), log
	o.Info = json.RawMessage(`{"name":"m","version":"1"}`)
	p = NewPublisher(o, set)
	r := set.Compare(servers)
	p.Adopt(set.Restore(r.Made))
	p.Reconfigure(r)
	return p, func() {
		set.End()
		set.Close()
	}
}

// by returns the audience of a principal that sees everything.
func by(who *access.Principal) upstream.Audience { return upstream.Audience{Who: who} }
