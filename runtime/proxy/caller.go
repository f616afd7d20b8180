package proxy

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Origin is who a request comes from, and the way back to it while the request
// is served.
type Origin struct {
	// version is the revision that the client speaks, "" where it has not said.
	version string
	// capabilities are what the client can be asked, raw; nil for nothing.
	capabilities json.RawMessage
	// client is the client's session; nil where the request stands alone: one of
	// the modern era, or one over HTTP without a session.
	client *Client
	// emit sends a notification that belongs to the request. It must not wait.
	// Nil: there is no way.
	emit func(method string, params []byte)
	// ask puts a question of a server to the client and waits for the answer.
	// Nil: the client cannot be asked in the middle of a request.
	ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// slot is the connection that the request concerns; nil: any that suits.
	slot *Slot
	// pause tells that the server has ended its stream in the middle of the
	// request, to be asked again after a while. It must not wait. Nil: nothing
	// follows from that.
	pause func(retry time.Duration)
	// level is what a modern client wants to have of the server's log; that of
	// others is their session's.
	level revision.Level
	// refuse ends the request with an error of ours. Nil: nothing can.
	refuse func(error)
}

// modern tells whether the client's requests are self-contained.
func (c *Origin) modern() bool { return revision.IsModern(c.version) }
