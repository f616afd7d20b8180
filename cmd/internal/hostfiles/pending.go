package hostfiles

import (
	"context"
	"slices"

	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Waiting is a host that has servers which servers.json has not.
type Waiting struct {
	// Title is the host's own name.
	Title   string
	Servers []string
}

// Pending returns the hosts on this machine with servers that could be imported. What cannot be
// read is left out.
func (im *Import) Pending(ctx context.Context) []Waiting {
	f, err := im.Load()
	if err != nil {
		return nil
	}
	im.taken = map[string][]config.Entry{}
	for _, e := range f.Entries() {
		if e.Fault == nil {
			id := identity(e)
			im.taken[id] = append(im.taken[id], e)
		}
	}
	im.silent = true
	if im.read(ctx, nil) != nil {
		return nil
	}
	var out []Waiting
	seen := map[string]bool{}
	for _, c := range im.found {
		if c.Action != "" || c.entry.Disabled || c.at.Host.Confidence == hosts.Unsure {
			continue
		}
		id := identity(c.entry)
		if len(im.taken[id]) > 0 || seen[id] {
			continue
		}
		seen[id] = true
		title := c.at.Host.Title
		if i := slices.IndexFunc(out, func(w Waiting) bool { return w.Title == title }); i >= 0 {
			out[i].Servers = append(out[i].Servers, c.Name)
			continue
		}
		out = append(out, Waiting{title, []string{c.Name}})
	}
	return out
}
