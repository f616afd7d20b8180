package hostfiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/failure"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/hosts"
	"github.com/mcpctl/mcpctl/runtime/plain"
)

// gatewayName is the entry of mcpctl serve in a host's file.
const gatewayName = "mcpctl"

// Export writes servers of servers.json to the file of a host.
type Export struct {
	*Program
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
	l, err := ex.location(name)
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
	out, err := ex.write(ctx, l, entries, len(aliases) == 0)
	if err != nil {
		return err
	}
	return ex.print(out)
}

// location returns the file of a host that is written to.
func (p *Program) location(name string, project bool) (*hosts.Location, error) {
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
		return nil, failure.Usage("%s has no file that mcpctl could write to", h.Title)
	case i < 0:
		return nil, failure.Usage("%s has no file for a project", h.Title).WithHint("mcpctl export %s", h.Name)
	}
	return &all[i], nil
}

func (ex *Export) location(name string) (*hosts.Location, error) {
	l, err := ex.Program.location(name, ex.Project)
	if err == nil && l.Host.Confidence == hosts.Unsure && !ex.DryRun {
		return nil, failure.Usage("the form of %s is known from one source only, so nothing is written to its file", l.Host.Title).
			WithHint("mcpctl export %s --dry-run", name)
	}
	return l, err
}

// entries returns the servers of some aliases, all without any.
func (ex *Export) entries(f *config.File, aliases []string) ([]config.Entry, error) {
	if len(aliases) == 0 {
		return f.Entries(), nil
	}
	var out []config.Entry
	for _, alias := range aliases {
		e, err := f.Use(alias)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// errDry ends an edit that is not to be written.
var errDry = errors.New("dry run")

// write edits the file of a host. all says that the entries are all that there are: those
// of an earlier export that are no more are taken out.
func (ex *Export) write(ctx context.Context, l *hosts.Location, entries []config.Entry, all bool) (*exported, error) {
	out := &exported{Host: l.Host.Name, File: l.Path, Servers: []*step{}}
	edit := func(f *hosts.File, exists bool) (*hosts.File, error) {
		led, err := hosts.OpenLedger(ex.StateDir)
		if err != nil {
			return nil, err
		}
		edited, err := ex.edit(led, f, entries, all, out)
		if err != nil {
			return nil, err
		}
		if out.Changed = string(edited.Bytes()) != string(f.Bytes()); !out.Changed {
			return nil, nil
		}
		if ex.DryRun {
			return nil, errDry
		}
		w, err := led.Begin(f, exists)
		if err != nil {
			return nil, err
		}
		w.All, w.Gateway = w.All || all && !ex.Gateway, w.Gateway || ex.Gateway
		for _, s := range out.Servers {
			if s.Action == stateWrite || s.Action == stateRemove {
				w.Note(f, edited, s.Name)
			}
		}
		// The ledger goes first: an entry that is not written in the end is nobody's.
		return edited, led.Save()
	}
	err := hosts.Update(ctx, l, hosts.LockDir(ex.StateDir), edit)
	if errors.Is(err, errDry) {
		err = nil
	}
	return out, err
}

// edit makes the steps of an export.
func (ex *Export) edit(led *hosts.Ledger, f *hosts.File, entries []config.Entry, all bool, out *exported) (*hosts.File, error) {
	if ex.Gateway {
		return ex.editGateway(led, f, entries, out)
	}
	l := f.Location
	for _, e := range entries {
		x := l.Host.Export(e, ex.Self)
		s := &step{Name: e.Name, Entry: x.Raw, Through: x.Through}
		out.Servers = append(out.Servers, s)
		if x.Skip != "" {
			s.Action, s.Reason = stateSkip, x.Skip
			continue
		}
		if other := sameServer(led, f, e); other != "" {
			s.Action, s.Entry, s.Reason = stateSkip, nil, "the host has the same server as "+other
			continue
		}
		var err error
		if f, err = ex.set(led, f, s, e); err != nil {
			return nil, err
		}
		if s.Action == stateTaken && !all {
			return nil, &failure.Error{
				Kind: "config", Err: fmt.Errorf("%s has another server named %s, which mcpctl has not written", ex.short(l.Path), s.Name),
				Remedy: "mcpctl export " + l.Host.Name + " " + s.Name + " --replace overwrites it; --undo brings it back",
			}
		}
	}
	if w := led.Files[l.Key()]; all && w != nil {
		for _, name := range w.Names() {
			gone := !slices.ContainsFunc(entries, func(e config.Entry) bool { return e.Name == name })
			if gone && name != gatewayName && led.Owns(l, name, f.Raw(name)) {
				out.Servers = append(out.Servers, &step{Name: name, Action: stateRemove, Reason: "servers.json has it no more", Before: config.MaskEntry(f.Raw(name))})
				var err error
				if f, err = f.Remove(name); err != nil {
					return nil, err
				}
			}
		}
	}
	return f, nil
}

// sameServer returns the name under which the host has a server by itself, "" for none.
func sameServer(led *hosts.Ledger, f *hosts.File, e config.Entry) string {
	for _, name := range f.Names() {
		if name == e.Name || led.Owns(f.Location, name, f.Raw(name)) {
			continue
		}
		in := f.Import(name, "")
		if theirs, err := parse(name, in.Entry); in.Skip == "" && err == nil && identity(theirs) == identity(e) {
			return name
		}
	}
	return ""
}

// set writes one entry, unless it is there. One that somebody else has written is only
// replaced if that is wanted, or if it is the same server.
func (ex *Export) set(led *hosts.Ledger, f *hosts.File, s *step, e config.Entry) (*hosts.File, error) {
	old := f.Raw(s.Name)
	if old != nil {
		edited, err := f.Set(s.Name, s.Entry)
		if err != nil {
			return nil, &hosts.FileError{Path: f.Location.Path, Err: err}
		}
		if string(edited.Raw(s.Name)) == string(old) {
			s.Action, s.Entry = stateSame, nil
			return f, nil
		}
		if !ex.Replace && !led.Owns(f.Location, s.Name, old) {
			in := f.Import(s.Name, "")
			s.Action, s.Entry, s.Reason = stateSkip, nil, "the host has the same server, as its user has written it; --replace overwrites it"
			if theirs, err := parse(s.Name, in.Entry); in.Skip != "" || err != nil || identity(theirs) != identity(e) {
				s.Action, s.Reason = stateTaken, "the host has another server of this name; --replace overwrites it"
			}
			return f, nil
		}
		s.Before = config.MaskEntry(old)
		s.Action = stateWrite
		return edited, nil
	}
	s.Action = stateWrite
	edited, err := f.Set(s.Name, s.Entry)
	if err != nil {
		return nil, &hosts.FileError{Path: f.Location.Path, Err: err}
	}
	return edited, nil
}

// editGateway writes the entry of mcpctl serve, and takes out the host's entries of servers
// that are in servers.json: the gateway has them.
func (ex *Export) editGateway(led *hosts.Ledger, f *hosts.File, entries []config.Entry, out *exported) (*hosts.File, error) {
	ours := map[string]bool{}
	for _, e := range entries {
		ours[identity(e)] = true
	}
	for _, name := range f.Names() {
		if name == gatewayName {
			continue
		}
		in := f.Import(name, "")
		theirs, err := parse(name, in.Entry)
		if in.Own == "" && (in.Skip != "" || err != nil || !ours[identity(theirs)]) {
			continue
		}
		out.Servers = append(out.Servers, &step{Name: name, Action: stateRemove, Reason: "the gateway has it", Before: config.MaskEntry(f.Raw(name))})
	}
	if n := len(out.Servers); n > 0 && !ex.DryRun {
		yes, err := ex.Asker().Confirm(context.Background(), ui.Question{
			Message: fmt.Sprintf("Take %d servers out of the file, which the gateway has as well", n),
			Help:    "mcpctl export " + f.Location.Host.Name + " --undo brings them back.",
		})
		if err != nil && !errors.Is(err, ui.ErrNoAnswer) {
			return nil, err
		}
		if !yes || err != nil {
			for _, s := range out.Servers {
				s.Action, s.Reason, s.Before = stateSkip, "the gateway has it as well", nil
			}
		}
	}
	raw := f.Location.Host.Gateway(gatewayName, ex.Self)
	s := &step{Name: gatewayName, Entry: raw}
	out.Servers = slices.Insert(out.Servers, 0, s)
	e, err := parse(gatewayName, f.Location.Host.Plain(raw))
	if err != nil {
		return nil, err
	}
	if f, err = ex.set(led, f, s, e); err != nil {
		return nil, err
	}
	for _, s := range out.Servers {
		if s.Action == stateRemove {
			if f, err = f.Remove(s.Name); err != nil {
				return nil, &hosts.FileError{Path: f.Location.Path, Err: err}
			}
		}
	}
	return f, nil
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
		fmt.Fprintf(&b, "%s is changed; mcpctl export %s --undo takes it back\n", ex.short(out.File), out.Host)
	}
	_, err := ex.UI.Out.Write([]byte(b.String()))
	return err
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

// Undo takes back everything that was written to the file of a host.
func (ex *Export) Undo(ctx context.Context, name string) error {
	l, err := ex.Program.location(name, ex.Project)
	if err != nil {
		return err
	}
	var left []string
	gone, exact := false, false
	edit := func(f *hosts.File, _ bool) (*hosts.File, error) {
		led, err := hosts.OpenLedger(ex.StateDir)
		if err != nil {
			return nil, err
		}
		w := led.Files[l.Key()]
		if w == nil {
			return nil, failure.Usage("nothing was written to %s", ex.short(l.Path)).WithHint("mcpctl export %s", name)
		}
		text, ok, err := led.Original(w, f.Bytes())
		if err != nil {
			return nil, err
		}
		if exact = ok; !ok {
			if f, left, err = w.Revert(f); err != nil {
				return nil, &hosts.FileError{Path: l.Path, Err: err}
			}
		} else if gone = text == nil; !gone {
			if f, err = hosts.Read(l, text); err != nil {
				return nil, err
			}
		}
		if ex.DryRun {
			return nil, errDry
		}
		led.Forget(l)
		if gone {
			if err := os.Remove(l.Path); err != nil {
				return nil, err
			}
			return nil, led.Save()
		}
		if err := hosts.Write(l, f.Bytes()); err != nil {
			return nil, err
		}
		return nil, led.Save()
	}
	if err := hosts.Update(ctx, l, hosts.LockDir(ex.StateDir), edit); err != nil && !errors.Is(err, errDry) {
		return err
	}
	for _, entry := range left {
		ex.UI.Note("warning: %s has changed since it was written, and stays", entry)
	}
	if ex.UI.WantJSON() {
		return ex.UI.EncodeJSON(map[string]any{"host": name, "file": l.Path, "removed": gone, "left": append([]string{}, left...)})
	}
	what := "is as it was before the export"
	switch {
	case ex.DryRun:
		what = "would be as it was before the export"
	case gone:
		what = "is gone: there was none before the export"
	case !exact:
		what = "has no more of what was exported; other changes stay"
	}
	_, err = fmt.Fprintf(ex.UI.Out, "%s %s\n", ex.short(l.Path), what)
	return err
}
