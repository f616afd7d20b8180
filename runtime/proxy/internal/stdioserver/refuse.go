package stdioserver

import (
	"context"
	"errors"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// refuseRest answers the requests that are still under way, or wait for their turn,
// because the endpoint ends: a client need not time out to learn that.
func (f *server) refuseRest(endRequests func(why error)) {
	for _, id := range f.queue.clear() {
		f.refuse(id)
	}
	endRequests(upstream.ErrProxyClosed)
	f.p.Router.AbandonFastCalls(f.owns)
	t := time.NewTimer(limits.LastWrite)
	defer t.Stop()
	for f.load.inFlight.Load() > 0 {
		select {
		case <-f.load.eased:
		case <-f.out.Failed():
			return
		case <-t.C:
			return
		}
	}
}

// refuse answers a request that the end of the endpoint has ended.
func (f *server) refuse(id []byte) { f.send(jsonrpc.AppendError(nil, id, endpoint.DrainingError())) }

// reply answers the request of a goroutine, unless the client has cancelled it
// (specification, Cancellation). It may wait for a client that reads slowly.
func reply(ctx context.Context, f *server, id []byte, a router.Answer) {
	switch {
	case errors.Is(deadline.Cause(ctx), upstream.ErrProxyClosed):
		f.refuse(id)
	case ctx.Err() == nil && f.out.Wait() == nil:
		f.respond(id, a)
	}
}
