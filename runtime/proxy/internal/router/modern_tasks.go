package router

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// A task's id in front is that of its backend's, a dot, and the id that the
// backend has given: whoever has the same configuration can tell where it
// leads, and it is as hard to guess as the backend has made it. The first dot
// separates, so a backend whose name has one goes by a hash.

// taskPrefix is what the ids of a backend's tasks begin with, but for the dot.
func taskPrefix(server string) string {
	if !strings.Contains(server, ".") {
		return server
	}
	sum := sha256.Sum256([]byte(server))
	return "~" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:2*catalog.Hashed]
}

// taskOf gives the backend of an exposed task id and the id there, nil where it
// has none.
func (rt *Router) taskOf(id string) (*upstream.Backend, string) {
	prefix, bare, ok := strings.Cut(id, ".")
	if !ok || bare == "" {
		return nil, ""
	}
	for _, b := range rt.Set.All() {
		if taskPrefix(b.Name) == prefix {
			return b, bare
		}
	}
	return nil, ""
}

// task serves tasks/get, tasks/update and tasks/cancel (SEP-2663).
func (rt *Router) task(ctx context.Context, r Request) ([]byte, error) {
	if !bridge.DeclaresTasks(r.From.Capabilities) {
		return nil, bridge.TasksRequired()
	}
	id, ok := rawjson.String(r.Line, r.Msg.TaskID)
	if !ok {
		return nil, upstream.Invalid("params.taskId is missing or no string")
	}
	return upstream.RetryReplaced(func() ([]byte, error) {
		b, bare := rt.taskOf(id)
		if b == nil {
			return nil, upstream.Invalid("unknown task")
		}
		r.From.Slot = nil
		if home := rt.TaskOwners.of(id); home != nil && home.Backend == b {
			r.From.Slot = home
		}
		s, err := rt.Forward(ctx, b, r, within(r.Msg.Params, r.Msg.TaskID, rawjson.Quote(nil, bare)))
		if rpc, refused := errors.AsType[*runtime.Error](err); err == nil && r.Method == revision.MethodTasksCancel || refused && rpc.Code == runtime.CodeInvalidParams {
			rt.TaskOwners.ended(id) // nobody waits for it, or it is not known any more
		}
		return s.result, err
	})
}

// exposedTask gives a result that is or holds a task of a backend with the id
// that clients know, the URIs in its result likewise, and questions that say
// who asks.
func (rt *Router) exposedTask(b *upstream.Backend, r *Request, result []byte) ([]byte, error) {
	o, err := rawjson.ObjectAt(result, rawjson.Span{End: len(result)})
	if err != nil {
		return result, nil //nolint:nilerr // the conversion says so
	}
	if e := o.Get("taskId"); e != nil {
		if id, ok := rawjson.String(result, e.Value); ok {
			o.Replace(e, rawjson.Quote(nil, taskPrefix(b.Name)+"."+id))
		}
	}
	if e := o.Get("result"); e != nil {
		o.Replace(e, rt.Catalog.ExposedContent(b, revision.MethodToolsCall, e.Value.Of(result)))
	}
	edits := o.Edits()
	if e := o.Get("inputRequests"); e != nil && rawjson.IsObject(e.Value.Of(result)) {
		raw := e.Value.Of(result)
		entries, err := rawjson.Entries(raw)
		if err != nil {
			return nil, err
		}
		for _, q := range entries {
			edit, err := rt.passQuestion(q.Value.Of(raw), *r)
			if err != nil {
				return nil, err
			}
			if edit.New != nil {
				edits = append(edits, rawjson.Within(e.Value.Start+q.Value.Start, []rawjson.Edit{edit})...)
			}
		}
	}
	return rawjson.Apply(result, edits), nil
}

// isTask tells whether a result of a request holds a task.
func isTask(method string, result []byte) bool {
	switch method {
	case revision.MethodTasksGet:
		return true
	case revision.MethodToolsCall:
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
	return false
}

// taskSupport fits a request to a backend's way with tasks. Where the client
// takes tasks it gets them from servers of either era. Where it does not, a
// modern server tells it so itself (-32021), and a task of the handshake era,
// of which no client is told, is waited for.
func (e *Relay) taskSupport(c *upstream.Conn, req *runtime.Request) {
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
	// maxTaskOwners bounds the tasks whose connection is remembered. A task beyond that
	// is asked for over any connection to its server.
	maxTaskOwners = 4096
	// TaskKept is how long a connection is kept for a task that is under way and
	// that nobody has asked for since.
	TaskKept = time.Hour
)

// taskOwners tells over which connection a task was made: one of a server of the
// handshake era others may lead to another process, and a connection with a task
// under way is not idle. The zero value is ready.
type taskOwners struct {
	Mu  sync.Mutex // guards all
	all map[string]taskOwner
}

type taskOwner struct {
	link    *upstream.Slot
	modern  bool   // another connection is as good
	release func() // lets the connection go: the task has ended, as far as is known
}

// note remembers where a task is at home, given a result that is the task as
// exposed, and whether it is under way.
func (h *taskOwners) note(by *upstream.Conn, result []byte) {
	var at [2]rawjson.Span
	if rawjson.Fields(result, at[:], "taskId", "status") != nil {
		return
	}
	id, ok := rawjson.String(result, at[0])
	if !ok {
		return
	}
	to := taskOwner{link: by.Slot, modern: by.Modern(), release: func() {}}
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if h.all == nil {
		h.all = map[string]taskOwner{}
	}
	if was, ok := h.all[id]; ok {
		was.release()
		if !was.modern {
			to.link, to.modern = was.link, was.modern // where it was made
		}
	}
	switch status, _ := rawjson.String(result, at[1]); status {
	case "completed", "failed", "cancelled":
	default:
		to.release = to.link.KeepUntil(time.Now().Add(TaskKept))
	}
	for other, was := range h.all {
		if len(h.all) < maxTaskOwners {
			break
		}
		was.release()
		delete(h.all, other)
	}
	h.all[id] = to
}

// ended notes that nobody waits for a task any more.
func (h *taskOwners) ended(id string) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if to, ok := h.all[id]; ok {
		to.release()
	}
}

// of gives where a task is at home, nil where that is not known or any
// connection will do.
func (h *taskOwners) of(id string) *upstream.Slot {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if to := h.all[id]; !to.modern {
		return to.link
	}
	return nil
}

// forget drops what is known of a backend's tasks.
func (h *taskOwners) forget(b *upstream.Backend) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	for id, to := range h.all {
		if to.link.Backend == b {
			to.release()
			delete(h.all, id)
		}
	}
}
