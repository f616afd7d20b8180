package proxy

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/proc"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Status is what a proxy does at one moment, for people and for programs that
// watch it. Times that are zero are absent from its JSON.
type Status struct {
	// Ready tells whether new requests are taken.
	Ready bool `json:"ready"`
	// Process is what this process uses itself; nil where the system does not
	// tell.
	Process *UsageStatus `json:"process,omitempty"`
	// Backends are in configured order; behind them those that are configured no
	// more and have calls under way, which are draining.
	Backends []BackendStatus `json:"backends"`
	Clients  ClientsStatus   `json:"clients"`
	// Bounds are what is bounded and how much of it is in use.
	Bounds []BoundStatus `json:"bounds"`
}

// BackendStatus is what is known of one server.
type BackendStatus struct {
	Name string `json:"name"`
	// Transport is as configured: stdio, http, sse; "" where the proxy was not
	// told.
	Transport string    `json:"transport,omitempty"`
	Start     Start     `json:"start"`
	Isolation Isolation `json:"isolation"`
	// State is idle, connecting, ready, broken, draining, or closed for good. A
	// broken one could not be connected when last tried; calls try again, unless
	// Paused.
	State string `json:"state"`
	// Paused tells that it has failed so often that calls are refused until
	// NextTry.
	Paused bool `json:"paused"`
	// NextTry is when the proxy tries to connect it on its own; zero: the next
	// call does.
	NextTry time.Time `json:"nextTry,omitzero"`
	// NextReap is when the first connection is closed as idle, if nobody calls by
	// then; zero: none will be.
	NextReap time.Time `json:"nextReap,omitzero"`
	// Restarts counts connections made in the place of one that was lost.
	Restarts uint64 `json:"restarts"`
	// LastError is the latest failure to connect, or end of a connection that was
	// not ours to end; nil for none. It is no word on the present state.
	LastError *ErrorStatus `json:"lastError,omitempty"`
	// Connections are the ready ones, the one that tells what is offered first.
	Connections []ConnectionStatus `json:"connections"`
	// Usage is what its processes use together, nil where there are none of ours
	// or the system does not tell.
	Usage *UsageStatus `json:"usage,omitempty"`
	// Calls are requests of clients that were sent on to the server; lists, which
	// the proxy answers, are not among them. FailedCalls were answered with an
	// error or not at all.
	Calls       uint64 `json:"calls"`
	FailedCalls uint64 `json:"failedCalls"`
	InFlight    int64  `json:"inFlight"`
	// LastCall is when the last one began, in an earlier process, too.
	LastCall time.Time `json:"lastCall,omitzero"`
	// Latency is of the last 5 to 10 minutes; nil without a call.
	Latency *LatencyStatus `json:"latency,omitempty"`
	// Catalog is what it offers; nil where that is not known yet.
	Catalog *CatalogStatus `json:"catalog,omitempty"`
}

// ErrorStatus is a failure of some time ago.
type ErrorStatus struct {
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// ConnectionStatus is one connection to a server.
type ConnectionStatus struct {
	// Revision of the protocol that is spoken.
	Revision string `json:"revision"`
	// PID of the process that was started for it; 0 for none.
	PID   int       `json:"pid,omitempty"`
	Since time.Time `json:"since"`
	// For is whose it is: everybody's, clients of equal capabilities, a session's,
	// or one call's at a time.
	For string `json:"for"`
}

// Values of [ConnectionStatus.For].
const (
	ForEverybody = "everybody"
	ForEquals    = "equals"
	ForSession   = "session"
	ForCall      = "call"
)

// UsageStatus is what processes use, those included that they have started.
type UsageStatus struct {
	Processes int `json:"processes"`
	// RSS is resident memory in bytes, CPU computing time in seconds. -1: not
	// known.
	RSS int64   `json:"rssBytes"`
	CPU float64 `json:"cpuSeconds"`
}

// LatencyStatus tells how long calls have taken, as their clients see it. The
// figures are off by 3 % at most, or by half a microsecond.
type LatencyStatus struct {
	// Calls is how many were counted.
	Calls uint64  `json:"calls"`
	P50   float64 `json:"p50Ms"`
	P99   float64 `json:"p99Ms"`
}

// CatalogStatus is what a server offers.
type CatalogStatus struct {
	Tools     int `json:"tools"`
	Prompts   int `json:"prompts"`
	Resources int `json:"resources"`
	Templates int `json:"resourceTemplates"`
	// Source is live, or stored where no connection has told it yet: then it is
	// from an earlier process.
	Source string `json:"source"`
	// Verified is when the server was last seen to offer this; zero while a list
	// of it is missing.
	Verified time.Time `json:"verified,omitzero"`
	// Digest stands for what is kept of it for processes to come, in hexadecimal;
	// "" where nothing is.
	Digest string `json:"digest,omitempty"`
	// Missing are the lists that could not be had, by the method, with why.
	Missing map[string]string `json:"missing,omitempty"`
}

// Values of [CatalogStatus.Source].
const (
	SourceLive   = "live"
	SourceStored = "stored"
)

// BoundStatus is something bounded.
type BoundStatus struct {
	Name string `json:"name"`
	Used int    `json:"used"`
	Max  int    `json:"max"`
}

// Status tells what the proxy does. It waits for no server and no client: what
// it locks is never held for longer than memory takes. To find out what
// processes use takes some milliseconds.
func (p *Proxy) Status() Status {
	now := time.Now()
	s := Status{Ready: p.Ready(), Backends: []BackendStatus{}, Clients: p.clients(), Bounds: p.bounds()}
	pids := []int{os.Getpid()}
	all := p.router.Set.All()
	for i, b := range slices.Concat(all, p.router.Set.Draining()) {
		one := p.backend(b, now)
		if i >= len(all) {
			one.State = "draining"
		}
		for _, c := range one.Connections {
			if c.PID > 0 {
				pids = append(pids, c.PID)
			}
		}
		s.Backends = append(s.Backends, one)
	}
	figures := proc.Measure(pids...)
	if f, ok := figures[pids[0]]; ok {
		s.Process = &UsageStatus{f.Processes, f.RSS, f.CPU.Seconds()}
	}
	for i := range s.Backends {
		s.Backends[i].measured(figures)
	}
	return s
}

func (p *Proxy) backend(b *upstream.Backend, now time.Time) BackendStatus {
	set, how, counts := b.Config(), b.Condition(), b.Activity.Figures(now)
	s := BackendStatus{
		Name: b.Name, Transport: set.Transport, Start: Start(set.Start), Isolation: Isolation(set.Isolation),
		State: how.State, Paused: how.Tripped, NextTry: how.NextTry, NextReap: how.NextReap, Restarts: how.Restarts,
		Connections: []ConnectionStatus{}, InFlight: counts.InFlight, Calls: counts.Calls, FailedCalls: counts.Failed,
		LastCall: counts.Last, Catalog: p.offers(b),
	}
	for _, c := range b.Connected() {
		s.Connections = append(s.Connections, ConnectionStatus(c))
	}
	if how.Err != nil {
		s.LastError = &ErrorStatus{upstream.Clipped(how.Err.Error(), maxMessage), how.At}
	}
	if n := counts.Timed; n > 0 {
		s.Latency = &LatencyStatus{n, milliseconds(counts.P50), milliseconds(counts.P99)}
	}
	return s
}

// maxMessage bounds a message, in bytes: it may hold what a server wrote.
const maxMessage = 2000

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// offers tells of what a backend offers, nil where nothing is known of it.
func (p *Proxy) offers(b *upstream.Backend) *CatalogStatus {
	cat := p.router.Catalog.Inventory(b) // immutable
	if cat == nil {
		return nil
	}
	s := &CatalogStatus{
		Tools: len(cat.Items[inventory.Tools]), Prompts: len(cat.Items[inventory.Prompts]), Resources: len(cat.Items[inventory.Resources]), Templates: len(cat.Items[inventory.Templates]),
		Source: SourceStored, Verified: cat.Verified,
	}
	if b.ConnectedOnce.Load() {
		s.Source = SourceLive
	}
	for k := range inventory.Kinds {
		if cat.Failed[k] == nil {
			continue
		}
		if s.Missing == nil {
			s.Missing = map[string]string{}
		}
		s.Missing[k.Listing().Method] = upstream.Clipped(cat.Failed[k].Error(), maxMessage)
	}
	if sum := b.StoredSum(); sum != 0 {
		s.Digest = fmt.Sprintf("%016x", sum)
	}
	return s
}

// measured adds up what the processes of the connections use.
func (s *BackendStatus) measured(figures map[int]proc.Figures) {
	for _, c := range s.Connections {
		f, ok := figures[c.PID]
		if !ok || c.PID == 0 {
			continue
		}
		if s.Usage == nil {
			s.Usage = &UsageStatus{}
		}
		u := s.Usage
		u.Processes += f.Processes
		if u.RSS += f.RSS; f.RSS < 0 {
			u.RSS = unknown
		}
		if u.CPU += f.CPU.Seconds(); f.CPU < 0 {
			u.CPU = unknown
		}
	}
	if u := s.Usage; u != nil {
		u.RSS, u.CPU = max(u.RSS, -1), max(u.CPU, -1)
	}
}

// unknown is a sum that stays below zero, whatever is added.
const unknown = -1 << 60

// bounds tells how much is in use of what is bounded for the proxy as a whole,
// and for each front.
func (p *Proxy) bounds() []BoundStatus {
	parked := p.router.Parking
	out := []BoundStatus{{"parkedCalls", parked.Waiting(), parked.Capacity()}}
	for _, b := range p.fronts.Bounds() {
		out = append(out, BoundStatus(b))
	}
	return out
}
