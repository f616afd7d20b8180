package runtimetest

import (
	"context"
	"net/http"

	"github.com/mcpctl/mcpctl/runtime/runtimetest/internal/wire"
)

// outsideCalls is the id of the stream for what belongs to no call.
const outsideCalls = "0"

// stream answers a request with an event stream of its own.
func (h *handler) stream(ctx context.Context, w http.ResponseWriter, hs *httpSession, m wire.Message) {
	st := hs.streams.Open("")
	hs.n.mu.Lock()
	prime := h.o.Resume && hs.n.terms.version >= RevNov
	hs.n.mu.Unlock()
	if prime {
		st.Add(nil) // "an SSE event consisting of an event ID and an empty data field"
	}
	call, cut := ctx, (func())(nil)
	if h.o.Resume && hs.n.out != nil {
		call, cut = hs.ctx, st.Cut // it outlives the connection
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if hs.n.serveOn(call, st.Add, cut, m) {
			st.End()
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	st.Follow(ctx, w, 0, h.o.Resume)
	if cut == nil {
		<-ended
	}
}

// get serves the stream of what the server sends outside of calls, or the rest
// of any stream that has broken off.
func (h *handler) get(w http.ResponseWriter, r *http.Request) {
	hs := h.find(r)
	if hs == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	outside := hs.streams.Find(outsideCalls)
	st, from := outside, -1
	if last := r.Header.Get("Last-Event-Id"); h.o.Resume && last != "" {
		if st, from = hs.streams.Resume(last); st == nil {
			http.Error(w, "unknown event", http.StatusNotFound)
			return
		}
	}
	if !st.Claim() && st == outside {
		http.Error(w, "the session has a stream already", http.StatusConflict)
		return
	}
	hs.attach(1)
	defer hs.attach(-1)
	defer st.Release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(hs.ctx, cancel)()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	st.Follow(ctx, w, from, h.o.Resume)
}

func (hs *httpSession) attach(by int) {
	hs.n.mu.Lock()
	defer hs.n.mu.Unlock()
	hs.n.attached += by
}
