package cli

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/records"
	"github.com/mcpctl/mcpctl/registry"
)

// registryTry is how long one try of a registry may take; a shorter --timeout
// shortens it.
const registryTry = 30 * time.Second

// registry returns the client of the configured registry.
func (env *environment) registry() (*registry.Client, error) {
	try := registryTry
	if t := env.settings.Timeout; t > 0 {
		try = min(try, t)
	}
	return registry.New(registry.Options{
		BaseURL: env.settings.Registry, Logger: env.log, TryTimeout: try,
		UserAgent: "mcpctl/" + buildVersion().Version,
	})
}

// find resolves the argument of add and info.
func (env *environment) find(ctx context.Context, arg string, pre bool) (*records.Found, error) {
	return records.Find(ctx, env.registry, arg, pre)
}

// installed returns the registry's servers that are in servers.json; none if that is
// broken, since searching must still work.
func (a *app) installed() map[string]bool {
	out := map[string]bool{}
	f, err := a.loadConfig()
	if err != nil {
		a.log.Debug("servers.json not read", "err", err)
		return out
	}
	for _, e := range f.Entries() {
		if e.Origin != nil {
			out[e.Origin.Name] = true
		}
	}
	return out
}
