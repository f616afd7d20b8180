package httpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// sseInFlight bounds the requests of one HTTP+SSE session whose answers the
	// client has not taken. A further POST waits for sseWait; then the client
	// counts as gone, and its session ends.
	sseInFlight = 256
	sseWait     = 5 * time.Second
	// sseFull is how many comments in a row, one each limits.KeepAlive, may find the
	// queue full before the session ends: about a minute.
	sseFull = 4
)

// SSE serves clients of the HTTP+SSE transport (2024-11-05, Transports;
// deprecated). It is the http.Handler of the path that they open the stream
// at; Messages is that of the path they POST to. The stream is the session: it
// carries everything that goes to the client, and when it is lost, so is the
// session.
type SSE struct {
	p    *endpoint.Set
	o    Options
	path string // that clients POST to, as they see it

	lifetime context.Context //nolint:containedctx // owned, ended by Close
	cancel   context.CancelFunc
	leave    func() // the proxy's endpoints
	active   ActiveRequests
	Mu       sync.Mutex // guards what follows, and what is added to work
	work     sync.WaitGroup
	closed   bool
	m        map[string]*sseSession
}

// NewSSE returns an endpoint. Close ends its sessions.
func NewSSE(p *endpoint.Set, o Options, path string) *SSE {
	if path == "" {
		path = "/messages"
	}
	f := &SSE{p: p, o: o.withDefaults(), path: path, m: map[string]*sseSession{}}
	f.lifetime, f.cancel = context.WithCancel(p.Router.Set.Lifetime)
	f.leave = p.Enter(f)
	p.Router.Start(upstream.Audience{})
	return f
}

// Close ends all sessions and requests, and waits for them. The server that runs the
// handlers is shut down after it.
func (f *SSE) Close() {
	f.Mu.Lock()
	f.closed = true
	f.Mu.Unlock()
	f.cancel()
	f.work.Wait()
	f.leave()
}

// Busy implements [endpoint.Endpoint].
func (f *SSE) Busy() (n int) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, s := range f.m {
		n += len(s.places)
	}
	return n
}

var _ router.ReplyTo = (*sseSession)(nil)

// sseSession is one client's, for as long as its stream lasts.
type sseSession struct {
	stream    stream // everything for the client
	f         *SSE
	id        string
	principal *access.Principal
	addr      string // of the client
	address   string // of the view that its URL names
	sender    endpoint.Sender
	seen      atomic.Int64  // when the last message came, in nanoseconds since 1970
	places    chan struct{} // taken by each request until its answer is sent
	// expired says that the credential of the stream has ended: no request begins.
	expired atomic.Bool

	lifetime context.Context //nolint:containedctx // the session's own, ended by end
	end      context.CancelCauseFunc
}

// ServeHTTP serves GET: a session for as long as the stream lasts.
func (f *SSE) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	principal, ok := f.o.admit(w, r)
	if !ok || !f.o.knows(f.p, w, r) {
		return
	}
	if r.Method != http.MethodGet {
		f.o.notAllowed(w, r, "GET", "GET opens the stream; messages are sent to where its first event says")
		return
	}
	if !acceptOf(r).events {
		http.Error(w, "GET gives text/event-stream, which Accept does not name", http.StatusNotAcceptable)
		return
	}
	s := &sseSession{f: f, id: rand.Text(), principal: principal, addr: r.RemoteAddr, address: f.o.address(r), places: make(chan struct{}, sseInFlight)}
	s.stream.start(&f.p.Budget.Unsent)
	s.sender = endpoint.Sender{Client: upstream.NewClient(func(frame []byte) error { return s.stream.push(frame, heavy) }), Owns: s.owns}
	s.lifetime, s.end = context.WithCancelCause(f.lifetime)
	if err := f.add(s); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer f.work.Done()
	defer f.remove(s)
	seen, _ := f.p.Router.Views.Of(s.address, principal, "")
	defer f.p.Router.Join(s.sender.Client, seen, s)()
	defer f.active.Start(principal, s.expire)()
	s.serve(w, r)
}

func (f *SSE) add(s *sseSession) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	switch {
	case f.closed:
		return upstream.ErrProxyClosed
	case len(f.m) >= limits.MaxStreams:
		return errors.New("too many streams are open: try again later")
	}
	f.work.Add(1)
	f.m[s.id] = s
	return nil
}

// remove ends a session whose stream is gone: nobody is left to be answered.
func (f *SSE) remove(s *sseSession) {
	f.Mu.Lock()
	delete(f.m, s.id)
	f.Mu.Unlock()
	s.end(upstream.ErrSessionEnded)
	s.stream.detach(nil)
	f.p.Router.AbandonFastCalls(s.owns)
}

func (s *sseSession) owns(r router.ReplyTo) bool { return r == s }

// serve writes the stream until the client goes or the session ends.
func (s *sseSession) serve(w http.ResponseWriter, r *http.Request) {
	out, done := events(s.lifetime, w)
	defer done()
	out.named("endpoint", s.f.path+"?sessionId="+s.id)
	if out.flush() != nil {
		return
	}
	go s.ping() // ends with s.lifetime
	for {
		select {
		case <-s.stream.wake:
			for _, q := range s.stream.take(nil, false).events {
				if q.data == nil {
					out.comment()
					continue
				}
				out.event("", q.line())
				if out.flush() != nil {
					return // it does not read, or is gone
				}
				if q.priority >= answering {
					s.release()
				}
			}
		case <-r.Context().Done():
			return
		case <-s.lifetime.Done():
			return
		}
	}
}

// ping queues a comment now and then, without ever waiting for the writer. It ends
// the session of a client that has taken nothing for long.
func (s *sseSession) ping() {
	tick := time.NewTicker(limits.KeepAlive)
	defer tick.Stop()
	for full := 0; full < sseFull; {
		select {
		case <-s.lifetime.Done():
			return
		case <-tick.C:
		}
		if full++; s.stream.push(nil, light) == nil {
			full = 0
		}
	}
	s.end(errStreamFull)
}

// Messages is the handler of the path that clients POST to.
func (f *SSE) Messages() http.Handler { return http.HandlerFunc(f.messages) }

func (f *SSE) messages(w http.ResponseWriter, r *http.Request) {
	principal, ok := f.o.admit(w, r)
	if !ok {
		return
	}
	if r.Method != http.MethodPost {
		f.o.notAllowed(w, r, "POST", "messages are sent with POST")
		return
	}
	id := r.URL.Query().Get("sessionId")
	if id == "" {
		http.Error(w, "no sessionId: GET opens a session, and says where to POST to", http.StatusBadRequest)
		f.o.drain(w, r)
		return
	}
	f.Mu.Lock()
	s := f.m[id]
	f.Mu.Unlock()
	if s == nil || s.principal.Key() != principal.Key() {
		http.Error(w, "unknown session: its stream has ended", http.StatusNotFound)
		f.o.drain(w, r)
		return
	}
	b, ok := receive(f.p, &f.o, w, r)
	if !ok {
		f.o.drain(w, r)
		return
	}
	s.seen.Store(time.Now().UnixNano())
	s.sender.Client.SetWho(principal)
	s.message(w, r, b.Bytes())
	b.release()
}

// message handles one body, which is valid only while it runs.
func (s *sseSession) message(w http.ResponseWriter, r *http.Request, body []byte) {
	m := new(rawjson.Message)
	kind, refusal := endpoint.Classify(body, m)
	batch := kind == endpoint.Batch
	switch {
	case kind == endpoint.Refused:
		write(w, refusal.Status, refusal.Frame())
		return
	case batch && s.Revision() != endpoint.BatchVersion:
		refuse(w, http.StatusBadRequest, nil, runtime.CodeInvalidRequest, "batches are only for "+endpoint.BatchVersion)
		return
	case kind == endpoint.Answer || kind == endpoint.Notification:
		s.f.p.Take(&s.sender, kind, body, m)
	case s.expired.Load():
		http.Error(w, upstream.ErrSessionEnded.Error(), http.StatusNotFound)
		return
	case !batch && !s.f.p.Ready():
		refuseDraining(w, m.ID.Of(body))
		return
	default:
		if !s.reserve(w, r) {
			return
		}
		line, free, err := s.f.p.Budget.Hold(body)
		if err != nil {
			s.release()
			busy(w, http.StatusServiceUnavailable, m.ID.Of(body), err.Error())
			return
		}
		s.request(line, m, batch, free)
	}
	w.WriteHeader(http.StatusAccepted)
}

// reserve takes a place for an answer.
func (s *sseSession) reserve(w http.ResponseWriter, r *http.Request) bool {
	select {
	case s.places <- struct{}{}:
		return true
	default:
	}
	t := time.NewTimer(sseWait)
	defer t.Stop()
	select {
	case s.places <- struct{}{}:
		return true
	case <-t.C:
		s.end(errStreamFull)
		http.Error(w, fmt.Sprintf("the stream has not been read for %v: the session has ended", sseWait), http.StatusServiceUnavailable)
	case <-s.lifetime.Done():
		http.Error(w, upstream.ErrSessionEnded.Error(), http.StatusNotFound)
	case <-r.Context().Done():
	}
	return false
}

// release frees a place: its answer has been sent, or there is none.
func (s *sseSession) release() {
	<-s.places
	s.endIfExpired()
}

// request serves what has reserved a place. It calls free in the end.
func (s *sseSession) request(body []byte, m *rawjson.Message, batch bool, free func()) {
	going := false
	defer func() {
		if !going {
			free()
		}
	}()
	id := m.ID.Of(body)
	method, ok := rawjson.String(body, m.Method)
	var call router.Fast
	switch {
	case batch:
	case !ok:
		s.answer(endpoint.Invalid(id, "method is not a string"))
		return
	case method == "initialize":
		if err := s.sender.Client.SetTerms(body, m); err != nil { // before the next message is read
			s.answer(router.Frame(nil, id, router.Failed(method, err)))
			return
		}
		seen, _ := s.f.p.Router.Views.OfInitialize(s.address, s.sender.Client.Who(), m.Params.Of(body))
		s.sender.Client.SetAudience(seen)
	case method == revision.MethodToolsCall:
		call = s.f.p.Router.FastCall(body, m, s, time.Now())
		if call.Err != nil {
			s.answer(router.Frame(nil, id, router.Failed(method, call.Err)))
			return
		}
		if call.Conn != nil {
			call.Conn.Flush()
			return
		}
	}
	s.f.Mu.Lock()
	defer s.f.Mu.Unlock()
	if s.f.closed {
		s.release()
		return
	}
	ctx, done := s.lifetime, func() {}
	if !batch {
		ctx, done = s.sender.InProgress.Start(s.lifetime, id)
	}
	going = true
	s.f.work.Go(func() { // ends with the session
		defer free()
		defer done()
		if batch {
			s.answer(s.f.p.Batch(ctx, body, endpoint.Batcher{From: s.Caller(), Sender: &s.sender}))
			return
		}
		a := s.f.p.Router.Serve(ctx, &router.Request{Line: body, Msg: m, Method: method, From: s.Caller(), Begun: call.Begun})
		if ctx.Err() != nil {
			s.release() // cancelled: no answer
			return
		}
		s.answer(router.Frame(nil, id, a))
	})
}

// answer queues what a place was reserved for, nil for nothing.
func (s *sseSession) answer(frames []byte) {
	if frames == nil || s.stream.push(frames, answering) != nil {
		s.release()
	}
}

func (s *sseSession) Caller() upstream.Caller {
	version, capabilities := s.sender.Client.TermsOf()
	return upstream.Caller{
		Version: version, Capabilities: capabilities, Client: s.sender.Client, Audience: s.Audience(), Emit: s.Notify, Peer: s.Peer(),
		Ask: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			return s.sender.Client.Ask(ctx, s.sender.Client.Push, method, params)
		},
	}
}

func (s *sseSession) Notify(method string, params []byte) {
	_ = s.stream.push(jsonrpc.AppendNotification(nil, method, params), priorityOf(method)) // see maxQueued
}

func (s *sseSession) Client() *upstream.Client { return s.sender.Client }

func (s *sseSession) Peer() client.Peer {
	return client.Peer{Transport: client.TransportSSE, Addr: s.addr}
}

// Audience returns that of the latest message.
func (s *sseSession) Audience() upstream.Audience { return s.sender.Client.Audience() }

func (s *sseSession) Revision() string { return s.sender.Client.Revision() }

func (s *sseSession) Finished(c *router.FastCall, a jsonrpc.Answer) *jsonrpc.Writer {
	s.answer(framed(c, a))
	return nil
}

func (s *sseSession) Ended(_ *router.FastCall, cancelled bool) {
	if cancelled {
		s.release()
	}
}

func (s *sseSession) Progressed(_ *router.FastCall, params []byte) *jsonrpc.Writer {
	s.Notify(revision.NotificationProgress, params)
	return nil
}

// Clients implements [endpoint.Endpoint].
func (f *SSE) Clients() ([]client.Info, endpoint.StatelessInfo) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	out := make([]client.Info, 0, len(f.m))
	for _, s := range f.m {
		one := s.sender.Client.Status("sse")
		one.Principal = s.principal.Key()
		one.InFlight, one.Streams = len(s.places), 1
		if at := s.seen.Load(); at > 0 {
			one.LastSeen = time.Unix(0, at)
		}
		out = append(out, one)
	}
	return out, endpoint.StatelessInfo{}
}

// Bounds implements [endpoint.Endpoint].
func (f *SSE) Bounds() []limits.Bound {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return []limits.Bound{{Name: "sseSessions", Used: len(f.m), Max: limits.MaxStreams}}
}
