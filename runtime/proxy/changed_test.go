package proxy_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// journal is a log that may be read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// TestRedefinedTools: a tool that is another under its old name is told of.
func TestRedefinedTools(t *testing.T) {
	a := &stub{version: "2025-11-25", answers: map[string]string{
		"tools/list": `{"tools":[{"name":"same","description":"d"},{"name":"turned","description":"reads","inputSchema":{}},{"name":"written","inputSchema":{"type":"object","title":"\u003c"}},{"name":"dressed","icons":[]}]}`,
	}}
	log := &journal{}
	c := between(t, "2025-11-25", stubs{"a": a}, proxy.Options{Servers: proxy.Named("a"), Logger: slog.New(slog.NewTextHandler(log, nil))})
	c.result("tools/list", `{}`)
	a.mu.Lock()
	a.answers["tools/list"] = `{"tools":[{"description":"d","name":"same"},{"name":"turned","description":"deletes","inputSchema":{"x":1}},{"name":"written","inputSchema":{"title":"<", "type":"object"}},{"name":"dressed","icons":[],"x":1},{"name":"new"}]}`
	h := a.h
	a.mu.Unlock()
	h.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
	<-c.notes
	got := log.String()
	if n := strings.Count(got, "tool has changed under its name"); n != 1 || !strings.Contains(got, "server=a tool=turned members=description,inputSchema before=") {
		t.Errorf("got %s", got)
	}
}

// TestMembersThatStandTwice: what two readers would read differently is not
// passed on.
func TestMembersThatStandTwice(t *testing.T) {
	a := &stub{version: "2026-07-28", answers: map[string]string{
		"tools/list": `{"tools":[{"name":"good","x":1,"x":2},{"name":"shown","name":"called"},{"name":"n\u0061me","n\u0061me":"other"}]}`,
		"tools/call": `{"resultType":"complete","content":[],"resultType":"input_required"}`,
	}}
	c := between(t, "2025-11-25", stubs{"a": a}, proxy.Options{Servers: proxy.Named("a")})
	if got, want := c.result("tools/list", `{}`), `{"tools":[{"name":"a__good","x":1,"x":2}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := c.result("tools/call", `{"name":"a__good"}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "resultType twice") {
		t.Errorf("got %s", got)
	}
	for _, params := range []string{
		`{"name":"a__good","name":"a__other"}`, `{"name":"a__good","n\u0061me":"a__other"}`, `{"name":"a__good","arguments":{},"arguments":{}}`,
		`{"name":"a__good","_meta":{},"_meta":{}}`, `{"name":"a__good","_meta":{"progressToken":1,"progressToken":2}}`, `{"name":"a__good","uri":"a","uri":"b"}`,
	} {
		before := a.calls()
		if got := c.call("tools/call", params); !strings.Contains(got, `"code":-32600`) || a.calls() != before {
			t.Errorf("%s: got %s", params, got)
		}
	}
	// Members are matched exactly, not as Go's decoder matches them.
	if got := c.call("tools/call", `{"Name":"a__good"}`); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("got %s", got)
	}
}

// TestDepth: a message that is nested without measure is refused, not followed.
func TestDepth(t *testing.T) {
	a := &stub{version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[{"name":"t"}]}`, "tools/call": `{"content":[]}`}}
	c := between(t, "2025-11-25", stubs{"a": a}, proxy.Options{Servers: proxy.Named("a")})
	deep := strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000)
	c.send(`{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"a__t","arguments":{"x":` + deep + `}}}`)
	if got := <-c.notes; !strings.Contains(got, `"code":-32700`) {
		t.Errorf("got %s", got)
	}
	c.result("tools/call", `{"name":"a__t","arguments":{"x":`+deep[15_000:25_000]+`}}`)
}
