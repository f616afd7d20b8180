package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

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
		return listing{revision.MethodToolsList, "tools", "tools", revision.NotificationToolsListChanged, "name"}
	case prompts:
		return listing{revision.MethodPromptsList, "prompts", "prompts", revision.NotificationPromptsListChanged, "name"}
	case resources:
		return listing{revision.MethodResourcesList, "resources", "resources", revision.NotificationResourcesListChanged, "uri"}
	case templates:
		return listing{revision.MethodResourceTemplatesList, "resourceTemplates", "resources", revision.NotificationResourcesListChanged, "uriTemplate"}
	default:
		panic(fmt.Sprintf("proxy: no list %d", k))
	}
}

// Inventory is what one server offers, as it sent it.
type Inventory struct {
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
func (c *Inventory) whole() bool { return c.failed == [kinds]error{} }

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
func (it *item) find(log *slog.Logger) {
	it.facts = mirrored | tasked
	it.about(log)
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
func (it *item) about(log *slog.Logger) {
	if it.facts&mirrored != 0 {
		it.mirrors = toolMirrors(log, *it)
	}
	if it.facts&tasked != 0 {
		it.support = bridge.TaskSupport(it.raw)
	}
}

// parse reads one page of a list. Items without a usable key are left out:
// nobody could ask for them.
func parse(log *slog.Logger, page json.RawMessage, l listing) ([]item, error) {
	spans, err := rawjson.List(page, rawjson.Whole(page), l.member)
	if err != nil {
		return nil, err
	}
	items := make([]item, 0, len(spans))
	for _, s := range spans {
		it := item{raw: rawjson.OneLine(s.Of(page))}
		var at [3]rawjson.Span
		if err := rawjson.Fields(it.raw, at[:], "name", "title", l.key); err != nil {
			log.Warn("backend lists something that is no object", "method", l.method)
			continue
		}
		if member := duplicated(it.raw, "name", "title", l.key); member != "" {
			// Which of the two counts depends on who reads.
			log.Warn("backend lists something with a member twice", "method", l.method, "member", member)
			continue
		}
		it.nameAt, it.titleAt, it.keyAt = at[0], at[1], at[2]
		if l.key == "name" {
			it.keyAt = it.nameAt
		}
		it.read()
		if it.key == "" {
			log.Warn("backend lists something without a name", "method", l.method)
			continue
		}
		if l.member == "tools" {
			it.find(log)
		}
		items = append(items, it)
	}
	return items, nil
}

// toolMirrors gives the arguments that clients repeat as headers. A schema that
// breaks the rules for them asks for none.
func toolMirrors(log *slog.Logger, it item) []revision.Mirror {
	at, err := rawjson.Field(it.raw, "inputSchema")
	if err != nil || !at.Present() {
		return nil
	}
	mirrors, err := revision.ToolMirrors(at.Of(it.raw))
	if err != nil {
		log.Warn("tool asks for headers in a way that is not allowed", "tool", it.key, "err", err)
	}
	return mirrors
}

// duplicated gives the first of some members that an object has twice, "" for none.
func duplicated(object []byte, names ...string) string {
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

// fillIn takes the lists that could not be had from what was offered before, nil
// for nothing.
func (c *Inventory) fillIn(before *Inventory) {
	for k := range kinds {
		if c.failed[k] != nil && before != nil {
			c.items[k] = before.items[k]
		}
	}
}
