package negotiate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// modernTasks makes tools usable that run as tasks only, for callers that know
// no tasks (SEP-2663): the extension is declared for them, and the task is
// waited for. The zero value is ready.
type modernTasks struct {
	cancels background

	mu sync.Mutex // guards taskOnly
	// taskOnly are tools that are called as tasks only.
	taskOnly map[string]bool
}

// maxTaskTools bounds the tools that are remembered; for others it is found out
// with each call.
const maxTaskTools = 1024

func (t *modernTasks) isTaskOnly(tool string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taskOnly[tool]
}

func (t *modernTasks) addTaskOnly(tool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taskOnly == nil {
		t.taskOnly = map[string]bool{}
	}
	if len(t.taskOnly) < maxTaskTools {
		t.taskOnly[tool] = true
	}
}

// withTasks returns a request that declares the tasks extension.
func (m *modernTransport) withTasks(req runtime.Request) (*runtime.Request, error) {
	if req.Capabilities == nil {
		req.Capabilities = m.o.Capabilities
	}
	var err error
	req.Capabilities, err = rawjson.SetNested(req.Capabilities, "extensions", []rawjson.Member{{Name: revision.ExtensionTasks, Value: []byte(`{}`)}})
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "capabilities: " + err.Error()}
	}
	return &req, nil
}

// wantsTasks reports whether an error asks for nothing but the tasks extension.
func wantsTasks(err error) bool {
	rpc, ok := errors.AsType[*runtime.Error](err)
	if !ok || rpc.Code != runtime.CodeMissingCapability {
		return false
	}
	var d struct {
		Required map[string]json.RawMessage `json:"requiredCapabilities"`
	}
	if json.Unmarshal(rpc.Data, &d) != nil || len(d.Required) != 1 {
		return false
	}
	var ext map[string]json.RawMessage
	return json.Unmarshal(d.Required["extensions"], &ext) == nil && len(ext) == 1 && ext[revision.ExtensionTasks] != nil
}

// callDeclaringTasks sends a tools/call of a caller that knows no tasks. Where
// the server cannot serve it without making a task of it (-32021), it is sent
// again with the extension declared: the server has not acted on it.
func (m *modernTransport) callDeclaringTasks(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	name, _ := headerName(req)
	r := *req
	if !m.tasks.isTaskOnly(name) {
		raw, err := m.send(ctx, req)
		if !wantsTasks(err) {
			return raw, err
		}
		m.tasks.addTaskOnly(name)
		r.ID = nil
	}
	declaring, err := m.withTasks(r)
	if err != nil {
		return nil, err
	}
	return m.send(ctx, declaring)
}

// awaitTask waits for the task where a result is one, and returns the result of
// that; it returns any other result as it is.
func (m *modernTransport) awaitTask(ctx context.Context, req *runtime.Request, raw json.RawMessage, events *progress) (json.RawMessage, error) {
	if in, err := readInterim(raw); err != nil || in.kind != revision.ResultTask {
		return raw, nil //nolint:nilerr // no object: whoever wants one will complain
	}
	state, err := readTask(raw)
	if err != nil {
		return nil, err
	}
	declaring, err := m.withTasks(*req)
	if err != nil {
		return nil, err
	}
	a := &awaitedTask{req: declaring, events: events, state: state}
	result, err := m.pollTask(ctx, a)
	if err != nil && ctx.Err() != nil {
		a.cancel(&m.tasks.cancels, m.send)
	}
	return result, err
}

func (m *modernTransport) pollTask(ctx context.Context, a *awaitedTask) (json.RawMessage, error) {
	asked := map[string]bool{} // keys are unique in the life of a task
	for {
		switch a.state.Status {
		case taskCompleted:
			if !rawjson.IsObject(a.state.Result) {
				return nil, &runtime.ProtocolError{Reason: "a completed task has no result"}
			}
			return a.state.Result, nil
		case taskFailed:
			if !rawjson.IsObject(a.state.Error) {
				return nil, &runtime.ProtocolError{Reason: "a failed task has no error"}
			}
			return nil, runtime.ParseError(a.state.Error)
		case revision.ResultInputRequired:
			if err := m.answerTask(ctx, a, asked); err != nil {
				return nil, err
			}
		case taskWorking:
		default:
			return nil, &TaskError{Status: a.state.Status, Message: a.state.Message}
		}
		a.reportProgress(ctx)
		if err := a.poll(ctx, m.send, nil); err != nil {
			return nil, err
		}
	}
}

// answerTask asks the caller the task's new questions, and sends the server the
// answers.
func (m *modernTransport) answerTask(ctx context.Context, a *awaitedTask, asked map[string]bool) error {
	if !rawjson.IsObject(a.state.Questions) {
		return nil
	}
	open, err := rawjson.Without(a.state.Questions, func(key string) bool { return asked[key] })
	if err != nil || emptyObject(open) {
		return err
	}
	entries, err := rawjson.Entries(open)
	if err != nil {
		return err
	}
	for _, e := range entries {
		asked[e.Name] = true
	}
	if len(asked) > maxRounds*maxQuestions {
		return &runtime.ProtocolError{Reason: "a task asks without end"}
	}
	answers, err := askAll(ctx, a.req, slices.Clone(open), a.events)
	if err != nil {
		if ctx.Err() == nil { // it would wait for ever
			a.cancel(&m.tasks.cancels, m.send)
		}
		return err
	}
	_, err = m.send(ctx, a.request(revision.MethodTasksUpdate, rawjson.Member{Name: revision.MemberInputResponses, Value: answers}))
	return err
}
