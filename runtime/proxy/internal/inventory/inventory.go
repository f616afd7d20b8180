package inventory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
)

// Kind is one of the four lists of a server.
type Kind int

// The lists, and how many there are.
const (
	Tools Kind = iota
	Prompts
	Resources
	Templates
	Kinds
)

// Listing is how a list is requested and read. Key is the member of an item that
// names it to callers.
type Listing struct{ Method, Member, Capability, Changed, Key string }

// Listing returns how a list of the kind is requested and read.
func (k Kind) Listing() Listing {
	return [Kinds]Listing{
		Tools:     {revision.MethodToolsList, "tools", "tools", revision.NotificationToolsListChanged, "name"},
		Prompts:   {revision.MethodPromptsList, "prompts", "prompts", revision.NotificationPromptsListChanged, "name"},
		Resources: {revision.MethodResourcesList, "resources", "resources", revision.NotificationResourcesListChanged, "uri"},
		Templates: {revision.MethodResourceTemplatesList, "resourceTemplates", "resources", revision.NotificationResourcesListChanged, "uriTemplate"},
	}[k]
}

// ListSet is a set of lists, by the notifications of their changes.
type ListSet struct{ Tools, Prompts, Resources bool }

// With returns the lists of either.
func (k ListSet) With(o ListSet) ListSet {
	return ListSet{k.Tools || o.Tools, k.Prompts || o.Prompts, k.Resources || o.Resources}
}

// Has reports whether a list_changed notification is of a list in the set.
func (k ListSet) Has(method string) bool {
	switch method {
	case Tools.Listing().Changed:
		return k.Tools
	case Prompts.Listing().Changed:
		return k.Prompts
	case Resources.Listing().Changed:
		return k.Resources
	}
	return false
}

// Inventory is what one server offers, as it sent it.
type Inventory struct {
	Items        [Kinds][]Item
	Failed       [Kinds]error     // why a list could not be had, nil where it could
	Missing      [Kinds][]Missing // what a server that is a gateway itself says it goes without
	Offered      [Kinds]bool      // the server declares the list
	Silent       [Kinds]bool      // and does not report changes of it
	Fresh        [Kinds]Freshness
	Capabilities json.RawMessage // as declared
	Resources    bool            // they include resources
	Instructions string
	Modern       bool // its connection is of the stateless era
	// Offer is what the server was told that it can ask: some list more tools
	// where they can.
	Offer string
	// Verified is when the server was last seen to offer this, zero where a list
	// failed.
	Verified time.Time
}

// Missing is a server that a list goes without, and the kind of failure that is for.
type Missing struct {
	Server string `json:"server"`
	Kind   string `json:"kind"`
	// Foreign is that another gateway says so, of a server of its own.
	Foreign bool `json:"-"`
}

// maxMissing bounds how many servers a gateway can say are missing.
const maxMissing = 1000

// missingOf reads what a page of a list says that it goes without, nil for nothing.
func missingOf(page json.RawMessage) []Missing {
	var of struct {
		Meta struct {
			Partial []Missing `json:"dev.mcpctl/partial"`
		} `json:"_meta"`
	}
	if !bytes.Contains(page, []byte("dev.mcpctl/partial")) || json.Unmarshal(page, &of) != nil {
		return nil
	}
	all := of.Meta.Partial[:min(len(of.Meta.Partial), maxMissing)]
	for i := range all {
		all[i].Foreign = true
	}
	return all
}

// Whole reports whether every list could be had.
func (c *Inventory) Whole() bool { return c.Failed == [Kinds]error{} }

// Failure returns why a list could not be had, nil where it could. An inventory
// that is nil knows of none.
func (c *Inventory) Failure(k Kind) error {
	if c == nil {
		return nil
	}
	return c.Failed[k]
}

// Item is one entry of a list.
type Item struct {
	Raw                    []byte
	Name, Key, Title       string // unquoted; Key is Name for tools and prompts
	NameAt, KeyAt, TitleAt rawjson.Span
	Facts                  Facts
	Mirrors                []revision.Mirror // of a tool's schema
	Support                string            // for calling a tool of the handshake era as a task; see negotiate.TaskSupport
}

// Facts are what a tool's definition has that most have not.
type Facts uint8

// Facts of a tool.
const (
	mirrored Facts = 1 << iota // arguments are repeated as headers
	tasked                     // it can be called as a task of the handshake era
	Wrapping                   // the output schema is wrapped for clients of the handshake era
	Pictured                   // it may have a user interface
	Executed                   // it may have execution, which no client is to see as it is
	Iconic                     // it may have icons
)

// read sets the texts from their spans.
func (it *Item) read() {
	it.Key, _ = rawjson.String(it.Raw, it.KeyAt)
	if it.Name = it.Key; it.NameAt != it.KeyAt {
		it.Name, _ = rawjson.String(it.Raw, it.NameAt)
	}
	it.Title, _ = rawjson.String(it.Raw, it.TitleAt)
}

// Edited returns a tool with another definition, which has its name.
func (it *Item) Edited(logger *slog.Logger, raw []byte) Item {
	out := Item{Raw: rawjson.OneLine(raw)}
	var at [2]rawjson.Span
	if rawjson.Fields(out.Raw, at[:], "name", "title") != nil {
		return *it
	}
	out.NameAt, out.KeyAt, out.TitleAt = at[0], at[0], at[1]
	out.read()
	out.find(logger)
	return out
}

// find sets the facts of a tool, and what they say is there.
func (it *Item) find(logger *slog.Logger) {
	it.Facts = mirrored | tasked
	it.parse(logger)
	it.Facts = 0
	contains := func(text string) bool { return bytes.Contains(it.Raw, []byte(text)) }
	for i, holds := range [...]bool{it.Mirrors != nil, it.Support != "", revision.WrapsOutput(it.Raw), contains(`"ui`), contains(`"execution"`), contains(`"icons"`)} {
		if holds {
			it.Facts |= 1 << i // in the order of the constants
		}
	}
}

// parse sets what the facts say is there.
func (it *Item) parse(logger *slog.Logger) {
	if at, err := rawjson.Field(it.Raw, "inputSchema"); it.Facts&mirrored != 0 && err == nil && at.Present() {
		if it.Mirrors, err = revision.ToolMirrors(at.Of(it.Raw)); err != nil {
			logger.Warn("tool asks for headers in a way that is not allowed", "tool", it.Key, "err", err)
		}
	}
	if it.Facts&tasked != 0 {
		it.Support = negotiate.TaskSupport(it.Raw)
	}
}

// Parse reads one page of a list. Items without a usable key are left out:
// nobody could ask for them.
func Parse(logger *slog.Logger, page json.RawMessage, l Listing) ([]Item, error) {
	spans, err := rawjson.List(page, rawjson.Whole(page), l.Member)
	if err != nil {
		return nil, err
	}
	items := make([]Item, 0, len(spans))
	for _, s := range spans {
		it := Item{Raw: rawjson.OneLine(s.Of(page))}
		var at [3]rawjson.Span
		if rawjson.Fields(it.Raw, at[:], "name", "title", l.Key) != nil {
			logger.Warn("backend lists something that is not an object", "method", l.Method)
			continue
		}
		if member := duplicated(it.Raw, "name", "title", l.Key); member != "" {
			logger.Warn("backend lists something with a member twice", "method", l.Method, "member", member)
			continue
		}
		it.NameAt, it.TitleAt, it.KeyAt = at[0], at[1], at[2]
		if l.Key == "name" {
			it.KeyAt = it.NameAt
		}
		it.read()
		if it.Key == "" {
			logger.Warn("backend lists something without a name", "method", l.Method)
			continue
		}
		if l.Member == "tools" {
			it.find(logger)
		}
		items = append(items, it)
	}
	return items, nil
}

// duplicated returns the first of some members that an object has twice, "" for
// none: which of the two counts depends on who reads.
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

// Follow has an inventory follow what was offered before, nil for nothing. Lists that could not
// be had are those of before. In the others, items that were there keep their order, and new ones
// come behind them: clients' prompt caches hold as far as a list begins as it did.
func (c *Inventory) Follow(before *Inventory) {
	for k := range Kinds {
		switch {
		case before == nil:
		case c.Failed[k] != nil:
			c.Items[k] = before.Items[k]
		default:
			c.Items[k] = inOrder(c.Items[k], before.Items[k])
		}
	}
}

// inOrder returns items in the order of a list of before, new ones at the end.
func inOrder(items, before []Item) []Item {
	same := func(a, b Item) bool { return a.Key == b.Key }
	if len(items) >= len(before) && slices.EqualFunc(items[:len(before)], before, same) {
		return items
	}
	at := make(map[string]int, len(before))
	for i := range before {
		at[before[i].Key] = i + 1
	}
	place := func(it Item) int {
		if i := at[it.Key]; i > 0 {
			return i
		}
		return len(before) + 1
	}
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return place(a) - place(b) })
	return items
}

// Freshness is how long a list may be kept and by whom.
type Freshness struct {
	Until  time.Time // zero for no promise
	Public bool      // one client's answer may be given to others (2026-07-28, Caching)
}

// Hints reads what a page of a list promises (2026-07-28, Caching): nothing where the
// members are absent or invalid.
func Hints(page []byte, received time.Time) Freshness {
	var at [2]rawjson.Span
	if rawjson.Fields(page, at[:], "ttlMs", "cacheScope") != nil {
		return Freshness{}
	}
	scope, _ := rawjson.String(page, at[1])
	f := Freshness{Until: received, Public: scope == "public"}
	if ms, err := strconv.ParseInt(string(at[0].Of(page)), 10, 64); err == nil && ms > 0 {
		f.Until = received.Add(time.Duration(min(ms, maxTTL.Milliseconds())) * time.Millisecond)
	}
	return f
}

// maxTTL bounds what servers promise.
const maxTTL = 24 * time.Hour

// Merged returns the freshness of a list with parts of several servers, none without
// parts.
func Merged(parts []Freshness) (f Freshness) {
	for i, o := range parts {
		if i == 0 || o.Until.Before(f.Until) {
			f.Until = o.Until
		}
		f.Public = o.Public && (i == 0 || f.Public)
	}
	return f
}

// semanticMembers returns the members of a tool that say what it does, to a model and
// to the person who has approved it.
func semanticMembers() []string {
	return []string{"description", "title", "inputSchema", "outputSchema", "annotations"}
}

// Redefined logs tools that a server defines otherwise than before under the same
// name: what a person has approved may not be what is called. How a definition is
// written does not matter: it may differ by era.
func Redefined(logger *slog.Logger, before, after *Inventory) {
	if before == nil || after == nil {
		return
	}
	old := map[string][]byte{}
	for _, it := range before.Items[Tools] {
		old[it.Key] = it.Raw
	}
	for _, it := range after.Items[Tools] {
		was, ok := old[it.Key]
		if !ok || bytes.Equal(was, it.Raw) {
			continue
		}
		a, b := semantics(was), semantics(it.Raw)
		var members []string
		for i, name := range semanticMembers() {
			if a != nil && b != nil && !bytes.Equal(a[i], b[i]) {
				members = append(members, name)
			}
		}
		if members != nil {
			logger.Warn("tool has changed under its name", "tool", it.Key,
				"members", strings.Join(members, ","), "before", digest(a), "after", digest(b))
		}
	}
}

// semantics returns the semantic members of a tool in normal form, nil where it is no
// object.
func semantics(tool []byte) [][]byte {
	names := semanticMembers()
	at, out := make([]rawjson.Span, len(names)), make([][]byte, len(names))
	if rawjson.Fields(tool, at, names...) != nil {
		return nil
	}
	for i := range at {
		out[i] = rawjson.Normal(at[i].Of(tool))
	}
	return out
}

// digest returns a hash of semantics.
func digest(semantics [][]byte) string {
	h := sha256.New()
	for i, name := range semanticMembers() {
		h.Write([]byte(name + "\x00"))
		h.Write(semantics[i])
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
