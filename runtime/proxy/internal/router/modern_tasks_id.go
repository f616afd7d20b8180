package router

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// taskPrefix returns what the exposed ids of a backend's tasks begin with. A dot
// and the backend's own id follow: whoever has the same configuration can tell
// where it leads, and it is as hard to guess as the backend has made it. A
// principal gets that id sealed: it leads nowhere for others, and it can be opened
// after a restart, for a day. The first dot separates, so a backend whose name has
// one goes by a hash.
func taskPrefix(server string) string {
	if !strings.Contains(server, ".") {
		return server
	}
	sum := sha256.Sum256([]byte(server))
	return "~" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:2*catalog.Hashed]
}

// taskPurpose keeps ids of tasks apart from other sealed texts, and those of each backend
// and principal apart. No prefix has a NUL.
func taskPurpose(prefix, who string) string { return "task:" + prefix + "\x00" + who }

// exposedTaskID returns the id by which the client of a request knows a backend's task:
// the one that it has named, where the request is about the task.
func exposedTaskID(r *Request, b *upstream.Backend, bare string) string {
	who, prefix := r.From.Who.Key(), taskPrefix(b.Name)
	if who == "" {
		return prefix + "." + bare
	}
	if named, ok := rawjson.String(r.Line, r.Msg.TaskID); ok {
		if of, known := taskOf(r.rt, named, who); of == b && known == bare {
			return named
		}
	}
	return prefix + "." + r.rt.o.Catalog.Ring.Seal(taskPurpose(prefix, who), []byte(bare), 0)
}

// taskOf returns the backend of an exposed task id and the id there, nil where the
// principal has no such task. Where nobody is asked who they are it has all.
func taskOf(rt *Router, id, who string) (*upstream.Backend, string) {
	prefix, rest, ok := strings.Cut(id, ".")
	if !ok || rest == "" {
		return nil, ""
	}
	for _, b := range rt.Set.All() {
		if taskPrefix(b.Name) != prefix {
			continue
		}
		if who == "" {
			return b, rest
		}
		if bare, ok := rt.TaskOwners.bareOf(id, who); ok {
			return b, bare
		}
		if bare, err := rt.o.Catalog.Ring.Open(taskPurpose(prefix, who), rest); err == nil {
			return b, string(bare)
		}
		return nil, ""
	}
	return nil, ""
}
