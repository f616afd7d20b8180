package runtimetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// TaskTool is a tool whose calls can run as tasks.
type TaskTool struct {
	// Definition is the raw entry in tools/list, without "execution".
	Definition json.RawMessage
	// Support is "optional" or "required" (2025-11-25, Tasks, Tool-Level
	// Negotiation). The tasks extension has no such member; a tool with
	// "required" refuses callers that do not declare it.
	Support string
	// Before and During are questions, by key, as {"method":…,"params":…}: those
	// asked before there is a task, and those that a running task asks, all at
	// once.
	Before, During map[string]json.RawMessage
	// Run returns the result, once every question is answered. Answers are raw
	// results by the question's key. The context ends when the task is
	// cancelled, or the call where there is no task.
	Run func(ctx context.Context, c *Call, answers map[string]json.RawMessage) (json.RawMessage, error)
}

// TaskOptions are settings of a server's tasks. The zero value is useful.
type TaskOptions struct {
	// TTL is how long a task is kept from its creation; 0 is a minute.
	TTL time.Duration
	// Poll is how often clients are told to ask; 0 is 50 ms.
	Poll time.Duration
}

// Tasks are the tasks of a [Server]. Close it when the server has ended.
type Tasks struct {
	s     *Server
	o     TaskOptions
	tools map[string]TaskTool
	wg    sync.WaitGroup

	mu    sync.Mutex // guards all and the fields of each task
	all   map[string]*task
	watch map[*watcher]struct{}
}

// taskStatus is one of the five states, the same in both eras.
type taskStatus string

const (
	taskWorking       taskStatus = "working"
	taskInputRequired taskStatus = "input_required"
	taskCompleted     taskStatus = "completed"
	taskFailed        taskStatus = "failed"
	taskCancelled     taskStatus = "cancelled"
)

func (s taskStatus) terminal() bool {
	return s == taskCompleted || s == taskFailed || s == taskCancelled
}

// task is one task; Tasks.mu guards what changes.
type task struct {
	id      string
	created time.Time
	ttl     time.Duration
	cancel  context.CancelFunc

	updated time.Time
	status  taskStatus
	pending map[string]json.RawMessage // questions without an answer
	answers map[string]json.RawMessage
	result  json.RawMessage
	err     error
	changed chan struct{} // closed and replaced with each change
}

// OfferTasks adds tools that can run as tasks: as the extension
// io.modelcontextprotocol/tasks to callers of 2026-07-28 that declare it, and
// as core tasks to callers of 2025-11-25. Versions must be set before, Methods
// and Capabilities are added to.
func (s *Server) OfferTasks(o TaskOptions, tools ...TaskTool) *Tasks {
	o.TTL, o.Poll = cmp.Or(o.TTL, time.Minute), cmp.Or(o.Poll, 50*time.Millisecond)
	t := &Tasks{s: s, o: o, tools: map[string]TaskTool{}, all: map[string]*task{}, watch: map[*watcher]struct{}{}}
	modern, legacy := s.modern()
	for _, tool := range tools {
		def := tool.Definition
		if len(legacy) > 0 {
			def = wireWith(def, `"execution":{"taskSupport":"`+tool.Support+`"}`)
		}
		t.tools[wireField(def, "name")] = tool
		s.Tools = append(s.Tools, Tool{Definition: def, Call: func(ctx context.Context, c *Call) (json.RawMessage, error) {
			if c.Version != "" {
				return t.modernCall(ctx, c, tool)
			}
			return t.legacyCall(ctx, c, tool)
		}})
	}
	var members []string
	if len(modern) > 0 {
		members = append(members, `"extensions":{"`+tasksExtension+`":{}}`)
	}
	if len(legacy) > 0 {
		members = append(members, `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	s.Capabilities = wireWith(s.capabilities(), strings.Join(members, ","))
	s.Methods = maps.Clone(s.Methods)
	if s.Methods == nil {
		s.Methods = map[string]Func{}
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"} {
		s.Methods[method] = t.method
	}
	if len(modern) > 0 && s.Methods["subscriptions/listen"] == nil {
		s.Methods["subscriptions/listen"] = t.listen
	}
	return t
}

// Close cancels all tasks and waits for them.
func (t *Tasks) Close() {
	t.mu.Lock()
	for _, k := range t.all {
		k.cancel()
	}
	t.mu.Unlock()
	t.wg.Wait()
}

// method serves tasks/*.
func (t *Tasks) method(ctx context.Context, c *Call) (json.RawMessage, error) {
	modern, legacy := t.s.modern()
	switch {
	case c.Version != "" && len(modern) > 0:
		if !slices.Contains(modern, c.Version) {
			return nil, t.s.unsupported(c.Version)
		}
		return t.modernMethod(c)
	case len(legacy) == 0:
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing _meta key " + metaVersion}
	}
	return t.legacyMethod(ctx, c)
}

// create starts a task. It can be found before its id is told.
func (t *Tasks) create(c *Call, tool TaskTool, answers map[string]json.RawMessage, ttl time.Duration) *task {
	ctx, cancel := context.WithCancel(context.Background())
	now := time.Now()
	k := &task{
		id: rand.Text(), created: now, updated: now, ttl: ttl, cancel: cancel, status: taskWorking,
		answers: maps.Clone(answers), changed: make(chan struct{}),
	}
	if k.answers == nil {
		k.answers = map[string]json.RawMessage{}
	}
	t.mu.Lock()
	t.all[k.id] = k
	t.mu.Unlock()
	t.wg.Go(func() { // ends with Run or Close
		defer cancel()
		t.run(ctx, c, tool, k)
	})
	return k
}

// run is one task's life.
func (t *Tasks) run(ctx context.Context, c *Call, tool TaskTool, k *task) {
	if len(tool.During) > 0 {
		t.set(k, func() { k.status, k.pending = taskInputRequired, maps.Clone(tool.During) })
		if !t.answered(ctx, k) {
			t.set(k, func() { k.status = taskCancelled })
			return
		}
		if !t.set(k, func() { k.status = taskWorking }) {
			return
		}
	}
	res, err := tool.Run(ctx, c, k.answers)
	t.set(k, func() {
		switch {
		case ctx.Err() != nil:
			k.status = taskCancelled
		case err != nil:
			k.status, k.err = taskFailed, err
		default:
			k.status, k.result = taskCompleted, res
		}
	})
}

// answered waits until no question is open; false where the task has ended.
func (t *Tasks) answered(ctx context.Context, k *task) bool {
	for {
		t.mu.Lock()
		n, changed := len(k.pending), k.changed
		t.mu.Unlock()
		if n == 0 {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// set changes a task that has not ended, and tells who waits for that.
func (t *Tasks) set(k *task, change func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.status.terminal() {
		return false
	}
	change()
	k.updated = time.Now()
	close(k.changed)
	k.changed = make(chan struct{})
	for w := range t.watch {
		w.tell(k.id, t.detailed(k))
	}
	return true
}

// find returns a task that is not forgotten yet.
func (t *Tasks) find(params json.RawMessage) (*task, error) {
	id := wireField(params, "taskId")
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.all[id]
	if k == nil || time.Since(k.created) > k.ttl {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Failed to retrieve task: Task not found"}
	}
	return k, nil
}

// answer takes answers to open questions; those to others are ignored.
func (t *Tasks) answer(k *task, answers map[string]json.RawMessage) {
	t.set(k, func() {
		for key, v := range answers {
			if k.pending[key] != nil {
				delete(k.pending, key)
				k.answers[key] = v
			}
		}
	})
}

// common are the members that a task has in both eras. The caller holds mu.
func (t *Tasks) common(k *task, status taskStatus) []any {
	return []any{"taskId", k.id, "status", string(status), "createdAt", timestamp(k.created), "lastUpdatedAt", timestamp(k.updated)}
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func millis(d time.Duration) json.RawMessage { return wireMarshal(d.Milliseconds()) }
