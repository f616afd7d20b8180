package cli

import (
	"context"
	"errors"

	"github.com/mcpctl/mcpctl/runtime"
)

// connect dials a configured server, or the one at --url. The caller closes
// the client.
func (a *app) connect(_ context.Context, server string) (*runtime.Client, error) {
	return nil, &runtime.ConnectError{Target: server, Err: errors.New("no transport is built yet")}
}
