package runtimetest

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

func missingTasks() error { return lacking([]string{"extensions", tasksExtension}) }

func (c *Call) takesTasks() bool { return c.declared("extensions", tasksExtension) != nil }

// modernCall serves tools/call of 2026-07-28: the server decides whether there
// is a task (SEP-2663).
func (t *Tasks) modernCall(ctx context.Context, c *Call, tool TaskTool) (json.RawMessage, error) {
	asTask := c.takesTasks()
	if !asTask && tool.Support == "required" {
		return nil, missingTasks()
	}
	questions := tool.Before
	if !asTask && questions == nil {
		questions = tool.During
	}
	var p struct {
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
		RequestState   string                     `json:"requestState"`
	}
	if err := json.Unmarshal(c.Params, &p); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: err.Error()}
	}
	open := map[string]json.RawMessage{}
	for key, q := range questions {
		if p.InputResponses[key] == nil {
			open[key] = q
		}
	}
	if len(open) > 0 {
		if err := c.canAnswer(open); err != nil {
			return nil, err
		}
		return wireObject("resultType", "input_required", "inputRequests", wireMarshal(open), "requestState", "before-"+c.Name), nil
	}
	if len(questions) > 0 && p.RequestState != "before-"+c.Name {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "requestState is not what was given"}
	}
	if !asTask {
		res, err := tool.Run(ctx, c, p.InputResponses)
		if err != nil {
			return nil, err
		}
		return wireWith(res, `"resultType":"complete"`), nil
	}
	if err := c.canAnswer(tool.During); err != nil {
		return nil, err
	}
	k := t.create(c, tool, p.InputResponses, t.o.TTL)
	t.mu.Lock()
	defer t.mu.Unlock()
	return wireObject(append([]any{"resultType", "task"}, t.base(k, taskWorking)...)...), nil
}

// canAnswer refuses questions that the client does not declare.
func (c *Call) canAnswer(questions map[string]json.RawMessage) error {
	for _, q := range questions {
		capability := map[string]string{"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}[wireField(q, "method")]
		if c.declared(capability) == nil {
			return lacking([]string{capability})
		}
	}
	return nil
}

// base are the members of a task. The caller holds mu.
func (t *Tasks) base(k *task, status taskStatus) []any {
	return append(t.common(k, status), "ttlMs", millis(k.ttl), "pollIntervalMs", millis(t.o.Poll))
}

// detailed is the task with what its state brings. The caller holds mu.
func (t *Tasks) detailed(k *task) json.RawMessage {
	kv := t.base(k, k.status)
	switch k.status {
	case taskInputRequired:
		kv = append(kv, "inputRequests", wireMarshal(k.pending))
	case taskCompleted:
		kv = append(kv, "result", k.result)
	case taskFailed:
		kv = append(kv, "error", wireErrorObject(k.err))
	case taskWorking, taskCancelled:
	}
	return wireObject(kv...)
}

// modernMethod serves tasks/* of the extension.
func (t *Tasks) modernMethod(c *Call) (json.RawMessage, error) {
	switch c.Method {
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return nil, wireMethodNotFound(c.Method)
	}
	if !c.takesTasks() {
		return nil, missingTasks()
	}
	k, err := t.find(c.Params)
	if err != nil {
		return nil, err
	}
	done := json.RawMessage(`{"resultType":"complete"}`)
	switch c.Method {
	case "tasks/get":
		t.mu.Lock()
		defer t.mu.Unlock()
		return wireWith(t.detailed(k), `"resultType":"complete"`), nil
	case "tasks/update":
		var p struct {
			InputResponses map[string]json.RawMessage `json:"inputResponses"`
		}
		if err := json.Unmarshal(c.Params, &p); err != nil || p.InputResponses == nil {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "inputResponses is no object"}
		}
		t.answer(k, p.InputResponses)
	default:
		k.cancel() // a task that has ended does not mind
	}
	return done, nil
}

// watcher is one listen that names tasks.
type watcher struct {
	ids map[string]bool
	c   *Call
	id  json.RawMessage // of the listen

	mu   sync.Mutex // guards over, and notifications
	over bool
}

func (w *watcher) tell(id string, task json.RawMessage) {
	if !w.ids[id] {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.c.Notify("notifications/tasks", wireWith(task, `"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(w.id)+`}`))
	}
}

// listen serves subscriptions/listen for tasks alone.
func (t *Tasks) listen(ctx context.Context, c *Call) (json.RawMessage, error) {
	var p struct {
		Notifications *struct {
			TaskIDs []string `json:"taskIds"`
		} `json:"notifications"`
	}
	if json.Unmarshal(c.Params, &p) != nil || p.Notifications == nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params.notifications is missing"}
	}
	ids := p.Notifications.TaskIDs
	if len(ids) > 0 && !c.takesTasks() {
		return nil, missingTasks()
	}
	w := &watcher{ids: map[string]bool{}, c: c, id: c.ID}
	for _, id := range ids {
		w.ids[id] = true
	}
	meta := wireObject("io.modelcontextprotocol/subscriptionId", c.ID)
	filter := wireObject()
	if len(ids) > 0 {
		filter = wireObject("taskIds", wireMarshal(ids))
	}
	w.mu.Lock() // what happens from now on is told, after the acknowledgement
	t.mu.Lock()
	t.watch[w] = struct{}{}
	t.mu.Unlock()
	c.Notify("notifications/subscriptions/acknowledged", wireObject("_meta", meta, "notifications", filter))
	w.mu.Unlock()
	<-ctx.Done()
	t.mu.Lock()
	delete(t.watch, w)
	t.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	return wireObject("resultType", "complete", "_meta", meta), nil
}
