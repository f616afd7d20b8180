package router

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
)

// maxKnown bounds the principals whose groups are kept. Beyond it all are forgotten.
const maxKnown = 16 << 10

// ViewSelector chooses views. Its methods may be called concurrently. The zero value has no views.
type ViewSelector struct {
	Gate   *gate.Gate // knows the groups of principals; nil: those that their credentials have
	set    atomic.Pointer[views.Set]
	groups atomic.Pointer[groups]
	last   atomic.Pointer[string] // the name of the latest client without a session
}

// groups are those of principals under some policies.
type groups struct {
	set *policy.Set
	of  sync.Map // []string by *access.Principal
	n   atomic.Int64
}

// Set has it choose among other views, nil for none.
func (c *ViewSelector) Set(set *views.Set) { c.set.Store(set) }

// Count returns how many of some clients have each view, nil where there are no views.
func (c *ViewSelector) Count(clients []client.Info) map[string]int {
	names := c.set.Load().Names()
	if names == nil {
		return nil
	}
	out := make(map[string]int, len(names))
	for _, name := range names {
		out[name] = 0
	}
	for i := range clients {
		if name := clients[i].View; name != "" {
			out[name]++
		}
	}
	return out
}

// Of returns what a client sees: the view that its address names, "" for none; else that of
// one of the groups of its principal, or of the program, by its own name for itself, "" for
// unknown. It reports false where the address names no view.
func (c *ViewSelector) Of(address string, principal *access.Principal, program string) (client.Audience, bool) {
	set := c.set.Load()
	if set == nil && address == "" { // nearly always
		return client.Audience{Who: principal}, true
	}
	made, known := set.Choose(address, func(group string) bool { return slices.Contains(c.groupsOf(principal), group) }, program)
	return client.Audience{Who: principal, View: made.View, Private: made.Private}, known
}

// groupsOf returns the groups of a principal.
func (c *ViewSelector) groupsOf(principal *access.Principal) []string {
	set, known := c.Gate.Set(), c.groups.Load()
	if known == nil || known.set != set {
		known = &groups{set: set}
		c.groups.Store(known)
	}
	if all, ok := known.of.Load(principal); ok {
		return all.([]string) //nolint:forcetypeassert // it has nothing else
	}
	if known.n.Add(1) > maxKnown {
		known.of.Clear()
		known.n.Store(1)
	}
	all := set.GroupsOf(principal)
	known.of.Store(principal, all)
	return all
}

// OfRequest is Of for a request that stands alone, whose metadata names the program.
func (c *ViewSelector) OfRequest(address string, principal *access.Principal, meta []byte) (client.Audience, bool) {
	if address != "" || c.set.Load() == nil {
		return c.Of(address, principal, "")
	}
	return c.Of("", principal, c.program(meta, "io.modelcontextprotocol/clientInfo"))
}

// OfInitialize is Of for an initialize request by its params.
func (c *ViewSelector) OfInitialize(address string, principal *access.Principal, params []byte) (client.Audience, bool) {
	return c.Of(address, principal, c.program(params, "clientInfo"))
}

// program returns the name in a member of an object that describes a program, "" for none.
func (c *ViewSelector) program(object []byte, member string) string {
	at, err := rawjson.Field(object, member)
	if err != nil || !at.Present() {
		return ""
	}
	info := at.Of(object)
	if at, err = rawjson.Field(info, "name"); err != nil || !at.Present() {
		return ""
	}
	raw := at.Of(info)
	if last := c.last.Load(); last != nil && len(raw) > 1 && string(raw[1:len(raw)-1]) == *last {
		return *last // programs send requests one after another
	}
	name, _ := rawjson.String(info, at)
	if len(name)+2 == len(raw) { // nothing in it is escaped
		c.last.Store(&name)
	}
	return name
}
