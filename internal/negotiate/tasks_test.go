package negotiate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

func question(text string) json.RawMessage {
	return json.RawMessage(`{"method":"elicitation/create","params":{"mode":"form","message":"` + text + `","requestedSchema":{"type":"object"}}}`)
}

// worker is a server whose tool "work" runs as a task: it takes a minute, after
// its questions.
func worker(version, support string, tool runtimetest.TaskTool) (*runtimetest.Server, *runtimetest.Tasks, func() []string) {
	tool.Definition, tool.Support = json.RawMessage(`{"name":"work","inputSchema":{"type":"object"}}`), support
	if tool.Run == nil {
		tool.Run = func(ctx context.Context, _ *runtimetest.Call, answers map[string]json.RawMessage) (json.RawMessage, error) {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
			return json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":"done with %d answers"}],"x-big":9007199254740993}`, len(answers))), nil
		}
	}
	s := &runtimetest.Server{Versions: []string{version}}
	var mu sync.Mutex
	var methods []string
	s.Seen = func(frame []byte) {
		var m struct{ Method string }
		_ = json.Unmarshal(frame, &m)
		mu.Lock()
		defer mu.Unlock()
		methods = append(methods, m.Method)
	}
	return s, s.OfferTasks(runtimetest.TaskOptions{Poll: 10 * time.Second, TTL: time.Hour}, tool), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(methods)
	}
}

// asker routes questions to the task that they belong to, as a proxy does.
type asker struct {
	person
	to func() runtime.Transport
}

func (a *asker) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if t, ok := a.to().(interface {
		TaskOf(params json.RawMessage) runtime.Handler
	}); ok {
		if h := t.TaskOf(params); h != nil {
			return h.Request(ctx, call, method, params)
		}
	}
	return a.person.Request(ctx, call, method, params)
}

func tasksOf(t *testing.T, s *runtimetest.Server) (*negotiate.Connected, *asker) {
	t.Helper()
	h := &asker{}
	h.answer = accept
	var c *negotiate.Connected
	h.to = func() runtime.Transport { return c.Transport }
	c, err := negotiate.Connect(t.Context(), negotiate.Options{
		Client: runtime.Implementation{Name: "t", Version: "1"}, Capabilities: json.RawMessage(`{"elicitation":{}}`), Handler: h,
		Open: func(context.Context) (runtime.Transport, error) { return s.Connect(h), nil },
	})
	require.NoError(t, err)
	return c, h
}

// TestTaskIsAwaited: a caller that knows no tasks gets the plain result of a
// tool that only runs as one, its questions are put to the caller, and its
// progress goes on.
func TestTaskIsAwaited(t *testing.T) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for name, tool := range map[string]runtimetest.TaskTool{
			"without questions": {},
			"asks inside":       {During: map[string]json.RawMessage{"a": question("A?"), "b": question("B?")}},
			"asks before":       {Before: map[string]json.RawMessage{"a": question("A?")}},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, tasks, seen := worker(version, "required", tool)
					c, _ := tasksOf(t, s)
					defer tasks.Close()
					defer c.Close()
					want := fmt.Sprintf(`{"content":[{"type":"text","text":"done with %d answers"}],"x-big":9007199254740993}`, len(tool.During)+len(tool.Before))
					for range 2 { // the second time it is known
						events := &person{answer: accept}
						raw, err := c.Call(t.Context(), &runtime.Request{
							Method: "tools/call", Params: json.RawMessage(`{"name":"work","_meta":{"progressToken":"p"}}`), Token: json.RawMessage(`"p"`), Events: events,
						})
						if err != nil || string(raw) != want {
							t.Errorf("got %s, %v; want %s", raw, err, want)
						}
						if len(events.progress) < 5 || !slices.IsSortedFunc(events.progress, func(a, b string) int { return strings.Compare(a, b) }) {
							t.Errorf("progress %v", events.progress)
						}
					}
					calls := 0
					for _, m := range seen() {
						if m == "tools/call" {
							calls++
						}
					}
					if want := 3 + 2*min(1, len(tool.Before))*map[bool]int{true: 1}[version == runtimetest.RevJuly]; calls != want {
						t.Errorf("%d calls, want %d: %v", calls, want, seen())
					}
				})
			})
		}
	}
}

// TestTaskEnds: what a task ends in is what the call ends in.
func TestTaskEnds(t *testing.T) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for name, want := range map[string]string{"fails": "broke (-32099)", "reports": `{"isError":true,"content":[]}`, "vanishes": "cancelled"} {
			t.Run(version+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var all *runtimetest.Tasks
					s, all, _ := worker(version, "required", runtimetest.TaskTool{Run: func(ctx context.Context, _ *runtimetest.Call, _ map[string]json.RawMessage) (json.RawMessage, error) {
						time.Sleep(time.Minute)
						switch name {
						case "fails":
							return nil, &runtime.Error{Code: -32099, Message: "broke"}
						case "reports":
							return json.RawMessage(`{"isError":true,"content":[]}`), nil
						}
						<-ctx.Done()
						return nil, ctx.Err()
					}})
					c, _ := tasksOf(t, s)
					defer c.Close()
					defer time.AfterFunc(2*time.Minute, all.Close).Stop()
					raw, err := c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"work"}`)})
					got := string(raw)
					if err != nil {
						got = err.Error()
					}
					if !strings.Contains(got, want) {
						t.Errorf("got %s, want %s", got, want)
					}
					all.Close()
				})
			})
		}
	}
}

// TestTaskIsCancelled: who gives up cancels the task, with the right message.
func TestTaskIsCancelled(t *testing.T) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for name, give := range map[string]func(*person, context.CancelFunc){
			"caller":   func(_ *person, stop context.CancelFunc) { time.AfterFunc(30*time.Second, stop) },
			"question": func(p *person, _ context.CancelFunc) { p.answer = refuse },
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tool := runtimetest.TaskTool{}
					if name == "question" {
						tool.During = map[string]json.RawMessage{"a": question("A?")}
					}
					s, all, seen := worker(version, "required", tool)
					c, h := tasksOf(t, s)
					defer all.Close()
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					events := &person{answer: accept}
					give(events, stop)
					give(&h.person, func() {})
					_, err := c.Call(ctx, &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"work"}`), Events: events})
					if err == nil {
						t.Error("the call has a result")
					}
					_ = c.Close() // of a fake
					got := seen()
					if i := slices.Index(got, "tasks/cancel"); i < 0 && (name == "caller" || version == runtimetest.RevJuly) {
						t.Errorf("the task is not cancelled: %v", got)
					}
				})
			})
		}
	}
}

func refuse(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "no"}
}

// TestTaskGoesOnWithoutAnswers: a task is asked for again where the way to the
// server is disturbed for a moment, and given up where it stays so.
func TestTaskGoesOnWithoutAnswers(t *testing.T) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for _, fails := range []int{3, 4} {
			synctest.Test(t, func(t *testing.T) {
				s, all, _ := worker(version, "required", runtimetest.TaskTool{})
				defer all.Close()
				broken := &flaky{method: "tasks/get", fails: fails}
				c, err := negotiate.Connect(t.Context(), negotiate.Options{Open: func(context.Context) (runtime.Transport, error) {
					broken.Transport = s.Connect(nil)
					return broken, nil
				}})
				require.NoError(t, err)
				defer c.Close()
				_, err = c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"work"}`)})
				var lost *negotiate.TaskError
				if (err != nil) != (fails > 3) || err != nil && (!errors.As(err, &lost) || lost.Status != "working") {
					t.Errorf("%s, %d failures: %v", version, fails, err)
				}
			})
		}
	}
}

// flaky fails the first calls of a method.
type flaky struct {
	runtime.Transport
	method string
	fails  int
}

func (f *flaky) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == f.method && f.fails > 0 {
		f.fails--
		return nil, errors.New("bad gateway")
	}
	return f.Transport.Call(ctx, req)
}

// extension makes a call of a caller that takes tasks as they are.
func extension(t *testing.T, c *negotiate.Connected, method, params string) (map[string]json.RawMessage, string) {
	t.Helper()
	raw, err := c.Call(t.Context(), &runtime.Request{
		Method: method, Params: json.RawMessage(params), Tasks: true, Inputs: true,
		Capabilities: json.RawMessage(`{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`),
	})
	if err != nil {
		return nil, err.Error()
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %s", method, raw)
	}
	return m, string(raw)
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// TestTaskOfEitherEra: callers of the extension see one and the same form of a
// task, whatever the server's revision.
func TestTaskOfEitherEra(t *testing.T) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for _, support := range []string{"optional", "required"} {
			t.Run(version+" "+support, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, all, _ := worker(version, support, runtimetest.TaskTool{During: map[string]json.RawMessage{"a": question("A?"), "b": question("B?")}})
					c, _ := tasksOf(t, s)
					defer all.Close()
					defer c.Close()
					extension(t, c, "tools/list", `{}`)
					task, raw := extension(t, c, "tools/call", `{"name":"work","arguments":{}}`)
					id := text(task["taskId"])
					if text(task["resultType"]) != "task" || id == "" || string(task["ttlMs"]) != "3600000" || string(task["pollIntervalMs"]) != "10000" || task["ttl"] != nil || task["result"] != nil || task["createdAt"] == nil {
						t.Fatalf("created %s", raw)
					}
					synctest.Wait() // it has come to its questions
					about := `{"taskId":"` + id + `"}`
					var keys []string
					for range 3 { // the keys stay
						task, raw = extension(t, c, "tasks/get", about)
						var questions map[string]struct {
							Method string
							Params struct {
								Message string
								Meta    json.RawMessage `json:"_meta"`
							}
						}
						_ = json.Unmarshal(task["inputRequests"], &questions)
						var now []string
						for key, q := range questions {
							now = append(now, key)
							if q.Method != "elicitation/create" || q.Params.Meta != nil {
								t.Errorf("question %s", raw)
							}
						}
						slices.Sort(now)
						if text(task["status"]) != "input_required" || len(now) != 2 || keys != nil && !slices.Equal(keys, now) {
							t.Fatalf("asks %s, before %v", raw, keys)
						}
						keys = now
					}
					answer := func(key string) {
						ack, raw := extension(t, c, "tasks/update", `{"taskId":"`+id+`","inputResponses":{"`+key+`":{"action":"accept","content":{}},"unknown":1}}`)
						if len(ack) != 1 || text(ack["resultType"]) != "complete" {
							t.Errorf("update %s", raw)
						}
					}
					answer(keys[0])
					if _, raw = extension(t, c, "tasks/get", about); strings.Contains(raw, `"`+keys[0]+`":`) || !strings.Contains(raw, `"`+keys[1]+`":`) {
						t.Errorf("half answered: %s", raw)
					}
					answer(keys[1])
					time.Sleep(time.Second)
					if task, raw = extension(t, c, "tasks/get", about); text(task["status"]) != "working" {
						t.Errorf("answered: %s", raw)
					}
					time.Sleep(time.Minute)
					for range 2 {
						task, raw = extension(t, c, "tasks/get", about)
						if text(task["status"]) != "completed" || string(task["result"]) != `{"content":[{"type":"text","text":"done with 2 answers"}],"x-big":9007199254740993}` || text(task["resultType"]) != "complete" {
							t.Errorf("completed: %s", raw)
						}
					}
					if ack, raw := extension(t, c, "tasks/cancel", about); len(ack) != 1 {
						t.Errorf("cancel at the end: %s", raw)
					}
					for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
						if _, raw := extension(t, c, method, `{"taskId":"other","inputResponses":{}}`); !strings.Contains(raw, "-32602") {
							t.Errorf("%s of an unknown task: %s", method, raw)
						}
					}
				})
			})
		}
	}
}

// TestTaskStatesOfEitherEra: failed is for errors of the protocol alone, and a
// cancelled task has neither result nor error.
func TestTaskStatesOfEitherEra(t *testing.T) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for run, want := range map[string]string{
			`error`:                         `failed "error" -32099`,
			`{"isError":true,"content":[]}`: `completed "result" isError`,
			``:                              `cancelled`,
		} {
			t.Run(version+" "+run, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, all, _ := worker(version, "required", runtimetest.TaskTool{Run: func(ctx context.Context, _ *runtimetest.Call, _ map[string]json.RawMessage) (json.RawMessage, error) {
						switch run {
						case "error":
							return nil, &runtime.Error{Code: -32099, Message: "broke"}
						case "":
							<-ctx.Done()
						}
						return json.RawMessage(run), nil
					}})
					c, _ := tasksOf(t, s)
					defer all.Close()
					defer c.Close()
					task, _ := extension(t, c, "tools/call", `{"name":"work"}`)
					about := `{"taskId":` + string(task["taskId"]) + `}`
					if run == "" {
						if ack, raw := extension(t, c, "tasks/cancel", about); len(ack) != 1 {
							t.Errorf("cancel: %s", raw)
						}
					}
					synctest.Wait()
					_, raw := extension(t, c, "tasks/get", about)
					for part := range strings.FieldsSeq(want) {
						if !strings.Contains(raw, part) {
							t.Errorf("got %s, want %s", raw, want)
						}
					}
					if want == "cancelled" && (strings.Contains(raw, `"result"`) || strings.Contains(raw, `"error"`)) {
						t.Errorf("cancelled: %s", raw)
					}
				})
			})
		}
	}
}

// TestTasksAreTheCallers: what a caller takes itself is not touched.
func TestTasksAreTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, all, seen := worker(runtimetest.RevJuly, "required", runtimetest.TaskTool{})
		c, _ := tasksOf(t, s)
		defer all.Close()
		defer c.Close()
		_, err := c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"work"}`), Tasks: true, Inputs: true, Capabilities: json.RawMessage(`{}`)})
		var rpc *runtime.Error
		if !errors.As(err, &rpc) || rpc.Code != runtime.CodeMissingCapability || len(seen()) != 2 {
			t.Errorf("got %v, %v", err, seen())
		}
	})
}
