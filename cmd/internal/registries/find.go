package registries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
)

// Find returns the record of NAME[@VERSION] from the first registry that has the name. A
// registry that does not answer is an error, unless its copy has the record: the next
// registry may have another server of that name.
func (p *Command) Find(ctx context.Context, arg string, pre bool) (*adding.Found, error) {
	clients, err := p.clients(shortWait)
	if err != nil {
		return nil, err
	}
	var first error
	for _, c := range clients {
		found, err := p.find(ctx, c, arg, pre)
		var missing *registry.NotFoundError
		if err != nil && !errors.As(err, &missing) {
			return nil, err
		}
		if err == nil {
			found.Several = len(clients) > 1
			return found, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (p *Command) find(ctx context.Context, c *registry.Client, arg string, pre bool) (*adding.Found, error) {
	found := &adding.Found{Registry: c.URL(), Official: c.Official()}
	res, err := c.Resolve(ctx, arg, pre)
	if err == nil {
		found.Record, found.Notes, found.Latest = res.Record, res.Notes, res.Latest
		return found, nil
	}
	var down *runtime.ConnectError
	var waiting *runtime.TimeoutError
	if !errors.As(err, &down) && !errors.As(err, &waiting) {
		return nil, err
	}
	rec, note := p.copied(ctx, c.URL(), arg, pre)
	if rec == nil {
		return nil, err
	}
	found.Record, found.Notes = *rec, []string{fmt.Sprintf("%v; this is its copy as of %s", err, note)}
	return found, nil
}

// copied returns the record of NAME[@VERSION] from the copy of a registry, and how old
// that is; nil if it does not have exactly what is asked for.
func (p *Command) copied(ctx context.Context, url, arg string, pre bool) (rec *registry.Record, age string) {
	copies := p.copies()
	if copies == nil {
		return nil, ""
	}
	defer func() { _ = copies.Close() }()
	st, err := copies.State(ctx, url)
	if err != nil || st.Synced.IsZero() {
		return nil, ""
	}
	name, version := registry.SplitVersion(arg)
	rec, err = copies.Get(ctx, url, name)
	if err != nil || rec == nil || rec.Meta.Status == registry.Deleted {
		return nil, ""
	}
	have := rec.Server.Version
	if version != "" && version != "latest" && version != have || version == "" && !pre && registry.IsPrerelease(have) {
		return nil, ""
	}
	return rec, ui.Since(time.Since(st.Synced)) + " ago"
}
