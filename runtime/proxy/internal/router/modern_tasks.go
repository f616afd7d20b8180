package router

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// task serves tasks/get, tasks/update and tasks/cancel (SEP-2663).
func (r Request) task(ctx context.Context) ([]byte, error) {
	if !bridge.DeclaresTasks(r.From.Capabilities) {
		return nil, bridge.TasksRequired()
	}
	id, ok := rawjson.String(r.Line, r.Msg.TaskID)
	if !ok {
		return nil, upstream.Invalid("params.taskId is missing or no string")
	}
	return upstream.RetryReplaced(func() ([]byte, error) {
		b, bare := taskOf(r.rt, id, r.From.Who.Key())
		if b == nil {
			return nil, upstream.Invalid("unknown task")
		}
		r.From.Slot = nil
		if s := r.rt.TaskOwners.of(id); s != nil && s.Backend == b {
			r.From.Slot = s
		}
		result, err := r.forward(ctx, b, within(r.Msg.Params, r.Msg.TaskID, rawjson.Quote(nil, bare)))
		if rpc, refused := errors.AsType[*runtime.Error](err); err == nil && r.Method == revision.MethodTasksCancel || refused && rpc.Code == runtime.CodeInvalidParams {
			r.rt.TaskOwners.ended(id) // nobody waits for it, or it is not known any more
		}
		return result, err
	})
}

// exposedTask returns a backend's result that is or holds a task with the id and
// URIs that clients know, and questions that name the server.
func (r *Request) exposedTask(b *upstream.Backend, result []byte) ([]byte, error) {
	o, err := rawjson.ObjectAt(result, rawjson.Span{End: len(result)})
	if err != nil {
		return result, nil //nolint:nilerr // the conversion says so
	}
	if e := o.Get("taskId"); e != nil {
		if id, ok := rawjson.String(result, e.Value); ok {
			o.Replace(e, rawjson.Quote(nil, exposedTaskID(r, b, id)))
		}
	}
	if e := o.Get("result"); e != nil {
		o.Replace(e, r.rt.Catalog.ExposedContent(b, revision.MethodToolsCall, e.Value.Of(result)))
	}
	edits := o.Edits()
	if e := o.Get("inputRequests"); e != nil && rawjson.IsObject(e.Value.Of(result)) {
		inputs, err := rawjson.ObjectAt(result, e.Value)
		if err != nil {
			return nil, err
		}
		for _, q := range inputs.Entries {
			if edits, err = r.passQuestion(edits, result, q.Value); err != nil {
				return nil, err
			}
		}
	}
	return rawjson.Apply(result, edits), nil
}

// isTask reports whether the result of a request holds a task.
func isTask(method string, result []byte) bool {
	if method != revision.MethodToolsCall {
		return method == revision.MethodTasksGet
	}
	if !bytes.Contains(result, []byte(`"task"`)) {
		return false
	}
	at, err := rawjson.Field(result, "resultType")
	if err != nil {
		return false
	}
	kind, _ := rawjson.String(result, at)
	return kind == "task"
}

// setTasks makes a request fit a backend's way with tasks. A client that takes
// tasks gets them from servers of either era. To one that does not, a modern
// server says so itself (-32021), and a task of the handshake era, of which no
// client is told, is waited for.
func (e *Relay) setTasks(c *upstream.Conn, req *runtime.Request) {
	if !e.From.Modern() {
		return
	}
	declares := bridge.DeclaresTasks(e.From.Capabilities)
	req.Tasks = c.Modern() || declares
	if declares && !c.Modern() {
		req.Capabilities = revision.Offer(e.From.Capabilities, e.From.Version, c.Version)
	}
}

const (
	// maxTaskOwners bounds the tasks whose connection is remembered. A task beyond
	// that is asked for over any connection to its server.
	maxTaskOwners = 4096
	// TaskKept is how long a connection is kept for a task that is under way and
	// that nobody has asked for since.
	TaskKept = time.Hour
)

// taskOwners remembers over which connection a task was made: another one to a
// server of the handshake era may lead to another process, and a connection with
// a task under way is not idle. The zero value is ready.
type taskOwners struct {
	sync.Mutex // guards all
	all        map[string]taskOwner
}

type taskOwner struct {
	who     string // the principal
	bare    string // the backend's own id
	slot    *upstream.Slot
	modern  bool   // any connection will do
	release func() // lets the connection go: the task has ended, as far as is known
}

// note remembers the connection of a task, by a result that is the task as the backend
// has sent it and as it is exposed, and keeps it while the task is under way.
func (o *taskOwners) note(by *upstream.Conn, who string, sent, result []byte) {
	var at [2]rawjson.Span
	if rawjson.Fields(result, at[:], "taskId", "status") != nil {
		return
	}
	id, ok := rawjson.String(result, at[0])
	bare, err := rawjson.Field(sent, "taskId")
	if !ok || err != nil {
		return
	}
	to := taskOwner{who: who, slot: by.Slot, modern: by.Modern(), release: func() {}}
	to.bare, _ = rawjson.String(sent, bare)
	o.Lock()
	defer o.Unlock()
	if o.all == nil {
		o.all = map[string]taskOwner{}
	}
	if was, ok := o.all[id]; ok {
		was.release()
		if !was.modern {
			to.slot, to.modern = was.slot, was.modern // where it was made
		}
	}
	if status, _ := rawjson.String(result, at[1]); !hasEnded(status) {
		to.release = to.slot.Keeps.Add(time.Now().Add(TaskKept))
	}
	for other, was := range o.all {
		if len(o.all) < maxTaskOwners {
			break
		}
		was.release()
		delete(o.all, other)
	}
	o.all[id] = to
}

// hasEnded reports whether a task of a status is over.
func hasEnded(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// ended lets the connection of a task go that nobody waits for any more.
func (o *taskOwners) ended(id string) {
	o.Lock()
	defer o.Unlock()
	if to, ok := o.all[id]; ok {
		to.release()
	}
}

// bareOf returns the backend's own id of a principal's task, false where it is not known.
func (o *taskOwners) bareOf(id, who string) (bare string, ok bool) {
	o.Lock()
	defer o.Unlock()
	to, ok := o.all[id]
	return to.bare, ok && to.who == who
}

// of returns the connection of a task, nil if it is not known or any will do.
func (o *taskOwners) of(id string) *upstream.Slot {
	o.Lock()
	defer o.Unlock()
	if to := o.all[id]; !to.modern {
		return to.slot
	}
	return nil
}

// forget removes a backend's tasks.
func (o *taskOwners) forget(b *upstream.Backend) {
	o.Lock()
	defer o.Unlock()
	for id, to := range o.all {
		if to.slot.Backend == b {
			to.release()
			delete(o.all, id)
		}
	}
}
