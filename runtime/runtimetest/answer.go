package runtimetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/mcpctl/mcpctl/runtime"
)

// Call is one request that a [Func] answers.
type Call struct {
	Method string
	// ID is the raw id of the request.
	ID json.RawMessage
	// Params is the raw params object, nil when there is none.
	Params json.RawMessage
	// Name is params.name, and Arguments the raw params.arguments, `{}` when
	// absent.
	Name      string
	Arguments json.RawMessage
	// Token is the raw progress token, nil when the client wants no progress.
	Token json.RawMessage
	// Version is the revision claimed in _meta, "" for a legacy request.
	Version string

	n   *session
	out func([]byte)
}

const metaVersion = "io.modelcontextprotocol/protocolVersion"

func (n *session) newCall(out func([]byte), m message) *Call {
	var p struct {
		Name      string                     `json:"name"`
		Arguments json.RawMessage            `json:"arguments"`
		Meta      map[string]json.RawMessage `json:"_meta"`
	}
	// Params of another shape leave the fields empty; the method complains.
	_ = json.Unmarshal(m.Params, &p)
	c := &Call{Method: m.Method, ID: m.ID, Params: m.Params, Name: p.Name, Arguments: p.Arguments, n: n, out: out}
	if c.Arguments == nil {
		c.Arguments = json.RawMessage(`{}`)
	}
	c.Token = p.Meta["progressToken"]
	_ = json.Unmarshal(p.Meta[metaVersion], &c.Version)
	return c
}

// Notify sends a notification within the call: over HTTP on the call's own
// stream.
func (c *Call) Notify(method string, params json.RawMessage) {
	c.out(object("jsonrpc", "2.0", "method", method, "params", params))
}

// Progress sends one progress message, if the client asked for them.
func (c *Call) Progress(progress, total float64, text string) {
	if c.Token == nil {
		return
	}
	c.Notify("notifications/progress", object("progressToken", c.Token, "progress", progress, "total", total, "message", text))
}

// Ask sends a request to the client and waits for its answer.
func (c *Call) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.n.ask(ctx, c.out, method, params)
}

// answer is the method table.
func (s *Server) answer(ctx context.Context, c *Call) (json.RawMessage, error) {
	if f := s.Methods[c.Method]; f != nil {
		return f(ctx, c)
	}
	modern, legacy := s.modern()
	switch {
	case c.Method == "server/discover":
		return s.discover(c, modern)
	case c.Method == "initialize":
		return s.initialize(c, legacy)
	case c.Version != "" && !slices.Contains(modern, c.Version) && len(modern) > 0:
		return nil, s.unsupported(c.Version)
	case c.Version == "" && len(legacy) == 0:
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaVersion}
	}
	res, err := s.offer(ctx, c)
	if err == nil && c.Version != "" && len(modern) > 0 && field(res, "resultType") == "" {
		res = with(res, modernMembers(c.Method))
	}
	return res, err
}

// modernMembers are what a result must have since 2026-07-28.
func modernMembers(method string) string {
	switch method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover":
		return `"resultType":"complete","ttlMs":60000,"cacheScope":"public"`
	}
	return `"resultType":"complete"`
}

func (s *Server) unsupported(requested string) error {
	return &runtime.Error{
		Code: runtime.CodeUnsupportedVersion, Message: "Unsupported protocol version",
		Data: object("supported", s.versions(), "requested", requested),
	}
}

func (s *Server) discover(c *Call, modern []string) (json.RawMessage, error) {
	if data := s.Faults.Unsupported; data != nil {
		if string(data) == "null" {
			data = nil
		}
		return nil, &runtime.Error{Code: runtime.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
	}
	if len(modern) == 0 {
		return nil, methodNotFound(c.Method)
	}
	if c.Version == "" {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaVersion}
	}
	if !slices.Contains(modern, c.Version) {
		return nil, s.unsupported(c.Version)
	}
	res := object("supportedVersions", s.versions(), "capabilities", s.capabilities(), "instructions", s.instructions(),
		"_meta", object("io.modelcontextprotocol/serverInfo", s.info()))
	return with(res, modernMembers(c.Method)), nil
}

func (s *Server) initialize(c *Call, legacy []string) (json.RawMessage, error) {
	asked := field(c.Params, "protocolVersion")
	if len(legacy) == 0 {
		return nil, s.unsupported(asked)
	}
	if !slices.Contains(legacy, asked) {
		asked = legacy[0]
	}
	return object("protocolVersion", asked, "capabilities", s.capabilities(), "serverInfo", s.info(), "instructions", s.instructions()), nil
}

func (s *Server) instructions() json.RawMessage {
	if s.Instructions == "" {
		return nil
	}
	return mustMarshal(s.Instructions)
}

func methodNotFound(method string) error {
	return &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "Method not found: " + method}
}

// offer answers the methods that tools, resources and prompts bring.
func (s *Server) offer(ctx context.Context, c *Call) (json.RawMessage, error) {
	switch c.Method {
	case "ping":
		if c.Version >= RevJuly {
			return nil, methodNotFound(c.Method)
		}
		return json.RawMessage(`{}`), nil
	case "tools/list":
		return s.page(c, "tools", definitions(s.Tools, func(t Tool) json.RawMessage { return t.Definition }))
	case "tools/call":
		for _, t := range s.Tools {
			if field(t.Definition, "name") == c.Name {
				return t.Call(ctx, c)
			}
		}
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Unknown tool: " + c.Name}
	case "resources/list":
		return s.page(c, "resources", definitions(s.Resources, func(r Resource) json.RawMessage { return r.Definition }))
	case "resources/templates/list":
		return s.page(c, "resourceTemplates", s.Templates)
	case "resources/read":
		uri := field(c.Params, "uri")
		for _, r := range s.Resources {
			if field(r.Definition, "uri") == uri {
				return r.Result, nil
			}
		}
		return nil, &runtime.Error{Code: runtime.CodeResourceNotFound, Message: "Resource not found", Data: object("uri", uri)}
	case "prompts/list":
		return s.page(c, "prompts", definitions(s.Prompts, func(p Prompt) json.RawMessage { return p.Definition }))
	case "prompts/get":
		for _, p := range s.Prompts {
			if field(p.Definition, "name") == c.Name {
				return p.Get(ctx, c)
			}
		}
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Unknown prompt: " + c.Name}
	case "logging/setLevel":
		return json.RawMessage(`{}`), nil
	}
	return nil, methodNotFound(c.Method)
}

func definitions[T any](items []T, def func(T) json.RawMessage) []json.RawMessage {
	out := make([]json.RawMessage, len(items))
	for i, it := range items {
		out[i] = def(it)
	}
	return out
}

// page cuts a list at the cursor of the request. A cursor is "p" and the index
// of the first entry.
func (s *Server) page(c *Call, key string, items []json.RawMessage) (json.RawMessage, error) {
	from := 0
	if cursor := field(c.Params, "cursor"); cursor != "" {
		n, err := strconv.Atoi(cursor[1:])
		if err != nil || n < 0 || n > len(items) {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: fmt.Sprintf("Invalid cursor %q", cursor)}
		}
		from = n
	}
	to := len(items)
	var next json.RawMessage
	if s.PageSize > 0 && from+s.PageSize < to {
		to = from + s.PageSize
		next = mustMarshal("p" + strconv.Itoa(to))
	}
	if s.Faults.BadCursor {
		next = json.RawMessage(`"p0"`)
	}
	return object(key, array(items[from:to]), "nextCursor", next), nil
}
