package runtimetest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// legacyCall serves tools/call of 2025-11-25: the client decides, by
// params.task (2025-11-25, Tasks).
func (t *Tasks) legacyCall(ctx context.Context, c *Call, tool TaskTool) (json.RawMessage, error) {
	var p struct {
		Task *struct {
			TTL *int64 `json:"ttl"`
		} `json:"task"`
	}
	if err := json.Unmarshal(c.Params, &p); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: err.Error()}
	}
	if p.Task == nil && tool.Support == "required" {
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "Tool " + c.Name + " requires task augmentation"}
	}
	answers, err := t.ask(ctx, c, tool.Before, nil)
	if err != nil {
		return nil, err
	}
	if p.Task == nil {
		more, err := t.ask(ctx, c, tool.During, nil)
		if err != nil {
			return nil, err
		}
		maps.Copy(answers, more)
		return tool.Run(ctx, c, answers)
	}
	ttl := t.o.TTL
	if p.Task.TTL != nil {
		ttl = min(ttl, time.Duration(*p.Task.TTL)*time.Millisecond)
	}
	k := t.create(c, tool, answers, ttl)
	t.mu.Lock()
	defer t.mu.Unlock()
	return wireObject("task", wireObject(t.legacyBase(k, taskWorking)...)), nil
}

// ask asks the client the questions of a tool, and of its task where there is one.
func (t *Tasks) ask(ctx context.Context, c *Call, questions map[string]json.RawMessage, k *task) (map[string]json.RawMessage, error) {
	var qs []Question
	for _, key := range slices.Sorted(maps.Keys(questions)) {
		q := Question{Key: key}
		if err := json.Unmarshal(questions[key], &q); err != nil {
			return nil, err
		}
		if k != nil {
			q.Params = wireWith(q.Params, `"_meta":`+string(k.relatedTask()))
		}
		qs = append(qs, q)
	}
	return c.askAll(ctx, qs)
}

func (k *task) relatedTask() json.RawMessage {
	return wireObject("io.modelcontextprotocol/related-task", wireObject("taskId", k.id))
}

// legacyBase are the members of a task. The caller holds mu.
func (t *Tasks) legacyBase(k *task, status taskStatus) []any {
	return append(t.common(k, status), "ttl", millis(k.ttl), "pollInterval", millis(t.o.Poll))
}

// legacyMethod serves core tasks/*.
func (t *Tasks) legacyMethod(ctx context.Context, c *Call) (json.RawMessage, error) {
	if c.Method == "tasks/list" {
		t.mu.Lock()
		defer t.mu.Unlock()
		var all []json.RawMessage
		for _, id := range slices.Sorted(maps.Keys(t.all)) {
			all = append(all, wireObject(t.legacyBase(t.all[id], t.all[id].status)...))
		}
		return wireObject("tasks", wireArray(all)), nil
	}
	k, err := t.find(c.Params)
	if err != nil {
		return nil, err
	}
	switch c.Method {
	case "tasks/get":
		t.mu.Lock()
		defer t.mu.Unlock()
		return wireObject(t.legacyBase(k, k.status)...), nil
	case "tasks/result":
		return t.legacyResult(ctx, c, k)
	case "tasks/cancel":
		t.mu.Lock()
		defer t.mu.Unlock()
		if k.status.terminal() {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Cannot cancel task: already in terminal status '" + string(k.status) + "'"}
		}
		k.cancel()
		return wireObject(t.legacyBase(k, taskCancelled)...), nil
	}
	return nil, wireMethodNotFound(c.Method)
}

// legacyResult serves tasks/result: it waits for the end of the task, and the
// task's questions travel on its stream.
func (t *Tasks) legacyResult(ctx context.Context, c *Call, k *task) (json.RawMessage, error) {
	for {
		t.mu.Lock()
		status, changed, pending := k.status, k.changed, maps.Clone(k.pending)
		result, failure := k.result, k.err
		t.mu.Unlock()
		switch {
		case status == taskCancelled:
			return nil, &runtime.Error{Code: runtime.CodeInternalError, Message: "The task was cancelled"}
		case status == taskFailed:
			return nil, failure
		case status == taskCompleted:
			return wireWith(result, `"_meta":`+string(k.relatedTask())), nil
		case len(pending) > 0:
			answers, err := t.ask(ctx, c, pending, k)
			if err != nil {
				t.set(k, func() { k.err, k.status, k.pending = err, taskFailed, nil })
				k.cancel()
				continue // with what has become of it
			}
			t.answer(k, answers)
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
