package negotiate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// headers is a transport that keeps what calls repeat as headers, and refuses
// those that it does not like.
type headers struct {
	runtime.Transport
	seen   []string // "name header=value …" of each tools/call and prompts/get
	refuse func(n int, mirror map[string]string) bool
	ids    *[]string // those of the requests are kept there
}

func (h *headers) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Mirror != nil && req.Mirror["Mcp-Method"] != req.Method {
		return nil, fmt.Errorf("%s: Mcp-Method is %q", req.Method, req.Mirror["Mcp-Method"])
	}
	if req.Method == "tools/call" || req.Method == "prompts/get" || req.Method == "tasks/get" {
		if h.ids != nil {
			*h.ids = append(*h.ids, string(req.ID))
		}
		m := maps.Clone(req.Mirror)
		delete(m, "Mcp-Method")
		h.seen = append(h.seen, fmt.Sprint(m)[len("map"):])
		if h.refuse != nil && h.refuse(len(h.seen), req.Mirror) {
			return nil, &runtime.Error{Code: runtime.CodeHeaderMismatch, Message: "Mcp-Name does not match"}
		}
		return json.RawMessage(`{"resultType":"complete"}`), nil
	}
	return h.Transport.Call(ctx, req)
}

func withHeaders(t *testing.T, s *runtimetest.Server, h *headers, overHTTP bool) *negotiate.Connected {
	t.Helper()
	s.Versions = []string{runtimetest.RevJuly}
	h.Transport = s.Connect(nil)
	c := connectTo(t, negotiate.Options{HTTP: overHTTP}, func() runtime.Transport { return h })
	return c
}

func tools(definitions ...string) *runtimetest.Server {
	s := &runtimetest.Server{}
	for _, d := range definitions {
		s.Tools = append(s.Tools, runtimetest.Tool{Definition: json.RawMessage(d)})
	}
	return s
}

const (
	mirroredTool = `{"name":"m","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}}`
	renamedTool  = `{"name":"m","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Area"}}}}`
	faultyTool   = `{"name":"bad","inputSchema":{"type":"object","properties":{"score":{"type":"number","x-mcp-header":"Score"},"x":{"type":"array","items":{"x-mcp-header":"","type":"string"}},"keep":{"default":{"x-mcp-header":1}}},"x-mcp-header":"Root"},"x-other":1.0}`
	plainTool    = `{"name":"p","inputSchema":{"type":"object","pattern":"\\d"}}`
)

func TestArgumentsAreMirrored(t *testing.T) {
	h := &headers{}
	c := withHeaders(t, tools(mirroredTool, plainTool), h, true)
	call := func(method, params string, mirror map[string]string) error {
		_, err := c.Call(t.Context(), &runtime.Request{Method: method, Params: json.RawMessage(params), Mirror: mirror})
		return err
	}
	const arguments = `{"name":"m","arguments":{"region":"Hello, 世界","n":42.0}}`
	for _, params := range []string{arguments, ``, arguments, `{"name":"m","arguments":{"region":null}}`, `{"name":"p","arguments":{"region":"a"}}`} {
		method := "tools/call"
		if params == `` { // from here on the schemas are known
			method, params = "tools/list", `{}`
		}
		if err := call(method, params, map[string]string{"mcp-param-other": "kept", "Mcp-Param-Region": "wrong", "Mcp-Name": "wrong", "X-Other": "not ours"}); err != nil {
			t.Error(err)
		}
	}
	if err := call("prompts/get", `{"name":"é"}`, nil); err != nil {
		t.Error(err)
	}
	if err := call("tasks/get", `{"taskId":"t-1"}`, nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{
		"[Mcp-Name:m Mcp-Param-Other:kept Mcp-Param-Region:wrong]",
		"[Mcp-Name:m Mcp-Param-N:42 Mcp-Param-Other:kept Mcp-Param-Region:=?base64?SGVsbG8sIOS4lueVjA==?=]",
		"[Mcp-Name:m Mcp-Param-Other:kept]",
		"[Mcp-Name:p Mcp-Param-Other:kept Mcp-Param-Region:wrong]",
		"[Mcp-Name:=?base64?w6k=?=]",
		"[Mcp-Name:t-1]",
	}, h.seen); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if err := call("tools/call", `{"name":"m","arguments":{"n":1.5}}`, nil); err == nil || !strings.Contains(err.Error(), "1.5 is not an integer") || len(h.seen) != 6 {
		t.Errorf("got %v", err)
	}
}

func TestFaultyToolsAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		http  bool
		tools []string
		want  string
	}{
		{true, []string{faultyTool, plainTool, faultyTool, mirroredTool, faultyTool}, plainTool + `,` + mirroredTool},
		{true, []string{faultyTool}, ``},
		{false, []string{mirroredTool, faultyTool}, mirroredTool + `,{"name":"bad","inputSchema":{"type":"object","properties":{"score":{"type":"number"},"x":{"type":"array","items":{"type":"string"}},"keep":{"default":{"x-mcp-header":1}}}},"x-other":1.0}`},
	} {
		s := tools(c.tools...)
		h := &headers{}
		raw, err := withHeadersList(t, s, h, c.http)
		if err != nil || !strings.Contains(raw, `"tools":[`+c.want+`]`) {
			t.Errorf("http %v, %d tools: got %s %v", c.http, len(c.tools), raw, err)
		}
	}
}

func withHeadersList(t *testing.T, s *runtimetest.Server, h *headers, overHTTP bool) (string, error) {
	t.Helper()
	if overHTTP {
		c := withHeaders(t, s, h, true)
		raw, err := c.Call(t.Context(), &runtime.Request{Method: "tools/list"})
		if _, err := c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"bad"}`)}); err == nil || len(h.seen) > 0 {
			t.Errorf("a tool that is left out was called: %v", err)
		}
		return string(raw), err
	}
	c, _, err := connect(t.Context(), s, negotiate.Options{}) // of the handshake era, where annotations mean nothing
	require.NoError(t, err)
	defer c.Close()
	raw, err := c.Call(t.Context(), &runtime.Request{Method: "tools/list"})
	return string(raw), err
}

// TestHeadersAtOdds: what the server finds wrong is tried once in each way that
// could mend it.
func TestHeadersAtOdds(t *testing.T) {
	never := func(int, map[string]string) bool { return true }
	for name, c := range map[string]struct {
		method, params string
		refuse         func(n int, mirror map[string]string) bool
		want           []string
		err            string
	}{
		"the schema has changed": {"tools/call", `{"name":"m","arguments":{"region":"a"}}`, func(_ int, m map[string]string) bool { return m["Mcp-Param-Area"] == "" }, []string{
			"[Mcp-Name:m Mcp-Param-Region:a]", "[Mcp-Name:m Mcp-Param-Area:a]", "[Mcp-Name:m Mcp-Param-Area:a]",
		}, ""},
		"the server knows no wrapper": {"prompts/get", `{"name":"é"}`, func(_ int, m map[string]string) bool { return m["Mcp-Name"] != "é" }, []string{
			"[Mcp-Name:=?base64?w6k=?=]", "[Mcp-Name:é]", "[Mcp-Name:é]", // remembered
		}, ""},
		"for good": {"tools/call", `{"name":"é"}`, never, []string{
			"[Mcp-Name:=?base64?w6k=?=]", "[Mcp-Name:é]", "[Mcp-Name:=?base64?w6k=?=]",
		}, "tools/call: the server finds headers and body of the request at odds: Mcp-Name does not match"},
		"for good, nothing to try": {"prompts/get", `{"name":"a"}`, never, []string{"[Mcp-Name:a]"}, "at odds"},
	} {
		h := &headers{refuse: c.refuse}
		s := tools(mirroredTool)
		lists := 0
		s.Methods = map[string]runtimetest.Func{"tools/list": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			lists++
			return json.RawMessage(`{"resultType":"complete","tools":[` + map[bool]string{true: mirroredTool, false: renamedTool}[lists == 1] + `]}`), nil
		}}
		conn := withHeaders(t, s, h, true)
		if _, err := conn.Call(t.Context(), &runtime.Request{Method: "tools/list"}); err != nil {
			t.Fatal(err)
		}
		for range map[bool]int{true: 2, false: 1}[c.err == ""] {
			_, err := conn.Call(t.Context(), &runtime.Request{Method: c.method, Params: json.RawMessage(c.params)})
			if fmt.Sprint(err) != "<nil>" && c.err == "" || !strings.Contains(fmt.Sprint(err), c.err) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if diff := cmp.Diff(c.want, h.seen); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// TestGoneVocabulary: a modern server takes the place of an older one.
func TestGoneVocabulary(t *testing.T) {
	s := runtimetest.New()
	s.Versions = []string{runtimetest.RevJuly}
	frames := make(chan string, 100)
	s.Seen = func(frame []byte) { frames <- string(frame) }
	c, _, err := connect(t.Context(), s, negotiate.Options{})
	require.NoError(t, err)
	defer c.Close()
	<-frames // the probe
	for _, method := range []string{"notifications/roots/list_changed", "notifications/initialized", "notifications/elicitation/complete"} {
		if err := c.Notify(t.Context(), &runtime.Request{Method: method}); err != nil {
			t.Error(err)
		}
	}
	call := func(method, params, want string) {
		t.Helper()
		raw, err := c.Call(t.Context(), &runtime.Request{Method: method, Params: json.RawMessage(params)})
		if got := string(raw) + fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
	next := func(want string) {
		t.Helper()
		if got := <-frames; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	call("ping", `{}`, `{}<nil>`)
	next(`"server/discover"`)
	call("logging/setLevel", `{"level":"loud"}`, "unknown level")
	call("logging/setLevel", `{"level":"warning"}`, `{}<nil>`)
	call("tools/call", `{"name":"echo","arguments":{"message":"a"}}`, "a")
	next(`"io.modelcontextprotocol/logLevel":"warning"`)
	call("tools/call", `{"name":"echo","arguments":{"message":"a"},"_meta":{"io.modelcontextprotocol/logLevel":"debug"}}`, "a")
	next(`"io.modelcontextprotocol/logLevel":"debug"`)
}

// TestMirrorsFollowTheList: a tool that no longer has an annotation has no
// header, one on an earlier page keeps its own, and a request that is sent
// again has an id of its own.
func TestMirrorsFollowTheList(t *testing.T) {
	const bare = `{"name":"m","inputSchema":{"type":"object"}}`
	pages := map[string]string{
		`first ""`:  `"tools":[` + mirroredTool + `],"nextCursor":"2"`,
		`first "2"`: `"tools":[{"name":"n","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]`,
		`then ""`:   `"tools":[` + bare + `],"nextCursor":"2"`,
	}
	turn := "first"
	s := tools()
	s.Methods = map[string]runtimetest.Func{"tools/list": func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		var p struct{ Cursor string }
		_ = json.Unmarshal(c.Params, &p)
		return json.RawMessage(`{"resultType":"complete",` + pages[fmt.Sprintf("%s %q", turn, p.Cursor)] + `}`), nil
	}}
	var ids []string
	h := &headers{}
	c := withHeaders(t, s, h, true)
	do := func(method, params, want string) {
		t.Helper()
		h.seen = nil
		if _, err := c.Call(t.Context(), &runtime.Request{Method: method, Params: json.RawMessage(params), ID: json.RawMessage(`"own"`)}); err != nil {
			t.Error(err)
		}
		if got := strings.Join(h.seen, " "); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	const m, n = `{"name":"m","arguments":{"region":"a"}}`, `{"name":"n","arguments":{"a":"b"}}`
	do("tools/list", `{}`, "")
	do("tools/list", `{"cursor":"2"}`, "")
	do("tools/call", m, "[Mcp-Name:m Mcp-Param-Region:a]")
	do("tools/call", n, "[Mcp-Name:n Mcp-Param-A:b]")
	turn = "then"
	do("tools/list", `{}`, "")
	do("tools/call", m, "[Mcp-Name:m]")
	do("tools/call", n, "[Mcp-Name:n Mcp-Param-A:b]") // its page may come yet
	h.ids = &ids
	h.refuse = func(n int, _ map[string]string) bool { return n == 1 }
	do("tools/call", `{"name":"é"}`, "[Mcp-Name:=?base64?w6k=?=] [Mcp-Name:é]")
	if diff := cmp.Diff([]string{`"own"`, ""}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

// TestCancelNotice goes to processes alone: over HTTP the end of the stream says
// it.
func TestCancelNotice(t *testing.T) {
	for _, overHTTP := range []bool{true, false} {
		s := tools()
		frames := make(chan string, 10)
		s.Seen = func(frame []byte) { frames <- string(frame) }
		c := withHeaders(t, s, &headers{}, overHTTP)
		<-frames // the probe
		for _, method := range []string{"notifications/cancelled", "notifications/example.com/other"} {
			if err := c.Notify(t.Context(), &runtime.Request{Method: method, Params: json.RawMessage(`{}`)}); err != nil {
				t.Error(err)
			}
		}
		if got := <-frames; strings.Contains(got, "cancelled") == overHTTP {
			t.Errorf("HTTP %v: got %s", overHTTP, got)
		}
	}
}
