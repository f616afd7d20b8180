package demo

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// Handler serves Streamable HTTP at whatever path it is mounted. It keeps no
// sessions. A request that carries a progress token is answered with an event
// stream, every other one with JSON.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !localOrigin(r) {
		http.Error(w, "requests from web pages of other origins are refused", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "this server takes POST only", http.StatusMethodNotAllowed)
		return
	}
	if ct, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(ct), "application/json") {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		code := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			code = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "read the request: "+err.Error(), code)
		return
	}
	m, bad := parse(body)
	if bad != nil {
		writeJSON(w, http.StatusBadRequest, bad)
		return
	}
	if m.ID == nil || m.Method == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if err := checkHeaders(r.Header, m); err != nil {
		writeJSON(w, http.StatusBadRequest, &response{JSONRPC: "2.0", ID: m.ID, Error: err})
		return
	}
	if hasToken(m.Params) && strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		s.stream(w, r, m)
		return
	}
	res := s.answer(r.Context(), m, func(string, any) {})
	writeJSON(w, httpStatus(res, claim(m.Params) != ""), res)
}

// localOrigin keeps web pages away: a browser names the page's origin, and
// only those of this machine may talk to a server that listens on it
// (Streamable HTTP, Security Warning).
func localOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func hasToken(params json.RawMessage) bool {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	return json.Unmarshal(params, &p) == nil && p.Meta.Token != nil
}

// claim is the revision that a request names in _meta, "" for none.
func claim(params json.RawMessage) string {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var v string
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Meta[metaPrefix+"protocolVersion"], &v) != nil {
		return ""
	}
	return v
}

// checkHeaders compares the headers that mirror the body (2026-07-28,
// Streamable HTTP, Request Metadata) and refuses unknown revisions.
func checkHeaders(h http.Header, m *message) *runtime.Error {
	version, claimed := h.Get("MCP-Protocol-Version"), claim(m.Params)
	mismatch := func(header, got, want string) *runtime.Error {
		return &runtime.Error{Code: runtime.CodeHeaderMismatch, Message: fmt.Sprintf("%s is %q, the body says %q", header, got, want)}
	}
	if claimed == "" {
		if version == modern {
			return &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaPrefix + "protocolVersion"}
		}
		for _, v := range versions() {
			if version == "" || version == v {
				return nil
			}
		}
		var e *runtime.Error
		errors.As(unsupported(version), &e)
		return e
	}
	if version != claimed {
		return mismatch("MCP-Protocol-Version", version, claimed)
	}
	if claimed != modern {
		return nil // the method's own check says which are spoken
	}
	if got := h.Get("Mcp-Method"); got != m.Method {
		return mismatch("Mcp-Method", got, m.Method)
	}
	name := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		name = stringParam(m.Params, "name")
	case "resources/read":
		name = stringParam(m.Params, "uri")
	default:
		return nil
	}
	if got := decodeHeader(h.Get("Mcp-Name")); got != name {
		return mismatch("Mcp-Name", got, name)
	}
	return nil
}

// decodeHeader undoes the wrapper for values that a header cannot hold.
func decodeHeader(v string) string {
	inner, ok := strings.CutPrefix(v, "=?base64?")
	if inner, end := strings.CutSuffix(inner, "?="); ok && end {
		if b, err := base64.StdEncoding.DecodeString(inner); err == nil {
			return string(b)
		}
	}
	return v
}

// httpStatus is the status of an answer: the modern revision gives some errors
// their own; before it, a JSON-RPC error is a 200.
func httpStatus(res *response, modern bool) int {
	if res.Error == nil {
		return http.StatusOK
	}
	switch res.Error.Code {
	case runtime.CodeUnsupportedVersion, runtime.CodeHeaderMismatch, runtime.CodeMissingCapability:
		return http.StatusBadRequest
	case runtime.CodeMethodNotFound:
		if modern {
			return http.StatusNotFound
		}
	case runtime.CodeInvalidParams:
		if modern {
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone needs no answer
}

// stream answers with server-sent events: the call's notifications, then its
// response.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, m *message) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	rc := http.NewResponseController(w)
	var mu sync.Mutex
	event := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			panic("demo: a message of ours has no JSON form: " + err.Error())
		}
		mu.Lock()
		defer mu.Unlock()
		// json.Marshal leaves no line break inside.
		_, _ = w.Write(bytes.Join([][]byte{[]byte("event: message\ndata: "), b, []byte("\n\n")}, nil))
		_ = rc.Flush()
	}
	event(s.answer(r.Context(), m, func(method string, params any) {
		event(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	}))
}
