package locking

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func method(l lockfile.List) string {
	return [lockfile.Lists]string{revision.MethodToolsList, revision.MethodPromptsList, revision.MethodResourcesList, revision.MethodResourceTemplatesList}[l]
}

// result is one server in the output of lock.
type result struct {
	Name string `json:"name"`
	// State is locked, for the first time; changed; unchanged; removed; or failed.
	State     string    `json:"state"`
	Tools     int       `json:"tools"`
	Prompts   int       `json:"prompts"`
	Resources int       `json:"resources"`
	Templates int       `json:"resourceTemplates"`
	Resolved  *resolved `json:"resolved,omitempty"`
	Note      string    `json:"note,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// Lock writes what servers offer, of all that are configured or of the named. What
// cannot be reached keeps what was locked of it, and is the error.
func (p *Command) Lock(ctx context.Context, names []string) error {
	f, err := p.Load()
	if err != nil {
		return err
	}
	entries, err := p.choose(f, names)
	if err != nil {
		return err
	}
	files, err := p.loadLocks(f) // before servers are started for nothing
	if err != nil {
		return err
	}
	all, err := p.observe(ctx, entries)
	if err != nil {
		return err
	}
	results := make([]result, len(all))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		gone, err := update(f, path, all, results, len(names) == 0)
		if err != nil {
			return err
		}
		results = append(results, gone...)
	}
	if err := p.printLocked(f, results); err != nil {
		return err
	}
	return p.failed(all)
}

// update writes what was observed of the servers whose lock is at a path, and sets their
// results. With others, it removes servers that are configured no more.
func update(f *config.File, path string, all []*observed, results []result, others bool) (gone []result, err error) {
	mine := func(o *observed) bool { return pathOf(o.entry, f.Path()) == path }
	if !slices.ContainsFunc(all, mine) && !others {
		return nil, nil
	}
	return gone, updateLock(f, path, func(lock *lockfile.File) error {
		gone = nil
		for i, o := range all {
			if !mine(o) {
				continue
			}
			results[i] = o.result(lock.Servers[o.entry.Name])
			if o.err == nil {
				o.put(lock)
			}
		}
		if others {
			gone = removeOthers(lock, path, f)
		}
		return nil
	})
}

// result says what a server's lock becomes; s is what it is, nil for none.
func (o *observed) result(s *lockfile.Server) result {
	r := result{Name: o.entry.Name, State: "locked", Note: o.note}
	if o.err != nil {
		r.State, r.Error = "failed", o.err.Error()
		return r
	}
	if s != nil {
		r.State = "changed"
		if len(o.differences(s)) == 0 {
			r.State = "unchanged"
		}
	}
	counts := [lockfile.Lists]*int{&r.Tools, &r.Prompts, &r.Resources, &r.Templates}
	for l := range lockfile.Lists {
		*counts[l] = len(o.offer.Items[l])
	}
	r.Resolved = resolvedOf(o.resolved)
	return r
}

// removeOthers drops what is locked of servers that are configured no more.
func removeOthers(lock *lockfile.File, path string, f *config.File) []result {
	var gone []result
	for _, name := range slices.Sorted(slices.Values(orphans(f, path, lock))) {
		delete(lock.Servers, name)
		gone = append(gone, result{Name: name, State: "removed"})
	}
	return gone
}

func (p *Command) printLocked(f *config.File, results []result) error {
	path := lockfile.Path(f.Path())
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]any{"file": path, "servers": results})
	}
	if len(results) == 0 {
		p.UI.Info("there is no server to lock; mcpctl add NAME adds one")
		return nil
	}
	rows := make([][]string, len(results))
	for i, r := range results {
		rows[i] = []string{r.Name, r.State, r.offers(), r.leads()}
	}
	if err := p.UI.NameTable([]string{"SERVER", "STATE", "OFFERS", "RUNS"}, rows); err != nil {
		return err
	}
	for _, r := range results {
		if r.Note != "" {
			p.UI.Info("note: %s: %s", r.Name, r.Note)
		}
	}
	p.UI.Info("%s, next to servers.json, is for version control", filepath.Base(path))
	return nil
}

func (r *result) offers() string {
	if r.State == "failed" || r.State == "removed" {
		return ""
	}
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{r.Tools, "tool"}, {r.Prompts, "prompt"}, {r.Resources, "resource"}, {r.Templates, "template"}} {
		if part.n > 0 {
			parts = append(parts, plain.Count(part.n, part.noun))
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func (r *result) leads() string {
	switch {
	case r.State == "failed":
		return r.Error
	case r.Resolved == nil:
		return ""
	}
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Resolved.Type, r.Resolved.Name+r.Resolved.URL+r.Resolved.Command, r.Resolved.Version))
	if r.Resolved.Integrity == nil && (r.Resolved.Type == "npm" || r.Resolved.Type == "pypi" || r.Resolved.Type == "oci") {
		text += " (no digest)"
	}
	return text
}
