package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
)

const (
	// sessionIdle is how long a session lives without a request or a stream.
	sessionIdle = 24 * time.Hour
	// maxSessions bounds how many there are; beyond it the one idle longest
	// ends, whose client then starts anew.
	maxSessions = 10_000
	// maxQueued bounds the notifications a listening client has not taken.
	maxQueued = 64
)

// session is one client's, from initialize to DELETE.
type session struct {
	id   string
	peer *peer
	slow inProgress

	lifetime context.Context //nolint:containedctx // the session's own, ended by close
	end      context.CancelFunc
	unlisten func()

	mu      sync.Mutex // guards what follows
	used    time.Time
	streams map[chan []byte]struct{}
}

// caller is the client as its requests carry it; one without a session has said
// nothing of itself.
func (s *session) caller() caller {
	if s == nil {
		return caller{}
	}
	version, capabilities := s.peer.settled()
	return caller{version: version, capabilities: capabilities, peer: s.peer}
}

// notify implements listener: one stream gets the message, "the server MUST
// send each of its JSON-RPC messages on only one of the connected streams"
// (2025-11-25, Multiple Connections).
func (s *session) notify(method string, params []byte) {
	_ = s.push(jsonrpc.AppendNotification(nil, method, params)) // nobody listens: nobody to tell
}

var errNoStream = errors.New("the client listens on no stream")

func (s *session) push(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.streams {
		select {
		case c <- frame:
			return nil
		default:
		}
	}
	return errNoStream
}

func (s *session) touch() {
	s.mu.Lock()
	s.used = time.Now()
	s.mu.Unlock()
}

// since tells when the session was last used; a stream counts as use.
func (s *session) since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.streams) > 0 {
		return time.Now()
	}
	return s.used
}

func (s *session) attach() (messages chan []byte, detach func()) {
	c := make(chan []byte, maxQueued)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[c] = struct{}{}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.streams, c)
		s.used = time.Now()
	}
}

func (s *session) close() {
	s.unlisten()
	s.end()
}

// sessions are those of one front. The zero value is ready.
type sessions struct {
	mu sync.Mutex // guards m
	m  map[string]*session
}

func (t *sessions) open(p *Proxy) *session {
	s := &session{id: rand.Text(), used: time.Now(), streams: map[chan []byte]struct{}{}}
	s.peer = newPeer(s.push)
	s.lifetime, s.end = context.WithCancel(p.lifetime)
	unlisten := p.listen(s)
	s.unlisten = func() {
		unlisten()
		p.leave(s.peer)
	}
	t.mu.Lock()
	if t.m == nil {
		t.m = map[string]*session{}
	}
	old := t.expired()
	for _, o := range old {
		delete(t.m, o.id)
	}
	t.m[s.id] = s
	t.mu.Unlock()
	for _, o := range old {
		o.close()
	}
	return s
}

// expired gives the sessions that are to end before one more begins.
func (t *sessions) expired() []*session {
	var out []*session
	var oldest *session
	now := time.Now()
	for _, s := range t.m {
		if now.Sub(s.since()) > sessionIdle {
			out = append(out, s)
		} else if len(t.m) >= maxSessions && (oldest == nil || s.since().Before(oldest.since())) {
			oldest = s
		}
	}
	if len(out) == 0 && oldest != nil {
		out = append(out, oldest)
	}
	return out
}

func (t *sessions) get(id string) *session {
	t.mu.Lock()
	s := t.m[id]
	t.mu.Unlock()
	if s != nil {
		s.touch()
	}
	return s
}

func (t *sessions) remove(id string) bool {
	t.mu.Lock()
	s := t.m[id]
	delete(t.m, id)
	t.mu.Unlock()
	if s != nil {
		s.close()
	}
	return s != nil
}

func (t *sessions) clear() {
	t.mu.Lock()
	all := t.m
	t.m = nil
	t.mu.Unlock()
	for _, s := range all {
		s.close()
	}
}

// stream serves GET: notifications outside requests, until the client goes or
// the session ends.
func (h *HTTPFront) stream(w http.ResponseWriter, r *http.Request) {
	s := h.sessions.get(r.Header.Get("Mcp-Session-Id"))
	if s == nil {
		status := http.StatusNotFound
		if r.Header.Get("Mcp-Session-Id") == "" {
			status = http.StatusBadRequest
		}
		http.Error(w, "this stream needs a session: send initialize first", status)
		return
	}
	messages, detach := s.attach()
	defer detach()
	var out *stream
	out = out.open(w)
	_ = out.f.Flush()
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case m := <-messages:
			out.event(m)
		case <-ticker.C:
			out.comment()
		case <-r.Context().Done():
			return
		case <-s.lifetime.Done():
			return
		case <-h.done:
			return
		}
	}
}
