package router

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
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
func taskPurpose(prefix, principal string) string { return "task:" + prefix + "\x00" + principal }

const (
	// maxOwners bounds the tasks whose connection is remembered. Beyond it the oldest of the
	// principal with the most are forgotten: they are asked for over any connection to their
	// server.
	maxOwners = 4096
	// StoredFor is how long a connection is kept for a task that is under way and
	// that nobody has asked for since.
	StoredFor = time.Hour
)

// taskOwners remembers over which connection a task was made: another one to a
// server of the handshake era may lead to another process, and a connection with
// a task under way is not idle. The zero value is ready.
type taskOwners struct {
	sync.Mutex // guards all
	all        map[string]owner
	orders     uint64 // ever given
}

type owner struct {
	principal string // the principal
	order     uint64 // of when it was noted first
	bare      string // the backend's own id
	tool      string // that was called, by its server's name; "" for not known
	slot      *upstream.Slot
	modern    bool   // any connection will do
	release   func() // lets the connection go: the task has ended, as far as is known
}

// Record remembers the connection of a task, by a result that is the task as the backend
// has sent it and as it is exposed, and keeps it while the task is under way.
func (o *taskOwners) Record(conn *upstream.Conn, principal, tool string, sent, result []byte) {
	var at [2]rawjson.Span
	if rawjson.Fields(result, at[:], "taskId", "status") != nil {
		return
	}
	id, ok := rawjson.String(result, at[0])
	bare, err := rawjson.Field(sent, "taskId")
	if !ok || err != nil {
		return
	}
	to := owner{principal: principal, tool: tool, slot: conn.Slot, modern: conn.Modern(), release: func() {}}
	to.bare, _ = rawjson.String(sent, bare)
	o.Lock()
	defer o.Unlock()
	if o.all == nil {
		o.all = map[string]owner{}
	}
	if was, ok := o.all[id]; ok {
		was.release()
		if tool == "" {
			to.tool = was.tool
		}
		to.order = was.order
		if !was.modern {
			to.slot, to.modern = was.slot, was.modern // where it was made
		}
	}
	if status, _ := rawjson.String(result, at[1]); !taskHasEnded(status) {
		to.release = to.slot.Keeps.Add(time.Now().Add(StoredFor))
	}
	if to.order == 0 {
		o.evict(principal)
		o.orders++
		to.order = o.orders
	}
	o.all[id] = to
}

// evict forgets a task where there is no room for one more of a principal. The caller holds
// the lock.
func (o *taskOwners) evict(principal string) {
	if len(o.all) < maxOwners {
		return
	}
	held := map[string]int{}
	for _, of := range o.all {
		held[of.principal]++
	}
	payer, oldest := limits.Payer(held, principal), ""
	for id, of := range o.all {
		if of.principal == payer && (oldest == "" || of.order < o.all[oldest].order) {
			oldest = id
		}
	}
	o.all[oldest].release()
	delete(o.all, oldest)
}

// ToolOf returns the tool whose call a task is, by its server's name, "" for not known.
func (o *taskOwners) ToolOf(id string) string {
	o.Lock()
	defer o.Unlock()
	return o.all[id].tool
}

// taskHasEnded reports whether a task of a status is over.
func taskHasEnded(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// Ended lets the connection of a task go that nobody waits for any more.
func (o *taskOwners) Ended(id string) {
	o.Lock()
	defer o.Unlock()
	if to, ok := o.all[id]; ok {
		to.release()
	}
}

// BareOf returns the backend's own id of a principal's task, false where it is not known.
func (o *taskOwners) BareOf(id, principal string) (bare string, ok bool) {
	o.Lock()
	defer o.Unlock()
	to, ok := o.all[id]
	return to.bare, ok && to.principal == principal
}

// Of returns the connection of a task, nil if it is not known or any will do.
func (o *taskOwners) Of(id string) *upstream.Slot {
	o.Lock()
	defer o.Unlock()
	if to := o.all[id]; !to.modern {
		return to.slot
	}
	return nil
}

// Forget removes a backend's tasks.
func (o *taskOwners) Forget(b *upstream.Backend) {
	o.Lock()
	defer o.Unlock()
	for id, to := range o.all {
		if to.slot.Backend == b {
			to.release()
			delete(o.all, id)
		}
	}
}
