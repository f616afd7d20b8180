package cli

import "github.com/mcpctl/mcpctl/cmd/internal/configuring"

// editable returns the file that a command edits: the user's, or that of the project.
func editable(env *environment, project bool) (*configuring.Target, error) {
	return configuring.NewTarget(env.ui, env.getenv, env.settings, project)
}
