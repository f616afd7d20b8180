package negotiate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// maxToolPages bounds the list of tools that is fetched for their headers.
const maxToolPages = 100

// sendWithHeaders sends a request with the headers that repeat it. Where the
// server finds them wrong (-32020), it may not know the encoding of names, or
// the schema may have changed: each is tried once (2026-07-28, Streamable HTTP,
// Request Metadata). The server has not acted on the request before that.
func (m *modernTransport) sendWithHeaders(ctx context.Context, r *runtime.Request) (json.RawMessage, error) {
	named, refreshed := false, false
	for callers := r.Mirror; ; r.Mirror = callers {
		if err := m.setHeaders(r); err != nil {
			return nil, err
		}
		raw, err := m.sendOnce(ctx, r)
		var rpc *runtime.Error
		if !m.o.HTTP || !errors.As(err, &rpc) || rpc.Code != runtime.CodeHeaderMismatch || ctx.Err() != nil {
			return raw, err
		}
		name, ok := headerName(r)
		unsafe := ok && revision.EncodeHeader(name) != name
		if unsafe { // the other form, or back to this one where that is no better
			m.unencodedNames.Store(!m.unencodedNames.Load())
		}
		switch {
		case unsafe && !named:
			named = true
		case r.Method == revision.MethodToolsCall && !refreshed:
			refreshed = true
			if err := m.relistTools(ctx); err != nil {
				return nil, err
			}
		case r.Method == revision.MethodDiscover:
			return nil, err // whoever asks for the era wants to know
		default:
			return nil, &runtime.ProtocolError{Reason: r.Method + ": the server finds headers and body of the request at odds: " + rpc.Message}
		}
		r.ID = nil
	}
}

// relistTools fetches the server's tools for their headers.
func (m *modernTransport) relistTools(ctx context.Context) error {
	var params json.RawMessage
	for range maxToolPages {
		raw, err := m.send(ctx, &runtime.Request{Method: revision.MethodToolsList, Params: params})
		if err != nil {
			return fmt.Errorf("list tools to learn what to repeat as headers: %w", err)
		}
		cursor, err := rawjson.Field(raw, "nextCursor")
		if err != nil || !cursor.Present() || string(cursor.Of(raw)) == "null" {
			return nil //nolint:nilerr // no object: nothing is to be learned from it
		}
		params = fmt.Appendf(nil, `{"cursor":%s}`, cursor.Of(raw))
	}
	return nil
}

// headerName returns what Mcp-Name repeats, and whether there is such a thing.
func headerName(r *runtime.Request) (string, bool) {
	var member string
	switch r.Method {
	case revision.MethodToolsCall, revision.MethodPromptsGet:
		member = "name"
	case revision.MethodResourcesRead:
		member = "uri"
	case revision.MethodTasksGet, revision.MethodTasksUpdate, revision.MethodTasksCancel: // the tasks extension
		member = "taskId"
	default:
		return "", false
	}
	return rawjson.FieldString(r.Params, member)
}

// setHeaders sets the headers that repeat the request (2026-07-28, Streamable
// HTTP, Request Metadata). The caller's stay where they repeat arguments of a
// tool that is not known here.
func (m *modernTransport) setHeaders(r *runtime.Request) error {
	if !m.o.HTTP {
		r.Mirror = nil
		return nil
	}
	h := map[string]string{}
	for name, value := range r.Mirror {
		if name = textproto.CanonicalMIMEHeaderKey(name); strings.HasPrefix(name, revision.ParamPrefix) {
			h[name] = value
		}
	}
	r.Mirror = h
	h["Mcp-Method"] = r.Method
	name, ok := headerName(r)
	if !ok {
		return nil
	}
	h["Mcp-Name"] = revision.EncodeHeader(name)
	if m.unencodedNames.Load() {
		h["Mcp-Name"] = name
	}
	if r.Method != revision.MethodToolsCall {
		return nil
	}
	tool := m.tools.get(name)
	if tool.fault != nil {
		return &runtime.ProtocolError{Reason: fmt.Sprintf("tool %s cannot be called over HTTP: its schema breaks the rules of x-mcp-header: %v", name, tool.fault)}
	}
	if tool.mirrors == nil {
		return nil
	}
	at, err := rawjson.Field(r.Params, "arguments")
	if err != nil {
		return nil //nolint:nilerr // params are an object by now
	}
	for i := range tool.mirrors {
		mirror := &tool.mirrors[i]
		value, ok, err := mirror.Value(at.Of(r.Params))
		if err != nil {
			return &runtime.Error{Code: runtime.CodeInvalidParams, Message: name + ": " + err.Error()}
		}
		delete(h, mirror.Header)
		if ok {
			h[mirror.Header] = revision.EncodeHeader(value)
		}
	}
	return nil
}
