//go:build integration && !race

package main

import "context"

// referenceServers are asked, in tests that have them.
func referenceServers(ctx context.Context, root string) ([]server, error) {
	return liveServers(ctx, root)
}
