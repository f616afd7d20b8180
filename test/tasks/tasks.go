// Package tasks is an MCP server with the extension io.modelcontextprotocol/tasks
// (SEP-2663) at revision 2026-07-28, and with the core tasks of 2025-11-25 where
// it is asked to speak that. It has the tools that the official conformance
// suite's tasks-* scenarios call, so that mcpctl has a task server to be
// measured against: no SDK offers one.
//
// The program in test/tasks/server serves it over Streamable HTTP or stdio.
package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// New returns a server of the given revisions, best first; none is 2026-07-28.
// Close the tasks when it has ended.
func New(versions ...string) (*runtimetest.Server, *runtimetest.Tasks) {
	if len(versions) == 0 {
		versions = []string{runtimetest.RevJuly}
	}
	s := &runtimetest.Server{Name: "tasks", Versions: versions, Tools: []runtimetest.Tool{{
		Definition: json.RawMessage(`{"name":"greet","description":"Greets, at once.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`),
		Call: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			return runtimetest.Text("Hello, " + text(c.Arguments, "name") + "!"), nil
		},
	}}}
	return s, s.OfferTasks(runtimetest.TaskOptions{Poll: 100 * time.Millisecond}, tools()...)
}

func tools() []runtimetest.TaskTool {
	return []runtimetest.TaskTool{
		{
			Definition: json.RawMessage(`{"name":"slow_compute","description":"Takes its time.","inputSchema":{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}}`),
			Support:    "optional", Run: compute,
		},
		{
			Definition: json.RawMessage(`{"name":"failing_job","description":"Reports an error, as a task only.","inputSchema":{"type":"object"}}`),
			Support:    "required", Run: func(ctx context.Context, _ *runtimetest.Call, _ map[string]json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`{"content":[{"type":"text","text":"the job failed"}],"isError":true}`), wait(ctx, time.Second)
			},
		},
		{
			Definition: json.RawMessage(`{"name":"protocol_error_job","description":"Ends in a JSON-RPC error.","inputSchema":{"type":"object"}}`),
			Support:    "optional", Run: func(context.Context, *runtimetest.Call, map[string]json.RawMessage) (json.RawMessage, error) {
				return nil, &runtime.Error{Code: runtime.CodeInternalError, Message: "the job broke", Data: json.RawMessage(`{"why":"told to"}`)}
			},
		},
		{
			Definition: json.RawMessage(`{"name":"confirm_delete","description":"Asks before it deletes nothing.","inputSchema":{"type":"object","properties":{"filename":{"type":"string"}}}}`),
			Support:    "optional", During: map[string]json.RawMessage{"confirm": confirm("Delete the file?")}, Run: deleted,
		},
		{
			Definition: json.RawMessage(`{"name":"multi_input","description":"Asks two things at once.","inputSchema":{"type":"object"}}`),
			Support:    "optional", During: map[string]json.RawMessage{"first": confirm("The first?"), "second": confirm("The second?")}, Run: answered,
		},
		{
			Definition: json.RawMessage(`{"name":"test_tool_with_task","description":"Asks a name, then works as a task.","inputSchema":{"type":"object"}}`),
			Support:    "required", Before: map[string]json.RawMessage{"user_name": nameQuestion}, Run: greeted,
		},
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func compute(ctx context.Context, c *runtimetest.Call, _ map[string]json.RawMessage) (json.RawMessage, error) {
	var a struct {
		Seconds float64
		Label   string
	}
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: err.Error()}
	}
	if err := wait(ctx, time.Duration(a.Seconds*float64(time.Second))); err != nil {
		return nil, err
	}
	return runtimetest.Text(fmt.Sprintf("computed %s for %gs", a.Label, a.Seconds)), nil
}

func confirm(message string) json.RawMessage {
	return json.RawMessage(`{"method":"elicitation/create","params":{"mode":"form","message":"` + message +
		`","requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}}}`)
}

var nameQuestion = json.RawMessage(`{"method":"elicitation/create","params":{"mode":"form","message":"What is your name?",` +
	`"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}`)

// accepted returns the content of an accepted elicitation.
func accepted(answer json.RawMessage) (json.RawMessage, error) {
	var a struct {
		Action  string
		Content json.RawMessage
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "the answer is none: " + err.Error()}
	}
	if a.Action != "accept" {
		return nil, errors.New("the user said " + a.Action)
	}
	return a.Content, nil
}

func deleted(_ context.Context, c *runtimetest.Call, answers map[string]json.RawMessage) (json.RawMessage, error) {
	content, err := accepted(answers["confirm"])
	if err != nil {
		return nil, err
	}
	var a struct{ Confirm bool }
	if err := json.Unmarshal(content, &a); err != nil || !a.Confirm {
		return runtimetest.Text("kept " + text(c.Arguments, "filename")), nil //nolint:nilerr // no boolean is no confirmation
	}
	return runtimetest.Text("deleted " + text(c.Arguments, "filename")), nil
}

func answered(_ context.Context, _ *runtimetest.Call, answers map[string]json.RawMessage) (json.RawMessage, error) {
	for _, key := range []string{"first", "second"} {
		if _, err := accepted(answers[key]); err != nil {
			return nil, err
		}
	}
	return runtimetest.Text("both answered"), nil
}

func greeted(ctx context.Context, _ *runtimetest.Call, answers map[string]json.RawMessage) (json.RawMessage, error) {
	content, err := accepted(answers["user_name"])
	if err != nil {
		return nil, err
	}
	return runtimetest.Text("Hello, " + text(content, "name") + "!"), wait(ctx, 100*time.Millisecond)
}

// text is one string member, "" when absent.
func text(object json.RawMessage, name string) string {
	var m map[string]json.RawMessage
	var s string
	if json.Unmarshal(object, &m) != nil || json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}
