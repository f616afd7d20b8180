package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// everything is what a client can be asked.
const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// july is an HTTP endpoint and a client of the stateless era.
type july struct {
	t       *testing.T
	p       *proxy.Proxy
	handler *proxy.HTTPHandler
	url     string
	hc      *http.Client
	ids     int
}

// serveJuly puts servers behind an HTTP endpoint, with their own names where there
// is one.
func serveJuly(t *testing.T, o proxy.Options, servers map[string]*runtimetest.Server) *july {
	t.Helper()
	o.NoPrefix, o.Info = len(servers) == 1, runtime.Implementation{Name: "mcpctl", Version: "1"}
	b := newPool(servers)
	b.listen = true
	for _, s := range servers {
		b.plain = b.plain || len(s.Versions) == 1 && s.Versions[0] == runtimetest.RevJuly // for its listen
	}
	return julyTo(t, b.serve(t, o))
}

// julyTo returns a client of a proxy.
func julyTo(t *testing.T, p *proxy.Proxy) *july {
	t.Helper()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	s := serveHTTP(t, handler)
	t.Cleanup(func() {
		handler.Close()
		s.close()
	})
	return &july{t: t, p: p, handler: handler, url: s.url, hc: s.client()}
}

// outcome is an answer with what came before it.
type outcome struct {
	status int
	head   http.Header
	notes  []string
	raw    string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// asks is a result that asks for input.
type asks struct {
	ResultType    string
	InputRequests map[string]struct {
		Method string
		Params json.RawMessage
	}
	RequestState string
}

func (r *outcome) asks() asks {
	var a asks
	_ = json.Unmarshal(r.Result, &a)
	return a
}

// request makes the body and the headers of a request; params lack only _meta,
// to which more may be added.
func request(id, method, params, capabilities, more string) (string, http.Header) {
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s%s}`, capabilities, more)
	params = strings.TrimSuffix(params, "}")
	if params != "{" {
		params += ","
	}
	var p struct{ Name, URI string }
	_ = json.Unmarshal([]byte(params+meta+"}"), &p)
	head := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if name := p.Name + p.URI; name != "" {
		head.Set("Mcp-Name", name)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s%s}}`, id, method, params, meta), head
}

func (w *july) open(ctx context.Context, body string, head http.Header) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header = head
	resp, err := w.hc.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

func (w *july) send(body string, head http.Header) *outcome {
	w.t.Helper()
	resp := w.open(w.t.Context(), body, head)
	defer resp.Body.Close()
	r := &outcome{status: resp.StatusCode, head: resp.Header}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		s := bufio.NewScanner(resp.Body)
		for s.Scan() {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				r.notes = append(r.notes, data)
			}
		}
		if n := len(r.notes); n > 0 {
			r.raw, r.notes = r.notes[n-1], r.notes[:n-1]
		}
	} else {
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		r.raw = string(all)
	}
	_ = json.Unmarshal([]byte(r.raw), r)
	return r
}

// call sends a request under capabilities.
func (w *july) call(method, params, capabilities string) *outcome {
	w.t.Helper()
	w.ids++
	return w.send(request(fmt.Sprint(w.ids), method, params, capabilities, ""))
}

// talk calls a tool and answers what it asks until it gives a result; it gives
// how often it was asked, and what.
func (w *july) talk(tool, capabilities string) (r *outcome, rounds int, asked []string) {
	w.t.Helper()
	params := fmt.Sprintf(`{"name":%q,"arguments":{"key":%q}}`, tool, w.t.Name())
	for ; rounds < 5; rounds++ {
		r = w.call("tools/call", params, capabilities)
		a := r.asks()
		if a.ResultType != "input_required" {
			return r, rounds, asked
		}
		answers := map[string]any{}
		for key, q := range a.InputRequests {
			asked = append(asked, q.Method+" "+string(q.Params))
			answers[key] = map[string]any{
				"elicitation/create":     map[string]any{"action": "accept", "content": map[string]string{"name": "octo " + key}},
				"sampling/createMessage": map[string]any{"role": "assistant", "model": "m", "content": map[string]string{"type": "text", "text": "hello"}},
				"roots/list":             map[string]any{"roots": []any{}},
			}[q.Method]
		}
		raw, err := json.Marshal(answers)
		if err != nil {
			w.t.Fatal(err)
		}
		params = fmt.Sprintf(`{"name":%q,"arguments":{"key":%q},"inputResponses":%s,"requestState":%q}`, tool, w.t.Name(), raw, a.RequestState)
	}
	return r, rounds, asked
}

// eras are backends of both eras.
func eras() map[string]*runtimetest.Server {
	return map[string]*runtimetest.Server{"modern": runtimetest.Full(runtimetest.RevJuly), "legacy": runtimetest.Full(runtimetest.RevNov)}
}

func one(s *runtimetest.Server) map[string]*runtimetest.Server {
	return map[string]*runtimetest.Server{"s": s}
}

// TestModernOrder: what is wrong with a request is found in one order.
func TestModernOrder(t *testing.T) {
	w := serveJuly(t, proxy.Options{}, one(runtimetest.Full(runtimetest.RevJuly)))
	const region = `{"name":"region","arguments":{"region":"us","n":42}}`
	type edit func(body *string, h http.Header)
	drop := func(names ...string) edit {
		return func(_ *string, h http.Header) {
			for _, n := range names {
				h.Del(n)
			}
		}
	}
	set := func(pairs ...string) edit {
		return func(_ *string, h http.Header) {
			for i := 0; i < len(pairs); i += 2 {
				h.Add(pairs[i], pairs[i+1])
			}
		}
	}
	put := func(pairs ...string) edit {
		return func(_ *string, h http.Header) {
			for i := 0; i < len(pairs); i += 2 {
				h.Set(pairs[i], pairs[i+1])
			}
		}
	}
	body := func(old, new string) edit {
		return func(b *string, _ http.Header) { *b = strings.Replace(*b, old, new, 1) }
	}
	fits := set("Mcp-Param-Region", "us", "Mcp-Param-N", "42")
	for name, c := range map[string]struct {
		method, params string
		edits          []edit
		status, code   int
	}{
		"fine":                         {"tools/list", `{}`, nil, 200, 0},
		"a session is ignored":         {"tools/list", `{}`, []edit{put("Mcp-Session-Id", "nope")}, 200, 0},
		"content type":                 {"tools/list", `{}`, []edit{put("Content-Type", "text/plain")}, 415, 0},
		"accept":                       {"tools/list", `{}`, []edit{put("Accept", "image/png")}, 406, 0},
		"not JSON":                     {"tools/list", `{}`, []edit{body(`{`, `{{`)}, 400, -32700},
		"no id to answer":              {"tools/list", `{}`, []edit{body(`"id":1`, `"id":null`)}, 400, -32600},
		"a batch":                      {"tools/list", `{}`, []edit{func(b *string, _ http.Header) { *b = "[" + *b + "]" }}, 400, -32600},
		"an answer":                    {"tools/list", `{}`, []edit{func(b *string, _ http.Header) { *b = `{"jsonrpc":"2.0","id":1,"result":{}}` }}, 400, -32600},
		"no version header":            {"nope", `{}`, []edit{drop("Mcp-Protocol-Version", "Mcp-Method")}, 400, -32020},
		"two version headers":          {"tools/list", `{}`, []edit{set("Mcp-Protocol-Version", "2026-07-28")}, 400, -32020},
		"another version header":       {"nope", `{}`, []edit{put("Mcp-Protocol-Version", "2025-11-25")}, 400, -32020},
		"no claim":                     {"tools/list", `{}`, []edit{body("protocolVersion", "x")}, 400, -32602},
		"no _meta":                     {"tools/list", `{}`, []edit{body("_meta", "x"), drop("Mcp-Method")}, 400, -32602},
		"claim is no string":           {"tools/list", `{}`, []edit{body(`"2026-07-28"`, `7`)}, 400, -32602},
		"unknown version":              {"tools/list", `{}`, []edit{body("2026-07-28", "2027-01-01"), put("Mcp-Protocol-Version", "2027-01-01"), body("clientCapabilities", "x")}, 400, -32022},
		"legacy claim":                 {"tools/list", `{}`, []edit{body("2026-07-28", "2025-11-25"), put("Mcp-Protocol-Version", "2025-11-25")}, 400, -32022},
		"unknown version, no claim":    {"tools/list", `{}`, []edit{body("_meta", "x"), put("Mcp-Protocol-Version", "2027-01-01")}, 400, -32022},
		"no capabilities":              {"nope", `{}`, []edit{body("clientCapabilities", "x")}, 400, -32602},
		"capabilities are no object":   {"nope", `{}`, []edit{body(`"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":null`)}, 400, -32602},
		"unknown method":               {"nope", `{}`, []edit{drop("Mcp-Method")}, 404, -32601},
		"initialize":                   {"initialize", `{}`, nil, 404, -32601},
		"initialize without a claim":   {"initialize", `{}`, []edit{body("_meta", "x")}, 400, -32020},
		"ping":                         {"ping", `{}`, nil, 404, -32601},
		"subscribe":                    {"resources/subscribe", `{"uri":"fake://note"}`, nil, 404, -32601},
		"setLevel":                     {"logging/setLevel", `{"level":"info"}`, nil, 404, -32601},
		"no Mcp-Method":                {"tools/list", `{}`, []edit{drop("Mcp-Method")}, 400, -32020},
		"two Mcp-Method":               {"tools/list", `{}`, []edit{set("Mcp-Method", "tools/list")}, 400, -32020},
		"another Mcp-Method":           {"tools/list", `{}`, []edit{put("Mcp-Method", "Tools/List")}, 400, -32020},
		"no Mcp-Name":                  {"tools/call", region, []edit{drop("Mcp-Name"), fits}, 400, -32020},
		"two Mcp-Name":                 {"tools/call", region, []edit{set("Mcp-Name", "region"), fits}, 400, -32020},
		"another Mcp-Name":             {"tools/call", region, []edit{put("Mcp-Name", "echo"), fits}, 400, -32020},
		"wrapped Mcp-Name":             {"tools/call", region, []edit{put("Mcp-Name", "=?base64?cmVnaW9u?="), fits}, 200, 0},
		"badly wrapped Mcp-Name":       {"tools/call", region, []edit{put("Mcp-Name", "=?base64?c?="), fits}, 400, -32020},
		"no Mcp-Name, name no string":  {"tools/call", `{"name":7}`, []edit{drop("Mcp-Name")}, 200, -32602},
		"Mcp-Param":                    {"tools/call", region, []edit{fits}, 200, 0},
		"Mcp-Param, a number's value":  {"tools/call", region, []edit{set("Mcp-Param-Region", "us", "Mcp-Param-N", "42.0")}, 200, 0},
		"Mcp-Param missing":            {"tools/call", region, []edit{set("Mcp-Param-Region", "us")}, 400, -32020},
		"Mcp-Param twice":              {"tools/call", region, []edit{fits, set("Mcp-Param-N", "42")}, 400, -32020},
		"Mcp-Param, another value":     {"tools/call", region, []edit{set("Mcp-Param-Region", "US", "Mcp-Param-N", "42")}, 400, -32020},
		"Mcp-Param that is not needed": {"tools/call", region, []edit{fits, set("Mcp-Param-Other", "x")}, 200, 0},
		"unknown tool":                 {"tools/call", `{"name":"nope"}`, nil, 200, -32602},
		"unknown level":                {"tools/list", `{}`, []edit{body(`"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"`)}, 200, -32602},
		"unknown resource":             {"resources/read", `{"uri":"fake://nope"}`, nil, 200, -32602},
		"bad cursor":                   {"tools/list", `{"cursor":"x"}`, nil, 200, -32602},
		"bad state":                    {"tools/call", `{"name":"ask_form","requestState":"x"}`, nil, 200, -32602},
		"answers that are none":        {"tools/call", `{"name":"ask_form","inputResponses":{"who":7}}`, nil, 200, -32602},
		"a capability is missing":      {"tools/call", `{"name":"ask_form"}`, nil, 400, -32021},
		"listen to nothing":            {"subscriptions/listen", `{}`, nil, 200, -32602},
		"listen to something odd":      {"subscriptions/listen", `{"notifications":{"toolsListChanged":1}}`, nil, 200, -32602},
	} {
		text, head := request("1", c.method, c.params, "{}", "")
		for _, e := range c.edits {
			e(&text, head)
		}
		r := w.send(text, head)
		code := 0
		if r.Error != nil {
			code = r.Error.Code
		}
		if r.status != c.status || code != c.code {
			t.Errorf("%s: got %d %s, want %d %d", name, r.status, r.raw, c.status, c.code)
		}
		if r.Error != nil && !strings.Contains(r.raw, `"id":1,`) && c.code != -32700 && c.code != -32600 {
			t.Errorf("%s: the answer has lost its id: %s", name, r.raw)
		}
		if id := r.head.Get("Mcp-Session-Id"); id != "" {
			t.Errorf("%s: got a session", name)
		}
	}
}

// TestModernResults: every result says of what kind it is and who has made it,
// those that can be kept for how long, and streams begin with the first message.
func TestModernResults(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(s))
		for method, params := range map[string]string{
			"server/discover": `{}`, "tools/list": `{}`, "prompts/list": `{}`, "resources/list": `{}`, "resources/templates/list": `{}`,
			"resources/read": fmt.Sprintf(`{"uri":%q}`, "fake://note"), "tools/call": `{"name":"echo","arguments":{"text":"hi"}}`,
			"prompts/get":         `{"name":"greet","arguments":{"who":"me"}}`,
			"completion/complete": `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"x"}}`,
		} {
			r := w.call(method, params, `{}`)
			var got struct {
				ResultType string
				TTL        *int `json:"ttlMs"`
				CacheScope string
				Meta       struct {
					Server struct{ Name string } `json:"io.modelcontextprotocol/serverInfo"`
					Behind struct{ Name string } `json:"dev.mcpctl/backendServerInfo"`
				} `json:"_meta"`
			}
			if err := json.Unmarshal(r.Result, &got); err != nil || r.status != 200 || got.ResultType != "complete" || got.Meta.Server.Name != "mcpctl" {
				t.Errorf("%s: %s: got %d %s", era, method, r.status, r.raw)
			}
			if keep := revision.Cacheable(method); keep != (got.TTL != nil) || keep && got.CacheScope != "private" && got.CacheScope != "public" {
				t.Errorf("%s: %s: got %s", era, method, r.raw)
			}
			if got.Meta.Behind.Name == "mcpctl" {
				t.Errorf("%s: %s: names us twice: %s", era, method, r.raw)
			}
			if ct := r.head.Get("Content-Type"); ct != "application/json" {
				t.Errorf("%s: %s: got %s", era, method, ct)
			}
		}
	}
}

// TestModernAsks: whatever a tool asks reaches the client in a result, and its
// answer the tool, in both eras behind.
func TestModernAsks(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(s))
		for tool, c := range map[string]struct {
			rounds int
			want   []string // in the result
		}{
			"ask_form":   {1, []string{`"action":"accept"`, `octo`}},
			"ask_url":    {1, []string{`"action":"accept"`}},
			"ask_sample": {1, []string{`hello`}},
			"ask_roots":  {1, []string{`"roots":[]`}},
			"ask_two":    {1, []string{`octo`, `"roots":[]`}},
			"ask_again":  {2, []string{`"who"`, `"again"`}},
			"link_first": {1, nil},
			"come_back":  {0, []string{`back`}},
		} {
			r, rounds, asked := w.talk(tool, everything)
			if r.Error != nil || rounds != c.rounds || r.status != 200 {
				t.Errorf("%s: %s: got %s after %d rounds", era, tool, r.raw, rounds)
			}
			for _, want := range c.want {
				if !strings.Contains(string(r.Result), want) {
					t.Errorf("%s: %s: got %s, want %s", era, tool, r.Result, want)
				}
			}
			for _, q := range asked {
				if strings.Contains(q, "elicitationId") || strings.HasPrefix(q, "elicitation/create") && !strings.Contains(q, `"mode":`) {
					t.Errorf("%s: %s: asked %s", era, tool, q)
				}
			}
		}
	}
}

// TestModernQuestionNamesItsServer: with several servers a person is told who
// asks.
func TestModernQuestionNamesItsServer(t *testing.T) {
	w := serveJuly(t, proxy.Options{}, eras())
	for name := range eras() {
		_, _, asked := w.talk(name+"__ask_form", everything)
		if len(asked) != 1 || !strings.Contains(asked[0], `"message":"`+name) {
			t.Errorf("%s asked %q", name, asked)
		}
	}
}

// TestModernRootsAreGiven: what the configuration has is answered in the place of
// a client that has no roots, whatever else is asked beside.
func TestModernRootsAreGiven(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{Roots: json.RawMessage(`[{"uri":"file:///srv"}]`)}, one(s))
		for tool, want := range map[string]int{"ask_roots": 0, "ask_two": 1} {
			r, rounds, asked := w.talk(tool, `{"elicitation":{}}`)
			if rounds != want || len(asked) != want || !strings.Contains(string(r.Result), "file:///srv") || want == 1 && !strings.Contains(string(r.Result), "octo") {
				t.Errorf("%s: %s: asked %v, got %s", era, tool, asked, r.raw)
			}
		}
		if r, rounds, _ := w.talk("ask_roots", everything); rounds != 1 || strings.Contains(string(r.Result), "srv") {
			t.Errorf("%s: a client with roots: asked %d times, got %s", era, rounds, r.raw)
		}
	}
}

// TestModernStateIsBound: a state is good for the request that it was given for,
// and once where a call waits for it.
func TestModernStateIsBound(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(s))
		first := w.call("tools/call", `{"name":"ask_form"}`, everything).asks()
		if first.RequestState == "" {
			t.Fatalf("%s: no state", era)
		}
		answers := `{}`
		for key := range first.InputRequests {
			answers = fmt.Sprintf(`{%q:{"action":"decline"}}`, key)
		}
		retry := func(name, state string) *outcome {
			return w.call("tools/call", fmt.Sprintf(`{"name":%q,"inputResponses":%s,"requestState":%q}`, name, answers, state), everything)
		}
		changed := first.RequestState[:20] + "A" + first.RequestState[21:]
		if changed == first.RequestState {
			changed = first.RequestState[:20] + "B" + first.RequestState[21:]
		}
		for what, r := range map[string]*outcome{"changed": retry("ask_form", changed), "another tool": retry("ask_two", first.RequestState), "cut": retry("ask_form", first.RequestState[:30])} {
			if r.Error == nil || r.Error.Code != -32602 {
				t.Errorf("%s: %s: got %s", era, what, r.raw)
			}
		}
		if r := retry("ask_form", first.RequestState); r.Error != nil || !strings.Contains(string(r.Result), "decline") {
			t.Errorf("%s: got %s", era, r.raw)
		}
		if r := retry("ask_form", first.RequestState); era == "legacy" && (r.Error != nil || !strings.Contains(string(r.Result), `"isError":true`) || !strings.Contains(string(r.Result), "lost")) {
			t.Errorf("the call has ended: got %s", r.raw)
		}
	}
}

// TestModernAnswerIsMissing: it is asked for again.
func TestModernAnswerIsMissing(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(s))
		first := w.call("tools/call", `{"name":"ask_two"}`, everything).asks()
		if len(first.InputRequests) != 2 {
			t.Fatalf("%s: asked %v", era, first.InputRequests)
		}
		var roots, form string
		for key, q := range first.InputRequests {
			if q.Method == "roots/list" {
				roots = key
			} else {
				form = key
			}
		}
		second := w.call("tools/call", fmt.Sprintf(`{"name":"ask_two","inputResponses":{%q:{"roots":[]},"other":{}},"requestState":%q}`, roots, first.RequestState), everything).asks()
		if _, again := second.InputRequests[form]; !again {
			t.Errorf("%s: asked %v", era, second.InputRequests)
		}
		third := w.call("tools/call", fmt.Sprintf(`{"name":"ask_two","inputResponses":{%q:{"action":"cancel"},%q:{"roots":[]}},"requestState":%q}`, form, roots, second.RequestState), everything)
		if !strings.Contains(string(third.Result), `"cancel"`) {
			t.Errorf("%s: got %s", era, third.raw)
		}
	}
}

// TestModernLacksACapability: the client learns what it has to declare, and the
// call of a server that asked nevertheless is ended.
func TestModernLacksACapability(t *testing.T) {
	for tool, want := range map[string]string{"ask_form": `{"elicitation":{"form":{}}}`, "ask_url": `{"elicitation":{"url":{}}}`, "ask_sample": `{"sampling":{}}`} {
		for era, s := range eras() {
			w := serveJuly(t, proxy.Options{}, one(s))
			r := w.call("tools/call", fmt.Sprintf(`{"name":%q}`, tool), `{"roots":{}}`)
			if r.Error == nil || r.Error.Code != -32021 || r.status != 400 || !strings.Contains(string(r.Error.Data), `"requiredCapabilities":`+want) {
				t.Errorf("%s: %s: got %d %s", era, tool, r.status, r.raw)
			}
		}
	}
}

// TestModernClientGoes: closing the connection cancels the call, before anything
// was sent on it and after.
func TestModernClientGoes(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(s))
		w.call("tools/list", `{}`, `{}`)
		ctx, cancel := context.WithCancel(t.Context())
		body, head := request("1", "tools/call", `{"name":"wait"}`, "{}", "")
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header = head
		gone := make(chan error, 1)
		go func() {
			resp, err := w.hc.Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			gone <- err
		}()
		wait.Until(t, era+": the call runs", func() bool { return s.Status().Running == 1 })
		cancel()
		if err := <-gone; err == nil {
			t.Errorf("%s: got an answer", era)
		}
		wait.Until(t, era+": the call is cancelled", func() bool { return s.Status().Cancelled == 1 && s.Status().Running == 0 })
	}
}

// TestModernEvents: progress and log lines come on the request's own stream, the
// lines only where a level is asked for.
func TestModernEvents(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(s))
		text, head := request("1", "tools/call", `{"name":"log","arguments":{"level":"warning","text":"careful"}}`, "{}", "")
		if r := w.send(text, head); len(r.notes) > 0 {
			t.Errorf("%s: lines that nobody asked for: %v", era, r.notes)
		}
		for level, n := range map[string]int{"info": 1, "warning": 1, "error": 0} {
			text, head := request("1", "tools/call", `{"name":"log","arguments":{"level":"warning","text":"careful"}}`, "{}", `,"io.modelcontextprotocol/logLevel":"`+level+`"`)
			if r := w.send(text, head); len(r.notes) != n || n > 0 && !strings.Contains(r.notes[0], "careful") || r.Error != nil {
				t.Errorf("%s: %s: got %v and %s", era, level, r.notes, r.raw)
			}
		}
		text, head = request("1", "tools/call", `{"name":"steps","arguments":{"n":3}}`, "{}", `,"progressToken":9007199254740993`)
		r := w.send(text, head)
		if len(r.notes) == 0 || !strings.Contains(r.notes[0], `"progressToken":9007199254740993`) || r.head.Get("X-Accel-Buffering") != "no" || r.Result == nil {
			t.Errorf("%s: got %v and %s", era, r.notes, r.raw)
		}
	}
}

// TestModernLost: a call that another process holds is not made again, and the
// answer says whether the client may.
func TestModernLost(t *testing.T) {
	ring := seal.NewKeyring()
	s := runtimetest.Full(runtimetest.RevNov)
	for i, tool := range s.Tools {
		if strings.Contains(string(tool.Definition), `"ask_form"`) {
			s.Tools[i].Definition = json.RawMessage(strings.Replace(string(tool.Definition), `{`, `{"annotations":{"readOnlyHint":true},`, 1))
		}
	}
	a, b := serveJuly(t, proxy.Options{Ring: ring}, one(s)), serveJuly(t, proxy.Options{Ring: ring}, one(s))
	for tool, want := range map[string]string{"ask_form": "changes nothing", "ask_two": "may have acted"} {
		first := a.call("tools/call", fmt.Sprintf(`{"name":%q}`, tool), everything).asks()
		b.call("tools/list", `{}`, `{}`)
		before := s.Status().Calls
		r := b.call("tools/call", fmt.Sprintf(`{"name":%q,"inputResponses":{},"requestState":%q}`, tool, first.RequestState), everything)
		if !strings.Contains(string(r.Result), `"isError":true`) || !strings.Contains(string(r.Result), want) || !strings.Contains(string(r.Result), `"resultType":"complete"`) {
			t.Errorf("%s: got %s", tool, r.raw)
		}
		if n := s.Status().Calls; n != before {
			t.Errorf("%s was called again", tool)
		}
	}
}

// TestModernTakesStreams: a client that would rather have a stream gets one.
func TestModernTakesStreams(t *testing.T) {
	w := serveJuly(t, proxy.Options{}, one(runtimetest.Full(runtimetest.RevJuly)))
	for accept, want := range map[string]string{
		"application/json, text/event-stream": "application/json", "text/event-stream, application/json": "text/event-stream",
		"text/event-stream": "text/event-stream", "*/*": "application/json",
	} {
		text, head := request("1", "tools/list", `{}`, "{}", "")
		head.Set("Accept", accept)
		if r := w.send(text, head); r.head.Get("Content-Type") != want || r.Result == nil {
			t.Errorf("%s: got %s %s", accept, r.head.Get("Content-Type"), r.raw)
		}
		text, head = request("1", "tools/call", `{"name":"nope"}`, "{}", "")
		head.Set("Accept", accept)
		if r := w.send(text, head); r.Error == nil {
			t.Errorf("%s: got %s", accept, r.raw)
		}
	}
}

// lines reads the messages of a stream.
func lines(body io.Reader) <-chan string {
	c := make(chan string, 100)
	go func() {
		defer close(c)
		s := bufio.NewScanner(body)
		for s.Scan() {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				c <- data
			}
		}
	}()
	return c
}

func next(t *testing.T, c <-chan string) string {
	t.Helper()
	return wait.For(t, "a message", c)
}

// TestModernListen: each listen gets what it asks for, under its own id, after
// what is honoured; clients with equal ids do not disturb each other.
func TestModernListen(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{}, one(s))
		w.call("tools/list", `{}`, `{}`)
		listen := func(id, filter string) <-chan string {
			body, head := request(id, "subscriptions/listen", `{"notifications":`+filter+`}`, "{}", "")
			resp := w.open(t.Context(), body, head)
			t.Cleanup(func() { _ = resp.Body.Close() })
			if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != "text/event-stream" {
				t.Fatalf("%s: got %d %s", era, resp.StatusCode, ct)
			}
			return lines(resp.Body)
		}
		tools, both := listen(`1`, `{"toolsListChanged":true}`), listen(`1`, `{"promptsListChanged":false,"resourceSubscriptions":["fake://note"],"x":1}`)
		named := listen(`"1"`, `{"toolsListChanged":true,"promptsListChanged":true}`)
		for c, want := range map[<-chan string]string{
			tools: `{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}`,
			both:  `{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"resourceSubscriptions":["fake://note"]}}`,
			named: `{"_meta":{"io.modelcontextprotocol/subscriptionId":"1"},"notifications":{"toolsListChanged":true,"promptsListChanged":true}}`,
		} {
			if got := next(t, c); !strings.Contains(got, `"notifications/subscriptions/acknowledged","params":`+want) {
				t.Errorf("%s: got %s, want %s", era, got, want)
			}
		}
		wait.Until(t, era+": the server is listened to", func() bool { st := s.Status(); return st.Listens > 0 || st.Level == "" && era == "legacy" })
		s.Change("tools")
		for c, id := range map[<-chan string]string{tools: `1`, named: `"1"`} {
			if got := next(t, c); !strings.Contains(got, `"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}`) {
				t.Errorf("%s: got %s", era, got)
			}
		}
		s.Touch("fake://note")
		if got := next(t, both); !strings.Contains(got, `"notifications/resources/updated"`) || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":1`) || !strings.Contains(got, `"uri":"fake://note"`) {
			t.Errorf("%s: got %s", era, got)
		}
		w.handler.Close()
		for c, id := range map[<-chan string]string{tools: `1`, both: `1`, named: `"1"`} {
			if got := next(t, c); got != `{"jsonrpc":"2.0","id":`+id+`,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}}` {
				t.Errorf("%s: got %s", era, got)
			}
		}
	}
}

// recorded is a modern server that notes what it is asked to repeat.
type recorded struct {
	instant
	mirror chan map[string]string
}

func (s recorded) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "tools/call" {
		s.mirror <- req.Mirror
	}
	return s.instant.Call(ctx, req)
}

// TestModernPassesParamsOn: headers that no schema we know asks for are the
// server's to judge, within bounds.
func TestModernPassesParamsOn(t *testing.T) {
	s := recorded{instant{json.RawMessage(`{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`), json.RawMessage(`{"resultType":"complete","content":[]}`)}, make(chan map[string]string, 1)}
	p, err := proxy.NewAllowed(proxy.Options{
		Servers: proxy.Named("s"), NoPrefix: true,
		Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
			return runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2026-07-28", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	handler := p.NewHTTPHandler(proxy.HTTPOptions{AnyHost: true})
	t.Cleanup(handler.Close)
	for name, c := range map[string]struct{ value, want string }{"ordinary": {"x", "map[Mcp-Param-New:x]"}, "too long": {strings.Repeat("x", 9000), "map[]"}} {
		body, head := request("1", "tools/call", `{"name":"echo"}`, "{}", "")
		head.Set("Mcp-Param-New", c.value)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header = head
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if got := fmt.Sprint(<-s.mirror); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
