package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// taskTTL is how long a task that is waited for is to be kept, from its
// creation: as long as a call may take.
const taskTTL = `{"ttl":3600000}`

// Values of execution.taskSupport.
const (
	taskOptional = "optional"
	taskRequired = "required"
)

// legacyTasking is what a connection of the handshake era knows of its server's
// tasks (2025-11-25, Tasks). The zero value is of a server without.
type legacyTasking struct {
	calls  bool // tools can be called as tasks
	cancel bool // tasks can be cancelled

	cancels detached // tasks/cancel under way
	held    heldTasks

	mu      sync.Mutex // guards what follows
	support map[string]string
	// asked are those who get the questions of a task, by its id.
	asked map[string]runtime.Handler
}

// settle reads what a server declares.
func (t *legacyTasking) settle(capabilities json.RawMessage) {
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

// learn takes in a result of tools/list.
func (t *legacyTasking) learn(params, result json.RawMessage) {
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
			t.remember(n.Name, support)
		}
	}
}

// TaskSupport gives what an entry of tools/list says of calling the tool as a
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

func (t *legacyTasking) remember(tool, support string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.support == nil {
		t.support = map[string]string{}
	}
	if len(t.support) < maxInsisting {
		t.support[tool] = support
	}
}

// of gives what is known of a tool, "" for nothing.
func (t *legacyTasking) of(req *runtime.Request, name string) string {
	if req.TaskSupport != "" {
		return req.TaskSupport
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.support[name]
}

// listenFor sends the questions of a task, where the wire names it, to h until
// stop is called.
func (t *legacyTasking) listenFor(id string, h runtime.Handler) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked == nil {
		t.asked = map[string]runtime.Handler{}
	}
	t.asked[id] = h
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.asked[id] == h {
			delete(t.asked, id)
		}
	}
}

// TaskOf gives who is to be asked what belongs to a task, by the params of a
// question; nil where they name none that is known here. It is for those who
// get questions of which the wire does not tell in which call they belong.
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
	return l.tasks.asked[p.Meta.Task.ID]
}

// asTask sends a tools/call. A tool that can only be called as a task is called
// as one, and so is one that can be where the caller takes tasks. Where that is
// not known the server refuses the plain call with -32601 (2025-11-25, Tasks,
// Tool-Level Negotiation): it has not acted on it.
func (l *legacyTransport) asTask(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if !l.tasks.calls {
		return l.send(ctx, req)
	}
	name, _ := mirroredName(req)
	support := l.tasks.of(req, name)
	r := *req
	if support != taskRequired && (support != taskOptional || !req.Tasks) {
		raw, err := l.send(ctx, req)
		var rpc *runtime.Error
		if !errors.As(err, &rpc) || rpc.Code != runtime.CodeMethodNotFound {
			return raw, err
		}
		l.tasks.remember(name, taskRequired)
		r.ID = nil
	}
	params, err := rawjson.Set(req.Params, []rawjson.Member{{Name: "task", Value: []byte(taskTTL)}})
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	r.Params = params
	return l.send(ctx, &r)
}

// created gives the task that a result of tools/call is, nil for any other
// result.
func created(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"task"`)) {
		return nil
	}
	var at [2]rawjson.Span
	if rawjson.Fields(raw, at[:], "task", "content") != nil || !at[0].Present() || at[1].Present() || !rawjson.IsObject(at[0].Of(raw)) {
		return nil
	}
	return at[0].Of(raw)
}

// absorb waits for the task that a result is, and gives the result of that; any
// other result it gives back.
func (l *legacyTransport) absorb(ctx context.Context, req *runtime.Request, raw json.RawMessage, events *steady) (json.RawMessage, error) {
	task := created(raw)
	if !l.tasks.calls || task == nil {
		return raw, nil
	}
	state, err := readTask(task)
	if err != nil {
		return nil, err
	}
	a := &awaited{req: req, events: events, state: state}
	defer l.tasks.listenFor(state.ID, events)()
	result, err := l.await(ctx, a)
	var input *InputError
	if err != nil && (ctx.Err() != nil || errors.As(err, &input)) && l.tasks.cancel {
		a.abandon(&l.tasks.cancels, l.send)
	}
	return result, err
}

// outcome is the answer to tasks/result.
type outcome struct {
	result json.RawMessage
	err    error
}

// await polls the task until it ends or wants to ask something, and then asks
// for its result, inside of which the questions come (2025-11-25, Tasks, Input
// Required Status).
func (l *legacyTransport) await(ctx context.Context, a *awaited) (json.RawMessage, error) {
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
			req := a.about(revision.MethodTasksResult)
			req.Events, req.Token = a.req.Events, a.req.Token
			done := make(chan struct{})
			ended = done
			go func() { // waited for above
				defer close(done)
				answer.result, answer.err = l.send(ctx, req)
			}()
		}
		a.tell(ctx)
		err := a.poll(ctx, l.send, ended)
		select {
		case <-ended:
			var rpc *runtime.Error
			if answer.err == nil || errors.As(answer.err, &rpc) || ctx.Err() != nil || errors.Is(answer.err, runtime.ErrClosed) {
				return plainResult(answer.result), answer.err
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

// plainResult takes the mark of the task out of a result, which is the call's
// now.
func plainResult(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"`+revision.MetaRelatedTask+`"`)) {
		return raw
	}
	at, err := rawjson.Field(raw, "_meta")
	if err != nil || !at.Present() || !rawjson.IsObject(at.Of(raw)) {
		return raw
	}
	inner, err := rawjson.Without(at.Of(raw), func(name string) bool { return name == revision.MetaRelatedTask })
	if err != nil {
		return raw
	}
	if emptyObject(inner) {
		out, err := rawjson.Without(raw, func(name string) bool { return name == "_meta" })
		if err != nil {
			return raw
		}
		return out
	}
	return rawjson.Splice(nil, raw, rawjson.Edit{Span: at, New: inner})
}
