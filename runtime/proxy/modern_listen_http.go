package proxy

import (
	"context"
	"net/http"
)

// modernListen serves a listen over HTTP: a stream from the start.
func (h *httpFront) modernListen(ctx context.Context, x *modernPost, r Request) {
	f, err := filterOf(r)
	if err != nil {
		x.finish(r.msg.ID.Of(r.line), h.p.rt.failedModern(r.method, err))
		return
	}
	defer h.streams.Add(-1)
	if h.streams.Add(1) > maxStreams {
		busy(x.w, http.StatusServiceUnavailable, r.msg.ID.Of(r.line), "too many streams are open: try again later")
		return
	}
	clearReadDeadline(x.w)
	h.serving.Add(-1) // it lasts as long as its client likes
	defer h.serving.Add(1)
	ended := make(chan struct{})
	if h.spawn(func() {
		defer close(ended)
		h.p.rt.listenModern(ctx, r, f, channel{send: x.event, idle: x.comment, end: h.lifetime.Done()})
	}) {
		<-ended
	}
}
