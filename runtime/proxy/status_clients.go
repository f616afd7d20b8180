package proxy

import (
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// maxTold bounds the sessions that a status lists: the ones seen last.
const maxTold = 100

// ClientsStatus is who is there.
type ClientsStatus struct {
	// Sessions is how many there are.
	Sessions int `json:"sessions"`
	// Recent are up to 100 of them, the one seen last first.
	Recent []ClientStatus `json:"recent"`
	// Stateless is about requests over HTTP that belong to no session.
	Stateless StatelessStatus `json:"stateless"`
}

// ClientStatus is one session, or the client on standard input and output.
type ClientStatus struct {
	// Front is the way it came by: stdio, http, sse.
	Front string `json:"front"`
	// Name and Version are as the client said in initialize, "" where it has not
	// said, such as one of the stateless era.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Revision of the protocol, "" before initialize.
	Revision string    `json:"revision,omitempty"`
	Since    time.Time `json:"since"`
	LastSeen time.Time `json:"lastSeen"`
	// InFlight is how many of its requests are being answered, Streams how many
	// streams it has open for what belongs to no request.
	InFlight int `json:"inFlight"`
	Streams  int `json:"streams,omitempty"`
}

// StatelessStatus counts requests that belong to no session.
type StatelessStatus struct {
	Requests uint64    `json:"requests"`
	InFlight int64     `json:"inFlight"`
	LastSeen time.Time `json:"lastSeen,omitzero"`
}

// clients tells who is there.
func (p *Proxy) clients() ClientsStatus {
	s := ClientsStatus{Recent: []ClientStatus{}}
	for _, f := range p.fronts.list() {
		s.Recent = append(s.Recent, f.clients()...)
		if h, ok := f.(*HTTPFront); ok {
			s.Stateless.Requests += h.stateless.begun.Load()
			s.Stateless.InFlight += h.stateless.inFlight.Load()
			if at := moment(h.stateless.last.Load()); at.After(s.Stateless.LastSeen) {
				s.Stateless.LastSeen = at
			}
		}
	}
	s.Sessions = len(s.Recent)
	slices.SortFunc(s.Recent, func(a, b ClientStatus) int { return b.LastSeen.Compare(a.LastSeen) })
	s.Recent = s.Recent[:min(len(s.Recent), maxTold)]
	return s
}

// identity is who a client says it is.
type identity struct{ name, version string }

// maxIdentity bounds what is kept of a name, in bytes.
const maxIdentity = 100

// introduce notes who the client says it is in an initialize request.
func (p *peer) introduce(line []byte, m *rawjson.Message) {
	params := m.Params.Of(line)
	info, err := rawjson.Field(params, "clientInfo")
	if err != nil || !info.Present() {
		return
	}
	var at [2]rawjson.Span
	object := info.Of(params)
	if rawjson.Fields(object, at[:], "name", "version") != nil {
		return
	}
	var who identity
	for i, to := range []*string{&who.name, &who.version} {
		text, _ := rawjson.String(object, at[i])
		*to = clippedTo(text, maxIdentity)
	}
	p.who.Store(&who)
}

// status tells what is known of a client whatever its front.
func (p *peer) status(front string) ClientStatus {
	s := ClientStatus{Front: front, Since: p.since, LastSeen: p.since}
	s.Revision, _ = p.settled()
	if who := p.who.Load(); who != nil {
		s.Name, s.Version = who.name, who.version
	}
	return s
}

// clients implements front.
func (f *stdioFront) clients() []ClientStatus {
	s := f.peer.status("stdio")
	s.InFlight = f.busy()
	if at := f.seen.Load(); at > 0 {
		s.LastSeen = time.Unix(at, 0)
	}
	return []ClientStatus{s}
}

// bounds implements front: hold keeps the client waiting at maxInFlight.
func (f *stdioFront) bounds() []BoundStatus {
	return []BoundStatus{{"stdioRequests", f.busy(), maxInFlight}}
}

// clients implements front.
func (h *HTTPFront) clients() []ClientStatus {
	h.sessions.mu.Lock()
	all := make([]*session, 0, len(h.sessions.m))
	for _, s := range h.sessions.m {
		all = append(all, s)
	}
	h.sessions.mu.Unlock()
	out := make([]ClientStatus, len(all))
	for i, s := range all {
		out[i] = s.peer.status("http")
		out[i].InFlight = int(s.serving.Load())
		s.mu.Lock()
		out[i].LastSeen, out[i].Streams = s.used, len(s.listening)
		s.mu.Unlock()
	}
	return out
}

// bounds implements front.
func (h *HTTPFront) bounds() []BoundStatus {
	h.sessions.mu.Lock()
	sessions := len(h.sessions.m)
	h.sessions.mu.Unlock()
	return []BoundStatus{
		{"httpRequests", h.busy(), maxServing}, {"httpSessions", sessions, maxSessions}, {"httpStreams", int(h.streams.Load()), maxStreams},
	}
}

// clients implements front.
func (f *SSEFront) clients() []ClientStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]ClientStatus, 0, len(f.m))
	for _, s := range f.m {
		one := s.peer.status("sse")
		one.InFlight, one.Streams = len(s.places), 1
		if at := s.seen.Load(); at > 0 {
			one.LastSeen = time.Unix(0, at)
		}
		out = append(out, one)
	}
	return out
}

// bounds implements front.
func (f *SSEFront) bounds() []BoundStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []BoundStatus{{"sseSessions", len(f.m), maxStreams}}
}
