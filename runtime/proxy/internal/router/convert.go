package router

import (
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// conversion is the way of what a connection answers to the client that asked.
func (rt *Router) conversion(r *Request, by *upstream.Conn) revision.Conversion {
	c := revision.Conversion{From: by.Version, To: r.From.Version, Method: r.Method, Capabilities: r.From.Capabilities}
	if r.From.Modern() {
		c.Server = rt.o.Catalog.Info
		if !by.Modern() { // others say it themselves
			c.Backend = by.Implementation
		}
	} else {
		c.Wrap = r.to != nil && r.to.Wraps
	}
	return c
}

// converted gives what a backend has answered in the client's revision, with
// the URIs that clients know.
func (rt *Router) converted(b *upstream.Backend, r *Request, s reply) (reply, error) {
	c := rt.conversion(r, s.by)
	if plain := s.by.PlainResults; plain != nil && r.Method == revision.MethodToolsCall && r.From.Modern() {
		raw := rt.exposed(b, r, s.result)
		if out, ok := plain.Append(make([]byte, 0, len(raw)+plain.Len()), raw); ok {
			s.result = out
			return s, nil
		}
	}
	raw, task := rt.exposed(b, r, s.result), isTask(r.Method, s.result)
	var err error
	if task {
		raw, err = rt.exposedTask(b, r, raw)
	}
	var result []byte
	if err == nil {
		result, err = c.Result(raw)
	}
	if err != nil {
		return reply{by: s.by}, &upstream.Error{Server: b.Name, Err: err}
	}
	if task {
		rt.TaskOwners.note(s.by, result)
	}
	s.result = result
	return s, nil
}

// convertedError gives a backend's error in the client's revision. What that
// cannot express is, for tools/call, a result with isError in words.
func (rt *Router) convertedError(r *Request, s reply, e *runtime.Error) (reply, error) {
	if s.by == nil || e.Code == revision.CodeURLElicitation && r.From.Modern() {
		return s, e // a modern client is asked instead
	}
	if e.Code == revision.CodeURLElicitation {
		s.by.Slot.Backend.KeepForAnswers()
	}
	c := rt.conversion(r, s.by)
	to := c.Error(e)
	if to == e || r.Method != revision.MethodToolsCall || to.Code != runtime.CodeInternalError {
		return s, to
	}
	s.result = errorResult(s.by.Slot.Backend.Name, revision.Sentence(e), e.Raw)
	if r.From.Modern() {
		own := revision.Conversion{From: revision.Latest, To: r.From.Version, Method: r.Method, Server: rt.o.Catalog.Info}
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
func (rt *Router) exposed(b *upstream.Backend, r *Request, result []byte) []byte {
	switch r.Method {
	case revision.MethodToolsCall, revision.MethodPromptsGet:
		return rt.Catalog.ExposedContent(b, r.Method, result)
	case revision.MethodResourcesRead:
		asked, _ := rawjson.String(r.Line, r.Msg.URI)
		bare := asked
		if r.to != nil {
			bare = r.to.Bare
		}
		return rt.Catalog.ExposedContents(b, result, bare, asked)
	}
	return result
}
