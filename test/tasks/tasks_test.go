package tasks_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/tasks"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*Server).Shutdown"))
}

// server serves the tasks at a URL.
func server(t *testing.T, versions ...string) string {
	t.Helper()
	s, all := tasks.New(versions...)
	h := httptest.NewServer(tasks.Handler(s))
	t.Cleanup(all.Close)
	t.Cleanup(h.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) //nolint:forcetypeassert // it is
	return h.URL
}

// post sends one modern request and returns the response.
func post(t *testing.T, url, method, name, params string) *http.Response {
	t.Helper()
	body := wire.Request("7", method, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`+params+`}`)
	h := http.Header{"Mcp-Method": {method}}
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	c := &wire.Client{URL: url, Version: "2026-07-28"}
	res, err := c.Do(t.Context(), http.MethodPost, []byte(body), h)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

type answer struct {
	Result struct {
		ResultType, TaskID, Status string
		InputRequests              map[string]json.RawMessage
		Result                     json.RawMessage
	}
	Error *struct{ Code int }
}

func call(t *testing.T, url, method, name, params string) answer {
	t.Helper()
	res, err := wire.Read(post(t, url, method, name, params))
	require.NoError(t, err)
	var a answer
	require.NoError(t, json.Unmarshal([]byte(res.Body), &a))
	return a
}

// TestTaskIsPushed: a listener is told of the question and of the end.
func TestTaskIsPushed(t *testing.T) {
	url := server(t)
	created := call(t, url, "tools/call", "confirm_delete", `,"name":"confirm_delete","arguments":{"filename":"f"}`)
	id := created.Result.TaskID
	if created.Result.ResultType != "task" || id == "" {
		t.Fatalf("created: %+v", created)
	}
	ctx := wait.Context(t)
	res := post(t, url, "subscriptions/listen", "", `,"notifications":{"taskIds":["`+id+`"]}`)
	defer context.AfterFunc(ctx, func() { _ = res.Body.Close() })() // the test fails in place of hanging
	lines := make(chan string)
	go func() {
		defer close(lines)
		_, _ = wire.Events(res.Body, func(e wire.Event) { // until it is closed
			select {
			case lines <- e.Data:
			case <-ctx.Done():
			}
		})
	}()
	if line := <-lines; !strings.Contains(line, `"taskIds":["`+id+`"]`) || !strings.Contains(line, "acknowledged") {
		t.Errorf("first: %s", line)
	}
	if a := call(t, url, "tasks/update", id, `,"taskId":"`+id+`","inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}}`); a.Result.ResultType != "complete" {
		t.Errorf("update: %+v", a)
	}
	ended := false
	for line := range lines {
		if ended = strings.Contains(line, `"status":"completed"`); ended {
			if !strings.Contains(line, "deleted f") || !strings.Contains(line, `subscriptionId":7`) {
				t.Errorf("last: %s", line)
			}
			break
		}
	}
	if !ended {
		t.Error("the end of the task was not told")
	}
	_ = res.Body.Close()
}

// TestHeaders: a header that does not repeat the body is refused.
func TestHeaders(t *testing.T) {
	url := server(t)
	for _, name := range []string{"", "other"} {
		res, err := wire.Read(post(t, url, "tasks/get", name, `,"taskId":"x"`))
		if err != nil || res.Status != http.StatusBadRequest || !strings.Contains(res.Body, "-32020") {
			t.Errorf("Mcp-Name %q: %d %s", name, res.Status, res.Body)
		}
	}
	if a := call(t, url, "tasks/get", "=?base64?eA==?=", `,"taskId":"x"`); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("wrapped name: %+v", a)
	}
}
