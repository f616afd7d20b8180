package runtimetest_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wait"
)

// modernCall is a tools/call of 2026-07-28 with the capabilities of a client
// that can be asked anything, and more members of params.
func modernCall(name, more string) string {
	return `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + name + `",` + more +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}}}}`
}

func TestQuestionsSince2026(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full(runtimetest.RevJuly)
	s.Drain = time.Minute // the machine may be busy
	call := func(line string) map[string]json.RawMessage {
		t.Helper()
		got, err := talk(t, s, line)
		var m struct{ Result, Error map[string]json.RawMessage }
		if err != nil || len(got) != 1 || json.Unmarshal([]byte(got[0]), &m) != nil {
			t.Fatalf("got %q, %v", got, err)
		}
		if m.Error != nil {
			return m.Error
		}
		return m.Result
	}
	first := call(modernCall("ask_again", ""))
	if !strings.Contains(string(first["inputRequests"]), `{"who":{"method":"elicitation/create","params":{"mode":"form"`) {
		t.Fatalf("round 1: %s", first)
	}
	second := call(modernCall("ask_again", `"inputResponses":{"who":{"action":"accept"}},"requestState":`+string(first["requestState"])+`,`))
	if !strings.Contains(string(second["inputRequests"]), `{"again":`) {
		t.Fatalf("round 2: %s", second)
	}
	last := call(modernCall("ask_again", `"inputResponses":{"again":{"action":"decline"}},"requestState":`+string(second["requestState"])+`,`))
	if got, want := string(last["structuredContent"]), `{"who":{"action":"accept"},"again":{"action":"decline"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, line := range map[string]string{
		"another tool":   modernCall("ask_form", `"requestState":`+string(first["requestState"])+`,`),
		"another state":  modernCall("ask_again", `"requestState":"x",`),
		"answers only":   modernCall("ask_again", `"inputResponses":{"who":{}},`),
		"no capability":  strings.Replace(modernCall("ask_form", ""), `"form":{},`, "", 1),
		"no task client": modernCall("task", ""),
	} {
		if got := string(call(line)["code"]); got != "-32602" && got != "-32021" {
			t.Errorf("%s: got code %s", name, got)
		}
	}
	if back := call(modernCall("come_back", "")); back["inputRequests"] != nil || back["requestState"] == nil {
		t.Errorf("come_back: %s", back)
	}
}

func TestQuestionsInAHandshakeSession(t *testing.T) {
	t.Parallel()
	init := func(version, capabilities string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + capabilities + `}}`
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask_form"}}`
	answer := `{"jsonrpc":"2.0","id":"fake-1","result":{"action":"accept"}}`
	tests := []struct {
		name, init string
		want       string // the line after initialize's
		last       string
	}{
		{"none", init("2025-11-25", `{}`), `"text":"the client does not support elicitation.form"`, ""},
		{"2025-06-18", init("2025-06-18", `{"elicitation":{}}`), `"params":{"message":"Who`, `"structuredContent":{"who":{"action":"accept"}}`},
		{"2025-11-25", init("2025-11-25", `{"elicitation":{"form":{}}}`), `"params":{"mode":"form",`, `"structuredContent":{"who":{"action":"accept"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := runtimetest.Full().Streams()
			defer st.Close()
			next := lines(st)
			say(t, st, tt.init)
			next()
			say(t, st, call)
			if got := next(); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if tt.last != "" {
				say(t, st, answer)
				if got := next(); !strings.Contains(got, tt.last) {
					t.Errorf("got %s, want %s", got, tt.last)
				}
			}
		})
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full(runtimetest.RevJuly)
	st := s.Streams()
	defer st.Close()
	next := lines(st)
	say(t, st, `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["fake://note"]},`+modernMeta+`}}`)
	const stamp = `"_meta":{"io.modelcontextprotocol/subscriptionId":7}`
	if got := next(); !strings.Contains(got, "acknowledged") || !strings.Contains(got, stamp) {
		t.Errorf("first is %s", got)
	}
	// The listen is known once it is acknowledged.
	wait.Until(t, "a listen", func() bool { return s.Status().Listens == 1 })
	s.Change("prompts")
	s.Touch("fake://other")
	s.Touch("fake://note")
	if got := next(); !strings.Contains(got, "notifications/resources/updated") || !strings.Contains(got, stamp) || !strings.Contains(got, "fake://note") {
		t.Errorf("then %s", got)
	}
	s.Change("tools")
	if got := next(); !strings.Contains(got, "notifications/tools/list_changed") {
		t.Errorf("then %s", got)
	}
	if got := s.Status().Watched; !slices.Equal(got, []string{"fake://note"}) {
		t.Errorf("watched: %q", got)
	}
}

func TestSubscribeAndLevel(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full()
	st := s.Streams()
	defer st.Close()
	next := lines(st)
	say(t, st, initMessage)
	next()
	say(t, st, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(t, st, `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"fake://note"}}`)
	next()
	s.Touch("fake://note")
	if got, want := next(), `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"fake://note"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	say(t, st, `{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"error"}}`)
	next()
	for level, want := range map[string]string{"warning": `"id":4`, "error": "notifications/message"} {
		say(t, st, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"log","arguments":{"level":"`+level+`"}}}`)
		got := next()
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", level, got, want)
		}
		if want != `"id":4` {
			next()
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full(runtimetest.RevJuly)
	srv := httptest.NewServer(s.Handler(runtimetest.HTTPOptions{SSE: true}))
	defer srv.Close()
	call := modernCall("region", `"arguments":{"region":"größe","n":42,"flag":true,"nested":{"deep":"x"}},`)
	good := []string{
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "region",
		"Mcp-Param-Region", "=?base64?Z3LDtsOfZQ==?=", "Mcp-Param-N", "42", "Mcp-Param-Flag", "true", "Mcp-Param-Deep", "x",
	}
	if res, got := post(t, srv.URL, call, good...); res.StatusCode != 200 || !strings.Contains(got, "größe") {
		t.Errorf("got %d %s", res.StatusCode, got)
	}
	for i := 0; i < len(good); i += 2 {
		bad := slices.Clone(good)
		bad[i+1] = "zzz"
		if res, got := post(t, srv.URL, call, bad...); res.StatusCode != 400 || !strings.Contains(got, "-32020") {
			t.Errorf("%s: got %d %s", good[i], res.StatusCode, got)
		}
	}
	null := modernCall("region", `"arguments":{"region":null},`)
	if res, got := post(t, srv.URL, null, good[:6]...); res.StatusCode != 200 {
		t.Errorf("null: got %d %s", res.StatusCode, got)
	}
	if res, got := post(t, srv.URL, null, good[:8]...); res.StatusCode != 400 {
		t.Errorf("null with a header: got %d %s", res.StatusCode, got)
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	probe := `{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{` + modernMeta + `}}`
	tests := []struct {
		name   string
		o      runtimetest.HTTPOptions
		faults runtimetest.Faults
		status int
		want   string
	}{
		{"404", runtimetest.HTTPOptions{NotFound: true}, runtimetest.Faults{}, 404, "<!DOCTYPE"},
		{"401", runtimetest.HTTPOptions{Unauthorized: 1}, runtimetest.Faults{}, 401, "unauthorized"},
		{"-32602", runtimetest.HTTPOptions{}, runtimetest.Faults{InvalidProbe: true}, 200, "-32602"},
		{"legacy", runtimetest.HTTPOptions{}, runtimetest.Faults{LegacyDiscover: true}, 200, `"supportedVersions":["2025-11-25",`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := runtimetest.Full()
			s.Faults = tt.faults
			srv := httptest.NewServer(s.Handler(tt.o))
			defer srv.Close()
			if res, got := post(t, srv.URL, probe); res.StatusCode != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("got %d %s, want %d %s", res.StatusCode, got, tt.status, tt.want)
			}
			if res, got := post(t, srv.URL, initMessage); res.StatusCode != 200 || !strings.Contains(got, "2025-11-25") {
				t.Errorf("initialize: got %d %s", res.StatusCode, got)
			}
		})
	}
}
