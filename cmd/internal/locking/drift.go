package locking

import (
	"context"

	"github.com/mcpctl/mcpctl/internal/pins"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Drift returns a function that compares a connected server with the lock beside
// servers.json; it is for doctor. A list that cannot be had is not compared.
func Drift(configPath string) func(ctx context.Context, entry config.Entry, c *runtime.Client) (text, fix string, locked bool) {
	return func(ctx context.Context, entry config.Entry, c *runtime.Client) (text, fix string, locked bool) {
		policy := pins.Policy{Mode: pins.Mode(entry.Pin)}
		if policy.Mode == pins.Off {
			return "", "", false
		}
		var err error
		if policy.Locked, err = pins.LoadServer(pathOf(entry, configPath), entry.Name); err != nil {
			return err.Error(), "mcpctl lock", false
		}
		info := c.Info()
		offer := &pins.Offer{About: &pins.About{Name: info.Implementation.Name, Title: info.Implementation.Title, Instructions: info.Instructions}}
		for l := range pins.Lists {
			items, err := list(ctx, c, l)
			if err == nil {
				offer.Items[l] = pins.Items(l, items)
			}
		}
		if v := pins.Check(policy, offer); v.String() != "" {
			return v.String(), pins.Hint(entry.Name, v), policy.Locked != nil
		}
		return "", "", policy.Locked != nil
	}
}
