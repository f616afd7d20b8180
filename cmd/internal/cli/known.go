package cli

import (
	"github.com/mcpctl/mcpctl/cmd/internal/known"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// known returns the stored lists of the configured servers.
func (env *environment) known() known.Lists {
	return known.New(config.StateDir(env.getenv), env.settings.ConfigPath, env.log)
}
