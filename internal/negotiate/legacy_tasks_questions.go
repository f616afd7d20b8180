package negotiate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// maxQuestionedTasks bounds the tasks whose questions are kept for a client
	// that polls; those of further tasks stay with the server.
	maxQuestionedTasks = 256
	// questionsIdleTime is how long questions wait for a client that does not poll.
	questionsIdleTime = seal.StateTTL
	// firstQuestionWait is how long a poll waits for the first question of a task
	// that needs input, furtherQuestionsWait for those that come with it.
	firstQuestionWait    = 500 * time.Millisecond
	furtherQuestionsWait = 20 * time.Millisecond
)

// taskQuestions are the tasks of a server of the handshake era whose questions
// are kept for clients of the extension, which poll for them. The zero value is
// ready.
type taskQuestions struct {
	calls background // tasks/result under way

	mu    sync.Mutex // guards all
	tasks map[string]*questionedTask
}

// questionedTask is one of them: a tasks/result under way, and the questions
// that came inside of it.
type questionedTask struct {
	runtime.NopHandler // a task of the extension has no progress

	id           string
	version      string
	capabilities json.RawMessage // what its caller can be asked
	cancel       context.CancelFunc
	idle         *time.Timer
	ended        chan struct{} // closed when tasks/result has answered
	answer       outcome       // then

	mu      sync.Mutex // guards what follows
	pending map[string]pendingQuestion
	changed chan struct{} // closed and replaced when a question comes
}

type pendingQuestion struct {
	embedded json.RawMessage
	reply    chan<- json.RawMessage // has room for one
}

// serveTasksExtension answers requests of the tasks extension with those of the
// handshake era.
func (l *legacyTransport) serveTasksExtension(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	id, ok := rawjson.FieldString(req.Params, "taskId")
	if !ok {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params.taskId is missing or no string"}
	}
	if !l.tasks.calls {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "unknown task"}
	}
	a := &awaitedTask{req: req, state: taskState{ID: id}}
	switch req.Method {
	case revision.MethodTasksGet:
		return l.getTask(ctx, a)
	case revision.MethodTasksUpdate:
		if _, err := l.send(ctx, a.request(revision.MethodTasksGet)); err != nil {
			return nil, err
		}
		return json.RawMessage(`{"resultType":"complete"}`), l.answerQuestions(id, req.Params)
	}
	// tasks/cancel: one that has ended does not mind (SEP-2663), an older server
	// does, and says so as of one that it does not know.
	_, err := l.send(ctx, a.request(revision.MethodTasksCancel))
	if _, refused := errors.AsType[*runtime.Error](err); refused {
		_, err = l.send(ctx, a.request(revision.MethodTasksGet))
	}
	l.tasks.questions.remove(id)
	return json.RawMessage(`{"resultType":"complete"}`), err
}

// getTask answers tasks/get: the task with its result, error or questions.
func (l *legacyTransport) getTask(ctx context.Context, a *awaitedTask) (json.RawMessage, error) {
	raw, err := l.send(ctx, a.request(revision.MethodTasksGet))
	if err != nil {
		return nil, err
	}
	state, err := readTask(raw)
	if err != nil {
		return nil, err
	}
	status := state.Status
	var add []rawjson.Member
	switch status {
	case taskCompleted, taskFailed:
		result, err := l.taskResult(ctx, a)
		var rpc *runtime.Error
		switch {
		case err == nil: // a tool that reports an error has completed (SEP-2663)
			status = taskCompleted
			add = append(add, rawjson.Member{Name: "result", Value: result})
		case errors.As(err, &rpc):
			status = taskFailed
			object := rpc.Raw
			if object == nil {
				object, _ = json.Marshal(rpc)
			}
			add = append(add, rawjson.Member{Name: "error", Value: object})
		default:
			return nil, err
		}
	case revision.ResultInputRequired:
		questions := l.questionsOf(a).collect(ctx)
		if questions == nil {
			status = taskWorking // they are answered, the server is about to go on
			break
		}
		add = append(add, rawjson.Member{Name: revision.MemberInputRequests, Value: questions})
	}
	return toExtensionTask(raw, status, revision.ResultComplete, add)
}

// toExtensionTask converts a task of the handshake era to the extension's form,
// as a result of a type.
func toExtensionTask(task json.RawMessage, status, kind string, add []rawjson.Member) (json.RawMessage, error) {
	o, err := rawjson.ObjectAt(task, rawjson.Whole(task))
	if err != nil {
		return nil, &runtime.ProtocolError{Reason: "a task is no object"}
	}
	o.Add(revision.MemberResultType, rawjson.Quote(nil, kind))
	if e := o.Get("ttl"); e != nil {
		o.Rename(e, "ttlMs")
	} else {
		o.Add("ttlMs", []byte("null"))
	}
	if e := o.Get("pollInterval"); e != nil {
		o.Rename(e, "pollIntervalMs")
	}
	if e := o.Get("status"); e != nil {
		o.Replace(e, rawjson.Quote(nil, status))
	}
	for _, m := range add {
		o.Remove(m.Name)
		o.Add(m.Name, m.Value)
	}
	return removeTaskMark(rawjson.Apply(task, o.Edits())), nil
}

// taskResult returns the result of a task that has ended.
func (l *legacyTransport) taskResult(ctx context.Context, a *awaitedTask) (json.RawMessage, error) {
	if h := l.tasks.questions.get(a.state.ID); h != nil {
		select {
		case <-h.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		l.tasks.questions.remove(a.state.ID)
		if _, rpc := errors.AsType[*runtime.Error](h.answer.err); rpc || h.answer.err == nil {
			return removeTaskMark(h.answer.result), h.answer.err
		}
	}
	raw, err := l.send(ctx, a.request(revision.MethodTasksResult))
	return removeTaskMark(raw), err
}

// questionsOf returns the questions of a task, and begins to collect them; nil
// where there are too many tasks.
func (l *legacyTransport) questionsOf(a *awaitedTask) *questionedTask {
	t := &l.tasks.questions
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.tasks[a.state.ID]; h != nil {
		h.idle.Reset(questionsIdleTime)
		return h
	}
	if len(t.tasks) >= maxQuestionedTasks {
		return nil
	}
	h := &questionedTask{
		id: a.state.ID, version: l.version, capabilities: a.req.Capabilities,
		ended: make(chan struct{}), pending: map[string]pendingQuestion{}, changed: make(chan struct{}),
	}
	req := a.request(revision.MethodTasksResult)
	req.Events = h
	var ctx context.Context
	ctx, h.cancel = context.WithCancel(context.Background())
	stopListening := l.tasks.handleQuestions(h.id, h)
	if !t.calls.run(func(lifetime context.Context) {
		defer close(h.ended)
		defer stopListening()
		defer context.AfterFunc(lifetime, h.cancel)()
		h.answer.result, h.answer.err = l.send(ctx, req)
	}) {
		stopListening()
		h.cancel()
		return nil
	}
	h.idle = time.AfterFunc(questionsIdleTime, func() { t.remove(h.id) })
	if t.tasks == nil {
		t.tasks = map[string]*questionedTask{}
	}
	t.tasks[h.id] = h
	return h
}

func (t *taskQuestions) get(id string) *questionedTask {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tasks[id]
}

// remove cancels the questions of a task.
func (t *taskQuestions) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.tasks[id]; h != nil {
		h.idle.Stop()
		h.cancel()
		delete(t.tasks, id)
	}
}

// close cancels all questions and waits for what is under way.
func (t *taskQuestions) close() {
	t.calls.close(0)
	t.mu.Lock()
	ids := slices.Collect(maps.Keys(t.tasks))
	t.mu.Unlock()
	for _, id := range ids {
		t.remove(id)
	}
}

// Request keeps a question until its answer comes.
func (h *questionedTask) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == revision.MethodPing {
		return h.NopHandler.Request(ctx, call, method, params)
	}
	q := &revision.Question{From: h.version, To: revision.Modern, Method: method, Capabilities: h.capabilities}
	out, err := q.Params(params)
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "the client does not support " + method}
	}
	reply := make(chan json.RawMessage, 1)
	key := rand.Text()[:12] // unique in the life of the task, whoever holds it
	h.mu.Lock()
	h.pending[key] = pendingQuestion{q.Embedded(out), reply}
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
	select {
	case raw := <-reply:
		return q.Reply(raw)
	case <-ctx.Done():
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.pending, key)
		return nil, ctx.Err()
	}
}

// collect returns the questions that wait for an answer, by key; nil where none
// comes.
func (h *questionedTask) collect(ctx context.Context) json.RawMessage {
	if h == nil {
		return nil
	}
	first := time.NewTimer(firstQuestionWait)
	defer first.Stop()
	for {
		h.mu.Lock()
		n, changed := len(h.pending), h.changed
		h.mu.Unlock()
		if n > 0 {
			break
		}
		select {
		case <-changed:
			_ = deadline.Pause(ctx, furtherQuestionsWait) // what is there then is what there is
		case <-first.C:
			return nil
		case <-h.ended:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var o rawjson.Builder
	for _, key := range slices.Sorted(maps.Keys(h.pending)) {
		o.Add(key, h.pending[key].embedded)
	}
	return o.Object()
}

// answerQuestions passes on answers. Those without a question are ignored.
func (l *legacyTransport) answerQuestions(id string, params json.RawMessage) error {
	at, err := rawjson.Field(params, revision.MemberInputResponses)
	if err != nil || !rawjson.IsObject(at.Of(params)) {
		return &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params." + revision.MemberInputResponses + " is missing or no object"}
	}
	entries, err := rawjson.Entries(at.Of(params))
	if err != nil {
		return &runtime.Error{Code: runtime.CodeInvalidParams, Message: revision.MemberInputResponses + ": " + err.Error()}
	}
	h := l.tasks.questions.get(id)
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		if q, ok := h.pending[e.Name]; ok {
			delete(h.pending, e.Name)
			q.reply <- slices.Clone(e.Value.Of(at.Of(params)))
		}
	}
	return nil
}

// convertCreated converts the task in a result of tools/call to the extension's
// form; it returns any other result as it is.
func convertCreated(_ context.Context, _ *runtime.Request, raw json.RawMessage, _ *progress) (json.RawMessage, error) {
	task := createdTask(raw)
	if task == nil {
		return raw, nil
	}
	state, err := readTask(task)
	if err != nil {
		return nil, err
	}
	var add []rawjson.Member
	if at, err := rawjson.Field(raw, "_meta"); err == nil && rawjson.IsObject(at.Of(raw)) {
		add = append(add, rawjson.Member{Name: "_meta", Value: at.Of(raw)})
	}
	return toExtensionTask(task, state.Status, revision.ResultTask, add)
}
