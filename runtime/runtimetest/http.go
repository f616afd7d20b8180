package runtimetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// HTTPOptions say how [Server.Handler] answers. The zero value answers with
// JSON and keeps no session.
type HTTPOptions struct {
	// SSE answers every request with an event stream, so that what the server
	// sends within a call can be seen; JSON answers have no room for it.
	SSE bool
	// Progress does so for requests with a progress token.
	Progress bool
	// Sessions issues a session id with initialize, wants it afterwards (400)
	// and forgets it on DELETE (404 from then on).
	Sessions bool
	// Stream adds a stream for GET to each session, for what the server sends
	// outside of calls. Without it GET is answered with 405.
	Stream bool
	// Resume adds ids to events, and a call outlives its stream: GET with
	// Last-Event-ID returns the rest (2025-11-25, Resumability and Redelivery).
	// It needs SSE, Sessions and Stream.
	Resume bool
	// SessionCalls ends a session, with 404, after that many requests; 0 is
	// never.
	SessionCalls int
	// Bearer is the token that every request must carry; "" wants none.
	Bearer string
	// Unauthorized is how many requests are answered with 401 before the
	// server takes one.
	Unauthorized int
	// NotFound answers whatever claims a revision in _meta with 404 and a page
	// of HTML, as web servers do that know nothing of 2026-07-28.
	NotFound bool
	// AnyHeaders takes requests of 2026-07-28 without looking at the headers
	// that repeat them.
	AnyHeaders bool
	// Status, when not 0, is the answer to everything: a gateway in trouble.
	Status int
	// Body is sent with Status.
	Body string
}

// Handler serves Streamable HTTP at every path. Close it with the server that
// runs it: it has no goroutines of its own but, with Resume, those of calls
// that nobody has cancelled; [Server.Drop] ends them.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	return &handler{s: s, o: o, sessions: map[string]*httpSession{}}
}

type handler struct {
	s *Server
	o HTTPOptions

	mu       sync.Mutex // guards the rest
	next     int
	refused  int
	sessions map[string]*httpSession
}

// httpSession is a session id, or one request that has none.
type httpSession struct {
	n       *session
	ctx     context.Context //nolint:containedctx // the session's own, ended by stop
	once    bool            // it serves one request
	calls   int
	streams eventLog
}

// open makes a session; the caller holds h.mu. Ended, it is no longer the one
// of that id.
func (h *handler) open(id string) *httpSession {
	hs := &httpSession{}
	ctx, cancel := context.WithCancelCause(context.Background())
	hs.ctx = ctx
	hs.n = newSession(ctx, h.s, func(err error) {
		cancel(err)
		h.mu.Lock() // hs.n is there once whoever opens it has let go
		defer h.mu.Unlock()
		h.s.world.leave(hs.n)
		if h.sessions[id] == hs {
			delete(h.sessions, id)
		}
	})
	if h.o.Stream && id != "" {
		hs.n.out = hs.streams.Open(outsideCalls).Add
	}
	return hs
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.o.Status != 0:
		w.WriteHeader(h.o.Status)
		_, _ = io.WriteString(w, h.o.Body)
	case h.unauthorized(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="fake"`)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	case r.Method == http.MethodPost:
		h.post(w, r)
	case r.Method == http.MethodDelete && h.o.Sessions:
		if hs := h.find(r); hs != nil {
			hs.n.stop(errGone)
		}
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet && h.o.Stream:
		h.get(w, r)
	default:
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

var errGone = errors.New("the session has ended")

func (h *handler) unauthorized(r *http.Request) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused < h.o.Unauthorized {
		h.refused++
		return true
	}
	return h.o.Bearer != "" && r.Header.Get("Authorization") != "Bearer "+h.o.Bearer
}

// find returns the session that a request names, nil for none.
func (h *handler) find(r *http.Request) *httpSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		return h.sessions[id]
	}
	return nil
}

func (h *handler) post(w http.ResponseWriter, r *http.Request) {
	accept := r.Header.Get("Accept")
	if !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream") {
		http.Error(w, "Accept must list application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	if ct, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); ct != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	m, err := wireParse(body)
	if err != nil {
		h.fail(w, nil, err)
		return
	}
	if h.s.Seen != nil {
		h.s.Seen(bytes.TrimSpace(body))
	}
	claim := wireField(wireMember(m.Params, "_meta"), metaVersion)
	if claim != "" && h.o.NotFound {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>404</title><h1>Not Found</h1>")
		return
	}
	modern, _ := h.s.modern()
	isModern := claim != "" && slices.Contains(modern, claim)
	switch {
	case isModern && !h.o.AnyHeaders:
		err = checkHeaders(r.Header, m, claim, h.inputSchema)
	case claim == "" && h.s.Strict:
		err = h.checkVersion(r.Header.Get("Mcp-Protocol-Version"))
	}
	if err != nil {
		h.fail(w, m.ID, err)
		return
	}
	hs, ok := h.session(w, r, &m, isModern)
	if !ok {
		return
	}
	if v := r.Header.Get("Mcp-Protocol-Version"); v != "" && !isModern {
		hs.n.mu.Lock()
		if hs.n.terms.version == "" { // without a session the header tells
			hs.n.terms.version = v
		}
		hs.n.mu.Unlock()
	}
	switch {
	case m.Method == "":
		hs.n.answered(m)
	case m.ID == nil:
		hs.n.notified(hs.ctx, m) // what it starts outlives the request
	default:
		h.request(w, r, hs, m)
		if hs.once {
			hs.n.stop(errGone)
		}
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// session finds the session of a message or opens one.
func (h *handler) session(w http.ResponseWriter, r *http.Request, m *wireMessage, isModern bool) (*httpSession, bool) {
	id := r.Header.Get("Mcp-Session-Id")
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case isModern, h.o.Sessions && id == "" && m.Method == "server/discover": // the request stands alone
		hs := h.open("")
		hs.once = true
		return hs, true
	case !h.o.Sessions:
		// One session for all keeps answers to the server's own requests
		// reachable.
		if h.sessions[""] == nil {
			h.sessions[""] = h.open("")
			h.sessions[""].n.shared = true
		}
		return h.sessions[""], true
	case m.Method == "initialize":
		h.next++
		id = "session-" + strconv.Itoa(h.next)
		h.sessions[id] = h.open(id)
		w.Header().Set("Mcp-Session-Id", id)
		return h.sessions[id], true
	case id == "":
		http.Error(w, "missing Mcp-Session-Id", http.StatusBadRequest)
		return nil, false
	}
	hs := h.sessions[id]
	if hs == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return nil, false
	}
	if m.ID != nil {
		if hs.calls++; h.o.SessionCalls > 0 && hs.calls > h.o.SessionCalls {
			delete(h.sessions, id)
			h.s.world.leave(hs.n)
			http.Error(w, "session not found", http.StatusNotFound)
			return nil, false
		}
	}
	return hs, true
}

// request answers a request with JSON or with a stream.
func (h *handler) request(w http.ResponseWriter, r *http.Request, hs *httpSession, m wireMessage) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(hs.ctx, func() { cancel(context.Cause(hs.ctx)) })()
	if h.o.SSE || h.o.Progress && wireMember(wireMember(m.Params, "_meta"), "progressToken") != nil {
		h.stream(ctx, w, hs, m)
	} else {
		h.plain(ctx, w, hs, m)
	}
	if exit := (*ExitError)(nil); errors.As(context.Cause(hs.ctx), &exit) {
		panic(http.ErrAbortHandler) // as a process that ends: the answer breaks off
	}
}

// plain answers with JSON: what is sent within the call has no place.
func (h *handler) plain(ctx context.Context, w http.ResponseWriter, hs *httpSession, m wireMessage) {
	var mu sync.Mutex
	var answer []byte
	hs.n.serve(ctx, func(frame []byte) {
		if f := new(wireMessage); json.Unmarshal(frame, f) == nil && f.Method == "" {
			mu.Lock()
			defer mu.Unlock()
			answer = frame
		}
	}, nil, m)
	if answer == nil { // told to be silent: until the client gives up
		<-ctx.Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status(answer, h.s.Strict && wireField(wireMember(m.Params, "_meta"), metaVersion) != ""))
	_, _ = w.Write(answer)
}

// status is the HTTP status of an answer: errors of the modern revision have
// their own (2026-07-28, Streamable HTTP), where strict two more.
func status(answer []byte, strict bool) int {
	var m struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &m) != nil {
		return http.StatusOK
	}
	switch m.Error.Code {
	case runtime.CodeUnsupportedVersion, runtime.CodeMissingCapability, runtime.CodeHeaderMismatch:
		return http.StatusBadRequest
	case runtime.CodeMethodNotFound:
		if strict {
			return http.StatusNotFound
		}
	case runtime.CodeInvalidParams:
		if strict {
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

func (h *handler) fail(w http.ResponseWriter, id json.RawMessage, err error) {
	if id == nil {
		id = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(wireAnswer(id, nil, err))
}

// inputSchema returns that of a tool, nil for none.
func (h *handler) inputSchema(tool string) json.RawMessage {
	for _, t := range h.s.Tools {
		if wireField(t.Definition, "name") == tool {
			return wireMember(t.Definition, "inputSchema")
		}
	}
	return nil
}

// checkVersion checks the header of a request that claims no revision in its
// body.
func (h *handler) checkVersion(header string) error {
	switch {
	case header >= RevJuly && slices.Contains(h.s.versions(), header):
		return &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaVersion}
	case header != "" && !slices.Contains(h.s.versions(), header):
		return h.s.unsupported(header)
	}
	return nil
}

// outsideCalls is the id of the stream for what belongs to no call.
const outsideCalls = "0"

// stream answers a request with an event stream of its own.
func (h *handler) stream(ctx context.Context, w http.ResponseWriter, hs *httpSession, m wireMessage) {
	st := hs.streams.Open("")
	hs.n.mu.Lock()
	prime := h.o.Resume && hs.n.terms.version >= RevNov
	hs.n.mu.Unlock()
	if prime {
		st.Add(nil) // "an SSE event consisting of an event ID and an empty data field"
	}
	call, cut := ctx, (func())(nil)
	if h.o.Resume && hs.n.out != nil {
		call, cut = hs.ctx, st.Cut // it outlives the connection
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if hs.n.serve(call, st.Add, cut, m) {
			st.End()
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	st.Follow(ctx, w, 0, h.o.Resume)
	if cut == nil {
		<-ended
	}
}

// get serves the stream of what the server sends outside of calls, or the rest
// of any stream that has broken off.
func (h *handler) get(w http.ResponseWriter, r *http.Request) {
	hs := h.find(r)
	if hs == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	outside := hs.streams.Find(outsideCalls)
	st, from := outside, -1
	if last := r.Header.Get("Last-Event-Id"); h.o.Resume && last != "" {
		if st, from = hs.streams.Resume(last); st == nil {
			http.Error(w, "unknown event", http.StatusNotFound)
			return
		}
	}
	if !st.Claim() && st == outside {
		http.Error(w, "the session has a stream already", http.StatusConflict)
		return
	}
	hs.attach(1)
	defer hs.attach(-1)
	defer st.Release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(hs.ctx, cancel)()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	st.Follow(ctx, w, from, h.o.Resume)
}

func (hs *httpSession) attach(delta int) {
	hs.n.mu.Lock()
	defer hs.n.mu.Unlock()
	hs.n.attached += delta
}
