package adding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/generating"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/upgrade"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/scaffold"
)

// update shows what would change of one entry, and writes it if the user agrees. What is
// wrong with the entry goes into its result; an error ends the run.
func (u *Updater) update(ctx context.Context, asker ui.Asker, r *result) error {
	if u.Options.Check {
		return nil
	}
	_, silent := asker.(*ui.NonInteractive)
	ask := !silent && !u.Options.Yes && !u.Options.DryRun
	if ask {
		if err := u.askValues(ctx, asker, r); err != nil {
			return err
		}
	}
	next, err := entryOf(r.Name, r.do.up.Entry)
	if err = errors.Join(err, next.Err(), u.checkClearText(next)); err == nil {
		r.noteEntry(next)
		if ask {
			u.showPlan(u.UI.Err, r)
		}
		if err := u.bundles.install(ctx, u.ConfigPath, r.do.up.Entry); err != nil && !u.Options.DryRun {
			r.done(err)
			return nil
		}
		if err := u.compareTools(ctx, asker, ask, r, next); err != nil {
			return err
		}
		if u.Options.DryRun {
			return nil
		}
		if ask {
			if agrees, err := u.agrees(ctx, asker, r); err != nil || !agrees {
				return err
			}
		}
		err = u.write(r)
	}
	r.done(err)
	if err == nil {
		u.keep(r)
	}
	return nil
}

// done notes whether an entry was written.
func (r *result) done(err error) {
	r.State = stateUpdated
	if err != nil {
		r.State, r.Reason, r.do.err = stateFailed, err.Error(), err
	}
}

// agrees asks whether an entry is to be written.
func (u *Updater) agrees(ctx context.Context, asker ui.Asker, r *result) (bool, error) {
	u.showTools(u.UI.Err, r)
	yes, err := asker.Confirm(ctx, ui.Question{Message: fmt.Sprintf("Update %s to %s", r.Name, r.To), Flag: "--yes"})
	if err == nil && !yes {
		r.State = stateDeclined
	}
	return yes, err
}

// askValues asks for the values of inputs that the older version did not have.
func (u *Updater) askValues(ctx context.Context, asker ui.Asker, r *result) error {
	var o scaffold.Options
	given, err := u.AskValues(ctx, asker, r.Required, &o)
	if err != nil || !given {
		return err
	}
	client, err := u.Registry(r.do.entry.Origin.Registry)
	if err != nil {
		return err
	}
	return u.upgrade(ctx, r, client, upgrade.Options{Values: o})
}

// entryOf returns an entry that is in no file.
func entryOf(name string, raw json.RawMessage) (config.Entry, error) {
	key, err := json.Marshal(name)
	if err != nil {
		return config.Entry{}, err
	}
	f, err := config.Parse("", slices.Concat([]byte(`{"mcpServers":{`), key, []byte{':'}, raw, []byte("}}")))
	if err != nil {
		return config.Entry{}, err
	}
	e, _ := f.Entry(name)
	return e, nil
}

// checkClearText refuses a new address to which credentials would go over http.
func (u *Updater) checkClearText(next config.Entry) error {
	if u.AllowInsecureHTTP {
		return nil
	}
	return dial.ClearText(next)
}

// noteEntry adds warnings about a new entry.
func (r *result) noteEntry(next config.Entry) {
	r.Warnings = append(r.Warnings, r.do.up.Plan.Warnings...)
	if r.do.up.Guessed {
		r.warn("the registry has no %s any more, so only the version is changed; what else the new version needs is not known", r.From)
	}
	if next.Command != r.do.entry.Command && next.Command == r.do.up.Plan.Runner {
		if _, err := exec.LookPath(next.Command); err != nil {
			r.warn("%s is not on the PATH of this machine", next.Command)
		}
	}
}

// compareTools connects to the server as it would be, and compares its tools with those
// that were last listed. A server that cannot be reached is no reason against an update.
func (u *Updater) compareTools(ctx context.Context, asker ui.Asker, ask bool, r *result, next config.Entry) error {
	if u.Options.NoStart || next.Connection() == r.do.entry.Connection() {
		return nil
	}
	if ask && next.URL == "" {
		yes, err := asker.Confirm(ctx, ui.Question{
			Message: "Start " + r.Name + " " + r.To + " to compare its tools",
			Help:    "The new version runs on this machine then, and ends when its tools are listed.",
		})
		if err != nil {
			return err
		}
		if !yes {
			r.Tools = &toolChanges{Reason: "not started"}
			return nil
		}
	}
	r.Tools = u.toolChanges(ctx, r, next)
	return ctx.Err()
}

// toolChanges lists the tools of the new entry and compares them with those of the old one.
func (u *Updater) toolChanges(ctx context.Context, r *result, next config.Entry) *toolChanges {
	tools, err := u.listTools(ctx, next)
	if err != nil {
		return &toolChanges{Reason: err.Error()}
	}
	r.do.tools = tools
	t := &toolChanges{Count: len(tools)}
	old, found := u.Known.Load(ctx, []config.Entry{r.do.entry}, "tools")[r.Name]
	if !found {
		t.Reason = "the tools of " + r.From + " were never listed"
		return t
	}
	before := make([]runtime.Tool, len(old.Items))
	for i, raw := range old.Items {
		if err := json.Unmarshal(raw, &before[i]); err != nil {
			t.Reason = "the stored list of " + r.From + " cannot be read"
			return t
		}
		before[i].Raw = raw
	}
	if t.Report, err = generating.CompareTools(before, tools); err != nil {
		t.Reason = err.Error()
	}
	t.Same = err == nil && t.Report == nil
	return t
}

// How long a child process may take to end.
const (
	grace    = 30 * time.Millisecond
	shutdown = 500 * time.Millisecond
)

// listTools connects to a server and lists its tools.
func (u *Updater) listTools(ctx context.Context, entry config.Entry) ([]runtime.Tool, error) {
	o := u.Dial(entry)
	o.Grace, o.ShutdownTimeout = grace, shutdown
	c, err := dial.Dial(ctx, entry, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return c.ListTools(ctx)
}

// errChanged says that an entry is not the one any more that the user has agreed to change.
var errChanged = errors.New("the entry has changed meanwhile, so it is left as it is; run mcpctl update again")

// write writes the new entry.
func (u *Updater) write(r *result) error {
	return config.Update(u.ConfigPath, func(f *config.File) error {
		if e, ok := f.Entry(r.Name); !ok || e.Digest() != r.do.entry.Digest() {
			return errChanged
		}
		return f.Amend(r.Name, r.do.up.Entry)
	})
}

// keep stores the tools that were listed for the new entry.
func (u *Updater) keep(r *result) {
	if r.do.tools == nil {
		return
	}
	f, err := u.Load()
	if err != nil {
		return
	}
	if e, ok := f.Entry(r.Name); ok {
		items := make([]json.RawMessage, len(r.do.tools))
		for i := range r.do.tools {
			items[i] = r.do.tools[i].Raw
		}
		u.Known.Keep(e, "tools", items)
	}
}
