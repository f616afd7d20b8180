package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// kind is one of the four lists of a server.
type kind int

const (
	tools kind = iota
	prompts
	resources
	templates
	kinds
)

// listing is how a list is asked for and read.
type listing struct {
	method, member, capability, changed string
	// key is the member of an item that names it to callers.
	key string
}

func (k kind) listing() listing {
	switch k {
	case tools:
		return listing{"tools/list", "tools", "tools", "notifications/tools/list_changed", "name"}
	case prompts:
		return listing{"prompts/list", "prompts", "prompts", "notifications/prompts/list_changed", "name"}
	case resources:
		return listing{"resources/list", "resources", "resources", "notifications/resources/list_changed", "uri"}
	case templates:
		return listing{"resources/templates/list", "resourceTemplates", "resources", "notifications/resources/list_changed", "uriTemplate"}
	default:
		panic(fmt.Sprintf("proxy: no list %d", k))
	}
}

// catalog is what one server offers, as it sent it.
type catalog struct {
	items     [kinds][]item
	failed    [kinds]error // why a list could not be had, nil where it could
	resources bool         // it has the capability
	// capabilities and instructions are those of the server as it declared them.
	capabilities json.RawMessage
	instructions string
	// offered tells which lists the server declares, fresh how long each may be
	// kept.
	offered [kinds]bool
	fresh   [kinds]freshness
	modern  bool // its connection is of the stateless era
	// offer is what the server was told that it can ask: some list more tools
	// where they can.
	offer string
	// silent is a server whose lists change without a word.
	silent [kinds]bool
	// verified is when the server was last seen to offer this, zero where a list
	// failed.
	verified time.Time
}

// whole tells whether every list could be had.
func (c *catalog) whole() bool { return c.failed == [kinds]error{} }

// item is one entry of a list.
type item struct {
	raw []byte
	// name, key and title are unquoted; key is the same as name for tools and
	// prompts.
	name, key, title       string
	nameAt, keyAt, titleAt rawjson.Span
	facts                  facts
	// mirrors are those of a tool's schema, nil for other kinds; support tells how
	// a tool of the handshake era is called as a task; see bridge.TaskSupport.
	mirrors []revision.Mirror
	support string
}

// facts tell what a tool's definition has that most have not.
type facts uint8

const (
	// mirrored: arguments are repeated as headers.
	mirrored facts = 1 << iota
	// tasked: the tool can be called as a task of the handshake era.
	tasked
	// wrapping: the output schema is wrapped for clients of the handshake era.
	wrapping
	// pictured: it may have a user interface.
	pictured
	// executed: it may tell how it is called, which no client is to see as it is.
	executed
	// iconic: it may have icons.
	iconic
)

// read finds the texts at the item's places.
func (it *item) read() {
	it.key, _ = rawjson.String(it.raw, it.keyAt)
	if it.name = it.key; it.nameAt != it.keyAt {
		it.name, _ = rawjson.String(it.raw, it.nameAt)
	}
	it.title, _ = rawjson.String(it.raw, it.titleAt)
}

// find finds the facts of a tool.
func (it *item) find(b *backend) {
	it.facts = mirrored | tasked
	it.about(b)
	if it.mirrors == nil {
		it.facts &^= mirrored
	}
	if it.support == "" {
		it.facts &^= tasked
	}
	if revision.WrapsOutput(it.raw) {
		it.facts |= wrapping
	}
	if bytes.Contains(it.raw, []byte(`"ui`)) {
		it.facts |= pictured
	}
	if bytes.Contains(it.raw, []byte(`"execution"`)) {
		it.facts |= executed
	}
	if bytes.Contains(it.raw, []byte(`"icons"`)) {
		it.facts |= iconic
	}
}

// about finds what the facts say is there.
func (it *item) about(b *backend) {
	if it.facts&mirrored != 0 {
		it.mirrors = toolMirrors(b, *it)
	}
	if it.facts&tasked != 0 {
		it.support = bridge.TaskSupport(it.raw)
	}
}

const (
	// listTime bounds how long a server may take for one list, all pages, so that
	// one which hands out pages without end is given up; listsTime is for all its
	// lists together.
	listTime  = 30 * time.Second
	listsTime = 2 * time.Minute
)

// load asks a server for its lists, by the capabilities it declares. A list
// that it refuses, that is none or takes too long does not cost the others: what
// it was before stays. An error is one of the connection, or of every list.
func (p *Proxy) load(b *backend, client *runtime.Client) (*catalog, error) {
	ctx, cancel := context.WithTimeout(b.life, listsTime)
	defer cancel()
	info := client.Info()
	cat := &catalog{verified: time.Now(), capabilities: info.Capabilities, instructions: info.Instructions, resources: info.Has("resources"), modern: revision.IsModern(info.Version)}
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
			p.log.Warn("backend does not list what it declares", "server", b.name, "method", l.method, "err", err)
			cat.failed[k], cat.verified = err, time.Time{}
			failure = cmp.Or(failure, err)
		}
	}
	if failure != nil && !usable {
		return nil, failure
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range kinds {
		if cat.failed[k] != nil && b.catalog != nil {
			cat.items[k] = b.catalog.items[k]
		}
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
func (b *backend) list(ctx context.Context, client *runtime.Client, l listing) ([]item, freshness, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, &runtime.TimeoutError{Op: l.method, After: listTime})
	defer cancel()
	for again := true; ; again = false {
		items, fresh, err := b.listOnce(ctx, client, l)
		if _, refused := errors.AsType[*runtime.Error](err); err == nil || refused {
			return items, fresh, err
		}
		if again && ctx.Err() == nil && !lasting(err) {
			b.p.log.Info("backend is asked again for a list", "server", b.name, "method", l.method, "err", err)
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

func (b *backend) listOnce(ctx context.Context, client *runtime.Client, l listing) ([]item, freshness, error) {
	begun := time.Now() // the first page may be as old as that
	pages, err := client.ListPages(ctx, l.method)
	if err != nil {
		return nil, freshness{}, err
	}
	var all []item
	parts := make([]freshness, len(pages))
	for i, page := range pages {
		items, err := parse(b, page, l)
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

// unlisted tells why a backend's list could not be had, nil where it could.
func (p *Proxy) unlisted(b *backend, k kind) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.catalog == nil {
		return nil
	}
	return b.catalog.failed[k]
}

// parse reads one page of a list. Items without a usable key are left out:
// nobody could ask for them.
func parse(b *backend, page json.RawMessage, l listing) ([]item, error) {
	spans, err := rawjson.List(page, rawjson.Whole(page), l.member)
	if err != nil {
		return nil, err
	}
	items := make([]item, 0, len(spans))
	for _, s := range spans {
		it := item{raw: rawjson.OneLine(s.Of(page))}
		var at [3]rawjson.Span
		if err := rawjson.Fields(it.raw, at[:], "name", "title", l.key); err != nil {
			b.p.log.Warn("backend lists something that is no object", "server", b.name, "method", l.method)
			continue
		}
		if member := twice(it.raw, "name", "title", l.key); member != "" {
			// Which of the two counts depends on who reads.
			b.p.log.Warn("backend lists something with a member twice", "server", b.name, "method", l.method, "member", member)
			continue
		}
		it.nameAt, it.titleAt, it.keyAt = at[0], at[1], at[2]
		if l.key == "name" {
			it.keyAt = it.nameAt
		}
		it.read()
		if it.key == "" {
			b.p.log.Warn("backend lists something without a name", "server", b.name, "method", l.method)
			continue
		}
		if l.member == "tools" {
			it.find(b)
		}
		items = append(items, it)
	}
	return items, nil
}

// toolMirrors gives the arguments that clients repeat as headers. A schema that
// breaks the rules for them asks for none.
func toolMirrors(b *backend, it item) []revision.Mirror {
	at, err := rawjson.Field(it.raw, "inputSchema")
	if err != nil || !at.Present() {
		return nil
	}
	mirrors, err := revision.ToolMirrors(at.Of(it.raw))
	if err != nil {
		b.p.log.Warn("tool asks for headers in a way that is not allowed", "server", b.name, "tool", it.key, "err", err)
	}
	return mirrors
}

// twice gives the first of some members that an object has twice, "" for none.
func twice(object []byte, names ...string) string {
	entries, err := rawjson.Entries(object)
	if err != nil {
		return ""
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if seen[e.Name] && slices.Contains(names, e.Name) {
			return e.Name
		}
		seen[e.Name] = true
	}
	return ""
}
