package cli

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/registries"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// registryTry is how long one try of a registry may take; a shorter --timeout
// shortens it.
const registryTry = 30 * time.Second

// registryCommands is what commands do with registries.
type registryCommands struct{ *app }

// registries returns the configured registries.
func (a registryCommands) registries() *registries.Command {
	try := registryTry
	if t := a.settings.Timeout; t > 0 {
		try = min(try, t)
	}
	sources := slices.Clone(a.settings.Registries)
	for i := range sources {
		sources[i].AllowInsecureHTTP = sources[i].AllowInsecureHTTP || a.settings.AllowInsecureHTTP
	}
	auth := authCommands(a).dialAuth()
	if auth != nil {
		auth.Config = nil // --auth is for servers
	}
	return &registries.Command{
		UI: a.ui, Log: a.log, Lookup: os.LookupEnv, Sources: sources, Try: try, UserAgent: "mcpctl/" + buildVersion().Version,
		Auth: auth, StateDir: config.StateDir(a.getenv),
	}
}

// find resolves the argument of add and info.
func (a registryCommands) find(ctx context.Context, arg string, pre bool) (*adding.Found, error) {
	return adding.Find(ctx, a.registries().Find, arg, pre)
}

// installed returns whether a record's server is in servers.json: under its name, or as
// an entry that starts its package or reaches its address. Nothing is if the file is
// broken, since searching must still work.
func (a registryCommands) installed() func(*registry.Server) bool {
	f, err := a.loadConfig()
	if err != nil {
		a.log.Debug("servers.json not read", "err", err)
		return func(*registry.Server) bool { return false }
	}
	return registries.Installed(f.Entries())
}
