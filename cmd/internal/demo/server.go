// Package demo holds what mcpctl can show without a network.
//
// [Server] is an MCP server, a small workshop whose stock can be searched,
// taken from and drawn. It is a real one: it speaks every protocol revision
// over stdio and Streamable HTTP, and checks its arguments. Each Server has a
// world of its own, which lives in memory only.
//
// [Tour] runs mcpctl's own commands, as processes, against such a server and a
// sample registry. It prints what they print, and leaves nothing behind.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

const (
	stockURI = "workshop://stock"
	itemURI  = "workshop://item/"
	// maxBody bounds the body of an HTTP request; a longer one is refused.
	maxBody = 4 << 20
	// drain is how long what was asked may go on after the end of input.
	drain = time.Minute
)

// Server is the demo's MCP server. Make it with [NewServer]; it may serve any
// number of connections at once, which share its workshop.
type Server struct {
	shop *workshop
	mcp  *runtimetest.Server
}

// NewServer returns a server with a workshop of its own. The version is reported
// in its serverInfo.
func NewServer(version string) *Server {
	s := &Server{shop: newWorkshop()}
	s.mcp = &runtimetest.Server{
		Name: "mcpctl-demo", Title: "mcpctl demo workshop", Version: version,
		Instructions: "A small workshop. search_items finds what is in stock, place_order takes it.",
		Versions:     []string{runtimetest.RevJuly, runtimetest.RevNov, runtimetest.RevJune, runtimetest.RevMar, runtimetest.Rev2024},
		Capabilities: json.RawMessage(`{"tools":{},"resources":{},"prompts":{}}`),
		Tools:        s.tools(),
		Resources:    []runtimetest.Resource{{Definition: json.RawMessage(`{"uri":"` + stockURI + `","name":"stock","title":"The whole stock","description":"Every item as JSON.","mimeType":"application/json"}`)}},
		Templates:    []json.RawMessage{json.RawMessage(`{"uriTemplate":"` + itemURI + `{sku}","name":"item","title":"One item","description":"One item as JSON, by its SKU.","mimeType":"application/json"}`)},
		Read:         s.read,
		Prompts:      []runtimetest.Prompt{planProject()},
		Drain:        drain, Strict: true,
	}
	return s
}

// Serve speaks newline-delimited JSON-RPC on r and w until r ends or ctx does.
// Calls run at the same time; Serve returns when they have ended.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	// The caller's streams are not closed.
	return s.mcp.Serve(ctx, struct{ io.Reader }{r}, struct{ io.Writer }{w})
}

// Handler serves Streamable HTTP at whatever path it is mounted. It keeps no
// sessions. A request that carries a progress token is answered with an event
// stream, every other one with JSON.
func (s *Server) Handler() http.Handler {
	plain, stream := s.mcp.Handler(runtimetest.HTTPOptions{}), s.mcp.Handler(runtimetest.HTTPOptions{Progress: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !localOrigin(r) {
			http.Error(w, "requests from web pages of other origins are refused", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		accept := r.Header.Get("Accept")
		// For trying out by hand a client need not say that it takes both.
		r.Header.Set("Accept", "application/json, text/event-stream")
		if strings.Contains(accept, "text/event-stream") {
			stream.ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

// Listen serves Streamable HTTP at /mcp of an address until ctx ends, and says on log where
// that is.
func (s *Server) Listen(ctx context.Context, addr string, log io.Writer) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("demo-server: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(log, "listening on http://%s/mcp\n", l.Addr())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = errors.Join(srv.Close(), <-done)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
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

// read answers resources/read. The stock changes with every order, so since
// 2026-07-28 what is read is stale at once.
func (s *Server) read(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
	var p struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(c.Params, &p); err != nil {
		return nil, c.NoResource()
	}
	var v any
	if sku, ok := strings.CutPrefix(p.URI, itemURI); ok {
		if it, found := s.shop.find(sku); found {
			v = it
		}
	} else if p.URI == stockURI {
		v = s.shop.search("", "", false)
	}
	if v == nil {
		return nil, c.NoResource()
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	res := map[string]any{"contents": []any{map[string]any{"uri": p.URI, "mimeType": "application/json", "text": string(b)}}}
	if c.Version != "" {
		res["resultType"], res["ttlMs"], res["cacheScope"] = "complete", 0, "public"
	}
	return json.Marshal(res)
}

func planProject() runtimetest.Prompt {
	return runtimetest.Prompt{
		Definition: json.RawMessage(`{"name":"plan_project","title":"Plan a project","description":"Asks for a plan of what to build from what is in stock.",` +
			`"arguments":[{"name":"project","description":"what to build, such as a step stool","required":true},{"name":"budget","description":"in euros; default: no limit"}]}`),
		Get: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var in struct {
				Project string `json:"project"`
				Budget  string `json:"budget"`
			}
			if err := json.Unmarshal(c.Arguments, &in); err != nil {
				return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "arguments: " + err.Error()}
			}
			if in.Project == "" {
				return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing argument: project"}
			}
			ask := fmt.Sprintf("Plan how to build %s", in.Project)
			if in.Budget != "" {
				ask += " for at most " + in.Budget + " euros"
			}
			ask += ". Use search_items to see what the workshop has, and list the order to place."
			return json.Marshal(map[string]any{
				"description": "A plan for " + in.Project,
				"messages":    []any{map[string]any{"role": "user", "content": content{Type: "text", Text: ask}}},
			})
		},
	}
}
