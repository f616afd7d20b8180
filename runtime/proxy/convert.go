package proxy

import (
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// conversion is the way of what a connection answers to the client that asked.
func (rt *Router) conversion(r *Request, by *Conn) revision.Conversion {
	c := revision.Conversion{From: by.version, To: r.from.version, Method: r.method, Capabilities: r.from.capabilities}
	if r.from.modern() {
		c.Server = rt.o.Catalog.Info
		if !by.modern() { // others say it themselves
			c.Backend = by.implementation
		}
	} else {
		c.Wrap = r.to != nil && r.to.wraps
	}
	return c
}

// converted gives what a backend has answered in the client's revision, with
// the URIs that clients know.
func (rt *Router) converted(b *Backend, r *Request, s reply) (reply, error) {
	c := rt.conversion(r, s.by)
	if plain := s.by.plainResults; plain != nil && r.method == revision.MethodToolsCall && r.from.modern() {
		raw := rt.exposed(b, r, s.result)
		if out, ok := plain.Append(make([]byte, 0, len(raw)+plain.Len()), raw); ok {
			s.result = out
			return s, nil
		}
	}
	raw, task := rt.exposed(b, r, s.result), isTask(r.method, s.result)
	var err error
	if task {
		raw, err = rt.exposedTask(b, r, raw)
	}
	var result []byte
	if err == nil {
		result, err = c.Result(raw)
	}
	if err != nil {
		return reply{by: s.by}, &backendError{server: b.name, err: err}
	}
	if task {
		rt.taskOwners.note(s.by, result)
	}
	s.result = result
	return s, nil
}

// convertedError gives a backend's error in the client's revision. What that
// cannot express is, for tools/call, a result with isError in words.
func (rt *Router) convertedError(r *Request, s reply, e *runtime.Error) (reply, error) {
	if s.by == nil || e.Code == revision.CodeURLElicitation && r.from.modern() {
		return s, e // a modern client is asked instead
	}
	if e.Code == revision.CodeURLElicitation {
		s.by.slot.backend.keepForAnswers()
	}
	c := rt.conversion(r, s.by)
	to := c.Error(e)
	if to == e || r.method != revision.MethodToolsCall || to.Code != runtime.CodeInternalError {
		return s, to
	}
	s.result = errorResult(s.by.slot.backend.name, revision.Sentence(e), e.Raw)
	if r.from.modern() {
		own := revision.Conversion{From: revision.Latest, To: r.from.version, Method: r.method, Server: rt.o.Catalog.Info}
		result, err := own.Result(s.result)
		if err != nil {
			return s, to
		}
		s.result = result
	}
	return s, nil
}

// errorResult gives a tool result that says what went wrong at a server, with its
// own error object for programs.
func errorResult(server, text string, object []byte) []byte {
	out := rawjson.Quote([]byte(`{"content":[{"type":"text","text":`), text)
	out = append(out, `}],"isError":true,"_meta":{"dev.mcpctl/error":{"kind":"protocol","server":`...)
	out = rawjson.Quote(out, server)
	if object != nil {
		out = append(append(out, `,"error":`...), object...)
	}
	return append(out, `}}}`...)
}

// exposed gives the result of a request with the URIs that clients know; every
// other byte stays.
func (rt *Router) exposed(b *Backend, r *Request, result []byte) []byte {
	switch r.method {
	case revision.MethodToolsCall, revision.MethodPromptsGet:
		return rt.catalog.exposedContent(b, r.method, result)
	case revision.MethodResourcesRead:
		asked, _ := rawjson.String(r.line, r.msg.URI)
		bare := asked
		if r.to != nil {
			bare = r.to.bare
		}
		return rt.catalog.exposedContents(b, result, bare, asked)
	}
	return result
}
