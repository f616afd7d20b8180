package upstream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Origin is who a request comes from, and the way back to it while the request
// is served.
type Origin struct {
	// Version is the revision that the client speaks, "" where it has not said.
	Version string
	// Capabilities are what the client can be asked, raw; nil for nothing.
	Capabilities json.RawMessage
	// Client is the client's session; nil where the request stands alone: one of
	// the modern era, or one over HTTP without a session.
	Client *Client
	// Emit sends a notification that belongs to the request. It must not wait.
	// Nil: there is no way.
	Emit func(method string, params []byte)
	// Ask puts a question of a server to the client and waits for the answer.
	// Nil: the client cannot be asked in the middle of a request.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// Slot is the connection that the request concerns; nil: any that suits.
	Slot *Slot
	// Pause tells that the server has ended its stream in the middle of the
	// request, to be asked again after a while. It must not wait. Nil: nothing
	// follows from that.
	Pause func(retry time.Duration)
	// Level is what a modern client wants to have of the server's log; that of
	// others is their session's.
	Level revision.Level
	// Refuse ends the request with an error of ours. Nil: nothing can.
	Refuse func(error)
}

// Modern tells whether the client's requests are self-contained.
func (c *Origin) Modern() bool { return revision.IsModern(c.Version) }
