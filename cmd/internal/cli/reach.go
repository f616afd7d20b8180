package cli

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// obey has the run follow the policies of config.yaml.
func (env *environment) obey() {
	env.file.policies = &policies.Policies{
		Settings: env.settings, StateDir: config.StateDir(env.getenv), Version: env.implementation().Version, Log: slog.New(slog.DiscardHandler),
		Keep: func(server config.Entry, member string, items []json.RawMessage) {
			env.known().Keep(server, member, items)
		},
	}
	if env.settings.Verbose > 0 {
		env.file.policies.Log = env.log
	}
	env.file.policies.Names = func() settings.Names {
		var f *config.File
		if env.file.last != nil {
			f = env.file.last.File()
		}
		return env.settings.Names(f, config.StateDir(env.getenv))
	}
	env.file.policies.Warn = func(p *config.Problem) { noteProblem(env.ui, p) }
}

// reach connects a command to a server as the policies allow: see [policies.Policies].
func (a *app) reach(ctx context.Context, entry config.Entry, o dial.Options, direct policies.Dial) (*policies.Connection, error) {
	return a.file.policies.Connect(ctx, a.named(entry), o, direct)
}

// named returns an entry with the name that policies know its server by.
func (env *environment) named(entry config.Entry) config.Entry {
	if env.adhoc.given() && entry.File == "" {
		entry.Name = env.adhoc.name()
	}
	return entry
}
