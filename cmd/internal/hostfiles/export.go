package hostfiles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// gatewayName is the entry of mcpctl serve in a host's file.
const gatewayName = "mcpctl"

// Export writes servers of servers.json to the file of a host.
type Export struct {
	*Command
	Project, Gateway, DryRun, Replace bool
	// Self is how hosts start mcpctl.
	Self hosts.Self

	quiet bool // what is not written is not named
}

// What becomes of an entry in a host's file.
const (
	stateWrite  = "write"
	stateSame   = "unchanged"
	stateSkip   = "skip"
	stateRemove = "remove"
	stateTaken  = "taken" // the host has another server of that name
)

// step is one entry of an export.
type step struct {
	Name   string          `json:"name"`
	Action string          `json:"action"`
	Entry  json.RawMessage `json:"entry,omitempty"`
	// Before is what is replaced or taken out, with secrets masked.
	Before json.RawMessage `json:"before,omitempty"`
	Reason string          `json:"reason,omitempty"`
	// Through is why the host starts mcpctl, which reaches the server.
	Through string `json:"through,omitempty"`
}

// exported is what an export did.
type exported struct {
	Host    string  `json:"host"`
	File    string  `json:"file"`
	Changed bool    `json:"changed"`
	Servers []*step `json:"servers"`
}

// Run exports the servers of some aliases to a host, by default all that are enabled.
func (ex *Export) Run(ctx context.Context, name string, aliases []string) error {
	l, err := ex.target(name)
	if err != nil {
		return err
	}
	f, err := ex.Load()
	if err != nil {
		return err
	}
	entries, err := ex.entries(f, aliases)
	if err != nil {
		return err
	}
	p := plan{entries: entries, all: len(aliases) == 0, named: len(aliases) > 0}
	if ex.Gateway {
		if p, err = ex.gatewayPlan(ctx, l, entries); err != nil {
			return err
		}
	}
	out, err := ex.write(ctx, l, p)
	if err != nil {
		return err
	}
	return ex.print(out)
}

// location returns the file of a host, of the user or of the project.
func (p *Command) location(name string, project bool) (*hosts.Location, error) {
	h, err := host(name)
	if err != nil {
		return nil, err
	}
	want := hosts.ScopeUser
	if project {
		want = hosts.ScopeProject
	}
	all := h.Locations(p.Place)
	i := slices.IndexFunc(all, func(l hosts.Location) bool { return l.Scope == want })
	switch {
	case len(all) == 0:
		return nil, ui.Usage("%s has no file that mcpctl could write to", h.Title)
	case i < 0:
		return nil, ui.Usage("%s has no file for a project", h.Title).WithHint("mcpctl export %s", h.Name)
	}
	if project {
		if err := layers.Inside(p.Place.Dir, all[i].Path); err != nil {
			return nil, err
		}
	}
	return &all[i], nil
}

// target is location for a file that is written to.
func (ex *Export) target(name string) (*hosts.Location, error) {
	if h := hosts.Find(name); h != nil && h.ReadOnly() {
		return nil, ui.Usage("%s is a gateway: nothing is written to its files", h.Title).WithHint("mcpctl import %s reads them", name)
	}
	l, err := ex.location(name, ex.Project)
	if err == nil && l.Host.Confidence == hosts.Unsure && !ex.DryRun {
		return nil, ui.Usage("the form of %s is known from one source only, so nothing is written to its file", l.Host.Title).
			WithHint("mcpctl export %s --dry-run", name)
	}
	return l, err
}

// entries returns the servers of some aliases, all without any.
func (ex *Export) entries(f *config.File, aliases []string) ([]config.Entry, error) {
	if len(aliases) == 0 {
		return f.Entries(), nil
	}
	return f.UseAll(aliases)
}

// errDry ends an edit that is not to be written.
var errDry = errors.New("dry run")

// write edits the file of a host: in each step of the plan, or with --dry-run in none.
func (ex *Export) write(ctx context.Context, l *hosts.Location, p plan) (*exported, error) {
	out := &exported{Host: l.Host.Name, File: l.Path, Servers: []*step{}}
	err := hosts.Update(ctx, l, hosts.LockDir(ex.StateDir), func(f *hosts.File, exists bool) (*hosts.File, error) {
		led, err := hosts.OpenLedger(ex.StateDir)
		if err != nil {
			return nil, err
		}
		ed := newEdit(ex, led, f, out)
		if err := ed.run(p); err != nil {
			return nil, err
		}
		if out.Changed = !bytes.Equal(ed.f.Bytes(), f.Bytes()); !out.Changed {
			return nil, nil
		}
		if ex.DryRun {
			return nil, errDry
		}
		w, err := led.Start(f, exists)
		if err != nil {
			return nil, err
		}
		w.All, w.Gateway = w.All || p.all, w.Gateway || p.gateway
		for _, s := range out.Servers {
			if s.Action == stateWrite || s.Action == stateRemove {
				w.Record(f, ed.f, s.Name)
			}
		}
		// The ledger goes first: an entry that is not written in the end is nobody's.
		return ed.f, led.Save()
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	return out, err
}

// print says what was written.
func (ex *Export) print(out *exported) error {
	if ex.UI.WantJSON() {
		return ex.UI.EncodeJSON(out)
	}
	var b strings.Builder
	for _, s := range out.Servers {
		if ex.quiet && s.Action != stateWrite && s.Action != stateRemove {
			continue
		}
		verb := map[string]string{stateWrite: "wrote", stateRemove: "removed"}[s.Action]
		if ex.DryRun {
			verb = map[string]string{stateWrite: "would write", stateRemove: "would remove"}[s.Action]
		}
		if verb == "" {
			verb = s.Action
		}
		line := verb + " " + plain.Line(s.Name)
		if s.Reason != "" {
			line += ": " + plain.Line(s.Reason)
		} else if s.Through != "" {
			line += ", through mcpctl: " + plain.Line(s.Through)
		}
		b.WriteString(line + "\n")
		if ex.DryRun {
			b.WriteString(prefixed("- ", s.Before) + prefixed("+ ", s.Entry))
		}
	}
	switch {
	case !out.Changed:
		fmt.Fprintf(&b, "%s is as it was\n", ex.short(out.File))
	case ex.DryRun:
		fmt.Fprintf(&b, "%s would be changed\n", ex.short(out.File))
	default:
		fmt.Fprintf(&b, "%s is changed; %s takes it back\n", ex.short(out.File), ex.undo(out.Host, ex.Project))
	}
	_, err := ex.UI.Out.Write([]byte(b.String()))
	return err
}

// undo returns the command that takes back what was written to the file of a host.
func (*Export) undo(host string, project bool) string {
	if project {
		host += " --project"
	}
	return "mcpctl export " + host + " --undo"
}

// prefixed returns the lines of an entry, each behind a prefix; "" for no entry.
func prefixed(prefix string, entry json.RawMessage) string {
	if entry == nil {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(config.Format(entry) + "\n") {
		b.WriteString(prefix + strings.TrimRight(ui.Clean(line), "\r\n") + "\n")
	}
	return b.String()
}
