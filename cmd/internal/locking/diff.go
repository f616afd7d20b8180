package locking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// compared is one server in the output of lock diff and lock verify.
type compared struct {
	Name string `json:"name"`
	// State is same, changed, unlocked or failed; removed of one that is not
	// configured any more.
	State   string         `json:"state"`
	Changes []changeOutput `json:"changes"`
	Note    string         `json:"note,omitempty"`
	Error   string         `json:"error,omitempty"`
}

type changeOutput struct {
	What        string       `json:"what"`
	Name        string       `json:"name,omitempty"`
	State       string       `json:"state"`
	Differences []difference `json:"differences,omitempty"`
}

type difference struct {
	Where string `json:"where"`
	Was   string `json:"was,omitempty"`
	Is    string `json:"is,omitempty"`
}

// Diff shows how servers differ from what is locked of them, all that are configured
// or the named. A difference is the error, of the kind drift.
func (p *Command) Diff(ctx context.Context, names []string) error {
	return p.compare(ctx, names, func(results []compared) error {
		for i := range results {
			if err := p.printChanges(&results[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Verify is Diff as a check: a line for each server. Offline it starts none, and
// compares the entries alone.
func (p *Command) Verify(ctx context.Context, names []string, offline bool) error {
	lines := func(results []compared) error {
		rows := make([][]string, len(results))
		for i := range results {
			rows[i] = []string{results[i].Name, results[i].State, results[i].summary()}
		}
		return p.UI.NameTable([]string{"SERVER", "STATE", "DIFFERENCE"}, rows)
	}
	if !offline {
		return p.compare(ctx, names, lines)
	}
	f, lock, entries, err := p.open(names)
	if err != nil {
		return err
	}
	all := make([]*observed, len(entries))
	for i, e := range entries {
		all[i] = &observed{entry: e, err: e.Err()}
	}
	return p.conclude(f, lock, all, names, lines)
}

// open reads servers.json and the lock, and chooses the servers to compare.
func (p *Command) open(names []string) (*config.File, locks, []config.Entry, error) {
	f, err := p.Load()
	if err != nil {
		return nil, nil, nil, err
	}
	entries, err := p.choose(f, names)
	if err != nil {
		return nil, nil, nil, err
	}
	lock, err := p.loadLocks(f)
	return f, lock, entries, err
}

func (p *Command) compare(ctx context.Context, names []string, show func([]compared) error) error {
	f, lock, entries, err := p.open(names)
	if err != nil {
		return err
	}
	all, err := p.observe(ctx, entries)
	if err != nil {
		return err
	}
	return p.conclude(f, lock, all, names, show)
}

// conclude shows how servers differ from their locks, and returns the error for that:
// a difference goes before a server that could not be reached.
func (p *Command) conclude(f *config.File, lock locks, all []*observed, names []string, show func([]compared) error) error {
	results := make([]compared, len(all))
	differs := false
	for i, o := range all {
		results[i] = o.compare(lock.of(o.entry, f))
	}
	if len(names) == 0 {
		for _, name := range lock.others(f) {
			results = append(results, compared{Name: name, State: "removed", Changes: []changeOutput{{What: "entry", State: string(lockfile.Gone)}}})
		}
	}
	var first string
	for i := range results {
		if s := results[i].State; s == "changed" || s == "unlocked" || s == "removed" {
			differs = true
			if first == "" {
				first = results[i].Name
			}
		}
	}
	if p.UI.WantJSON() {
		if err := p.UI.EncodeJSON(map[string]any{"servers": results}); err != nil {
			return err
		}
	} else if err := show(results); err != nil {
		return err
	}
	unreached := p.failed(all)
	switch {
	case !differs && unreached == nil && len(results) == 0:
		p.UI.Info("there is no server to compare")
		return nil
	case !differs:
		return unreached
	case unreached != nil:
		p.UI.Info("warning: %v", unreached)
	}
	return &ui.Error{Kind: "drift", Err: errors.New("servers differ from " + filepath.Base(lockfile.Path(f.Path()))), Remedy: "mcpctl lock approve " + first + " takes over what it says now"}
}

// compare compares a server with its lock, nil for none. Without an offer only the
// entry and the lock itself are looked at.
func (o *observed) compare(s *lockfile.Server) compared {
	c := compared{Name: o.entry.Name, State: "same", Changes: []changeOutput{}, Note: o.note}
	if o.err != nil {
		c.State, c.Error = "failed", o.err.Error()
		return c
	}
	if s == nil {
		c.State = "unlocked"
		return c
	}
	for _, name := range s.Damaged() {
		c.Changes = append(c.Changes, changeOutput{What: "text of", Name: name, State: damaged})
	}
	changes := o.differences(s)
	for i := range changes {
		c.Changes = append(c.Changes, outputOf(&changes[i]))
	}
	if len(c.Changes) > 0 {
		c.State = "changed"
	}
	return c
}

func outputOf(change *lockfile.Change) changeOutput {
	out := changeOutput{What: change.What, Name: change.Key, State: string(change.State)}
	for _, d := range change.Differences() {
		out.Differences = append(out.Differences, difference(d))
	}
	return out
}

// summary returns the changes in a few words.
func (c *compared) summary() string {
	switch c.State {
	case "failed":
		return c.Error
	case "unlocked":
		return "nothing is locked of it: mcpctl lock " + c.Name
	case "removed":
		return "it is locked, and not configured: mcpctl lock"
	}
	const most = 4
	var parts []string
	for i, change := range c.Changes {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(c.Changes)-most))
			break
		}
		parts = append(parts, change.title())
	}
	return strings.Join(parts, "; ")
}

func (c *changeOutput) title() string {
	switch {
	case c.State == damaged:
		return c.What + " " + plain.EscapeInvisible(c.Name) + " " + verb(c.State)
	case c.Name == "":
		return "its " + c.What + " " + verb(c.State)
	}
	return c.What + " " + plain.EscapeInvisible(c.Name) + " " + verb(c.State)
}

// damaged is the state of what does not fit its digest in the lock file, which was
// edited by hand or merged.
const damaged = "damaged"

func verb(state string) string {
	return map[string]string{
		string(lockfile.New): "is new", string(lockfile.Changed): "has changed", string(lockfile.Gone): "is gone",
		damaged: "in the lock file does not fit its digest",
	}[state]
}

// printChanges writes what has changed of a server, place by place.
func (p *Command) printChanges(c *compared) error {
	page := &ui.Page{UI: p.UI}
	switch c.State {
	case "same":
		page.Line("%s: as it is locked", plain.Line(c.Name))
	case "changed":
		page.Line("%s: %s", plain.Line(c.Name), plain.Count(len(c.Changes), "change"))
	default:
		page.Line("%s: %s", plain.Line(c.Name), plain.Line(c.summary()))
	}
	for i := range c.Changes {
		change := &c.Changes[i]
		if c.State == "removed" {
			break
		}
		page.Line("  %s", change.title())
		for _, d := range change.Differences {
			printDifference(page, d, change)
		}
	}
	if c.Note != "" {
		p.UI.Info("note: %s: %s", c.Name, c.Note)
	}
	return page.Err
}

func printDifference(page *ui.Page, d difference, change *changeOutput) {
	if d.Where != change.What {
		page.Line("    %s", d.Where)
	}
	for _, side := range []struct{ sign, text string }{{"-", d.Was}, {"+", d.Is}} {
		if side.text == "" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimRight(side.text, "\n"), "\n") {
			page.Line("      %s %s", side.sign, line)
		}
	}
}

// Approve takes over what a server says now: all of it, or the entries of a name or
// URI. It shows the difference first and asks, unless yes.
func (p *Command) Approve(ctx context.Context, what string, yes bool) error {
	if !yes && p.UI.WantJSON() {
		return ui.Usage("as JSON, approve shows the change together with the result").WithHint("mcpctl lock diff --json shows it before; then mcpctl lock approve %s --yes", what)
	}
	f, lock, _, err := p.open(nil)
	if err != nil {
		return err
	}
	alias, item, part := strings.Cut(what, "/")
	entry, err := f.Use(alias)
	if err != nil {
		return err
	}
	if part && item == "" {
		return ui.Usage("%s/ names no tool", alias).WithHint("mcpctl lock approve %s", alias)
	}
	all, err := p.observe(ctx, []config.Entry{entry})
	if err != nil {
		return err
	}
	o := all[0]
	if err := p.failed(all); err != nil {
		return err
	}
	s := lock.of(entry, f)
	changes := o.differences(s)
	if part {
		changes = slices.DeleteFunc(changes, func(c lockfile.Change) bool { return c.Key != item })
	}
	if len(changes) == 0 && (s != nil || part) {
		return p.nothingToApprove(o, s, item)
	}
	shown := compared{Name: alias, State: "changed", Changes: []changeOutput{}, Note: o.note}
	for i := range changes {
		shown.Changes = append(shown.Changes, outputOf(&changes[i]))
	}
	if !p.UI.WantJSON() {
		if err := p.printChanges(&shown); err != nil {
			return err
		}
	}
	if !yes {
		if err := p.consent(ctx, what, len(changes)); err != nil {
			return err
		}
	}
	err = updateLock(f, pathOf(entry, f.Path()), func(lock *lockfile.File) error {
		if !part {
			o.put(lock)
			return nil
		}
		s := lock.Servers[alias]
		if s == nil {
			s = &lockfile.Server{}
			lock.Servers[alias] = s
			o.putEntry(s)
		}
		for i := range changes {
			s.TakeChange(&changes[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]any{"approved": shown})
	}
	p.UI.Info("approved: %s", plain.Line(what))
	return nil
}

// nothingToApprove says that a server, or a part of it, is as it is locked; or that it
// has no such part.
func (p *Command) nothingToApprove(o *observed, s *lockfile.Server, item string) error {
	known := item == ""
	for l := range lockfile.Lists {
		_, locked := s.Item(l, item)
		known = known || locked
	}
	if !known {
		return ui.Usage("%s has no tool, prompt or resource %s", o.entry.Name, plain.Line(item)).WithHint("mcpctl lock diff %s", o.entry.Name)
	}
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]any{"approved": compared{Name: o.entry.Name, State: "same", Changes: []changeOutput{}}})
	}
	p.UI.Info("nothing to approve: it is as it is locked")
	return nil
}

func (p *Command) consent(ctx context.Context, what string, n int) error {
	asker := p.Asker
	if asker == nil {
		asker = p.UI.Asker()
	}
	// Leaving it is what a bare Enter does.
	answer, err := asker.Select(ctx, ui.Question{Message: fmt.Sprintf("Approve %s of %s", plain.Count(n, "change"), plain.Line(what)), Flag: "--yes"}, []string{"leave it", "approve"})
	switch {
	case errors.Is(err, ui.ErrNoAnswer):
		return ui.Usage("approve needs consent, and there is nobody to ask").WithHint("mcpctl lock approve %s --yes", what)
	case err != nil:
		return err
	case answer == 0:
		return errors.New("nothing is approved")
	}
	return nil
}

func resolvedOf(raw json.RawMessage) *resolved {
	var r resolved
	if raw == nil || json.Unmarshal(raw, &r) != nil {
		return nil
	}
	return &r
}
