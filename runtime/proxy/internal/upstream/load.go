package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"

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
func (b *Backend) load(client *runtime.Client) (*inventory.Inventory, error) {
	ctx, cancel := context.WithTimeout(b.Life, listsTime)
	defer cancel()
	info := client.Info()
	cat := &inventory.Inventory{Verified: time.Now(), Capabilities: info.Capabilities, Instructions: info.Instructions, Resources: info.Has("resources"), Modern: revision.IsModern(info.Version)}
	var failure error
	usable := false
	for k := range inventory.Kinds {
		l := k.Listing()
		if !info.Has(l.Capability) {
			continue
		}
		cat.Offered[k], cat.Silent[k] = true, !announces(info, l.Capability)
		items, fresh, err := b.list(ctx, client, l)
		if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeMethodNotFound {
			err = nil // declared and not there is common for templates
		}
		switch {
		case err == nil:
			cat.Items[k], cat.Fresh[k], usable = items, fresh, true
		case b.Life.Err() != nil || lasting(err):
			return nil, err
		default:
			b.Log.Warn("backend does not list what it declares", "method", l.Method, "err", err)
			cat.Failed[k], cat.Verified = err, time.Time{}
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
func (b *Backend) list(ctx context.Context, client *runtime.Client, l inventory.Listing) ([]inventory.Item, inventory.Freshness, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, &runtime.TimeoutError{Op: l.Method, After: listTime})
	defer cancel()
	for again := true; ; again = false {
		items, fresh, err := b.listOnce(ctx, client, l)
		if _, refused := errors.AsType[*runtime.Error](err); err == nil || refused {
			return items, fresh, err
		}
		if again && ctx.Err() == nil && !lasting(err) {
			b.Log.Info("backend is asked again for a list", "method", l.Method, "err", err)
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

func (b *Backend) listOnce(ctx context.Context, client *runtime.Client, l inventory.Listing) ([]inventory.Item, inventory.Freshness, error) {
	begun := time.Now() // the first page may be as old as that
	pages, err := client.ListPages(ctx, l.Method)
	if err != nil {
		return nil, inventory.Freshness{}, err
	}
	var all []inventory.Item
	parts := make([]inventory.Freshness, len(pages))
	for i, page := range pages {
		items, err := inventory.Parse(b.Log, page, l)
		if err != nil {
			return nil, inventory.Freshness{}, &runtime.ProtocolError{Reason: l.Method + ": " + err.Error()}
		}
		all = append(all, items...)
		if revision.IsModern(client.Info().Version) {
			parts[i] = inventory.Hints(page, begun)
		}
	}
	return all, inventory.Merged(parts), nil
}

// announces tells whether a server says when the lists of a capability change.
func announces(i runtime.ServerInfo, capability string) bool {
	var c map[string]json.RawMessage
	var says struct {
		ListChanged bool `json:"listChanged"`
	}
	return json.Unmarshal(i.Capabilities, &c) == nil && json.Unmarshal(c[capability], &says) == nil && says.ListChanged
}
