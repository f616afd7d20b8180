package runtimetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	// Version is the revision claimed in _meta, "" for a legacy request, and
	// Session the one that the session has settled, "" for none.
	Version, Session string
	// Capabilities is what the client has declared, raw: with the request
	// since 2026-07-28, with its session before; nil for nothing.
	Capabilities json.RawMessage
	// Level is the least severe log level that the client wants, "" for none.
	Level string
	// Inputs and State are inputResponses and requestState of a request that
	// is sent again.
	Inputs map[string]json.RawMessage
	State  string

	n   *session
	out func([]byte)
	cut func() // nil where there is no stream to cut
}

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaLevel        = "io.modelcontextprotocol/logLevel"
)

func (n *session) newCall(out func([]byte), m wireMessage) *Call {
	var p struct {
		Name      string                     `json:"name"`
		Arguments json.RawMessage            `json:"arguments"`
		Meta      map[string]json.RawMessage `json:"_meta"`
		Inputs    map[string]json.RawMessage `json:"inputResponses"`
		State     string                     `json:"requestState"`
	}
	// Params of another shape leave the fields empty; the method complains.
	_ = json.Unmarshal(m.Params, &p)
	c := &Call{Method: m.Method, Params: m.Params, Name: p.Name, Arguments: p.Arguments, Inputs: p.Inputs, State: p.State, ID: m.ID, n: n, out: out}
	if c.Arguments == nil {
		c.Arguments = json.RawMessage(`{}`)
	}
	c.Token = p.Meta["progressToken"]
	if _ = json.Unmarshal(p.Meta[metaVersion], &c.Version); c.Version >= RevJuly {
		c.Capabilities = p.Meta[metaCapabilities]
		_ = json.Unmarshal(p.Meta[metaLevel], &c.Level)
		return c
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.Session, c.Capabilities, c.Level = n.terms.version, n.terms.capabilities, n.terms.level
	return c
}

// Notify sends a notification within the call: over HTTP on the call's own
// stream.
func (c *Call) Notify(method string, params json.RawMessage) {
	c.out(c.n.s.request(nil, method, params))
}

// Progress sends one progress message, if the client asked for them.
func (c *Call) Progress(progress, total float64, text string) {
	if c.Token == nil {
		return
	}
	c.Notify("notifications/progress", wireObject("progressToken", c.Token, "progress", progress, "total", total, "message", text))
}

// Poll ends the connection that the call's stream runs over, where the server
// can take it up again ([HTTPOptions].Resume): the client has to ask for the
// rest (2025-11-25, Streamable HTTP, Sending Messages to the Server).
func (c *Call) Poll() {
	if c.cut != nil {
		c.cut()
	}
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
	case s.Strict && c.Version != "" && c.Capabilities == nil:
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaCapabilities}
	}
	res, err := s.offer(ctx, c)
	var input *inputRequired
	var cannot *cannotAsk
	switch {
	case errors.As(err, &input):
		return input.result, nil
	case errors.As(err, &cannot) && c.Method == "tools/call":
		return wireWith(Text(cannot.Error()), `"isError":true`), nil
	case err == nil && c.Version != "" && len(modern) > 0 && (len(res) > greaseLimit || wireField(res, "resultType") == ""):
		members := modernMembers(c.Method)
		if slices.Contains(s.Private, c.Method) {
			members = strings.Replace(members, "public", "private", 1)
		}
		if s.Strict {
			members += `,"_meta":` + string(wireObject(metaServer, s.info()))
		}
		res = wireWith(res, members)
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
		Data: wireObject("supported", s.versions(), "requested", requested),
	}
}

func (s *Server) discover(c *Call, modern []string) (json.RawMessage, error) {
	if data := s.Faults.Unsupported; data != nil {
		if string(data) == "null" {
			data = nil
		}
		return nil, &runtime.Error{Code: runtime.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
	}
	switch {
	case s.Faults.InvalidProbe:
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Invalid request parameters"}
	case s.Faults.LegacyDiscover:
		modern = []string{RevJuly}
	case len(modern) == 0:
		return nil, wireMethodNotFound(c.Method)
	}
	if c.Version == "" {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaVersion}
	}
	if !slices.Contains(modern, c.Version) {
		return nil, s.unsupported(c.Version)
	}
	versions := s.versions()
	if s.Faults.ModernDiscover {
		versions = modern
		c.n.mu.Lock()
		c.n.terms.modern = true
		c.n.mu.Unlock()
	}
	res := wireObject("supportedVersions", versions, "capabilities", s.capabilities(), "instructions", optional(s.Instructions),
		"_meta", wireObject(metaServer, s.info()))
	return wireWith(res, modernMembers(c.Method)), nil
}

func (s *Server) initialize(c *Call, legacy []string) (json.RawMessage, error) {
	asked := wireField(c.Params, "protocolVersion")
	c.n.mu.Lock()
	settled := c.n.terms.modern
	c.n.mu.Unlock()
	if len(legacy) == 0 || settled {
		return nil, s.unsupported(asked)
	}
	if !slices.Contains(legacy, asked) {
		asked = legacy[0]
	}
	s.world.count(func(st *Status) { st.Handshakes++ })
	c.n.mu.Lock()
	c.n.terms.version, c.n.terms.capabilities = asked, wireMember(c.Params, "capabilities")
	c.n.mu.Unlock()
	return wireObject("protocolVersion", asked, "capabilities", s.capabilities(), "serverInfo", s.info(), "instructions", optional(s.Instructions)), nil
}

// optional is a text, nothing for none.
func optional(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return wireMarshal(text)
}

// NoResource is the error of a resources/read whose URI nothing has.
func (c *Call) NoResource() error {
	code := int64(runtime.CodeResourceNotFound)
	if c.Version >= RevJuly {
		code = runtime.CodeInvalidParams
	}
	return &runtime.Error{Code: code, Message: "Resource not found", Data: wireObject("uri", wireField(c.Params, "uri"))}
}

// offer answers the methods that tools, resources and prompts bring.
func (s *Server) offer(ctx context.Context, c *Call) (json.RawMessage, error) {
	switch c.Method {
	case "ping":
		if c.Version >= RevJuly {
			return nil, wireMethodNotFound(c.Method)
		}
		return json.RawMessage(`{}`), nil
	case "tools/list":
		return s.page(c, "tools", append(definitions(s.tools(), func(t Tool) json.RawMessage { return t.Definition }), s.world.later("tools")...))
	case "tools/call":
		s.world.count(func(st *Status) { st.Calls++ })
		for _, t := range s.tools() {
			if wireField(t.Definition, "name") == c.Name {
				return t.Call(ctx, c)
			}
		}
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Unknown tool: " + c.Name}
	case "resources/list":
		return s.page(c, "resources", append(definitions(s.Resources, func(r Resource) json.RawMessage { return r.Definition }), s.world.later("resources")...))
	case "resources/templates/list":
		return s.page(c, "resourceTemplates", s.Templates)
	case "resources/read":
		uri := wireField(c.Params, "uri")
		for _, r := range s.Resources {
			if wireField(r.Definition, "uri") == uri && r.Result != nil {
				return r.Result, nil
			}
		}
		if s.Read != nil {
			return s.Read(ctx, c)
		}
		return nil, c.NoResource()
	case "prompts/list":
		return s.page(c, "prompts", append(definitions(s.Prompts, func(p Prompt) json.RawMessage { return p.Definition }), s.world.later("prompts")...))
	case "prompts/get":
		for _, p := range s.Prompts {
			if wireField(p.Definition, "name") == c.Name {
				return p.Get(ctx, c)
			}
		}
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Unknown prompt: " + c.Name}
	}
	if c.Version >= RevJuly {
		if c.Method == "subscriptions/listen" && s.Subscriptions {
			return c.n.listen(ctx, c)
		}
		return nil, wireMethodNotFound(c.Method)
	}
	switch {
	case c.Method == "logging/setLevel":
		return c.n.setLevel(c)
	case s.Subscriptions && (c.Method == "resources/subscribe" || c.Method == "resources/unsubscribe"):
		return c.n.subscribe(c)
	}
	return nil, wireMethodNotFound(c.Method)
}

// tools are those that the newest revision has which the server speaks.
func (s *Server) tools() []Tool {
	var out []Tool
	for _, t := range s.Tools {
		if t.Since <= slices.Max(s.versions()) {
			out = append(out, t)
		}
	}
	return out
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
	if cursor := wireField(c.Params, "cursor"); cursor != "" {
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
		next = wireMarshal("p" + strconv.Itoa(to))
	}
	if s.Faults.BadCursor {
		next = json.RawMessage(`"p0"`)
	}
	return wireObject(key, wireArray(items[from:to]), "nextCursor", next), nil
}
