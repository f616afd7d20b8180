package router

import (
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// exposedTaskID returns the id by which the client of a request knows a backend's task:
// the one that it has named, where the request is about the task.
func (r *Request) exposedTaskID(b *upstream.Backend, bare string) string {
	principal, prefix := r.From.Who.Key(), taskPrefix(b.Name)
	if principal == "" {
		return prefix + "." + bare
	}
	if named, ok := rawjson.String(r.Line, r.Msg.TaskID); ok {
		if of, known := r.rt.task(named, principal); of == b && known == bare {
			return named
		}
	}
	return prefix + "." + r.rt.o.Catalog.Ring.Seal(taskPurpose(prefix, principal), []byte(bare), 0)
}

// task returns the backend of an exposed task id and the id there, nil where the
// principal has no such task. Where nobody is asked who they are it has all.
func (rt *Router) task(id, principal string) (*upstream.Backend, string) {
	prefix, rest, ok := strings.Cut(id, ".")
	if !ok || rest == "" {
		return nil, ""
	}
	for _, b := range rt.Set.All() {
		if taskPrefix(b.Name) != prefix {
			continue
		}
		if principal == "" {
			return b, rest
		}
		if bare, ok := rt.TaskOwners.BareOf(id, principal); ok {
			return b, bare
		}
		if bare, err := rt.o.Catalog.Ring.Open(taskPurpose(prefix, principal), rest); err == nil {
			return b, string(bare)
		}
		return nil, ""
	}
	return nil, ""
}
