package tasks_test

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
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/tasks"
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

// post sends one modern request and gives the response.
func post(t *testing.T, url, method, name, params string) *http.Response {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}%s}}`, method, params)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
	} {
		r.Header.Set(k, v)
	}
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
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
	raw, err := io.ReadAll(post(t, url, method, name, params).Body)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatalf("%s: %s", method, raw)
	}
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
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res := post(t, url, "subscriptions/listen", "", `,"notifications":{"taskIds":["`+id+`"]}`)
	defer context.AfterFunc(ctx, func() { _ = res.Body.Close() })() // the test fails in place of hanging
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				select {
				case lines <- data:
				case <-ctx.Done():
					return
				}
			}
		}
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
		res := post(t, url, "tasks/get", name, `,"taskId":"x"`)
		raw, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(raw), "-32020") {
			t.Errorf("Mcp-Name %q: %d %s", name, res.StatusCode, raw)
		}
	}
	if a := call(t, url, "tasks/get", "=?base64?eA==?=", `,"taskId":"x"`); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("wrapped name: %+v", a)
	}
}
