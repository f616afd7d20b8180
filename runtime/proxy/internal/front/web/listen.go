package web

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/subscriptions"

	"context"
	"net/http"
)

// modernListen serves a listen over HTTP: a stream from the start.
func (h *Streamable) modernListen(ctx context.Context, x *modernPost, r router.Request) {
	f, err := router.FilterOf(r)
	if err != nil {
		x.finish(r.Msg.ID.Of(r.Line), h.p.Router.FailedModern(r.Method, err))
		return
	}
	defer h.streams.Add(-1)
	if h.streams.Add(1) > limits.MaxStreams {
		busy(x.w, http.StatusServiceUnavailable, r.Msg.ID.Of(r.Line), "too many streams are open: try again later")
		return
	}
	clearReadDeadline(x.w)
	h.serving.Add(-1) // it lasts as long as its client likes
	defer h.serving.Add(1)
	ended := make(chan struct{})
	if h.spawn(func() {
		defer close(ended)
		h.p.Router.ListenModern(ctx, r, f, subscriptions.Channel{Send: x.event, Idle: x.comment, End: h.lifetime.Done()})
	}) {
		<-ended
	}
}
