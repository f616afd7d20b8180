package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// taskWatch is how often a task is asked for if its server does not say,
	// taskWatchMin and taskWatchMax bound what it may say.
	taskWatch    = time.Second
	taskWatchMin = 100 * time.Millisecond
	taskWatchMax = time.Minute
	// taskWatchFails bounds failures in a row to ask for a task.
	taskWatchFails = 10
)

// followTasks notifies a listener of tasks, from now until stop. It returns those
// that exist, in the order given. Servers of the handshake era report no task as
// a rule, so the proxy asks in the place of each client, as often as the server
// wants to be asked.
func (rt *Router) followTasks(ctx context.Context, from *upstream.Caller, l catalog.Listener, ids []string) (honoured []string, stop func()) {
	if len(ids) == 0 {
		return nil, func() {}
	}
	life, stop := context.WithCancel(rt.Set.Lifetime)
	found := make([]*taskWatcher, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			w := &taskWatcher{rt: rt, from: *from, l: l, id: id}
			w.from.Emit, w.from.Ask = nil, nil
			if err := w.poll(ctx); err != nil {
				rt.o.Logger.Debug("task cannot be followed", "err", err)
				return
			}
			found[i] = w
		})
	}
	wg.Wait()
	for _, w := range found {
		if w != nil {
			honoured = append(honoured, w.id)
			rt.Set.Work.Go(func() { w.run(life) })
		}
	}
	return honoured, stop
}

// taskWatcher asks for one task in the place of a client that listens.
type taskWatcher struct {
	rt   *Router
	from upstream.Caller
	l    catalog.Listener
	id   string

	last []byte // the task as it was last
	next time.Duration
	done bool // it has ended
}

// poll asks for the task. It notifies the listener if the task has changed, and
// at first if it waits for the client or has ended.
func (w *taskWatcher) poll(ctx context.Context) error {
	line := rawjson.Quote([]byte(`{"jsonrpc":"2.0","id":0,"method":"tasks/get","params":{"taskId":`), w.id)
	r := Request{Line: append(line, `}}`...), Msg: new(rawjson.Message), Method: revision.MethodTasksGet, From: w.from, rt: w.rt}
	if err := rawjson.Scan(r.Line, r.Msg); err != nil {
		return err
	}
	result, err := r.task(ctx)
	if err != nil {
		return err
	}
	var task struct {
		Status string
		Poll   float64 `json:"pollIntervalMs"`
	}
	if err := json.Unmarshal(result, &task); err != nil {
		return err
	}
	w.next = taskWatch
	if task.Poll > 0 {
		w.next = time.Duration(min(max(task.Poll, float64(taskWatchMin.Milliseconds())), float64(taskWatchMax.Milliseconds()))) * time.Millisecond
	}
	w.done = taskHasEnded(task.Status)
	news := w.last != nil && !bytes.Equal(result, w.last) || w.last == nil && task.Status != "working"
	w.last = result
	if !news {
		return nil
	}
	params, err := rawjson.Without(result, func(name string) bool { return name == "resultType" || name == "_meta" })
	if err != nil {
		return err
	}
	w.l.Notify(revision.NotificationTasks, params)
	return nil
}

// run looks until the task has ended or is gone.
func (w *taskWatcher) run(ctx context.Context) {
	for fails := 0; !w.done && fails < taskWatchFails; {
		select {
		case <-time.After(w.next):
		case <-ctx.Done():
			return
		}
		err := w.poll(ctx)
		if _, gone := errors.AsType[*runtime.Error](err); gone {
			return
		}
		if fails++; err == nil {
			fails = 0
		}
	}
}
