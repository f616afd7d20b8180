package find

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// fresh is how young a list in a file has to be for [KnownLists.Quick].
const fresh = 24 * time.Hour

// Quick returns a list of one server, for a person who waits with a finger on the key: that
// of a file, which takes no database to open, unless it is old.
func (l KnownLists) Quick(ctx context.Context, server config.Entry, kind string) Listed {
	if l.dir == "" {
		return Listed{}
	}
	if listed, ok := l.read(server, kind); ok && time.Since(listed.At) < fresh {
		return l.filtered(server, kind, listed)
	}
	return l.Load(ctx, []config.Entry{server}, kind)[server.Name]
}
