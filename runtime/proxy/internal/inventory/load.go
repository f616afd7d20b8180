package inventory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// listTime bounds one list, all pages: a server may hand out pages without
	// end. listsTime bounds all lists of a server together.
	listTime  = 30 * time.Second
	listsTime = 2 * time.Minute
)

// Load asks a server for its lists, by the capabilities it declares. A list that
// it refuses or that takes too long does not cost the others. The error is one of
// ctx, of the connection, or of every list.
func Load(ctx context.Context, logger *slog.Logger, client *runtime.Client) (*Inventory, error) {
	bounded, cancel := context.WithTimeout(ctx, listsTime)
	defer cancel()
	info := client.Info()
	cat := &Inventory{Verified: time.Now(), Capabilities: info.Capabilities, Instructions: info.Instructions, Resources: info.Has("resources"), Modern: revision.IsModern(info.Version)}
	var failure error
	usable := false
	for k := range Kinds {
		l := k.Listing()
		if !info.Has(l.Capability) {
			continue
		}
		cat.Offered[k], cat.Silent[k] = true, !announces(info, l.Capability)
		got, err := list(bounded, logger, client, l)
		if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeMethodNotFound {
			err = nil // declared and not there is common for templates
		}
		switch {
		case err == nil:
			cat.Items[k], cat.Fresh[k], cat.Missing[k], usable = got.items, got.fresh, got.missing, true
		case ctx.Err() != nil || isLost(err):
			return nil, err
		default:
			logger.Warn("backend does not list what it declares", "method", l.Method, "err", err)
			cat.Failed[k], cat.Verified = err, time.Time{}
			failure = cmp.Or(failure, err)
		}
	}
	if failure != nil && !usable {
		return nil, failure
	}
	return cat, nil
}

// isLost reports whether an error of one list says that the connection is gone,
// so that the others need not be asked for.
func isLost(err error) bool {
	return errors.Is(err, runtime.ErrClosed) || errors.Is(err, runtime.ErrNotSent)
}

// listed is one list, all pages.
type listed struct {
	items   []Item
	fresh   Freshness
	missing []Missing
}

// list asks for one list, all pages, and once again where no answer came: a server
// over HTTP may have forgotten the session meanwhile, or end a stream early.
func list(ctx context.Context, logger *slog.Logger, client *runtime.Client, l Listing) (listed, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, &runtime.TimeoutError{Op: l.Method, After: listTime})
	defer cancel()
	for again := true; ; again = false {
		got, err := listOnce(ctx, logger, client, l)
		if _, refused := errors.AsType[*runtime.Error](err); err == nil || refused {
			return got, err
		}
		if again && ctx.Err() == nil && !isLost(err) {
			logger.Info("backend is asked again for a list", "method", l.Method, "err", err)
			continue
		}
		if ctx.Err() != nil {
			if errors.Is(deadline.Cause(ctx), context.DeadlineExceeded) { // that for all lists
				err = &runtime.TimeoutError{Op: "lists", After: listsTime}
			} else {
				err = deadline.Cause(ctx)
			}
		}
		return got, err
	}
}

func listOnce(ctx context.Context, logger *slog.Logger, client *runtime.Client, l Listing) (all listed, err error) {
	begun := time.Now() // the first page may be as old as that
	pages, err := client.ListPages(ctx, l.Method)
	if err != nil {
		return all, err
	}
	parts := make([]Freshness, len(pages))
	for i, page := range pages {
		items, err := Parse(logger, page, l)
		if err != nil {
			return listed{}, &runtime.ProtocolError{Reason: l.Method + ": " + err.Error()}
		}
		all.items = append(all.items, items...)
		if missing := missingOf(page); missing != nil { // each page says it
			all.missing = missing
		}
		if revision.IsModern(client.Info().Version) {
			parts[i] = Hints(page, begun)
		}
	}
	all.fresh = Merged(parts)
	return all, nil
}

// announces reports whether a server says when the lists of a capability change.
func announces(i runtime.ServerInfo, capability string) bool {
	var c map[string]json.RawMessage
	var says struct {
		ListChanged bool `json:"listChanged"`
	}
	return json.Unmarshal(i.Capabilities, &c) == nil && json.Unmarshal(c[capability], &says) == nil && says.ListChanged
}
