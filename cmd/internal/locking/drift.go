package locking

import (
	"context"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Drift returns a function that compares a connected server with the lock beside
// servers.json; it is for doctor. A list that cannot be had is not compared.
func Drift(configPath string) func(ctx context.Context, entry config.Entry, c *runtime.Client) (text, fix string, locked bool) {
	return func(ctx context.Context, entry config.Entry, c *runtime.Client) (text, fix string, locked bool) {
		policy := lockfile.Policy{Mode: lockfile.Mode(entry.Pin)}
		if policy.Mode == lockfile.Off {
			return "", "", false
		}
		var err error
		if policy.Locked, err = lockfile.LoadServer(pathOf(entry, configPath), entry.Name); err != nil {
			return err.Error(), "mcpctl lock", false
		}
		info := c.Info()
		offer := &lockfile.Offer{About: &lockfile.About{Name: info.Implementation.Name, Title: info.Implementation.Title, Instructions: info.Instructions}}
		for l := range lockfile.Lists {
			items, err := list(ctx, c, l)
			if err == nil {
				offer.Items[l] = lockfile.Items(l, items)
			}
		}
		if v := lockfile.Check(policy, offer); v.String() != "" {
			return v.String(), lockfile.Hint(entry.Name, v), policy.Locked != nil
		}
		return "", "", policy.Locked != nil
	}
}
