package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

const (
	// listTime bounds how long a server may take for one list, all pages, so that
	// one which hands out pages without end is given up; listsTime is for all its
	// lists together.
	listTime  = 30 * time.Second
	listsTime = 2 * time.Minute
)

// load asks a server for its lists, by the capabilities it declares. A list
// that it refuses, that is none or takes too long does not cost the others. An error is one of the connection, or of every list.
func (b *Backend) load(client *runtime.Client) (*Inventory, error) {
	ctx, cancel := context.WithTimeout(b.life, listsTime)
	defer cancel()
	info := client.Info()
	cat := &Inventory{verified: time.Now(), capabilities: info.Capabilities, instructions: info.Instructions, resources: info.Has("resources"), modern: revision.IsModern(info.Version)}
	var failure error
	usable := false
	for k := range kinds {
		l := k.listing()
		if !info.Has(l.capability) {
			continue
		}
		cat.offered[k], cat.silent[k] = true, !announces(info, l.capability)
		items, fresh, err := b.list(ctx, client, l)
		if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeMethodNotFound {
			err = nil // declared and not there is common for templates
		}
		switch {
		case err == nil:
			cat.items[k], cat.fresh[k], usable = items, fresh, true
		case b.life.Err() != nil || lasting(err):
			return nil, err
		default:
			b.log.Warn("backend does not list what it declares", "method", l.method, "err", err)
			cat.failed[k], cat.verified = err, time.Time{}
			failure = cmp.Or(failure, err)
		}
	}
	if failure != nil && !usable {
		return nil, failure
	}
	return cat, nil
}

// lasting tells whether an error of one list says that the connection is gone,
// so that the others need not be asked for.
func lasting(err error) bool {
	return errors.Is(err, runtime.ErrClosed) || errors.Is(err, runtime.ErrNotSent)
}

// list asks for one list, all pages. It asks again, once, where no answer came: a list can be had twice, and a server over HTTP may have forgotten the
// session meanwhile, or end a stream early.
func (b *Backend) list(ctx context.Context, client *runtime.Client, l listing) ([]item, freshness, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, &runtime.TimeoutError{Op: l.method, After: listTime})
	defer cancel()
	for again := true; ; again = false {
		items, fresh, err := b.listOnce(ctx, client, l)
		if _, refused := errors.AsType[*runtime.Error](err); err == nil || refused {
			return items, fresh, err
		}
		if again && ctx.Err() == nil && !lasting(err) {
			b.log.Info("backend is asked again for a list", "method", l.method, "err", err)
			continue
		}
		if ctx.Err() != nil {
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) { // that for all lists
				err = &runtime.TimeoutError{Op: "lists", After: listsTime}
			} else {
				err = context.Cause(ctx)
			}
		}
		return items, fresh, err
	}
}

func (b *Backend) listOnce(ctx context.Context, client *runtime.Client, l listing) ([]item, freshness, error) {
	begun := time.Now() // the first page may be as old as that
	pages, err := client.ListPages(ctx, l.method)
	if err != nil {
		return nil, freshness{}, err
	}
	var all []item
	parts := make([]freshness, len(pages))
	for i, page := range pages {
		items, err := parse(b.log, page, l)
		if err != nil {
			return nil, freshness{}, &runtime.ProtocolError{Reason: l.method + ": " + err.Error()}
		}
		all = append(all, items...)
		if revision.IsModern(client.Info().Version) {
			parts[i] = hints(page, begun)
		}
	}
	return all, merged(parts), nil
}

// announces tells whether a server says when the lists of a capability change.
func announces(i runtime.ServerInfo, capability string) bool {
	var c map[string]json.RawMessage
	var says struct {
		ListChanged bool `json:"listChanged"`
	}
	return json.Unmarshal(i.Capabilities, &c) == nil && json.Unmarshal(c[capability], &says) == nil && says.ListChanged
}
