package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// stub is a connected server of any revision: what it answers to each method,
// as it stands, and what it was sent.
type stub struct {
	runtime.Transport
	version      string
	capabilities string
	answers      map[string]string // raw results; one that begins with "error " is an error object

	mu   sync.Mutex // guards seen
	seen []string   // method and params of each call but those for lists
	h    runtime.Handler
}

func (s *stub) Call(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
	if !strings.HasSuffix(req.Method, "/list") {
		s.mu.Lock()
		s.seen = append(s.seen, req.Method+" "+string(req.Params))
		s.mu.Unlock()
	}
	s.mu.Lock()
	a, ok := s.answers[req.Method]
	s.mu.Unlock()
	if !ok {
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "no " + req.Method}
	}
	if object, ok := strings.CutPrefix(a, "error "); ok {
		return nil, runtime.ParseError(json.RawMessage(object))
	}
	return json.RawMessage(a), nil
}

func (s *stub) Notify(context.Context, *runtime.Request) error { return nil }
func (s *stub) Close() error                                   { return nil }

// last gives what the server was last sent.
func (s *stub) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		return ""
	}
	return s.seen[len(s.seen)-1]
}

// calls tells how many calls the server has got.
func (s *stub) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

type stubs map[string]*stub

func (s stubs) dial(_ context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	to := s[key.Server]
	if to == nil {
		return nil, errors.New("no such server")
	}
	to.mu.Lock()
	to.h = h
	to.mu.Unlock()
	caps := to.capabilities
	if caps == "" {
		caps = `{"tools":{},"prompts":{},"resources":{},"completions":{}}`
	}
	return runtime.NewClient(to, runtime.ClientOptions{Info: runtime.ServerInfo{
		Version: to.version, Capabilities: json.RawMessage(caps), Implementation: runtime.Implementation{Name: key.Server, Version: "1"},
	}}), nil
}

// between gives a client of a revision in front of servers in the order given;
// one of no revision has not shaken hands.
func between(t *testing.T, version string, servers stubs, o proxy.Options) *client {
	t.Helper()
	o.Dial = servers.dial
	o.Info = runtime.Implementation{Name: "mcpctl", Version: "t"}
	p, err := proxy.NewAllowed(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c := attach(t, p)
	if version != "" {
		c.result("initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return c
}

func TestAnswersInTheClientsRevision(t *testing.T) {
	modern := &stub{version: "2026-07-28", answers: map[string]string{
		"tools/list":     `{"resultType":"complete","tools":[{"name":"list","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}],"ttlMs":1,"cacheScope":"public"}`,
		"tools/call":     `{"resultType":"complete","content":[{"type":"resource_link","uri":"x:y","name":"n","grease":1.0}],"structuredContent":{"k":1.0},"_meta":{"v/x":1}}`,
		"resources/read": `error {"code":-32602,"message":"not there","data":{"uri":"x:z"},"grease":1.0}`,
		"resources/list": `{"resources":[{"uri":"x:z","name":"z"}]}`,
	}}
	for _, tt := range []struct{ version, call string }{
		{"2025-11-25", `{"content":[{"type":"resource_link","uri":"x:y","name":"n","grease":1.0},{"type":"text","text":"{\"k\":1.0}"}],"structuredContent":{"result":{"k":1.0}},"_meta":{"v/x":1}}`},
		{"2025-03-26", `{"content":[{"text":"n: x:y","type":"text","uri":"x:y","name":"n","grease":1.0},{"type":"text","text":"{\"k\":1.0}"}],"structuredContent":{"result":{"k":1.0}},"_meta":{"v/x":1}}`},
	} {
		c := between(t, tt.version, stubs{"a": modern}, proxy.Options{Servers: proxy.Named("a")})
		if got := c.result("tools/call", `{"name":"a__list"}`); got != tt.call {
			t.Errorf("%s:\n got %s\nwant %s", tt.version, got, tt.call)
		}
		if got, want := c.call("resources/read", `{"uri":"x:z"}`), `"error":{"code":-32002,"message":"not there","data":{"uri":"x:z"},"grease":1.0}`; !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", tt.version, got, want)
		}
	}
}

// TestErrorInWords: what a client's revision has no error for reaches its model.
func TestErrorInWords(t *testing.T) {
	const object = `{"code":-32042,"message":"sign in first","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a/b","message":"Sign in"}]}}`
	s := stubs{"a": {version: "2025-11-25", answers: map[string]string{
		"tools/list": `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`, "tools/call": "error " + object,
	}}}
	c := between(t, "2025-06-18", s, proxy.Options{Servers: proxy.Named("a")})
	want := `{"content":[{"type":"text","text":"sign in first\nSign in https://a/b"}],"isError":true,"_meta":{"dev.mcpctl/error":{"kind":"protocol","server":"a","error":` + object + `}}}`
	if got := c.result("tools/call", `{"name":"a__t"}`); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c = between(t, "2025-11-25", s, proxy.Options{Servers: proxy.Named("a")})
	if got := c.call("tools/call", `{"name":"a__t"}`); !strings.Contains(got, `"error":`+object) {
		t.Errorf("got %s", got)
	}
}

// TestModernAnswers: whatever a client of the stateless era asks, and whatever
// becomes of it, the answer is one of its era.
func TestModernAnswers(t *testing.T) {
	a := &stub{version: "2025-11-25", answers: map[string]string{
		"tools/list": `{"tools":[{"name":"t"}]}`, "tools/call": `{"content":[],"x":1.0}`, "prompts/list": `{"prompts":[{"name":"p"}]}`,
		"prompts/get": `{"messages":[]}`, "resources/list": `{"resources":[{"uri":"x:y","name":"n"}]}`, "resources/read": `{"contents":[]}`,
		"resources/templates/list": `{"resourceTemplates":[]}`, "completion/complete": `{"completion":{"values":[]}}`,
	}}
	c := between(t, "", stubs{"a": a}, proxy.Options{Servers: proxy.Named("a")})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, tt := range []struct {
		method, params string
		cached         bool
	}{
		{"server/discover", ``, true},
		{"tools/list", ``, true},
		{"prompts/list", ``, true},
		{"resources/list", ``, true},
		{"resources/templates/list", ``, true},
		{"resources/read", `,"uri":"x:y"`, true},
		{"tools/call", `,"name":"a__t"`, false},
		{"prompts/get", `,"name":"a__p"`, false},
		{"completion/complete", `,"ref":{"type":"ref/prompt","name":"a__p"},"argument":{"name":"x","value":""}`, false},
	} {
		var got struct {
			ResultType string
			TTL        *int `json:"ttlMs"`
			CacheScope *string
			Meta       map[string]json.RawMessage `json:"_meta"`
		}
		raw := c.result(tt.method, `{`+meta+tt.params+`}`)
		require.NoError(t, json.Unmarshal([]byte(raw), &got))
		if got.ResultType != "complete" || (got.TTL != nil) != tt.cached || (got.CacheScope != nil) != tt.cached ||
			string(got.Meta["io.modelcontextprotocol/serverInfo"]) != `{"name":"mcpctl","version":"t"}` || strings.Count(raw, "resultType") != 1 {
			t.Errorf("%s: got %s", tt.method, raw)
		}
		if behind := got.Meta["dev.mcpctl/backendServerInfo"]; strings.Contains(tt.params, "a__") && string(behind) != `{"name":"a","version":"1"}` {
			t.Errorf("%s: got %s", tt.method, raw)
		}
	}
	a.mu.Lock()
	a.answers["resources/read"] = `error {"code":-32002,"message":"not there","data":{"uri":"x:y"},"grease":1.0}`
	a.mu.Unlock()
	if got, want := c.call("resources/read", `{`+meta+`,"uri":"x:y"}`), `"error":{"code":-32602,"message":"not there","data":{"uri":"x:y"}`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestChallengesStayBehind(t *testing.T) {
	a := &unauthorised{stub{version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[{"name":"t"}]}`}}}
	p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
		return runtime.NewClient(a, runtime.ClientOptions{Info: runtime.ServerInfo{Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`)}}), nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c := attach(t, p)
	for method, params := range map[string]string{"tools/call": `{"name":"a__t"}`, "completion/complete": `{"ref":{"type":"ref/resource","uri":"x:y"}}`} {
		if got := c.call(method, params); strings.Contains(got, "Bearer") || strings.Contains(got, "secret") {
			t.Errorf("got %s", got)
		}
	}
}

type unauthorised struct{ stub }

func (u *unauthorised) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if strings.HasSuffix(req.Method, "/list") {
		return u.stub.Call(ctx, req)
	}
	return nil, &runtime.AuthError{Status: 401, Challenge: `Bearer realm="secret"`}
}

// TestMetadataOfTheOtherEra: a server of the handshake era gets nothing that it
// could take for a self-contained request, and everything else.
func TestMetadataOfTheOtherEra(t *testing.T) {
	for _, plain := range []bool{true, false} {
		got := make(chan string, 1)
		server := runtimetest.New()
		server.Seen = func(frame []byte) {
			if bytes.Contains(frame, []byte(`"tools/call"`)) {
				got <- string(frame)
			}
		}
		b := newPool(map[string]*runtimetest.Server{"a": server})
		b.plain = plain
		p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Dial: b.dial})
		require.NoError(t, err)
		t.Cleanup(func() { _ = p.Close() })
		c := attach(t, p)
		c.result("tools/list", `{}`)
		for _, meta := range []string{
			`"io.modelcontextprotocol/clientInfo":{"name":"x"},"v/x":1.0,"io.modelcontextprotocol/logLevel":"debug"`,
			`"io.modelcontextprotocol\/clientInfo":{"name":"x"},"v/x":1.0`,
			`"\u0069o.modelcontextprotocol/clientInfo":{"name":"x"},"v/x":1.0`,
		} {
			c.result("tools/call", `{"name":"a__echo","arguments":{"message":"m"},"_meta":{`+meta+`}}`)
			if frame := <-got; strings.Contains(frame, "modelcontextprotocol") || !strings.Contains(frame, `"v/x":1.0`) {
				t.Errorf("plain %v: %s: got %s", plain, meta, frame)
			}
		}
	}
}
