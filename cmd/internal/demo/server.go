package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

const (
	modern      = "2026-07-28"
	metaPrefix  = "io.modelcontextprotocol/"
	stockURI    = "workshop://stock"
	itemURI     = "workshop://item/"
	serverTitle = "mcpctl demo workshop"
	// maxMessage bounds one message; a longer one ends the connection.
	maxMessage = 4 << 20
)

// versions are the revisions the server speaks, newest first.
func versions() []string {
	return []string{modern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

// Server is the demo's MCP server. Make it with [NewServer]; it may serve any
// number of connections at once, which share its workshop.
type Server struct {
	version string
	shop    *workshop
	tools   []toolDef
}

// NewServer makes a server with a workshop of its own. The version is reported
// in its serverInfo.
func NewServer(version string) *Server {
	s := &Server{version: version, shop: newWorkshop()}
	s.tools = s.toolDefs()
	return s
}

// request is one JSON-RPC request as a method sees it.
type request struct {
	method    string
	params    json.RawMessage
	arguments json.RawMessage
	token     json.RawMessage // progress token, nil for none
	modern    bool            // it claims a modern revision
	notify    func(method string, params any)
}

func (c *request) progress(done, total int, message string) {
	if c.token != nil {
		c.notify("notifications/progress", map[string]any{"progressToken": c.token, "progress": done, "total": total, "message": message})
	}
}

// message is any JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *runtime.Error  `json:"error,omitempty"`
}

// Serve speaks newline-delimited JSON-RPC on r and w until r ends or ctx does.
// Calls run at the same time; Serve returns when they have ended.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		wmu   sync.Mutex // one message at a time on w
		cmu   sync.Mutex // guards calls
		calls = map[string]context.CancelFunc{}
	)
	defer wg.Wait()
	defer cancel()
	send := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			panic("demo: a message of ours has no JSON form: " + err.Error())
		}
		wmu.Lock()
		defer wmu.Unlock()
		_, _ = w.Write(append(b, '\n')) // a client that has gone shows on r
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 4096), maxMessage)
	for ctx.Err() == nil && sc.Scan() {
		frame := bytes.TrimSpace(sc.Bytes())
		if len(frame) == 0 {
			continue
		}
		m, bad := parse(frame)
		if bad != nil {
			send(bad)
			continue
		}
		if m.ID == nil || m.Method == "" {
			if id := cancelledID(m); id != "" {
				cmu.Lock()
				if stop := calls[id]; stop != nil {
					stop()
				}
				cmu.Unlock()
			}
			continue
		}
		id := string(m.ID)
		callCtx, stop := context.WithCancel(ctx)
		cmu.Lock()
		calls[id] = stop
		cmu.Unlock()
		wg.Go(func() {
			defer stop()
			res := s.answer(callCtx, m, func(method string, params any) {
				send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
			})
			cmu.Lock()
			delete(calls, id)
			cmu.Unlock()
			if callCtx.Err() == nil { // a cancelled request gets no answer
				send(res)
			}
		})
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	// Input has ended; what was asked is still answered.
	wg.Wait()
	return ctx.Err()
}

// parse reads one message; bad is the answer to what is none.
func parse(frame []byte) (m *message, bad *response) {
	m = &message{}
	if err := json.Unmarshal(frame, m); err != nil {
		code, null := int64(runtime.CodeParseError), json.RawMessage("null")
		if json.Valid(frame) { // a batch, or a member of the wrong type
			code = runtime.CodeInvalidRequest
		}
		return nil, &response{JSONRPC: "2.0", ID: null, Error: &runtime.Error{Code: code, Message: "no JSON-RPC message: " + err.Error()}}
	}
	m.ID = bytes.Clone(m.ID)
	return m, nil
}

func cancelledID(m *message) string {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if m.Method != "notifications/cancelled" || json.Unmarshal(m.Params, &p) != nil {
		return ""
	}
	return string(p.ID)
}

// answer runs one request.
func (s *Server) answer(ctx context.Context, m *message, notify func(string, any)) *response {
	out := &response{JSONRPC: "2.0", ID: m.ID}
	res, err := s.run(ctx, m, notify)
	if err == nil {
		out.Result = res
		return out
	}
	if !errors.As(err, &out.Error) {
		out.Error = &runtime.Error{Code: runtime.CodeInternalError, Message: err.Error()}
	}
	return out
}

func (s *Server) run(ctx context.Context, m *message, notify func(string, any)) (any, error) {
	c := &request{method: m.Method, params: m.Params, notify: notify}
	var p struct {
		Arguments json.RawMessage            `json:"arguments"`
		Meta      map[string]json.RawMessage `json:"_meta"`
	}
	if m.Params != nil {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
		}
	}
	c.arguments, c.token = p.Arguments, p.Meta["progressToken"]
	if claim := p.Meta[metaPrefix+"protocolVersion"]; claim != nil {
		var v string
		if err := json.Unmarshal(claim, &v); err != nil || v != modern {
			return nil, unsupported(v)
		}
		if p.Meta[metaPrefix+"clientCapabilities"] == nil {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaPrefix + "clientCapabilities"}
		}
		c.modern = true
	}
	res, err := s.method(ctx, c)
	if err != nil || !c.modern {
		return res, err
	}
	return s.modernResult(c.method, res)
}

func unsupported(requested string) error {
	data, err := json.Marshal(map[string]any{"supported": versions(), "requested": requested})
	if err != nil {
		return err
	}
	return &runtime.Error{Code: runtime.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}

// modernResult adds what every result has since 2026-07-28: its type, the
// server's identity and, on what may be cached, for how long. The stock
// changes with every order, so reads of it are stale at once.
func (s *Server) modernResult(method string, res any) (any, error) {
	b, err := json.Marshal(res)
	if err != nil {
		return nil, err
	}
	members := map[string]any{}
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, err
	}
	members["resultType"] = "complete"
	members["_meta"] = map[string]any{metaPrefix + "serverInfo": s.info()}
	switch method {
	case "resources/read":
		members["ttlMs"], members["cacheScope"] = 0, "public"
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		members["ttlMs"], members["cacheScope"] = 3600000, "public"
	}
	return members, nil
}

func (s *Server) info() runtime.Implementation {
	return runtime.Implementation{Name: "mcpctl-demo", Title: serverTitle, Version: s.version}
}

func capabilities() map[string]any {
	none := map[string]any{}
	return map[string]any{"tools": none, "resources": none, "prompts": none}
}

const instructions = "A small workshop. search_items finds what is in stock, place_order takes it."

// method is the table of methods.
func (s *Server) method(ctx context.Context, c *request) (any, error) {
	switch c.method {
	case "server/discover":
		if !c.modern {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaPrefix + "protocolVersion"}
		}
		return map[string]any{"supportedVersions": versions(), "capabilities": capabilities(), "instructions": instructions}, nil
	case "tools/list":
		return s.listTools(), nil
	case "tools/call":
		return s.callTool(ctx, c)
	case "resources/list":
		return map[string]any{"resources": []any{map[string]any{
			"uri": stockURI, "name": "stock", "title": "The whole stock", "description": "Every item as JSON.", "mimeType": "application/json",
		}}}, nil
	case "resources/templates/list":
		return map[string]any{"resourceTemplates": []any{map[string]any{
			"uriTemplate": itemURI + "{sku}", "name": "item", "title": "One item", "description": "One item as JSON, by its SKU.", "mimeType": "application/json",
		}}}, nil
	case "resources/read":
		return s.read(c)
	case "prompts/list":
		return listPrompts(), nil
	case "prompts/get":
		return s.getPrompt(c)
	}
	if !c.modern {
		switch c.method {
		case "initialize":
			return s.initialize(c)
		case "ping":
			return struct{}{}, nil
		}
	}
	return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "Method not found: " + c.method}
}

func (s *Server) initialize(c *request) (any, error) {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(c.params, &p); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "initialize wants protocolVersion"}
	}
	legacy := versions()[1:]
	if !slices.Contains(legacy, p.Version) {
		p.Version = legacy[0]
	}
	return map[string]any{"protocolVersion": p.Version, "capabilities": capabilities(), "serverInfo": s.info(), "instructions": instructions}, nil
}

func (s *Server) listTools() any {
	defs := make([]json.RawMessage, len(s.tools))
	for i, t := range s.tools {
		defs[i] = json.RawMessage(t.def)
	}
	return map[string]any{"tools": defs}
}

func (s *Server) callTool(ctx context.Context, c *request) (any, error) {
	name := stringParam(c.params, "name")
	i := slices.IndexFunc(s.tools, func(t toolDef) bool { return t.name == name })
	if i < 0 {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Unknown tool: " + name}
	}
	res, err := s.tools[i].call(ctx, c)
	if err != nil {
		failed := text("%s", err)
		failed.IsError = true
		return failed, nil
	}
	return res, nil
}

func (s *Server) read(c *request) (any, error) {
	uri := stringParam(c.params, "uri")
	var v any
	if sku, ok := strings.CutPrefix(uri, itemURI); ok {
		if it, found := s.shop.find(sku); found {
			v = it
		}
	} else if uri == stockURI {
		v = s.shop.search("", "", false)
	}
	if v == nil {
		data, err := json.Marshal(map[string]string{"uri": uri})
		if err != nil {
			return nil, err
		}
		code := int64(runtime.CodeResourceNotFound)
		if c.modern { // since 2026-07-28 it is invalid params
			code = runtime.CodeInvalidParams
		}
		return nil, &runtime.Error{Code: code, Message: "Resource not found", Data: data}
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return map[string]any{"contents": []any{map[string]any{"uri": uri, "mimeType": "application/json", "text": string(b)}}}, nil
}

func stringParam(params json.RawMessage, name string) string {
	var m map[string]json.RawMessage
	var v string
	if json.Unmarshal(params, &m) != nil || json.Unmarshal(m[name], &v) != nil {
		return ""
	}
	return v
}
