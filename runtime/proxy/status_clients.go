package proxy

import (
	"slices"
	"time"
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
	clients, stateless := p.fronts.Clients()
	for _, c := range clients {
		s.Recent = append(s.Recent, ClientStatus(c))
	}
	s.Stateless = StatelessStatus(stateless)
	s.Sessions = len(s.Recent)
	slices.SortFunc(s.Recent, func(a, b ClientStatus) int { return b.LastSeen.Compare(a.LastSeen) })
	s.Recent = s.Recent[:min(len(s.Recent), maxTold)]
	return s
}
