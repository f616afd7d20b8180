package proxy

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Status is the state of a proxy at one moment, for people and for programs that
// watch it. Times that are zero are absent from its JSON.
type Status struct {
	// Ready reports whether new requests are taken.
	Ready bool `json:"ready"`
	// Process is what this process itself uses; nil if the system does not say.
	Process *UsageStatus `json:"process,omitempty"`
	// Backends are in configured order, followed by the draining ones: removed, with
	// calls under way.
	Backends []BackendStatus `json:"backends"`
	Clients  ClientsStatus   `json:"clients"`
	// Views are how many of the sessions see the servers through each view.
	Views map[string]int `json:"views,omitempty"`
	// Lists are what the lists of tools cost: that of clients without a view, and that of
	// each view.
	Lists []ListStatus `json:"lists,omitempty"`
	// Policy is what decides who may do what; nil where nothing does.
	Policy *PolicyStatus `json:"policy,omitempty"`
	// Bounds are the limits of the proxy and its endpoints, and their use.
	Bounds []BoundStatus `json:"bounds"`
}

// PolicyStatus is what is known of the policies that count.
type PolicyStatus struct {
	// Digest stands for their text, groups and labels.
	Digest string `json:"digest"`
	// Views are how many different sets of what a principal may see are kept; Principals
	// are how many principals have been seen, since the lists have changed last.
	Views      int `json:"views"`
	Principals int `json:"principals"`
}

// ListStatus is what a list of tools costs, in tokens, about. Policies are not asked:
// principals may see less.
type ListStatus struct {
	View string `json:"view,omitempty"` // "" for clients without one
	// Budget is how many tokens it may take; 0 is any number.
	Budget int `json:"budget,omitempty"`
	All    int `json:"all"`    // with the definition of every tool
	Search int `json:"search"` // with those that find and call them, and those that are pinned
	// Chosen is the form that a client gets that does not search by itself:
	// [views.ListAll] or [views.ListSearch].
	Chosen views.Form `json:"chosen"`
}

// BackendStatus is what is known of one server.
type BackendStatus struct {
	Name string `json:"name"`
	// Transport is [Server.Transport]: stdio, http, sse.
	Transport string    `json:"transport,omitempty"`
	Start     Start     `json:"start"`
	Isolation Isolation `json:"isolation"`
	// State is idle, connecting, ready, broken, draining, or closed for good.
	// Broken: it could not be connected when last tried; calls try again, unless
	// Paused.
	State string `json:"state"`
	// Paused reports that after many failures calls are refused until NextTry.
	Paused bool `json:"paused"`
	// NextTry is when the proxy connects it by itself; zero: the next call does.
	NextTry time.Time `json:"nextTry,omitzero"`
	// NextReap is when the first connection is closed as idle, unless it is called
	// before; zero: none will be.
	NextReap time.Time `json:"nextReap,omitzero"`
	// Restarts counts connections that replaced one that was lost.
	Restarts uint64 `json:"restarts"`
	// LastError is the latest failure to connect, or unexpected end of a
	// connection; nil for none. The state may be better now.
	LastError *ErrorStatus `json:"lastError,omitempty"`
	// Connections are the ready ones, the one that is listed over first.
	Connections []ConnectionStatus `json:"connections"`
	// Usage is what its processes use together, nil without processes or if the
	// system does not say.
	Usage *UsageStatus `json:"usage,omitempty"`
	// Calls counts requests of clients that were sent on to the server, not the
	// lists, which the proxy answers. FailedCalls were answered with an error or
	// not at all.
	Calls       uint64 `json:"calls"`
	FailedCalls uint64 `json:"failedCalls"`
	InFlight    int64  `json:"inFlight"`
	// LastCall is when the last one began, perhaps in an earlier process.
	LastCall time.Time `json:"lastCall,omitzero"`
	// Latency is of the last 5 to 10 minutes; nil without a call.
	Latency *LatencyStatus `json:"latency,omitempty"`
	// Catalog is what it offers; nil if not known yet.
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
	// For is who uses it: everybody, all clients of a principal, clients of equal
	// capabilities, a session, or one call at a time.
	For string `json:"for"`
	// Principal is the ID of the one whose clients alone use it, "" for no one.
	Principal string `json:"principal,omitempty"`
	// Malformed counts lines that its process has written and that are no messages.
	Malformed int `json:"malformed,omitempty"`
}

// Values of [ConnectionStatus.For].
const (
	ForEverybody = "everybody"
	ForPrincipal = "principal"
	ForEquals    = "equals"
	ForSession   = "session"
	ForCall      = "call"
)

// UsageStatus is what processes and their descendants use.
type UsageStatus struct {
	Processes int `json:"processes"`
	// RSS is resident memory in bytes, CPU time in seconds. -1: not known.
	RSS int64   `json:"rssBytes"`
	CPU float64 `json:"cpuSeconds"`
}

// LatencyStatus is how long calls have taken, as their clients see it, within
// 3 % or half a microsecond.
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
	// Source is live, or stored: from an earlier process, until the first
	// connection.
	Source string `json:"source"`
	// Verified is when the server last listed this; zero while a list is missing.
	Verified time.Time `json:"verified,omitzero"`
	// Digest is that of what is stored of it, in hexadecimal; "" for nothing.
	Digest string `json:"digest,omitempty"`
	// Missing are the lists that have failed, by method, with why.
	Missing map[string]string `json:"missing,omitempty"`
	// Pin is how that differs from what is locked; nil where nothing is compared, or
	// where it does not differ.
	Pin *PinStatus `json:"pin,omitempty"`
}

// PinStatus is how what a server offers differs from what is locked of it.
type PinStatus struct {
	// Mode is warn or hold. With hold, what is new or changed is not among what the
	// server offers to clients.
	Mode    string `json:"mode"`
	New     int    `json:"new"`
	Changed int    `json:"changed"`
	// Unlocked reports that nothing is locked.
	Unlocked bool `json:"unlocked,omitempty"`
	// Difference names what differs, Fix is the command that shows it.
	Difference string `json:"difference"`
	Fix        string `json:"fix"`
}

// Values of [CatalogStatus.Source].
const (
	SourceLive   = "live"
	SourceStored = "stored"
)

// ClientsStatus are the clients.
type ClientsStatus struct {
	// Sessions is how many there are.
	Sessions int `json:"sessions"`
	// Recent are up to 100 of them, the one seen last first.
	Recent []ClientStatus `json:"recent"`
	// Stateless counts requests over HTTP that belong to no session.
	Stateless StatelessStatus `json:"stateless"`
}

// ClientStatus is one session, or the client on standard input and output.
type ClientStatus struct {
	// Transport is stdio, http or sse.
	Transport string `json:"front"`
	// Name and Version are those of initialize, "" without one, as in the
	// stateless era.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Revision of the protocol, "" before initialize.
	Revision string    `json:"revision,omitempty"`
	Since    time.Time `json:"since"`
	LastSeen time.Time `json:"lastSeen"`
	// InFlight counts its requests that are being answered, Streams the streams it
	// has open for what belongs to no request.
	InFlight int `json:"inFlight"`
	Streams  int `json:"streams,omitempty"`
	// Principal is the ID of who asks, "" where nobody is asked for a credential.
	Principal string `json:"principal,omitempty"`
	// View is the view through which it sees the servers, "" for everything.
	View string `json:"view,omitempty"`
}

// StatelessStatus counts requests that belong to no session.
type StatelessStatus struct {
	Requests uint64    `json:"requests"`
	InFlight int64     `json:"inFlight"`
	LastSeen time.Time `json:"lastSeen,omitzero"`
}

// BoundStatus is a limit and its use.
type BoundStatus struct {
	Name string `json:"name"`
	Used int    `json:"used"`
	Max  int    `json:"max"`
}

// Status returns the state of the proxy. It waits for no server and no client:
// the locks that it takes are held for memory work only. To measure processes
// takes some milliseconds.
func (p *Proxy) Status() Status {
	now := time.Now()
	parked := p.router.Suspended
	s := Status{Ready: p.Ready(), Bounds: []BoundStatus{{"parkedCalls", parked.Waiting(), parked.Capacity()}}}
	s.Clients, s.Views = p.clients()
	if f := p.router.Finder; f != nil {
		for _, l := range f.Sizes(slices.Sorted(maps.Keys(s.Views))) {
			s.Lists = append(s.Lists, ListStatus(l))
		}
	}
	if digest, views, principals := p.router.Catalog.Policies(); digest != "" {
		s.Policy = &PolicyStatus{digest, views, principals}
	}
	for _, b := range p.endpoints.Bounds() {
		s.Bounds = append(s.Bounds, BoundStatus(b))
	}
	pids := []int{os.Getpid()}
	all := p.router.Set.All()
	s.Backends = make([]BackendStatus, 0, len(all))
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
		s.Backends[i].measure(figures)
	}
	return s
}

// backend returns the status of one, but for its usage.
func (p *Proxy) backend(b *upstream.Backend, now time.Time) BackendStatus {
	set, how, counts := b.Config(), b.Condition(), b.Activity.Figures(now)
	s := BackendStatus{
		Name: b.Name, Transport: set.Transport, Start: Start(set.Start), Isolation: Isolation(set.Isolation),
		State: how.State, Paused: how.Tripped, NextTry: how.NextTry, NextReap: how.NextReap, Restarts: how.Restarts,
		Connections: []ConnectionStatus{}, InFlight: counts.InFlight, Calls: counts.Calls, FailedCalls: counts.Failed,
		LastCall: counts.Last, Catalog: p.catalogOf(b),
	}
	for _, c := range b.Pool.Connected() {
		s.Connections = append(s.Connections, ConnectionStatus(c))
	}
	if how.Err != nil {
		s.LastError = &ErrorStatus{plain.Clip(how.Err.Error(), maxMessage), how.At}
	}
	if n := counts.Timed; n > 0 {
		s.Latency = &LatencyStatus{n, milliseconds(counts.P50), milliseconds(counts.P99)}
	}
	return s
}

// maxMessage bounds a message, in bytes: it may hold what a server wrote.
const maxMessage = 2000

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// catalogOf returns what a backend offers, nil if that is not known.
func (p *Proxy) catalogOf(b *upstream.Backend) *CatalogStatus {
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
		if cat.Failed[k] != nil {
			if s.Missing == nil {
				s.Missing = map[string]string{}
			}
			s.Missing[k.Listing().Method] = plain.Clip(cat.Failed[k].Error(), maxMessage)
		}
	}
	if v := p.pins.Verdict(b.Name); v != nil && len(v.Changes) > 0 {
		s.Pin = &PinStatus{string(v.Mode), v.Count(lockfile.New), v.Count(lockfile.Changed), v.Unlocked, v.String(), lockfile.Hint(b.Name, v)}
	}
	if sum := b.Persisted.Digest(); sum != 0 {
		s.Digest = fmt.Sprintf("%016x", sum)
	}
	return s
}

// measure adds up what the processes of the connections use; a sum with an
// unknown part is -1.
func (s *BackendStatus) measure(figures map[int]proc.Figures) {
	const unknown = -1 << 60 // stays below zero, whatever is added
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

// maxClients bounds the sessions that a status lists: the ones seen last.
const maxClients = 100

// clients returns the status of the clients of all endpoints, and how many have each view.
func (p *Proxy) clients() (ClientsStatus, map[string]int) {
	clients, stateless := p.endpoints.Clients()
	s := ClientsStatus{Sessions: len(clients), Recent: []ClientStatus{}, Stateless: StatelessStatus(stateless)}
	views := p.router.Views.Count(clients)
	slices.SortFunc(clients, func(a, b client.Info) int { return b.LastSeen.Compare(a.LastSeen) })
	for _, c := range clients[:min(len(clients), maxClients)] {
		s.Recent = append(s.Recent, ClientStatus(c))
	}
	return s, views
}
