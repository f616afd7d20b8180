package cli

import (
	"cmp"
	"errors"
	"os"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Target is the file that a command edits: the user's, or that of the project.
type Target struct {
	Path, Layer string

	ui     *ui.UI
	trust  layers.Trust
	places layers.Places // of all layers
}

// NewTarget returns the user's file, or with project that of the project in the working
// directory, which need not exist.
func NewTarget(u *ui.UI, getenv func(string) string, s settings.Settings, project bool) (*Target, error) {
	t := &Target{Path: s.ConfigPath, Layer: layers.User, ui: u, trust: Trust(getenv), places: Places(getenv, s.ConfigPath, s.ConfigAlone)}
	if !project {
		return t, nil
	}
	if s.ConfigAlone {
		return nil, ui.Usage("--project cannot be used with --config, MCPCTL_CONFIG or MCPCTL_CONFIG_JSON, which are the only file")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	t.Path, t.Layer = layers.ProjectPath(getenv, dir), layers.Project
	if t.Path == "" {
		return nil, ui.Usage("the home directory is no project").WithHint("without --project the server is there in every folder")
	}
	return t, nil
}

// Load reads the file.
func (t *Target) Load() (*config.File, error) {
	f, err := config.Load(t.Path)
	if err != nil {
		return nil, err
	}
	for _, w := range f.Warnings() {
		if w.Server == "" {
			t.ui.Info("warning: %s", w.Error())
			if w.Remedy != "" {
				t.ui.Info("hint: %s", w.Remedy)
			}
		}
	}
	return f, nil
}

// Update edits the file. A project's file that the user has not trusted is edited, but not
// trusted by that. The error for an alias that the file lacks says which layer has it.
func (t *Target) Update(edit func(*config.File) error) error {
	return t.Explain(t.update(edit))
}

// Explain returns an error for an alias that the file lacks as one that says which layer
// has it.
func (t *Target) Explain(err error) error {
	if missing, ok := errors.AsType[*config.NotFoundError](err); ok {
		return cmp.Or(t.elsewhere(missing.Server), err)
	}
	return err
}

// Trusted returns an error for a project's file that is there and that the user has not
// trusted: what it runs must not be started.
func (t *Target) Trusted() error {
	if t.Layer != layers.Project {
		return nil
	}
	set, err := layers.Load(t.places, t.trust)
	if err != nil {
		return err
	}
	if l := set.Layer(layers.Project); l != nil && l.File != nil && l.State != layers.Used {
		return (&ui.Error{Kind: "config", Err: errors.New(l.Path + ": you have not trusted it")}).WithHint("mcpctl config trust shows what it runs, and trusts it")
	}
	return nil
}

func (t *Target) update(edit func(*config.File) error) error {
	if t.Layer != layers.Project {
		return config.Update(t.Path, edit)
	}
	trusted, err := layers.UpdateProject(t.Path, t.trust, edit)
	if err == nil && !trusted {
		t.ui.Info("%s has servers that you have not trusted, so it is not used; mcpctl config trust shows and trusts them", t.Path)
	}
	return err
}

// elsewhere explains why an alias is not in the file: another layer has it. It returns
// nil if none has.
func (t *Target) elsewhere(alias string) error {
	set, err := layers.Load(t.places, t.trust)
	if err != nil {
		return nil //nolint:nilerr // what is wrong with another file is not the matter here
	}
	for _, l := range set.Layers {
		if l.Name == t.Layer || l.File == nil {
			continue
		}
		if _, ok := l.File.Entry(alias); !ok {
			continue
		}
		err := ui.Usage("the server %s is not in the file of the %s but in that of the %s, %s", alias, t.Layer, l.Name, l.Path)
		switch l.Name {
		case layers.Project:
			return err.WithHint("add --project")
		case layers.User:
			return err.WithHint("leave --project out")
		}
		return err.WithHint("an administrator can edit that file; the same alias in your own file, with \"disabled\": true, goes before it")
	}
	return nil
}

// NoteCovered says that a server in the file does not count, because a project's file has
// the same alias.
func (t *Target) NoteCovered(alias string) {
	if t.Layer == layers.Project || t.places.Project == "" {
		return
	}
	if f, err := config.Load(t.places.Project); err == nil {
		if _, ok := f.Entry(alias); ok {
			t.ui.Info("note: in this project, the %s of %s goes before it", alias, t.places.Project)
		}
	}
}
