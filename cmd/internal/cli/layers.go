package cli

import (
	"errors"

	"github.com/mcpctl/mcpctl/cmd/internal/configuring"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// editable returns the file that a command edits: the user's, or that of the project.
func editable(env *environment, project bool) (*configuring.Target, error) {
	return configuring.NewTarget(env.ui, env.getenv, env.settings, project)
}

// elsewhere returns the error of an edit, or says that another layer has the alias.
func elsewhere(env *environment, t *configuring.Target, alias string, err error) error {
	if _, missing := errors.AsType[*config.NotFoundError](err); !missing {
		return err
	}
	set, bad := readLayers(env.getenv, env.settings.ConfigPath, env.settings.ConfigAlone)
	if bad != nil {
		return err
	}
	if other := t.Elsewhere(set, alias); other != nil {
		return other
	}
	return err
}

// noteCovered says that what was written to a file does not count here.
func noteCovered(env *environment, t *configuring.Target, aliases ...string) {
	if set, err := readLayers(env.getenv, env.settings.ConfigPath, env.settings.ConfigAlone); err == nil {
		t.NoteCovered(set, aliases...)
	}
}
