package httpserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/workers"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Options are settings of an endpoint over HTTP; see proxy.HTTPOptions.
type Options struct {
	AccessControl AccessControl
	Path          string // under which the endpoint is, for the names of views after it
	MaxBody       int64
	StreamMax     time.Duration
	NoCompression bool
	Ready         func() (status int, word string) // of /readyz
}

// Streamable is the Streamable HTTP endpoint for clients of the handshake era,
// with or without a session. It is an http.Handler for its endpoint's path.
type Streamable struct {
	p        *endpoint.Set
	o        Options
	Sessions sessions
	timers   sync.Pool // stopped ones: every request wants one

	serving atomic.Int64 // requests being answered; see busy
	counts  struct {     // of requests that belong to no session
		begun    atomic.Uint64
		inFlight atomic.Int64
		last     atomic.Int64 // in nanoseconds since 1970
	}
	streams atomic.Int64 // that belong to no request
	active  ActiveRequests

	lifetime context.Context //nolint:containedctx // owned, ended by Close
	cancel   context.CancelFunc
	leave    func()       // the proxy's endpoints
	work     workers.Pool // requests being served
}

// NewStreamable returns an endpoint. Close ends its streams.
func NewStreamable(p *endpoint.Set, o Options) *Streamable {
	h := &Streamable{p: p, o: o.withDefaults()}
	h.lifetime, h.cancel = context.WithCancel(p.Router.Set.Lifetime)
	h.leave = p.Enter(h)
	p.Router.Start(upstream.Audience{})
	return h
}

// Close ends all sessions, streams and requests, and waits for them. The server that
// runs the handler is shut down after it.
func (h *Streamable) Close() {
	h.work.Refuse()
	h.cancel()
	h.Sessions.clear()
	h.work.Close()
	h.leave()
}

// arrived counts a request that belongs to no session, until left.
func (h *Streamable) arrived() {
	h.counts.begun.Add(1)
	h.counts.inFlight.Add(1)
	h.counts.last.Store(time.Now().UnixNano())
}

func (h *Streamable) left() { h.counts.inFlight.Add(-1) }

// Busy counts requests whose client waits, and those that go on without it.
func (h *Streamable) Busy() int { return int(h.serving.Load()) }

// refuseDraining refuses a request that comes after Drain.
func refuseDraining(w http.ResponseWriter, id []byte) {
	w.Header().Set("Retry-After", "1") // by then another process may be there
	write(w, http.StatusServiceUnavailable, jsonrpc.AppendError(nil, id, endpoint.DrainingError()))
}

// timer returns a running timer, for doneWith.
func (h *Streamable) timer(d time.Duration) *time.Timer {
	t, _ := h.timers.Get().(*time.Timer)
	if t == nil {
		return time.NewTimer(d)
	}
	t.Reset(d)
	return t
}

func (h *Streamable) doneWith(t *time.Timer) {
	t.Stop()
	h.timers.Put(t)
}

func (h *Streamable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	principal, ok := h.o.admit(w, r)
	if !ok || !h.o.knows(h.p, w, r) {
		return
	}
	if r.Method == http.MethodPost {
		if !h.post(w, r, principal) {
			h.o.drain(w, r)
		}
		return
	}
	version := r.Header.Get("Mcp-Protocol-Version")
	switch {
	case version == revision.Modern: // "405 Method Not Allowed" for all but POST (2026-07-28, Streamable HTTP)
		h.o.notAllowed(w, r, "POST", "the only method of "+revision.Modern+" is POST")
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		h.o.notAllowed(w, r, "GET, POST, DELETE", "method not allowed")
	case version != "" && !slices.Contains(revision.LegacyVersions(), version):
		// "MUST respond with 400 Bad Request" (2025-06-18, Protocol Version
		// Header). POST checks it against its message.
		http.Error(w, "no revision with sessions: "+version, http.StatusBadRequest)
	case r.Method == http.MethodGet:
		h.listen(w, r, principal)
	default:
		h.end(w, r, principal)
	}
}

// notAllowed refuses a method; allow names those there are: "The origin server
// MUST generate an Allow header field in a 405 response" (RFC 9110, 15.5.6).
func (o *Options) notAllowed(w http.ResponseWriter, r *http.Request, allow, why string) {
	w.Header().Set("Allow", allow)
	http.Error(w, why, http.StatusMethodNotAllowed)
	o.drain(w, r)
}

// post serves a POST. It reports whether it has read the body.
func (h *Streamable) post(w http.ResponseWriter, r *http.Request, principal *access.Principal) (read bool) {
	defer h.serving.Add(-1)
	if h.serving.Add(1) > limits.MaxServing {
		busy(w, http.StatusServiceUnavailable, nil, "too many requests are being answered: try again later")
		return false
	}
	accepts := acceptOf(r)
	if !accepts.json && !accepts.events {
		http.Error(w, "answers are application/json or text/event-stream: Accept names neither", http.StatusNotAcceptable)
		return false
	}
	b, ok := receive(h.p, &h.o, w, r)
	if !ok {
		return false
	}
	if !h.o.NoCompression {
		accepts.codings, accepts.peer = r.Header["Accept-Encoding"], r.RemoteAddr
	}
	h.message(w, r, principal, accepts, b.Bytes())
	b.release()
	return true
}

// message handles one body, which is valid only while it runs.
func (h *Streamable) message(w http.ResponseWriter, r *http.Request, principal *access.Principal, accepts accept, body []byte) {
	var m rawjson.Message
	kind, refusal := endpoint.Classify(body, &m)
	if kind == endpoint.Refused {
		write(w, refusal.Status, refusal.Frame())
		return
	}
	batch := kind == endpoint.Batch
	version := r.Header.Get("Mcp-Protocol-Version")
	switch modern := endpoint.IsModern(body, &m, version, r.Header.Get("Mcp-Session-Id") != ""); {
	case modern && !batch:
		h.modern(w, r, principal, accepts, body, &m)
		return
	case version == revision.Modern: // a batch, or an answer
		refuse(w, http.StatusBadRequest, nil, runtime.CodeInvalidRequest, "not a message of "+revision.Modern)
		return
	}
	if v, ok := rawjson.String(body, m.MetaVersion); ok {
		version = v
	}
	if version != "" && !slices.Contains(revision.LegacyVersions(), version) {
		write(w, http.StatusBadRequest, jsonrpc.AppendError(nil, m.ID.Of(body), router.Unsupported(version).Object))
		return
	}
	var s *session
	address := h.o.address(r)
	seen := upstream.Audience{Who: principal}
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		if s = h.Sessions.get(id, principal.Key(), address); s == nil {
			// "MUST respond with 404 Not Found", so that the client starts again.
			refuse(w, http.StatusNotFound, m.ID.Of(body), runtime.CodeInvalidRequest, "unknown or expired session")
			return
		}
		version = s.sender.Client.Revision()
	} else {
		seen, _ = h.p.Router.Views.Of(address, principal, "")
		if m.ID.Present() {
			h.arrived()
			defer h.left()
		}
	}
	switch {
	case batch && (version == endpoint.BatchVersion || version == "" && s == nil):
		h.batch(w, r, newPost(&h.p.Budget.Unsent, s, seen, r, nil, version, accepts), body)
	case batch:
		refuse(w, http.StatusBadRequest, nil, runtime.CodeInvalidRequest, "batches are only for "+endpoint.BatchVersion)
	case kind == endpoint.Request && !h.p.Ready():
		refuseDraining(w, m.ID.Of(body))
	case kind == endpoint.Request:
		h.request(w, r, newPost(&h.p.Budget.Unsent, s, seen, r, m.ID.Of(body), version, accepts), body, &m)
	default:
		if s != nil {
			h.p.Take(&s.sender, kind, body, &m)
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

// batch serves an array of messages. Its answers come together.
func (h *Streamable) batch(w http.ResponseWriter, r *http.Request, x *post, body []byte) {
	body, free, err := h.p.Budget.Hold(body)
	if err != nil {
		busy(w, http.StatusServiceUnavailable, nil, err.Error())
		return
	}
	ctx, c := h.lifetime, endpoint.Batcher{From: x.Caller()}
	if s := x.session; s != nil {
		ctx = s.lifetime
		c.Sender = &s.sender
	}
	if !h.work.Go(func() { // ends with its context
		defer free()
		x.stream.finish(h.p.Batch(ctx, body, c))
	}) {
		free()
	}
	h.await(w, r, x)
}

func refuse(w http.ResponseWriter, status int, id []byte, code int64, message string) {
	write(w, status, jsonrpc.AppendError(nil, id, jsonrpc.ErrorObject(code, message, nil)))
}

//nolint:gochecknoglobals // constant header values, shared so that no response allocates its own
var (
	jsonType  = []string{"application/json"}
	gzipped   = []string{"gzip"}
	sseType   = []string{"text/event-stream"}
	noStore   = []string{"no-store"}
	noBuffer  = []string{"no"}
	smallBody = 2048 // below it net/http computes Content-Length itself
)

func write(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head["Content-Type"] = jsonType
	if len(body) > smallBody {
		head["Content-Length"] = []string{fmt.Sprint(len(body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and typed so; the client may be gone: nobody to tell
}

// busy refuses a request that there is no room for now.
func busy(w http.ResponseWriter, status int, id []byte, reason string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, status, id, runtime.CodeInternalError, reason)
}

// Clients implements [endpoint.Endpoint].
func (h *Streamable) Clients() ([]client.Info, endpoint.StatelessInfo) {
	all := h.Sessions.list()
	out := make([]client.Info, len(all))
	for i, s := range all {
		out[i] = s.sender.Client.Status("http")
		out[i].Principal = s.principal.Key()
		out[i].InFlight = int(s.serving.Load())
		s.mu.Lock()
		out[i].LastSeen, out[i].Streams = s.used, len(s.listening)
		s.mu.Unlock()
	}
	stateless := endpoint.StatelessInfo{Requests: h.counts.begun.Load(), InFlight: h.counts.inFlight.Load()}
	if at := h.counts.last.Load(); at > 0 {
		stateless.LastSeen = time.Unix(0, at)
	}
	return out, stateless
}

// Bounds implements [endpoint.Endpoint].
func (h *Streamable) Bounds() []limits.Bound {
	return []limits.Bound{
		{Name: "httpRequests", Used: h.Busy(), Max: limits.MaxServing},
		{Name: "httpSessions", Used: len(h.Sessions.list()), Max: maxSessions},
		{Name: "httpStreams", Used: int(h.streams.Load()), Max: limits.MaxStreams},
	}
}
