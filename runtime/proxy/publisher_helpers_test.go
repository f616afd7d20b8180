package proxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/seal"
)

// unconnected hears nothing.
type unconnected struct{ Observer }

// publisherOf returns a publisher of servers that cannot be connected.
func publisherOf(tb testing.TB, o catalogOptions, servers ...string) *Publisher {
	tb.Helper()
	all := make([]settings, len(servers))
	for i, name := range servers {
		all[i].Name = name
	}
	p, closes := stored(o, nil, all)
	tb.Cleanup(closes)
	return p
}

// stored returns a publisher of servers that cannot be connected, with what a store
// has of them.
func stored(o catalogOptions, from storage, servers []settings) (p *Publisher, closes func()) {
	log := slog.New(slog.DiscardHandler)
	set := newSet(setOptions{Logger: log, Store: from, Dial: func(context.Context, key, runtime.Handler) (*runtime.Client, error) { return nil, runtime.ErrClosed }})
	set.observer = unconnected{}
	if o.Separator == "" {
		o.Separator = "__"
	}
	o.NameLimit, o.PageSize, o.Ring, o.Logger = 44, defaultPage, seal.NewRing(), log
	o.Info = json.RawMessage(`{"name":"m","version":"1"}`)
	p = newPublisher(o, set)
	r := set.compare(servers)
	p.takeOver(set.recall(r.made))
	p.enroll(r)
	return p, func() {
		set.end()
		set.close()
	}
}
