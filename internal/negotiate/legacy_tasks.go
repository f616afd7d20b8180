package negotiate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// taskTTL is how long a server is asked to keep a task, from its creation: as
// long as a call may take.
const taskTTL = `{"ttl":3600000}`

// Values of execution.taskSupport.
const (
	taskOptional = "optional"
	taskRequired = "required"
)

// legacyTasks is what a connection of the handshake era knows of its server's
// tasks (2025-11-25, Tasks). The zero value is of a server without.
type legacyTasks struct {
	calls  bool // tools can be called as tasks
	cancel bool // tasks can be cancelled

	cancels   background // tasks/cancel under way
	questions taskQuestions

	mu      sync.Mutex // guards what follows
	support map[string]string
	// questionHandlers get the questions of tasks, by the task's id.
	questionHandlers map[string]runtime.Handler
}

// readCapabilities records what a server declares of tasks.
func (t *legacyTasks) readCapabilities(capabilities json.RawMessage) {
	var c struct {
		Tasks *struct {
			Cancel   *struct{} `json:"cancel"`
			Requests struct {
				Tools struct {
					Call *struct{} `json:"call"`
				} `json:"tools"`
			} `json:"requests"`
		} `json:"tasks"`
	}
	if json.Unmarshal(capabilities, &c) != nil || c.Tasks == nil {
		return
	}
	t.calls, t.cancel = c.Tasks.Requests.Tools.Call != nil, c.Tasks.Cancel != nil
}

// learn records the task support of the tools in a result of tools/list.
func (t *legacyTasks) learn(params, result json.RawMessage) {
	if !t.calls {
		return
	}
	if cursor, err := rawjson.Field(params, "cursor"); len(params) == 0 || err == nil && !cursor.Present() {
		t.mu.Lock()
		t.support = map[string]string{}
		t.mu.Unlock()
	}
	if !bytes.Contains(result, []byte(`"taskSupport"`)) {
		return
	}
	var list struct{ Tools []json.RawMessage }
	if json.Unmarshal(result, &list) != nil {
		return
	}
	for _, tool := range list.Tools {
		if support := TaskSupport(tool); support != "" {
			var n struct{ Name string }
			_ = json.Unmarshal(tool, &n) // it has the form of a tool
			t.setSupport(n.Name, support)
		}
	}
}

// TaskSupport returns what an entry of tools/list says of calling the tool as a
// task, "optional" or "required"; "" where it must not be.
func TaskSupport(tool []byte) string {
	if !bytes.Contains(tool, []byte(`"taskSupport"`)) {
		return ""
	}
	var d struct {
		Execution struct{ TaskSupport string }
	}
	if json.Unmarshal(tool, &d) != nil || d.Execution.TaskSupport != taskOptional && d.Execution.TaskSupport != taskRequired {
		return ""
	}
	return d.Execution.TaskSupport
}

func (t *legacyTasks) setSupport(tool, support string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.support == nil {
		t.support = map[string]string{}
	}
	if len(t.support) < maxTaskTools {
		t.support[tool] = support
	}
}

// supportOf returns the task support of a tool, "" where it is not known.
func (t *legacyTasks) supportOf(req *runtime.Request, name string) string {
	if req.TaskSupport != "" {
		return req.TaskSupport
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.support[name]
}

// handleQuestions sends the questions of a task, where the wire names it, to h
// until stop is called.
func (t *legacyTasks) handleQuestions(id string, h runtime.Handler) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.questionHandlers == nil {
		t.questionHandlers = map[string]runtime.Handler{}
	}
	t.questionHandlers[id] = h
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.questionHandlers[id] == h {
			delete(t.questionHandlers, id)
		}
	}
}

// TaskOf returns who is to be asked what belongs to a task, by the params of a
// question; nil where they name none that is known here. It serves questions
// that come outside of any call.
func (l *legacyTransport) TaskOf(params json.RawMessage) runtime.Handler {
	if !bytes.Contains(params, []byte(revision.MetaRelatedTask)) {
		return nil
	}
	var p struct {
		Meta struct {
			Task struct {
				ID string `json:"taskId"`
			} `json:"io.modelcontextprotocol/related-task"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil || p.Meta.Task.ID == "" {
		return nil
	}
	l.tasks.mu.Lock()
	defer l.tasks.mu.Unlock()
	return l.tasks.questionHandlers[p.Meta.Task.ID]
}

// callAsTask sends a tools/call. A tool that can only be called as a task is called
// as one, and so is one that can be where the caller takes tasks.
func (l *legacyTransport) callAsTask(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if !l.tasks.calls {
		return l.send(ctx, req)
	}
	name, _ := headerName(req)
	if support := l.tasks.supportOf(req, name); support == taskRequired || support == taskOptional && req.Tasks {
		return l.sendAsTask(ctx, *req)
	}
	raw, err := l.send(ctx, req)
	return l.retryAsTask(ctx, req, raw, err)
}

// retryAsTask returns the answer to a plain tools/call, or calls the tool as a
// task where the server has refused the plain call with -32601 (2025-11-25, Tasks,
// Tool-Level Negotiation): it has not acted on it.
func (l *legacyTransport) retryAsTask(ctx context.Context, req *runtime.Request, raw json.RawMessage, err error) (json.RawMessage, error) {
	rpc, refused := errors.AsType[*runtime.Error](err)
	if !l.tasks.calls || !refused || rpc.Code != runtime.CodeMethodNotFound {
		return raw, err
	}
	name, _ := headerName(req)
	l.tasks.setSupport(name, taskRequired)
	r := *req
	r.ID = nil
	return l.sendAsTask(ctx, r)
}

func (l *legacyTransport) sendAsTask(ctx context.Context, req runtime.Request) (json.RawMessage, error) {
	params, err := rawjson.Set(req.Params, []rawjson.Member{{Name: "task", Value: []byte(taskTTL)}})
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	req.Params = params
	return l.send(ctx, &req)
}

// createdTask returns the task in a result of tools/call, nil where that is
// none.
func createdTask(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"task"`)) {
		return nil
	}
	var at [2]rawjson.Span
	if rawjson.Fields(raw, at[:], "task", "content") != nil || !at[0].Present() || at[1].Present() || !rawjson.IsObject(at[0].Of(raw)) {
		return nil
	}
	return at[0].Of(raw)
}

// awaitTask waits for the task where a result is one, and returns the result of
// that; it returns any other result as it is.
func (l *legacyTransport) awaitTask(ctx context.Context, req *runtime.Request, raw json.RawMessage, events *progress) (json.RawMessage, error) {
	task := createdTask(raw)
	if !l.tasks.calls || task == nil {
		return raw, nil
	}
	state, err := readTask(task)
	if err != nil {
		return nil, err
	}
	a := &awaitedTask{req: req, events: events, state: state}
	defer l.tasks.handleQuestions(state.ID, events)()
	result, err := l.pollTask(ctx, a)
	var input *InputError
	if err != nil && (ctx.Err() != nil || errors.As(err, &input)) && l.tasks.cancel {
		a.cancel(&l.tasks.cancels, l.send)
	}
	return result, err
}

// outcome is the answer to tasks/result.
type outcome struct {
	result json.RawMessage
	err    error
}

// pollTask polls the task until it ends or needs input, and then sends
// tasks/result, inside of which the questions come (2025-11-25, Tasks, Input
// Required Status).
func (l *legacyTransport) pollTask(ctx context.Context, a *awaitedTask) (json.RawMessage, error) {
	ctx, stop := context.WithCancel(ctx)
	var ended chan struct{} // closed when tasks/result has answered; nil unless it is asked
	var answer outcome
	defer func() {
		stop()
		if ended != nil {
			<-ended
		}
	}()
	for fails := 0; ; {
		if a.state.Status != taskWorking && ended == nil {
			req := a.request(revision.MethodTasksResult)
			req.Events, req.Token = a.req.Events, a.req.Token
			done := make(chan struct{})
			ended = done
			go func() { // waited for above
				defer close(done)
				answer.result, answer.err = l.send(ctx, req)
			}()
		}
		a.reportProgress(ctx)
		err := a.poll(ctx, l.send, ended)
		select {
		case <-ended:
			var rpc *runtime.Error
			if answer.err == nil || errors.As(answer.err, &rpc) || ctx.Err() != nil || errors.Is(answer.err, runtime.ErrClosed) {
				return removeTaskMark(answer.result), answer.err
			}
			if fails++; fails > taskPollFails {
				return nil, &TaskError{Status: a.state.Status, Err: answer.err}
			}
			ended = nil
			continue
		default:
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case ended == nil:
			return nil, err
		default: // the result may still come
			select {
			case <-ended:
			case <-ctx.Done():
			}
		}
	}
}

// removeTaskMark removes the mark of the task from a result, which is now that of
// the call.
func removeTaskMark(raw json.RawMessage) json.RawMessage {
	return revision.RemoveMetaMember(raw, revision.MetaRelatedTask)
}
