package runtimetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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
	// Sessions issues a session id with initialize, wants it afterwards (400)
	// and forgets it on DELETE (404 from then on).
	Sessions bool
	// SessionCalls ends a session, with 404, after that many requests; 0 is
	// never.
	SessionCalls int
	// Bearer is the token that every request must carry; "" wants none.
	Bearer string
	// Status, when not 0, is the answer to everything: a gateway in trouble.
	Status int
	// Body is sent with Status.
	Body string
}

// Handler serves Streamable HTTP at every path. Close it with the server that
// runs it: it has no goroutines of its own.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	return &handler{s: s, o: o, sessions: map[string]*httpSession{}}
}

type handler struct {
	s *Server
	o HTTPOptions

	mu       sync.Mutex // guards the rest
	next     int
	sessions map[string]*httpSession
}

type httpSession struct {
	n     *session
	calls int
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.o.Status != 0:
		w.WriteHeader(h.o.Status)
		_, _ = io.WriteString(w, h.o.Body)
	case h.o.Bearer != "" && r.Header.Get("Authorization") != "Bearer "+h.o.Bearer:
		w.Header().Set("WWW-Authenticate", `Bearer realm="fake"`)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	case r.Method == http.MethodPost:
		h.post(w, r)
	case r.Method == http.MethodDelete && h.o.Sessions:
		h.mu.Lock()
		delete(h.sessions, r.Header.Get("Mcp-Session-Id"))
		h.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
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
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		h.fail(w, nil, &runtime.Error{Code: runtime.CodeParseError, Message: err.Error()})
		return
	}
	if h.s.Seen != nil {
		h.s.Seen(bytes.TrimSpace(body))
	}
	n, ok := h.session(w, r, &m)
	if !ok {
		return
	}
	if m.Method == "" || m.ID == nil {
		if m.Method == "" {
			n.answered(m)
		} else {
			n.notified(r.Context(), m)
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	h.request(w, r, n, m)
}

// session finds the session of a request or opens one.
func (h *handler) session(w http.ResponseWriter, r *http.Request, m *message) (*session, bool) {
	id := r.Header.Get("Mcp-Session-Id")
	h.mu.Lock()
	defer h.mu.Unlock()
	claim := strings.Contains(string(m.Params), metaVersion)
	switch {
	case !h.o.Sessions || claim:
		// One session for all keeps answers to the server's own requests
		// reachable.
		if h.sessions[""] == nil {
			h.sessions[""] = &httpSession{n: newSession(h.s, func(error) {})}
		}
		return h.sessions[""].n, true
	case m.Method == "initialize":
		h.next++
		id = "session-" + strconv.Itoa(h.next)
		h.sessions[id] = &httpSession{n: newSession(h.s, func(error) {})}
		w.Header().Set("Mcp-Session-Id", id)
		return h.sessions[id].n, true
	case m.Method == "server/discover" && id == "":
		return newSession(h.s, func(error) {}), true
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
			http.Error(w, "session not found", http.StatusNotFound)
			return nil, false
		}
	}
	return hs.n, true
}

func (h *handler) request(w http.ResponseWriter, r *http.Request, n *session, m message) {
	if !h.o.SSE {
		var answer []byte
		n.serve(r.Context(), func(frame []byte) {
			// Without a stream, only the answer has a place.
			if f := new(message); json.Unmarshal(frame, f) == nil && f.Method == "" {
				answer = frame
			}
		}, m)
		if answer == nil { // told to be silent: until the client gives up
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status(answer))
		_, _ = w.Write(answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	rc := http.NewResponseController(w)
	_ = rc.Flush() // a client that has gone shows in the context
	var mu sync.Mutex
	sent := false
	n.serve(r.Context(), func(frame []byte) {
		mu.Lock()
		defer mu.Unlock()
		sent = true
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", bytes.ReplaceAll(frame, []byte("\n"), []byte("\ndata: ")))
		_ = rc.Flush()
	}, m)
	if !sent {
		<-r.Context().Done()
	}
}

// status is the HTTP status of an answer: errors of the modern revision have
// their own (2026-07-28, Streamable HTTP).
func status(answer []byte) int {
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
	}
	return http.StatusOK
}

func (h *handler) fail(w http.ResponseWriter, id json.RawMessage, err error) {
	if id == nil {
		id = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(object("jsonrpc", "2.0", "id", id, "error", errorObject(err)))
}

// LegacySSE serves the deprecated HTTP+SSE transport of 2024-11-05: GET /sse
// opens the stream and names the endpoint, POST /messages sends.
func (s *Server) LegacySSE() http.Handler {
	l := &legacy{s: s, streams: map[string]*session{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", l.stream)
	mux.HandleFunc("POST /messages", l.message)
	return mux
}

type legacy struct {
	s *Server

	mu      sync.Mutex // guards the rest
	next    int
	streams map[string]*session
}

func (l *legacy) stream(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	rc := http.NewResponseController(w)
	n := newSession(l.s, cancel)
	var wmu sync.Mutex
	event := func(name string, data []byte) {
		wmu.Lock()
		defer wmu.Unlock()
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: ")))
		_ = rc.Flush()
	}
	n.out = func(frame []byte) { event("message", frame) }
	l.mu.Lock()
	l.next++
	id := strconv.Itoa(l.next)
	l.streams[id] = n
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.streams, id)
		l.mu.Unlock()
		n.wait() // nothing may write to w after this
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	event("endpoint", []byte("/messages?sessionId="+id))
	<-ctx.Done()
}

func (l *legacy) message(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	n := l.streams[r.URL.Query().Get("sessionId")]
	l.mu.Unlock()
	if n == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	// The call outlives this request: it ends with the stream.
	n.handle(context.WithoutCancel(r.Context()), bytes.TrimSpace(body))
}
