package hostfiles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// plan is what a host's file is to have.
type plan struct {
	entries []config.Entry
	// all says that servers which are added later are exported by sync as well, named that
	// the user has named each entry.
	all, named bool
	// prune takes out what was written earlier and is not among the entries.
	prune bool
	// gateway writes the entry of mcpctl serve instead, and takes out the servers that it
	// replaces; those in kept stay.
	gateway             bool
	replaced, unchanged []string
}

// edit is one edit of a host's file.
type edit struct {
	ex  *Export
	led *hosts.Ledger
	f   *hosts.File
	out *exported
	// theirs are the servers that the file had by itself before the edit, by identity.
	theirs map[string]string
}

func newEdit(ex *Export, led *hosts.Ledger, f *hosts.File, out *exported) *edit {
	ed := &edit{ex, led, f, out, map[string]string{}}
	for _, name := range f.Names() {
		if e, ok := imported(f, name); ok && !led.Owns(f.Location, name, f.Raw(name)) {
			ed.theirs[identity(e)] = name
		}
	}
	return ed
}

// imported returns a server of a host as servers.json has it; false where it has no form
// there.
func imported(f *hosts.File, name string) (config.Entry, bool) {
	in := f.Import(name, "")
	if in.Skip != "" {
		return config.Entry{}, false
	}
	e, err := parse(name, in.Entry)
	return e, err == nil
}

// run makes the steps of a plan.
func (ed *edit) run(p plan) error {
	if p.gateway {
		return ed.gateway(p)
	}
	for _, e := range p.entries {
		x := ed.f.Location.Host.Export(e, ed.ex.Self)
		s := ed.step(&step{Name: e.Name, Entry: x.Raw, Through: x.Through})
		other := ed.theirs[identity(e)]
		switch {
		case x.Skip != "":
			s.skip(x.Skip)
			continue
		case other != "" && other != e.Name:
			s.skip("the host has the same server as " + other)
			continue
		}
		if err := ed.set(s, e); err != nil {
			return err
		}
		if s.Action == stateTaken && p.named {
			return &ui.Error{
				Kind: "config", Err: fmt.Errorf("%s has another server named %s, which mcpctl has not written", ed.ex.short(ed.f.Location.Path), s.Name),
				Remedy: "mcpctl export " + ed.f.Location.Host.Name + " " + s.Name + " --replace overwrites it; --undo brings it back",
			}
		}
	}
	if p.prune || p.all {
		return ed.prune(p.entries)
	}
	return nil
}

// step adds a step to the result.
func (ed *edit) step(s *step) *step {
	ed.out.Servers = append(ed.out.Servers, s)
	return s
}

func (s *step) skip(why string) { s.Action, s.Entry, s.Reason = stateSkip, nil, why }

// prune takes out entries of ours that are no more.
func (ed *edit) prune(entries []config.Entry) error {
	w := ed.led.Files[ed.f.Location.Key()]
	if w == nil {
		return nil
	}
	for _, name := range w.Names() {
		exists := slices.ContainsFunc(entries, func(e config.Entry) bool { return e.Name == name })
		if !exists && name != gatewayName && ed.led.Owns(ed.f.Location, name, ed.f.Raw(name)) {
			if err := ed.remove(name, "servers.json has it no more"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (ed *edit) remove(name, why string) error {
	ed.step(&step{Name: name, Action: stateRemove, Reason: why, Before: config.MaskEntry(ed.f.Raw(name))})
	return ed.become(ed.f.Remove(name))
}

func (ed *edit) become(f *hosts.File, err error) error {
	if err != nil {
		return &hosts.FileError{Path: ed.f.Location.Path, Err: err}
	}
	ed.f = f
	return nil
}

// set writes one entry, unless it is there. One that somebody else has written is only
// replaced if that is wanted.
func (ed *edit) set(s *step, e config.Entry) error {
	before, old := ed.f, ed.f.Raw(s.Name)
	if err := ed.become(ed.f.Set(s.Name, s.Entry)); err != nil {
		return err
	}
	s.Action = stateWrite
	switch {
	case old == nil:
		return nil
	case string(ed.f.Raw(s.Name)) == string(old):
		s.Action, s.Entry, ed.f = stateSame, nil, before
	case ed.ex.Replace || ed.led.Owns(ed.f.Location, s.Name, old):
		s.Before = config.MaskEntry(old)
	case ed.theirs[identity(e)] == s.Name:
		ed.f = before
		s.skip("the host has the same server, as its user has written it; --replace overwrites it")
	default:
		ed.f = before
		s.skip("the host has another server of this name; --replace overwrites it")
		s.Action = stateTaken
	}
	return nil
}

// gatewayPlan returns the plan for a gateway to some servers. It asks whether the host's
// entries of these are taken out; where nobody answers they stay.
func (ex *Export) gatewayPlan(ctx context.Context, l *hosts.Location, entries []config.Entry) (plan, error) {
	p := plan{gateway: true}
	f, _, err := l.Load()
	if err != nil {
		return p, err
	}
	ours := map[string]bool{}
	for _, e := range entries {
		ours[identity(e)] = true
	}
	for _, name := range f.Names() {
		e, ok := imported(f, name)
		if name != gatewayName && ok && (ours[identity(e)] || f.Import(name, "").Own != "") {
			p.replaced = append(p.replaced, name)
		}
	}
	if len(p.replaced) == 0 || ex.DryRun {
		return p, nil
	}
	yes, err := ex.Asker().Confirm(ctx, ui.Question{
		Message: fmt.Sprintf("Take %d servers out of the file, which the gateway has as well", len(p.replaced)),
		Help:    "mcpctl export " + l.Host.Name + " --undo brings them back.",
	})
	switch {
	case errors.Is(err, ui.ErrNoAnswer), err == nil && !yes:
		p.replaced, p.unchanged = nil, p.replaced
	case err != nil:
		return p, err
	}
	return p, nil
}

// gateway writes the entry of mcpctl serve, and takes out the servers that it replaces.
func (ed *edit) gateway(p plan) error {
	raw := ed.f.Location.Host.Gateway(gatewayName, ed.ex.Self)
	e, err := parse(gatewayName, ed.f.Location.Host.Plain(raw))
	if err != nil {
		return err
	}
	if err := ed.set(ed.step(&step{Name: gatewayName, Entry: raw}), e); err != nil {
		return err
	}
	for _, name := range p.unchanged {
		ed.step(&step{Name: name}).skip("the gateway has it as well")
	}
	for _, name := range p.replaced {
		if ed.f.Raw(name) == nil {
			continue // somebody has taken it out meanwhile
		}
		if err := ed.remove(name, "the gateway has it"); err != nil {
			return err
		}
	}
	return nil
}
