package proxy

import "time"

// clients implements front.
func (h *httpFront) clients() []clientInfo {
	h.sessions.mu.Lock()
	all := make([]*session, 0, len(h.sessions.m))
	for _, s := range h.sessions.m {
		all = append(all, s)
	}
	h.sessions.mu.Unlock()
	out := make([]clientInfo, len(all))
	for i, s := range all {
		out[i] = s.peer.status("http")
		out[i].InFlight = int(s.serving.Load())
		s.mu.Lock()
		out[i].LastSeen, out[i].Streams = s.used, len(s.listening)
		s.mu.Unlock()
	}
	return out
}

// stateless implements front.
func (h *httpFront) stateless() statelessInfo {
	s := statelessInfo{Requests: h.counts.begun.Load(), InFlight: h.counts.inFlight.Load()}
	if at := h.counts.last.Load(); at > 0 {
		s.LastSeen = time.Unix(0, at)
	}
	return s
}

// bounds implements front.
func (h *httpFront) bounds() []bound {
	h.sessions.mu.Lock()
	sessions := len(h.sessions.m)
	h.sessions.mu.Unlock()
	return []bound{
		{"httpRequests", h.busy(), maxServing}, {"httpSessions", sessions, maxSessions}, {"httpStreams", int(h.streams.Load()), maxStreams},
	}
}
