package negotiate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// sent returns the last frame that a server of some revisions has got of a call.
func sent(t *testing.T, versions []string, req *runtime.Request) string {
	t.Helper()
	s := runtimetest.New()
	s.Versions = versions
	var last string
	s.Seen = func(frame []byte) { last = string(frame) }
	c, _, err := connect(t.Context(), s, negotiate.Options{Capabilities: json.RawMessage(`{"roots":{}}`)})
	require.NoError(t, err)
	defer c.Close()
	if _, err := c.Call(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return last
}

func TestModernRequestIsSelfContained(t *testing.T) {
	const own = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":`
	for name, c := range map[string]struct{ params, capabilities, want string }{
		"none": {`{"name":"echo"}`, ``, `{"_meta":{` + own + `{"roots":{}}},"name":"echo"}`},
		"claims of the caller's": {
			`{"name":"echo","_meta":{"k":1.0,"io.modelcontextprotocol/protocolVersion":"x","io.modelcontextprotocol/protocolVersion":"y","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}},"arguments":{"message":"hi","n":9007199254740993}}`,
			``, `{"name":"echo","_meta":{` + own + `{"roots":{}},"k":1.0},"arguments":{"message":"hi","n":9007199254740993}}`,
		},
		"capabilities of the request": {`{"name":"echo","_meta":{}}`, `{"elicitation":{"form":{}}}`, `{"name":"echo","_meta":{` + own + `{"elicitation":{"form":{}}}}}`},
		"what else is there stays": {
			`{"name":"echo","_meta":{"traceparent":"00-1","example.com/x":[1.0],"io.modelcontextprotocol/logLevel":"debug"}}`, ``,
			`{"name":"echo","_meta":{` + own + `{"roots":{}},"traceparent":"00-1","example.com/x":[1.0],"io.modelcontextprotocol/logLevel":"debug"}}`,
		},
		"null": {`{"name":"echo","_meta":null}`, ``, `{"name":"echo","_meta":{` + own + `{"roots":{}}}}`},
	} {
		req := &runtime.Request{Method: "tools/call", Params: json.RawMessage(c.params)}
		if c.capabilities != "" {
			req.Capabilities = json.RawMessage(c.capabilities)
		}
		if got := sent(t, []string{runtimetest.RevJuly}, req); !strings.Contains(got, `"params":`+c.want+`}`) {
			t.Errorf("%s: got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestLegacyRequestMakesNoClaim: a server of both eras would take it for a
// modern request.
func TestLegacyRequestMakesNoClaim(t *testing.T) {
	for params, want := range map[string]string{
		`{"name":"echo","_meta":{"progressToken":"a"}}`: `{"name":"echo","_meta":{"progressToken":"a"}}`,
		`{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":7,"example.com/x":1.0,"io.modelcontextprotocol/logLevel":"debug"},"arguments":{}}`: `{"name":"echo","_meta":{"progressToken":7,"example.com/x":1.0},"arguments":{}}`,
		`{"name":"echo","\u005fmeta":{"io.modelcontextprotocol\/protocolVersio\u006e":"2026-07-28"}}`:                                                                                      `{"name":"echo","\u005fmeta":{}}`,
		`{"name":"echo","_meta":"odd"}`: `{"name":"echo","_meta":"odd"}`,
	} {
		if got := sent(t, nil, &runtime.Request{Method: "tools/call", Params: json.RawMessage(params)}); !strings.Contains(got, `"params":`+want+`}`) {
			t.Errorf("%s: got %s", params, got)
		}
	}
}
