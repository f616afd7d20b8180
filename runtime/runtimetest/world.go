package runtimetest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// world is what all connections of a server share: who is connected, and what
// has happened. The zero value is ready.
type world struct {
	mu       sync.Mutex // guards the rest
	sessions map[*session]struct{}
	toggled  map[string]bool // kinds that Change has changed
	linked   map[string]bool // links that have been shown
	status   Status
}

// Status counts what has happened to a server since it began, in this process.
type Status struct {
	// Running is the calls of a tool that wait now, Cancelled those that ended
	// because the client no longer wants them.
	Running, Cancelled int
	// Handshakes counts initialize requests, Calls tools/call requests.
	Handshakes, Calls int
	// Sessions is the connections that are open, Listens the open
	// subscriptions/listen requests and GET streams.
	Sessions, Listens int
	// Ready is the connections whose handshake is over and that have a way for
	// what belongs to no call.
	Ready int
	// Watched are the URIs that somebody subscribes to, sorted.
	Watched []string
	// Answers are the raw answers to questions asked outside of calls.
	Answers []json.RawMessage
	// Level is the level that a client of the handshake era has set last.
	Level string
	// RootsChanged counts notifications/roots/list_changed.
	RootsChanged int
}

// Status returns what has happened so far.
func (s *Server) Status() Status {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	out := s.world.status
	out.Answers = slices.Clone(out.Answers)
	out.Sessions = len(s.world.sessions)
	watched := map[string]bool{}
	for n := range s.world.sessions {
		n.mu.Lock()
		out.Listens += len(n.listens) + n.attached
		if n.terms.ready && n.out != nil {
			out.Ready++
		}
		for uri := range n.watched {
			watched[uri] = true
		}
		for _, l := range n.listens {
			for _, uri := range l.filter.URIs {
				watched[uri] = true
			}
		}
		n.mu.Unlock()
	}
	out.Watched = slices.AppendSeq([]string{}, maps.Keys(watched))
	slices.Sort(out.Watched)
	return out
}

// count changes the status.
func (w *world) count(change func(*Status)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.status)
}

func (w *world) join(n *session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions == nil {
		w.sessions = map[*session]struct{}{}
	}
	w.sessions[n] = struct{}{}
}

func (w *world) leave(n *session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sessions, n)
}

func (w *world) all() []*session {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.sessions))
}

// later is the entry that Change has added to a list, none by default.
func (w *world) later(kind string) []json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.toggled[kind]:
		return nil
	case kind == "tools":
		return []json.RawMessage{json.RawMessage(`{"name":"later","inputSchema":{"type":"object"}}`)}
	case kind == "resources":
		return []json.RawMessage{json.RawMessage(`{"uri":"fake://later","name":"later"}`)}
	}
	return []json.RawMessage{json.RawMessage(`{"name":"later"}`)}
}

// Change adds an entry "later" to a list ("tools", "prompts" or "resources"),
// or takes it away again, and tells every client that listens.
func (s *Server) Change(kind string) {
	s.world.mu.Lock()
	if s.world.toggled == nil {
		s.world.toggled = map[string]bool{}
	}
	s.world.toggled[kind] = !s.world.toggled[kind]
	s.world.mu.Unlock()
	for _, n := range s.world.all() {
		n.tell("notifications/"+kind+"/list_changed", nil, func(f filter) bool {
			return kind == "tools" && f.Tools || kind == "prompts" && f.Prompts || kind == "resources" && f.Resources
		}, true)
	}
}

// Touch informs every client that subscribes to a resource that it has changed.
func (s *Server) Touch(uri string) {
	for _, n := range s.world.all() {
		n.mu.Lock()
		watched := n.watched[uri]
		n.mu.Unlock()
		n.tell("notifications/resources/updated", wireObject("uri", uri), func(f filter) bool { return slices.Contains(f.URIs, uri) }, watched)
	}
}

// Drop ends all connections at once, calls in the middle: a process exits, an
// HTTP server forgets its sessions and breaks its answers off.
func (s *Server) Drop() {
	for _, n := range s.world.all() {
		n.stop(&ExitError{1})
	}
}

// AskOutside sends a request, such as "roots/list", to every client of the
// handshake era, outside of any call. Answers go to Status.Answers.
func (s *Server) AskOutside(ctx context.Context, method string) {
	for _, n := range s.world.all() {
		n.mu.Lock()
		ready := n.terms.ready
		n.mu.Unlock()
		if ready {
			n.askOutside(ctx, method)
		}
	}
}
