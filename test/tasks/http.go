package tasks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// Handler serves s over Streamable HTTP of 2026-07-28 at every path. It checks
// what that revision makes servers check: the headers that repeat the body. A
// request that claims no revision is left to the handshake era.
func Handler(s *runtimetest.Server) http.Handler {
	return &strict{
		plain:  s.Handler(runtimetest.HTTPOptions{}),
		stream: s.Handler(runtimetest.HTTPOptions{SSE: true}),
		legacy: s.Handler(runtimetest.HTTPOptions{SSE: true, Sessions: true}),
	}
}

type strict struct{ plain, stream, legacy http.Handler }

// mirrored are the members that Mcp-Name repeats (2026-07-28, Streamable HTTP;
// SEP-2663, Routing Headers).
func mirrored(method string) string {
	switch method {
	case "tools/call", "prompts/get":
		return "name"
	case "resources/read":
		return "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		return "taskId"
	}
	return ""
}

// ServeHTTP implements [http.Handler].
func (h *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Meta struct {
				Version *string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		}
	}
	if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil || m.Params.Meta.Version == nil {
		h.legacy.ServeHTTP(w, r)
		return
	}
	if err := mismatch(r.Header, m.Method, *m.Params.Meta.Version, body); err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, runtime.CodeHeaderMismatch, err.Error())
		return
	}
	if m.Method == "subscriptions/listen" {
		h.stream.ServeHTTP(w, r)
		return
	}
	h.plain.ServeHTTP(w, r)
}

// mismatch returns which header does not repeat the body.
func mismatch(head http.Header, method, version string, body []byte) error {
	if got := head.Get("Mcp-Protocol-Version"); got != version {
		return fmt.Errorf("MCP-Protocol-Version %q does not match the body's %q", got, version)
	}
	if got := head.Values("Mcp-Method"); len(got) != 1 || got[0] != method {
		return fmt.Errorf("Mcp-Method %q does not match the body's %q", got, method)
	}
	member := mirrored(method)
	if member == "" {
		return nil
	}
	var m struct{ Params map[string]json.RawMessage }
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	var want string
	if m.Params[member] == nil || json.Unmarshal(m.Params[member], &want) != nil {
		return nil //nolint:nilerr // the method complains
	}
	got := head.Values("Mcp-Name")
	if len(got) != 1 || unwrapped(got[0]) != want {
		return fmt.Errorf("Mcp-Name %q does not match the body's %q", got, want)
	}
	return nil
}

// unwrapped decodes a header value that has the base64 wrapper.
func unwrapped(v string) string {
	inner, found := strings.CutPrefix(v, "=?base64?")
	inner, closed := strings.CutSuffix(inner, "?=")
	if !found || !closed {
		return v
	}
	b, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return v
	}
	return string(b)
}
