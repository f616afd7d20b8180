package negotiate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// taskPoll is how often a server is asked for a task where it does not say,
	// taskPollMin and taskPollMax bound what it may say.
	taskPoll    = time.Second
	taskPollMin = 10 * time.Millisecond
	taskPollMax = time.Minute
	// taskPollFails bounds failures in a row to ask for a task: the way to the
	// server may be disturbed, the task goes on.
	taskPollFails = 3
	// taskKeepAlive is how often a caller gets progress of a task whose state
	// stays the same.
	taskKeepAlive = 5 * time.Second
	// cancelTime bounds telling a server that nobody waits for a task any more.
	cancelTime = 5 * time.Second
	// cancelGrace is how much of that is left when the connection is closed.
	cancelGrace = 500 * time.Millisecond
)

// States of a task (2025-11-25, Tasks, Task Status Lifecycle; the same in the
// extension).
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// TaskError is a task that has ended without a result or an error of its own,
// or that has been lost.
type TaskError struct {
	// Status is the task's last known state, "" where there was none.
	Status string
	// Message is what the server says of it, "" for nothing.
	Message string
	// Err is why nothing more is known of it, nil where its end is.
	Err error
}

// Error says what has become of the task.
func (e *TaskError) Error() string {
	text := "the task that the server has made of the call"
	if e.Err != nil {
		return text + " is lost: " + e.Err.Error()
	}
	text += " was " + e.Status
	if e.Status != taskCancelled {
		text = "the server has made a task of the call, whose state " + fmt.Sprintf("%q", e.Status) + " means nothing to mcpctl"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns Err.
func (e *TaskError) Unwrap() error { return e.Err }

// taskState is what matters of a task, of either era.
type taskState struct {
	ID      string      `json:"taskId"`
	Status  string      `json:"status"`
	Message string      `json:"statusMessage"`
	Poll    json.Number `json:"pollInterval"`   // 2025-11-25
	PollMs  json.Number `json:"pollIntervalMs"` // the extension

	Questions json.RawMessage `json:"inputRequests"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
}

func readTask(raw json.RawMessage) (taskState, error) {
	var s taskState
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, &runtime.ProtocolError{Reason: "a task is malformed: " + err.Error()}
	}
	return s, nil
}

// every returns how often the server wants to be polled for the task.
func (s *taskState) every() time.Duration {
	ms, err := s.PollMs.Float64()
	if err != nil {
		ms, err = s.Poll.Float64()
	}
	if err != nil || math.IsNaN(ms) || ms <= 0 {
		return taskPoll
	}
	return time.Duration(min(max(ms, float64(taskPollMin.Milliseconds())), float64(taskPollMax.Milliseconds())) * float64(time.Millisecond))
}

// awaitedTask is a task whose end a caller waits for.
type awaitedTask struct {
	req    *runtime.Request // the call
	events *progress        // its caller's side
	state  taskState

	reported   string // the state that the caller has heard of
	reportedAt time.Time
	fails      int
}

// poll waits and asks for the task. A few failures to reach the server are
// ignored.
func (a *awaitedTask) poll(ctx context.Context, get sender, after <-chan struct{}) error {
	t := time.NewTimer(a.state.every())
	defer t.Stop()
	select {
	case <-t.C:
	case <-after:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	raw, err := get(ctx, a.request(revision.MethodTasksGet))
	if err != nil {
		var rpc *runtime.Error
		if a.fails++; ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.As(err, &rpc) || errors.Is(err, runtime.ErrClosed) || isAuth(err) || a.fails > taskPollFails {
			return &TaskError{Status: a.state.Status, Err: err}
		}
		return nil
	}
	s, err := readTask(raw)
	if err != nil {
		return err
	}
	a.fails = 0
	id := a.state.ID
	a.state = s
	a.state.ID = id
	deadline.Alive(ctx)
	return nil
}

// reportProgress sends the caller progress: a task has none of its own.
func (a *awaitedTask) reportProgress(ctx context.Context) {
	text := a.state.Message
	if text == "" {
		text = "the task is " + a.state.Status
	}
	if text == a.reported && time.Since(a.reportedAt) < taskKeepAlive {
		return
	}
	a.reported, a.reportedAt = text, time.Now()
	a.events.keepAlive(ctx, a.req, text)
}

// request returns a request that concerns the task.
func (a *awaitedTask) request(method string, members ...rawjson.Member) *runtime.Request {
	var o rawjson.Builder
	o.Add("taskId", rawjson.Quote(nil, a.state.ID))
	for _, m := range members {
		o.Add(m.Name, m.Value)
	}
	return &runtime.Request{Method: method, Params: o.Object(), Version: a.req.Version, Capabilities: a.req.Capabilities}
}

// background runs what must outlive its caller, until it is done or its owner
// is closed. The zero value is ready.
type background struct {
	mu     sync.Mutex      // guards what follows
	ctx    context.Context //nolint:containedctx // the owner's own lifetime, ended by close
	cancel context.CancelFunc
	closed bool
	work   sync.WaitGroup
}

// run starts f on a goroutine that close waits for; false where the owner is
// closed.
func (d *background) run(f func(context.Context)) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	if d.ctx == nil {
		d.ctx, d.cancel = context.WithCancel(context.Background())
	}
	ctx := d.ctx
	d.work.Go(func() { f(ctx) })
	return true
}

// close lets what is under way run for a while, then cancels it, and waits for
// it.
func (d *background) close(grace time.Duration) {
	d.mu.Lock()
	d.closed = true
	cancel := d.cancel
	d.mu.Unlock()
	if cancel == nil {
		return
	}
	t := time.AfterFunc(grace, cancel)
	defer t.Stop()
	d.work.Wait()
	cancel()
}

// cancel cancels the task, in the background (2025-11-25 and SEP-2663,
// Cancellation).
func (a *awaitedTask) cancel(d *background, send sender) {
	req := a.request(revision.MethodTasksCancel)
	d.run(func(ctx context.Context) {
		ctx, stop := context.WithTimeout(ctx, cancelTime)
		defer stop()
		_, _ = send(ctx, req) // nobody is left to be told
	})
}

// DeclaresTasks reports whether client capabilities name the tasks extension.
func DeclaresTasks(capabilities json.RawMessage) bool {
	return revision.HasExtension(capabilities, revision.ExtensionTasks)
}

// TasksRequired returns the error for a client that needs the tasks extension
// and does not declare it (SEP-2663).
func TasksRequired() *runtime.Error {
	return revision.MissingCapability(rawjson.Wrap("extensions", rawjson.Wrap(revision.ExtensionTasks, json.RawMessage(`{}`))))
}

// OffersTasks reports whether a server's capabilities allow calling tools as
// tasks, in either era.
func OffersTasks(capabilities json.RawMessage) bool {
	var t legacyTasks
	t.readCapabilities(capabilities)
	return t.calls || revision.HasExtension(capabilities, revision.ExtensionTasks)
}
