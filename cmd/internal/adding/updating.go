package adding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/generating"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/packages"
	"github.com/mcpctl/mcpctl/internal/upgrade"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// UpdateOptions are the user's decisions.
type UpdateOptions struct {
	// Check only says whether something is newer; DryRun shows what would change.
	Check, DryRun bool
	// Yes asks for nothing.
	Yes bool
	// Pre takes prereleases, Force versions that are refused as dangerous.
	Pre, Force bool
	// Theirs takes the registry's value in a conflict, and not the user's.
	Theirs bool
	// NoStart starts no server to compare its tools.
	NoStart bool
}

// Updater updates entries.
type Updater struct {
	*Host
	Options UpdateOptions
	// Registry returns the client of a registry.
	Registry func(url string) (*registry.Client, error)
	// Known are the tools that servers were last seen to offer.
	Known find.KnownLists
	// Packages looks packages up; nil looks none up.
	Packages *packages.Tools

	bundles bundles
}

// What becomes of an entry.
const (
	stateCurrent  = "current"
	stateNewer    = "newer" // and nothing is written
	stateUpdated  = "updated"
	stateDeclined = "declined"
	stateSkipped  = "skipped"
	stateFailed   = "failed"
)

// result is what is said of one entry.
type result struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	// Server is the name of the record, of which From is in use and To is newer.
	Server string `json:"server,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	// Entry is the new entry, with secrets masked.
	Entry     json.RawMessage        `json:"entry,omitempty"`
	Conflicts []conflict             `json:"conflicts,omitempty"`
	Required  []scaffold.Requirement `json:"required,omitempty"`
	Warnings  []string               `json:"warnings,omitempty"`
	Tools     *toolChanges           `json:"tools,omitempty"`
	// Package is the package that the newest record names, if its own registry has a newer
	// version.
	Package *newerPackage `json:"package,omitempty"`

	do work
}

// work is what is known of an entry while it is updated.
type work struct {
	entry config.Entry
	up    *upgrade.Upgrade // nil where there is nothing to write
	old   *registry.Record // nil for a version that the registry does not have
	now   *registry.Record
	tools []runtime.Tool // of the newer version
	err   error
}

// conflict is a place that the user and the publisher have both changed.
type conflict struct {
	Path   string          `json:"path"`
	Yours  json.RawMessage `json:"yours"`
	Theirs json.RawMessage `json:"theirs"`
	// Preferred is the one that is written: yours or theirs.
	Preferred string `json:"kept"`
}

// toolChanges are those of a server's tools.
type toolChanges struct {
	// Reason is why they are not known, "" if they are.
	Reason string                   `json:"reason,omitempty"`
	Count  int                      `json:"count"`
	Same   bool                     `json:"same"`
	Report *generating.ChangeReport `json:"changes,omitempty"`
}

// newerPackage is a version of a package that is newer than that of the newest record.
type newerPackage struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Latest  string `json:"latest"`
}

// Run updates the entries of some aliases, by default all that were added from a registry.
func (u *Updater) Run(ctx context.Context, aliases []string) error {
	f, err := u.Load()
	if err != nil {
		return err
	}
	entries, err := u.choose(f, aliases)
	if err != nil {
		return err
	}
	asker := u.Asker()
	u.bundles.store = u.Bundles
	defer u.bundles.close(ctx)
	results := u.check(ctx, entries)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := u.needsConsent(asker, results); err != nil {
		return err
	}
	for _, r := range results {
		if r.do.up != nil {
			if err := u.update(ctx, asker, r); err != nil {
				return err
			}
		}
		if len(results) == 1 && r.do.err != nil {
			continue // the command's error says it
		}
		if err := u.show(r); err != nil {
			return err
		}
	}
	if u.UI.WantJSON() {
		if err := u.UI.EncodeJSON(map[string]any{"servers": results}); err != nil {
			return err
		}
	} else if len(results) == 0 {
		u.UI.Info("no server was added from a registry")
	}
	return u.outcome(results)
}

// choose returns the entries of some aliases. One that cannot be updated and is named alone
// is an error.
func (u *Updater) choose(f *config.File, aliases []string) ([]config.Entry, error) {
	if len(aliases) == 0 {
		return f.Entries(), nil
	}
	var out []config.Entry
	for _, alias := range aliases {
		e, ok := f.Entry(alias)
		if !ok {
			_, err := f.Use(alias)
			return nil, err
		}
		if len(aliases) == 1 {
			if e.Fault != nil {
				return nil, e.Err()
			}
			if e.Origin == nil {
				return nil, ui.Usage("%s was not added from a registry, so there is nothing to compare it with", alias).
					WithHint("mcpctl add NAME --as %s --replace writes it from a record", alias)
			}
		}
		if !slices.ContainsFunc(out, func(o config.Entry) bool { return o.Name == alias }) {
			out = append(out, e)
		}
	}
	return out, nil
}

// needsConsent returns an error where something would be written and nobody can be asked.
func (u *Updater) needsConsent(asker ui.Asker, results []*result) error {
	if _, silent := asker.(*ui.NonInteractive); !silent || u.Options.Check || u.Options.DryRun || u.Options.Yes {
		return nil
	}
	var names []string
	for _, r := range results {
		if r.do.up != nil {
			names = append(names, r.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return ui.Usage("there is no terminal to ask on whether to update %s", strings.Join(names, ", ")).
		WithHint("--yes updates them; --dry-run shows what would change")
}

// outcome returns the error that the command ends with.
func (u *Updater) outcome(results []*result) error {
	var failed, newer []*result
	for _, r := range results {
		switch {
		case r.do.err != nil:
			failed = append(failed, r)
		case r.State == stateNewer:
			newer = append(newer, r)
		}
	}
	switch {
	case len(failed) > 1:
		return fmt.Errorf("%d of %d servers cannot be updated, the first of them %s: %w", len(failed), len(results), failed[0].Name, failed[0].do.err)
	case len(failed) == 1 && len(results) > 1:
		return fmt.Errorf("%s cannot be updated: %w", failed[0].Name, failed[0].do.err)
	case len(failed) == 1:
		return failed[0].do.err
	case u.Options.Check && len(newer) > 0:
		names := make([]string, len(newer))
		for i, r := range newer {
			names[i] = r.Name
		}
		return &ui.Error{Kind: "drift", Err: errors.New("there are newer versions of " + strings.Join(names, ", ")), Remedy: "mcpctl update " + strings.Join(names, " ")}
	}
	return nil
}
