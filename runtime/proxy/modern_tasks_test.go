package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wait"
)

// taskServer is a server whose tool "work" runs as a task of a minute, after
// its questions.
func taskServer(versions []string, support string, questions ...string) (*runtimetest.Server, *runtimetest.Tasks) {
	tool := runtimetest.TaskTool{
		Definition: json.RawMessage(`{"name":"work","inputSchema":{"type":"object"}}`), Support: support,
		Run: func(ctx context.Context, _ *runtimetest.Call, answers map[string]json.RawMessage) (json.RawMessage, error) {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
			return json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":"done with %d answers"}],"x-big":9007199254740993}`, len(answers))), nil
		},
	}
	for _, q := range questions {
		if tool.During == nil {
			tool.During = map[string]json.RawMessage{}
		}
		tool.During[q] = json.RawMessage(`{"method":"elicitation/create","params":{"mode":"form","message":"` + q + `?","requestedSchema":{"type":"object"}}}`)
	}
	s := &runtimetest.Server{Versions: versions}
	return s, s.OfferTasks(runtimetest.TaskOptions{TTL: time.Hour, Poll: 10 * time.Second}, tool)
}

const takesTasks = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// modern makes the params of a self-contained request.
func modern(capabilities, members string) string {
	return `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}` + members + `}`
}

func member(t *testing.T, object, name string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return string(m[name])
	}
	return s
}

// tasksEndpoint makes a proxy over servers that share no channel with other tests.
func tasksEndpoint(t *testing.T, servers map[string]*runtimetest.Server, o proxy.Options) *proxy.Proxy {
	t.Helper()
	b := newPool(servers)
	b.plain = true
	return b.serve(t, o)
}

func eachTaskServer(t *testing.T, test func(t *testing.T, version, support string)) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for _, support := range []string{"optional", "required"} {
			t.Run(version+" "+support, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { test(t, version, support) })
			})
		}
	}
}

// TestTasksOfServersOfEitherEra: a client of the extension gets tasks, asked for
// by an id that tells their server, and sees the questions; nobody else's task
// answers to the id.
func TestTasksOfServersOfEitherEra(t *testing.T) {
	eachTaskServer(t, func(t *testing.T, version, support string) {
		s, tasks := taskServer([]string{version}, support, "a", "b")
		other, others := taskServer([]string{runtimetest.RevJuly}, "required")
		defer tasks.Close()
		defer others.Close()
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"x.y": s, "z": other}, proxy.Options{})
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		if got := c.result("server/discover", modern(`{}`, ``)); !strings.Contains(got, `"extensions":{"io.modelcontextprotocol/tasks":{}`) {
			t.Errorf("discover: %s", got)
		}
		list := c.result("tools/list", modern(`{}`, ``))
		if strings.Contains(list, "execution") {
			t.Errorf("tools: %s", list)
		}
		name := list[strings.Index(list, `"name":"x`)+8:]
		name = name[:strings.IndexByte(name, '"')]
		created := c.result("tools/call", modern(takesTasks, `,"name":"`+name+`","arguments":{}`))
		id := member(t, created, "taskId")
		if member(t, created, "resultType") != "task" || !strings.HasPrefix(id, "~") || strings.Contains(created, "structuredContent") {
			t.Fatalf("created %s", created)
		}
		about := `,"taskId":"` + id + `"`
		synctest.Wait()
		got := c.result("tasks/get", modern(takesTasks, about))
		if member(t, got, "status") != "input_required" || member(t, got, "taskId") != id || !strings.Contains(got, `"message":"x.y: a?"`) {
			t.Errorf("asks %s", got)
		}
		var questions map[string]json.RawMessage
		if err := json.Unmarshal([]byte(member(t, got, "inputRequests")), &questions); err != nil || len(questions) != 2 {
			t.Fatalf("questions %s", got)
		}
		answers := ""
		for key := range questions {
			answers += `,"` + key + `":{"action":"accept","content":{}}`
		}
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			for params, want := range map[string]string{
				modern(`{}`, about+`,"inputResponses":{}`):                             `"code":-32021`,
				modern(takesTasks, `,"taskId":"z`+id[1:]+`","inputResponses":{}`):      `"code":-32602`,
				modern(takesTasks, `,"taskId":"z.`+id+`","inputResponses":{}`):         `"code":-32602`,
				modern(takesTasks, `,"taskId":"`+id+`x","inputResponses":{}`):          `"code":-32602`,
				modern(takesTasks, `,"taskId":7,"inputResponses":{}`):                  `"code":-32602`,
				modern(`{"extensions":{}}`, `,"taskId":"unknown","inputResponses":{}`): `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
				`{"taskId":"` + id + `","inputResponses":{}}`:                          `"code":-32601`, // of the handshake era
			} {
				if line := c.call(method, params); !strings.Contains(line, want) {
					t.Errorf("%s %s: got %s, want %s", method, params, line, want)
				}
			}
		}
		if got := c.result("tasks/update", modern(takesTasks, about+`,"inputResponses":{`+answers[1:]+`}`)); member(t, got, "resultType") != "complete" || member(t, got, "status") != "" {
			t.Errorf("update: %s", got)
		}
		time.Sleep(2 * time.Minute)
		got = c.result("tasks/get", modern(takesTasks, about))
		if member(t, got, "status") != "completed" || !strings.Contains(got, `"result":{"content":[{"type":"text","text":"done with 2 answers"}],"x-big":9007199254740993}`) {
			t.Errorf("at the end: %s", got)
		}
	})
}

// TestTasksAreWaitedFor: a client of the handshake era calls a tool that only
// runs as a task like any other: it is asked, hears of progress, and gets the
// plain result, however long that takes.
func TestTasksAreWaitedFor(t *testing.T) {
	eachTaskServer(t, func(t *testing.T, version, support string) {
		s, tasks := taskServer([]string{version}, support, "a")
		defer tasks.Close()
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"s": s}, proxy.Options{RequestTimeout: 20 * time.Second})
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		asked := c.hello("2025-11-25", canElicit, "Ada")
		if list := c.result("tools/list", `{}`); strings.Contains(list, "taskSupport") {
			t.Errorf("tools: %s", list)
		}
		if support == "optional" { // no sign of life for a minute
			return
		}
		want := `{"content":[{"type":"text","text":"done with 1 answers"}],"x-big":9007199254740993}`
		if got := c.result("tools/call", `{"name":"s__work","_meta":{"progressToken":"t"}}`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if asked.Load() != 1 || len(c.notes) < 3 {
			t.Errorf("asked %d times, %d notes", asked.Load(), len(c.notes))
		}
		for len(c.notes) > 0 {
			if n := <-c.notes; !strings.Contains(n, `"progressToken":"t"`) {
				t.Errorf("note %s", n)
			}
		}
		if got := c.result("tools/call", `{"name":"s__work"}`); got != want { // without progress
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestTaskIsCancelledBehind: a client that gives up ends the task.
func TestTaskIsCancelledBehind(t *testing.T) {
	eachTaskServer(t, func(t *testing.T, version, support string) {
		if support == "optional" {
			return
		}
		s, tasks := taskServer([]string{version}, support)
		defer tasks.Close()
		cancelled := make(chan struct{}, 1)
		s.Seen = func(frame []byte) {
			if strings.Contains(string(frame), `"method":"tasks/cancel"`) {
				cancelled <- struct{}{}
			}
		}
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"s": s}, proxy.Options{})
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		c.hello("2025-11-25", `{}`, "Ada")
		c.begin(`"x"`, "tools/call", `{"name":"s__work"}`)
		time.Sleep(25 * time.Second)
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
		select {
		case <-cancelled:
		case <-time.After(time.Second):
			t.Error("the task goes on")
		}
	})
}

// TestModernClientWithoutTasks: a server of its own era tells it what it lacks
// (SEP-2663 demands that); the task of an older server, of which no client is
// told, is waited for.
func TestModernClientWithoutTasks(t *testing.T) {
	eachTaskServer(t, func(t *testing.T, version, support string) {
		if support == "optional" {
			return
		}
		s, tasks := taskServer([]string{version}, support)
		defer tasks.Close()
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"s": s}, proxy.Options{})
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		got := c.call("tools/call", modern(`{}`, `,"name":"s__work","arguments":{}`))
		want := `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
		if version == runtimetest.RevNov {
			want = `"text":"done with 0 answers"`
		}
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestModernClientIsAskedByATask: the questions of a task that is waited for
// reach a modern client in the result of its call.
func TestModernClientIsAskedByATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, tasks := taskServer([]string{runtimetest.RevNov}, "required", "a")
		defer tasks.Close()
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"s": s}, proxy.Options{})
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		got := c.result("tools/call", modern(canElicit, `,"name":"s__work","arguments":{}`))
		state := member(t, got, "requestState")
		var questions map[string]json.RawMessage
		if err := json.Unmarshal([]byte(member(t, got, "inputRequests")), &questions); err != nil || len(questions) != 1 || state == "" {
			t.Fatalf("got %s", got)
		}
		for key := range questions {
			got = c.result("tools/call", modern(canElicit, `,"name":"s__work","arguments":{},"requestState":"`+state+`","inputResponses":{"`+key+`":{"action":"accept","content":{}}}`))
		}
		if !strings.Contains(got, "done with 1 answers") {
			t.Errorf("got %s", got)
		}
	})
}

// TestTasksAreListenedFor: who listens hears of the questions and the end of the
// tasks it names, and of no other.
func TestTasksAreListenedFor(t *testing.T) {
	eachTaskServer(t, func(t *testing.T, version, support string) {
		s, tasks := taskServer([]string{version}, support, "a")
		defer tasks.Close()
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"s": s}, proxy.Options{})
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		c.result("tools/list", modern(`{}`, ``))
		create := func() string {
			return member(t, c.result("tools/call", modern(takesTasks, `,"name":"s__work","arguments":{}`)), "taskId")
		}
		id, silent := create(), create()
		filter := `,"notifications":{"taskIds":["` + id + `","s.unknown"]}`
		if got := c.call("subscriptions/listen", modern(`{}`, filter)); !strings.Contains(got, `"code":-32021`) {
			t.Errorf("without the extension: %s", got)
		}
		c.begin(`"l"`, "subscriptions/listen", modern(takesTasks, filter))
		expect := func(want ...string) string {
			n := wait.For(t, fmt.Sprint(want), c.notes)
			for _, w := range append(want, `"io.modelcontextprotocol/subscriptionId":"l"`) {
				if !strings.Contains(n, w) {
					t.Errorf("got %s, want %s", n, w)
				}
			}
			return n
		}
		expect(`"notifications":{"taskIds":["`+id+`"]}`, "acknowledged")
		n := expect(`"method":"notifications/tasks"`, `"status":"input_required"`, `"taskId":"`+id+`"`, `"inputRequests":{`)
		var m struct {
			Params struct{ InputRequests map[string]json.RawMessage }
		}
		if err := json.Unmarshal([]byte(n), &m); err != nil || len(m.Params.InputRequests) != 1 {
			t.Fatalf("got %s", n)
		}
		for key := range m.Params.InputRequests {
			c.result("tasks/update", modern(takesTasks, `,"taskId":"`+id+`","inputResponses":{"`+key+`":{"action":"accept","content":{}}}`))
		}
		expect(`"status":"working"`)
		n = expect(`"status":"completed"`, `"result":{"content":[{"type":"text","text":"done with 1 answers"}],"x-big":9007199254740993}`)
		if strings.Contains(n, "resultType") {
			t.Errorf("got %s", n)
		}
		time.Sleep(time.Minute)
		if len(c.notes) > 0 {
			t.Errorf("and %s (the other is %s)", <-c.notes, silent)
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
	})
}
