package router

import (
	"bytes"
	"context"
	"errors"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// task serves tasks/get, tasks/update and tasks/cancel (SEP-2663).
func (r *Request) task(ctx context.Context) ([]byte, error) {
	if !negotiate.DeclaresTasks(r.From.Capabilities) {
		return nil, negotiate.TasksRequired()
	}
	id, ok := rawjson.String(r.Line, r.Msg.TaskID)
	if !ok {
		return nil, upstream.Invalid("params.taskId is missing or no string")
	}
	return upstream.RetryReplaced(func() ([]byte, error) {
		b, bare := r.rt.task(id, r.From.Who.Key())
		if b == nil {
			return nil, upstream.Invalid("unknown task")
		}
		bareTool := r.rt.TaskOwners.ToolOf(id)
		tool, visible := r.rt.Catalog.Tool(r.From.Audience, b, bareTool)
		if !visible {
			return nil, upstream.Invalid("unknown task")
		}
		r.From.Slot = nil
		if s := r.rt.TaskOwners.Of(id); s != nil && s.Backend == b {
			r.From.Slot = s
		}
		result, err := r.forward(ctx, b, within(r.Msg.Params, r.Msg.TaskID, rawjson.Quote(nil, bare)))
		if rpc, refused := errors.AsType[*runtime.Error](err); err == nil && r.Method == revision.MethodTasksCancel || refused && rpc.Code == runtime.CodeInvalidParams {
			r.rt.TaskOwners.Ended(id) // nobody waits for it, or it is not known any more
		}
		if err != nil {
			return nil, err
		}
		if result, err = r.rt.Authorizer.DeliverTask(ctx, r.query(), b.Name, bareTool, tool, result); err != nil {
			return nil, err
		}
		return r.rt.Finder.ShapeTask(&r.From, b, bareTool, id, result), nil
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
			o.Replace(e, rawjson.Quote(nil, r.exposedTaskID(b, id)))
		}
	}
	if e := o.Get("result"); e != nil {
		o.Replace(e, r.rt.Catalog.ExposedContent(b, r.From.Who, revision.MethodToolsCall, e.Value.Of(result)))
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
	declares := negotiate.DeclaresTasks(e.From.Capabilities)
	req.Tasks = c.Modern() || declares
	if declares && !c.Modern() {
		req.Capabilities = revision.Offer(e.From.Capabilities, e.From.Version, c.Version)
	}
}
