package adding

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/packages"
	"github.com/mcpctl/mcpctl/internal/upgrade"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const (
	// maxAsked is how many records are asked for at once.
	maxAsked = 8
	// packageTime bounds what a package's own registry may take.
	packageTime = 15 * time.Second
)

// check asks the registries of all entries for newer versions.
func (u *Updater) check(ctx context.Context, entries []config.Entry) []*result {
	results := make([]*result, len(entries))
	places := make(chan struct{}, maxAsked)
	var all sync.WaitGroup
	for i, e := range entries {
		results[i] = &result{Name: e.Name, State: stateSkipped, do: work{entry: e}}
		switch {
		case e.Origin == nil:
			results[i].Reason = "it was not added from a registry"
			continue
		case e.Fault != nil:
			results[i].Reason = e.Fault.Message
			continue
		}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if err := u.lookAt(ctx, results[i]); err != nil {
				results[i].State, results[i].Reason, results[i].do.err = stateFailed, err.Error(), err
			}
		})
	}
	all.Wait()
	return results
}

// lookAt asks the registry of one entry.
func (u *Updater) lookAt(ctx context.Context, r *result) error {
	origin := r.do.entry.Origin
	client, err := u.Registry(origin.Registry)
	if err != nil {
		return err
	}
	r.Server, r.From = origin.Name, origin.Version
	h, err := client.History(ctx, origin.Name)
	if err != nil {
		return err
	}
	r.do.old = h.Find(origin.Version)
	r.noteOld()
	r.do.now = h.Choice(u.Options.Pre)
	if r.do.now == nil {
		r.Reason = "all versions were deleted from the registry"
		return nil
	}
	if !r.isNewer() {
		r.State = stateCurrent
		if latest := h.Latest(); r.do.old != nil && registry.IsPrerelease(latest.Server.Version) && registry.Newer(latest, r.do.old) {
			r.warn("%s is a prerelease; --pre takes it", latest.Server.Version)
		}
		u.lookAtPackage(ctx, r, client, r.do.now)
		return nil
	}
	r.State, r.To = stateNewer, r.do.now.Server.Version
	if m := r.do.now.Meta; m.Status == registry.Deprecated {
		r.warn("%s", strings.TrimSuffix(r.To+" is deprecated: "+m.StatusMessage, ": "))
	}
	if err := u.upgrade(ctx, r, client, upgrade.Options{}); err != nil {
		return err
	}
	u.lookAtPackage(ctx, r, client, r.do.now)
	return nil
}

// isNewer reports whether the chosen version is newer than the one in use. Of one that the
// registry does not have any more, only the version is known.
func (r *result) isNewer() bool {
	old := r.do.old
	if old == nil {
		old = &registry.Record{Server: registry.Server{Version: r.From}}
	}
	return registry.Newer(r.do.now, old)
}

// noteOld says what the registry says of the version in use.
func (r *result) noteOld() {
	if r.do.old == nil {
		return
	}
	if m := r.do.old.Meta; m.Status != registry.Active {
		r.warn("%s", strings.TrimSuffix(fmt.Sprintf("%s, which is in use, is %s: %s", r.From, m.Status, m.StatusMessage), ": "))
	}
}

func (r *result) warn(format string, a ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, a...))
}

// upgrade makes the new entry, with some values besides those of the old one.
func (u *Updater) upgrade(ctx context.Context, r *result, client *registry.Client, more upgrade.Options) error {
	o := upgrade.Options{Registry: r.do.entry.Origin.Registry, OfficialRegistry: client.Official(), Force: u.Options.Force, Values: more.Values}
	if u.Bundles != nil && u.Bundles.Holds(strings.ReplaceAll(r.do.entry.Cwd, "$$", "$")) {
		o.Bundle = u.bundles.reader(ctx, more.Values.Args)
	}
	preferred := "yours"
	if u.Options.Theirs {
		o.Prefer, preferred = upgrade.Theirs, "theirs"
	}
	var old *registry.Server
	if r.do.old != nil {
		old = &r.do.old.Server
	}
	up, err := upgrade.New(old, &r.do.now.Server, r.do.entry, o)
	if gone, ok := errors.AsType[*upgrade.GoneError](err); ok {
		return &hinted{fmt.Errorf("%s %s: %w", r.Server, r.do.now.Server.Version, gone), "mcpctl info " + r.Server + " shows what there is, and mcpctl add " + r.Server + " --as " + r.Name + " --replace takes it"}
	}
	if err != nil {
		return err
	}
	r.do.up, r.Entry, r.Required, r.Conflicts = up, up.Mask(up.Entry), up.Required, nil
	for _, c := range up.Conflicts {
		r.Conflicts = append(r.Conflicts, conflict{strings.Join(c.Path, "."), maskPart(up, c.Path, c.Mine), maskPart(up, c.Path, c.Theirs), preferred})
	}
	return nil
}

// hinted is an error with what mends it.
type hinted struct {
	error
	hint string
}

// Hint returns what mends it.
func (e *hinted) Hint() string { return e.hint }

// Unwrap returns the cause.
func (e *hinted) Unwrap() error { return e.error }

// lookAtPackage asks the package's own registry whether it has a newer version than a
// record. Where that is not known nothing is said.
func (u *Updater) lookAtPackage(ctx context.Context, r *result, client *registry.Client, rec *registry.Record) {
	if u.Packages == nil {
		return
	}
	var p *registry.Package
	if r.do.up != nil {
		p = r.do.up.Package
	} else {
		p = upgrade.Running(&rec.Server, r.do.entry)
	}
	if p == nil {
		return
	}
	name, version := upgrade.Coordinates(p)
	base := p.RegistryBaseURL
	if client.Official() || p.RegistryType == "oci" {
		base = ""
	}
	ctx, stop := context.WithTimeout(ctx, packageTime)
	defer stop()
	release, err := u.Packages.Look(ctx, packages.Package{Type: p.RegistryType, Base: base, Name: name})
	if err == nil && version != "" && registry.CompareVersions(release.Latest, version) > 0 {
		r.Package = &newerPackage{p.RegistryType, name, version, release.Latest}
	}
}
