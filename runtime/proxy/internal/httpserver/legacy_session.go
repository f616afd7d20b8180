package httpserver

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// sessionIdle is how long a session lives without a request or a stream.
	sessionIdle = 24 * time.Hour
	// maxSessions bounds how many there are; beyond it those of the principal with the
	// most end that are idle longest, sessionFew at once, and their clients start again.
	// Where that is who wants one more, or where nobody says who they are, those end that
	// have been idle for sessionYield; without any the new one is refused: a client that
	// begins sessions without end must not end those in use.
	maxSessions  = 10_000
	sessionFew   = 100
	sessionYield = 30 * time.Second
	// sessionSweep is how often many sessions are searched for idle ones, and
	// sessionScan how often a full table is.
	sessionSweep = time.Minute
	sessionScan  = 250 * time.Millisecond
	// maxPending bounds the messages kept for a client that listens on no stream;
	// equal ones count once. Beyond it the oldest are dropped, and whatever is larger
	// than maxPendingBytes alone.
	maxPending      = 64
	maxPendingBytes = 64 << 10
	// pollVersion is the first revision whose clients can resume a stream that has
	// ended early (SEP-1699).
	pollVersion = "2025-11-25"
)

// session is one client's, from initialize to DELETE.
type session struct {
	p         *endpoint.Set
	id        string
	principal *access.Principal // nil where nobody is asked who they are
	address   string            // of the view that its URL names
	sender    endpoint.Sender
	replay    replayBuffer
	serving   atomic.Int64 // requests being answered, even if their connections are gone

	lifetime context.Context //nolint:containedctx // the session's own, ended by close
	end      context.CancelFunc
	unlisten func()

	mu        sync.Mutex // guards what follows; taken before a stream's
	used      time.Time
	listening []*stream // those of a GET that have a connection, oldest first
	pending   []string  // framed, for the next of them
}

// Caller returns the client as its requests carry it: empty without a session.
func (s *session) Caller() upstream.Caller {
	if s == nil {
		return upstream.Caller{}
	}
	version, capabilities := s.sender.Client.TermsOf()
	return upstream.Caller{Version: version, Capabilities: capabilities, Client: s.sender.Client}
}

// enter counts a request, false where there are too many; leave takes it back.
// Without a session only limits.MaxServing holds.
func (s *session) enter() bool {
	if s == nil || s.serving.Add(1) <= limits.MaxSessionServing {
		return true
	}
	s.serving.Add(-1)
	return false
}

func (s *session) leave() {
	if s != nil {
		s.serving.Add(-1)
	}
}

// polls reports whether the client can resume a stream that has ended early.
func (s *session) polls() bool {
	return s != nil && s.sender.Client.Revision() >= pollVersion
}

// Notify sends a notification, or keeps it until the client listens on a stream.
func (s *session) Notify(method string, params []byte) {
	frame := jsonrpc.AppendNotification(nil, method, params)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pushLocked(frame, priorityOf(method)) != nil {
		s.wait(frame)
	}
}

// wait keeps a message for the next stream. The caller holds the lock.
func (s *session) wait(frame []byte) {
	if len(frame) > maxPendingBytes || slices.Contains(s.pending, string(frame)) {
		return
	}
	size := len(frame)
	for _, other := range s.pending {
		size += len(other)
	}
	for len(s.pending) > 0 && (len(s.pending) == maxPending || size > maxPendingBytes) {
		size -= len(s.pending[0])
		s.pending = slices.Delete(s.pending, 0, 1)
	}
	s.pending = append(s.pending, string(frame))
}

// push sends what belongs to no request and is useless later.
func (s *session) push(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pushLocked(frame, heavy)
}

// pushLocked sends to one stream: "the server MUST send each of its JSON-RPC
// messages on only one of the connected streams" (2025-11-25, Multiple
// Connections).
func (s *session) pushLocked(frame []byte, w priority) error {
	err := upstream.ErrNoStream
	for _, to := range s.listening {
		if err = to.push(frame, w); err == nil {
			return nil
		}
	}
	return err
}

// since returns when the session was last used; a stream, or a request under way,
// counts as use.
func (s *session) since(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listening) > 0 || s.serving.Load() > 0 {
		return now
	}
	return s.used
}

// listen adds a stream that has a connection, and sends it what has waited. It
// returns nil where there are too many.
func (s *session) listen(to *stream) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listening) >= limits.MaxSessionStreams {
		return nil
	}
	s.listening = append(s.listening, to)
	for len(s.pending) > 0 && to.push([]byte(s.pending[0]), heavy) == nil {
		s.pending = s.pending[1:]
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i := slices.Index(s.listening, to); i >= 0 {
			s.listening = slices.Delete(s.listening, i, i+1)
		}
		for _, q := range to.reclaim() {
			s.wait(q.data)
		}
		s.used = time.Now()
	}
}

// close ends the session and what its client still waits for.
func (s *session) close() {
	s.unlisten()
	s.end()
	s.p.Router.AbandonFastCalls(s.owns)
	s.replay.stop()
}

// owns reports whether a call's receiver is one of this session.
func (s *session) owns(r router.ReplyTo) bool {
	x, ok := r.(*post)
	return ok && x.session == s
}

// sessions is the sessions of one endpoint. The zero value is ready.
type sessions struct {
	Mu    sync.Mutex // guards what follows
	m     map[string]*session
	swept time.Time // when old ones were last looked for
	full  time.Time // when there was last no room, for payer
	payer string
}

// open begins a session that lasts as long as ctx at most, nil where there is no
// room for one more.
func (t *sessions) open(ctx context.Context, p *endpoint.Set, seen upstream.Audience, address string) *session {
	s := newSession(ctx, p, seen, address) // under no lock that each request takes
	t.Mu.Lock()
	old, makeSpace := t.expired(time.Now(), seen.Who.Key())
	for _, o := range old {
		delete(t.m, o.id)
	}
	if t.m == nil {
		t.m = map[string]*session{}
	}
	if makeSpace {
		t.m[s.id] = s
	} else {
		old = append(old, s)
	}
	t.Mu.Unlock()
	for _, o := range old {
		o.close()
	}
	if !makeSpace {
		return nil
	}
	return s
}

func newSession(ctx context.Context, p *endpoint.Set, seen upstream.Audience, address string) *session {
	s := &session{p: p, id: rand.Text(), principal: seen.Who, address: address, used: time.Now()}
	s.replay.all = &p.Budget.Unsent
	s.sender = endpoint.Sender{Client: upstream.NewClient(s.push), Owns: s.owns}
	s.sender.Client.SendLater = s.Notify
	s.lifetime, s.end = deadline.WithEnd(ctx)
	s.unlisten = p.Router.Join(s.sender.Client, seen, s)
	return s
}

// expired returns the sessions that are to end before one more of a principal begins, and
// whether it may begin. The caller holds the lock.
func (t *sessions) expired(now time.Time, newcomer string) (old []*session, makeSpace bool) {
	full := len(t.m) >= maxSessions
	var held map[string]int
	most, payer := sessionIdle, ""
	switch {
	case full && newcomer == t.payer && now.Sub(t.full) < sessionScan:
		return nil, false
	case full:
		held = map[string]int{}
		for _, s := range t.m {
			held[s.principal.Key()]++
		}
		if payer = limits.Payer(held, newcomer); payer == newcomer {
			most = sessionYield
		} else {
			most = -1
		}
	case len(t.m) >= sessionFew && now.Sub(t.swept) < sessionSweep:
		return nil, true
	}
	t.swept = now
	since := map[*session]time.Time{}
	for _, s := range t.m {
		if full && s.principal.Key() != payer {
			continue
		}
		if at := s.since(now); now.Sub(at) > most {
			old = append(old, s)
			since[s] = at
		}
	}
	if !full {
		return old, true
	}
	// The few that have been idle longest, so that not every request searches.
	slices.SortFunc(old, func(a, b *session) int { return since[a].Compare(since[b]) })
	old = old[:min(len(old), sessionFew, max(1, held[payer]/2))]
	if len(old) == 0 {
		t.full, t.payer = now, payer
	}
	return old, len(old) > 0
}

// get returns the session with an id, nil where it is not one of the principal's, or has
// begun at the address of another view.
func (t *sessions) get(id, principal, address string) *session {
	t.Mu.Lock()
	s := t.m[id]
	t.Mu.Unlock()
	if s != nil && (s.principal.Key() != principal || s.address != address) {
		return nil
	}
	if s != nil {
		s.mu.Lock()
		s.used = time.Now()
		s.mu.Unlock()
	}
	return s
}

func (t *sessions) remove(id, principal, address string) bool {
	t.Mu.Lock()
	s := t.m[id]
	if s != nil && (s.principal.Key() != principal || s.address != address) {
		s = nil
	}
	if s != nil {
		delete(t.m, id)
	}
	t.Mu.Unlock()
	if s != nil {
		s.close()
	}
	return s != nil
}

func (t *sessions) list() []*session {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	return slices.Collect(maps.Values(t.m))
}

func (t *sessions) clear() {
	t.Mu.Lock()
	all := t.m
	t.m = nil
	t.Mu.Unlock()
	for _, s := range all {
		s.close()
	}
}

// listen serves GET: what belongs to no request, until the client goes or the
// session ends; or, with Last-Event-ID, what follows on the stream of that
// event, whichever method opened it (2025-11-25, Resumability and Redelivery).
func (h *Streamable) listen(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	accepts := acceptOf(r)
	if !accepts.events {
		http.Error(w, "GET gives text/event-stream, which Accept does not name", http.StatusNotAcceptable)
		return
	}
	s := h.Sessions.get(r.Header.Get("Mcp-Session-Id"), principal.Key(), h.o.address(r))
	if s == nil {
		status := http.StatusNotFound
		if r.Header.Get("Mcp-Session-Id") == "" {
			status = http.StatusBadRequest
		}
		http.Error(w, "this stream needs a session: send initialize first", status)
		return
	}
	defer h.streams.Add(-1)
	if h.streams.Add(1) > limits.MaxStreams {
		busy(w, http.StatusServiceUnavailable, nil, "too many streams are open: try again later")
		return
	}
	o := &eventWriter{h: h, w: w, r: r, session: s, kind: ofGet, accepts: accepts}
	get := true
	if id := r.Header.Get("Last-Event-Id"); id != "" {
		var n uint64
		if o.s, n, get = s.replay.find(id); o.s != nil {
			o.holder = o.s.attach(n)
		}
		switch {
		case o.holder != nil:
			o.resumed = true
		case get: // what was on it is gone, but more will come
			o.s = nil
		default:
			http.Error(w, "there is nothing more after event "+strings.ToValidUTF8(id, ""), http.StatusBadRequest)
			return
		}
	}
	if o.s == nil {
		o.s = &stream{}
		o.s.start(&h.p.Budget.Unsent)
	}
	if get { // before the client learns that the stream is open
		stop := s.listen(o.s)
		if stop == nil {
			busy(w, http.StatusTooManyRequests, nil, "this session has too many streams open already")
			return
		}
		defer stop()
		ctx, over := h.active.Within(r.Context(), principal)
		defer over()
		o.r = r.WithContext(ctx)
	}
	o.open()
	_ = o.out.flush() // the request's context tells that the client has gone
	o.run()
}

// end serves DELETE, which ends a session.
func (h *Streamable) end(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		http.Error(w, "DELETE ends a session: name it in Mcp-Session-Id", http.StatusBadRequest)
		return
	}
	if !h.Sessions.remove(id, principal.Key(), h.o.address(r)) {
		http.Error(w, "unknown session", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
