package router

import (
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// conversion returns how what a connection answers is converted for the client.
func (r *Request) conversion(conn *upstream.Conn) *revision.Conversion {
	c := &revision.Conversion{From: conn.Version, To: r.From.Version, Method: r.Method, Capabilities: r.From.Capabilities}
	if r.From.Modern() {
		c.Server = r.rt.o.Catalog.Info
		if !conn.Modern() { // others say it themselves
			c.Backend = conn.Implementation
		}
	} else {
		c.Wrap = r.to != nil && r.to.Wraps
	}
	return c
}

// converted returns a backend's result in the client's revision, with the URIs
// that clients know.
func (r *Request) converted(b *upstream.Backend, conn *upstream.Conn, result []byte) ([]byte, error) {
	raw := r.exposed(b, result)
	if plain := conn.PlainResults; plain != nil && r.Method == revision.MethodToolsCall && r.From.Modern() {
		if out, ok := plain.Append(make([]byte, 0, len(raw)+plain.Len()), raw); ok {
			return out, nil
		}
	}
	task := isTask(r.Method, result)
	var err error
	if task {
		raw, err = r.exposedTask(b, raw)
	}
	if err == nil {
		raw, err = r.conversion(conn).Result(raw)
	}
	if err != nil {
		return nil, b.Fail(err)
	}
	if task {
		tool := ""
		if r.to != nil {
			tool = r.to.Bare
		}
		r.rt.TaskOwners.Record(conn, r.From.Who.Key(), tool, result, raw)
	}
	return raw, nil
}

// convertedError returns a backend's error in the client's revision. What that
// cannot express is, for tools/call, a result with isError in words.
func (r *Request) convertedError(conn *upstream.Conn, e *runtime.Error) ([]byte, error) {
	if conn == nil || e.Code == revision.CodeURLElicitation && r.From.Modern() {
		return nil, e // a modern client is asked instead
	}
	if e.Code == revision.CodeURLElicitation {
		if err := r.mayBeAsked(revision.MethodElicitationCreate); err != nil {
			return nil, err
		}
		conn.Slot.Backend.Pool.KeepForAnswers()
	}
	to := r.conversion(conn).Error(e)
	if to == e || r.Method != revision.MethodToolsCall || to.Code != runtime.CodeInternalError {
		return nil, to
	}
	result := serverErrorResult(conn.Slot.Backend.Name, e)
	if r.From.Modern() {
		var err error
		if result, err = r.rt.ownResult(r.Method, result); err != nil {
			return nil, to
		}
	}
	return result, nil
}

// exposed returns the result of the request with the URIs that clients know;
// every other byte stays.
func (r *Request) exposed(b *upstream.Backend, result []byte) []byte {
	switch r.Method {
	case revision.MethodToolsCall, revision.MethodPromptsGet:
		return r.rt.Catalog.ExposedContent(b, r.From.Who, r.Method, result)
	case revision.MethodResourcesRead:
		asked, _ := rawjson.String(r.Line, r.Msg.URI)
		bare := asked
		if r.to != nil {
			bare = r.to.Bare
		}
		return r.rt.Catalog.ExposedContents(b, r.From.Who, result, bare, asked)
	}
	return result
}
