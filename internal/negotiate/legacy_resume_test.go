package negotiate_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestResume: a call that was sent past the wrapper goes on from its answer as if
// it had been sent through it, and is not sent again.
func TestResume(t *testing.T) {
	const params = `{"name":"t"}`
	refused := &runtime.Error{Code: runtime.CodeInvalidParams, Message: "no"}
	for name, c := range map[string]struct {
		result string
		err    error
		inputs bool
		want   string
		seen   []string
	}{
		"plain":          {result: `{"content":[]}`, want: `{"content":[]}`},
		"refused":        {err: refused, want: "error: " + refused.Error()},
		"connection":     {err: runtime.ErrClosed, want: "error: " + runtime.ErrClosed.Error()},
		"asks":           {result: `{"content":[],"inputRequests":{"who":{"method":"elicitation/create"}}}`, want: `{"content":["after"]}`, seen: []string{`{"inputResponses":{` + answerWho + `},"name":"t"}`}},
		"asks, relayed":  {result: `{"content":[],"requestState":"s"}`, inputs: true, want: `{"resultType":"input_required","content":[],"requestState":"s"}`},
		"no such method": {err: &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "plain"}, want: "error: plain (-32601)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, seen := turns(nil, `{"content":["after"]}`)
			conn, _, err := connect(t.Context(), s, negotiate.Options{})
			require.NoError(t, err)
			defer conn.Close()
			raw, err := conn.Transport.(ability.Resume).Resume(t.Context(), &runtime.Request{
				Method: "tools/call", Params: json.RawMessage(params), Inputs: c.inputs, Events: &person{answer: accept},
			}, json.RawMessage(c.result), c.err)
			got := string(raw)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
			if diff := cmp.Diff(c.seen, seen()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}

// TestResumeOfATask: a tool that must be called as a task is called again as one,
// and its plain result is waited for.
func TestResumeOfATask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, tasks, _ := worker(runtimetest.RevNov, "required", runtimetest.TaskTool{})
		c, _ := tasksOf(t, s)
		defer tasks.Close()
		defer c.Close()
		req := &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"work"}`), Events: &person{answer: accept}}
		raw, err := c.Transport.(ability.Resume).Resume(t.Context(), req, nil, &runtime.Error{Code: runtime.CodeMethodNotFound})
		if want := `{"content":[{"type":"text","text":"done with 0 answers"}],"x-big":9007199254740993}`; err != nil || string(raw) != want {
			t.Errorf("got %s, %v; want %s", raw, err, want)
		}
	})
}

// TestModernDoesNotResume: a modern call needs what the wrapper adds, so none is
// sent past it.
func TestModernDoesNotResume(t *testing.T) {
	t.Parallel()
	c, _, err := connect(t.Context(), &runtimetest.Server{Versions: []string{runtimetest.RevJuly}}, negotiate.Options{})
	require.NoError(t, err)
	defer c.Close()
	if _, ok := c.Transport.(ability.Resume); ok {
		t.Error("it does")
	}
}
