package web

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/front"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Clients implements [front.Front].
func (h *Streamable) Clients() []upstream.ClientInfo {
	h.Sessions.Mu.Lock()
	all := make([]*session, 0, len(h.Sessions.m))
	for _, s := range h.Sessions.m {
		all = append(all, s)
	}
	h.Sessions.Mu.Unlock()
	out := make([]upstream.ClientInfo, len(all))
	for i, s := range all {
		out[i] = s.peer.Status("http")
		out[i].InFlight = int(s.serving.Load())
		s.mu.Lock()
		out[i].LastSeen, out[i].Streams = s.used, len(s.listening)
		s.mu.Unlock()
	}
	return out
}

// Stateless implements [front.Front].
func (h *Streamable) Stateless() front.StatelessInfo {
	s := front.StatelessInfo{Requests: h.counts.begun.Load(), InFlight: h.counts.inFlight.Load()}
	if at := h.counts.last.Load(); at > 0 {
		s.LastSeen = time.Unix(0, at)
	}
	return s
}

// Bounds implements [front.Front].
func (h *Streamable) Bounds() []limits.Bound {
	h.Sessions.Mu.Lock()
	sessions := len(h.Sessions.m)
	h.Sessions.Mu.Unlock()
	return []limits.Bound{
		{Name: "httpRequests", Used: h.Busy(), Max: limits.MaxServing}, {Name: "httpSessions", Used: sessions, Max: maxSessions}, {Name: "httpStreams", Used: int(h.streams.Load()), Max: limits.MaxStreams},
	}
}
