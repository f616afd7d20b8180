package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

const metaSubscription = "io.modelcontextprotocol/subscriptionId"

// maxWatched bounds the URIs of one listen, or of one session.
const maxWatched = 1000

// parseFilter reads params.notifications, which is required (2026-07-28,
// Subscriptions). tasks tells whether the client has declared tasks. What it does not know is left out of the acknowledgement.
func parseFilter(raw []byte, tasks bool) (filter, error) {
	var f filter
	if !rawjson.IsObject(raw) {
		return f, invalid("params.notifications is missing or no object")
	}
	var at [5]rawjson.Span
	err := rawjson.Fields(raw, at[:], "toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds")
	if err != nil {
		return f, invalid("params.notifications: %v", err)
	}
	if f.tasks, err = taskIDs(at[4].Of(raw), tasks); err != nil {
		return f, err
	}
	for i, wants := range []*bool{&f.tools, &f.prompts, &f.resources} {
		switch v := string(at[i].Of(raw)); v {
		case "", "false", "null":
		case "true":
			*wants = true
		default:
			return f, invalid("params.notifications: %s is neither true nor false", v)
		}
	}
	list := at[3].Of(raw)
	if list == nil || string(list) == "null" {
		return f, nil
	}
	spans, err := rawjson.Elements(list)
	if err != nil || len(spans) > maxWatched {
		return f, invalid("params.notifications.resourceSubscriptions is no array of at most %d URIs", maxWatched)
	}
	for _, s := range spans {
		uri, ok := rawjson.String(list, s)
		if !ok {
			return f, invalid("params.notifications.resourceSubscriptions holds something that is no string")
		}
		f.uris = append(f.uris, uri)
	}
	return f, nil
}

// acknowledged gives the params of the acknowledgement: what is honoured.
func acknowledged(id []byte, f *filter) []byte {
	out := append([]byte(`{"_meta":{"`+metaSubscription+`":`), id...)
	out = append(out, `},"notifications":{`...)
	comma := ""
	for _, k := range []kind{tools, prompts, resources} {
		if f.has(k.listing().changed) {
			out = append(out, comma+`"`+k.listing().member+`ListChanged":true`...)
			comma = ","
		}
	}
	for _, list := range []struct {
		name   string
		values []string
	}{{"resourceSubscriptions", f.uris}, {"taskIds", f.tasks}} {
		if list.values == nil {
			continue
		}
		out = append(out, comma+`"`+list.name+`":[`...)
		for i, value := range list.values {
			if i > 0 {
				out = append(out, ',')
			}
			out = rawjson.Quote(out, value)
		}
		out = append(out, ']')
		comma = ","
	}
	return append(out, `}}`...)
}

// listening is one listen of a client. It is keyed by nothing: clients that
// know nothing of each other give theirs the same id.
type listening struct {
	id     []byte // the client's own, raw
	wake   chan struct{}
	unsent *counter // counts what waits

	mu      sync.Mutex // guards what follows
	waiting [][]byte
	bytes   int            // of waiting
	waits   map[string]int // where in waiting it is, by what it says
	ended   bool
}

// maxUnsaid and maxQueuedBytes bound what waits for a client that does not read.
// The filter's own size is less; but a server may tell of any number of parts of
// a resource. Then further ones are not told.
const maxUnsaid = 4 * maxWatched

// notify implements listener. Of what says the same the newest waits.
func (s *listening) notify(method string, params []byte) {
	stamped, err := rawjson.SetNested(params, "_meta", []rawjson.Member{{Name: metaSubscription, Value: s.id}})
	if err != nil {
		return // no object: nothing that could be sent on
	}
	of := [2]rawjson.Span{}
	_ = rawjson.Fields(params, of[:], "uri", "taskId") // an object, as above
	key := method + string(of[0].Of(params)) + string(of[1].Of(params))
	frame := jsonrpc.AppendNotification(nil, method, stamped)
	most := maxQueuedBytes
	if s.unsent.full() {
		most = fairShare
	}
	s.mu.Lock()
	i, waits := s.waits[key]
	size := len(frame)
	if waits {
		size -= len(s.waiting[i])
	}
	switch {
	case s.ended || s.bytes+size > most:
	case waits:
		s.waiting[i] = frame
		s.count(size)
	case len(s.waiting) < maxUnsaid:
		s.waits[key] = len(s.waiting)
		s.waiting = append(s.waiting, frame)
		s.count(size)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// count counts bytes that wait. The caller holds the lock.
func (s *listening) count(n int) {
	s.bytes += n
	s.unsent.add(n)
}

func (s *listening) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.waiting
	s.waiting = nil
	s.count(-s.bytes)
	clear(s.waits)
	return all
}

// end drops what waits, and what comes.
func (s *listening) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.take()
}

// channel is the way to a client that listens.
type channel struct {
	send func(framed []byte)
	idle func() // nothing has been sent for a while
	// end is closed where the listen ends on our side; farewell is then sent
	// before the result.
	end      <-chan struct{}
	farewell []byte
}

// listen serves one subscriptions/listen: the acknowledgement, then what
// was asked for, until ctx ends, which is the client's doing and needs no
// answer, or the channel does.
func (h *Hub) listen(ctx context.Context, id []byte, from *Origin, f filter, to channel) {
	s := &listening{id: id, wake: make(chan struct{}, 1), unsent: h.unsent, waits: map[string]int{}}
	defer s.end()
	for k := range kinds {
		if f.has(k.listing().changed) {
			h.catalog.seenLists[k].Store(true)
		}
	}
	// From here on nothing is missed, and nothing is sent before what is
	// honoured has been told.
	end := func() {
		if to.farewell != nil {
			to.send(to.farewell)
		}
		to.send(jsonrpc.AppendResult(nil, id, append(append([]byte(`{"resultType":"complete","_meta":{"`+metaSubscription+`":`), id...), `}}`...)))
	}
	settling, settled := during(ctx, to.end) // it waits for servers, and our end for nobody
	honoured, stop, err := h.subscribe(settling, from, s, f)
	settled()
	if err != nil {
		if ctx.Err() == nil {
			end()
		}
		return
	}
	defer stop()
	to.send(jsonrpc.AppendNotification(nil, revision.NotificationListenAcknowledged, acknowledged(id, &honoured)))
	if f.changeKinds != (changeKinds{}) {
		h.set.work.Go(func() { h.catalog.discover(ctx) }) // only a server that runs tells of changes
	}
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-s.wake:
			for _, framed := range s.take() {
				to.send(framed)
			}
			ticker.Reset(keepAlive)
		case <-ticker.C:
			to.idle()
		case <-ctx.Done():
			return
		case <-to.end:
			end()
			return
		}
	}
}

// during gives a context that ends with ctx, and when end is closed. Done frees
// it.
func during(ctx context.Context, end <-chan struct{}) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with ctx
		select {
		case <-end:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// taskIDs reads the tasks that a listen names (SEP-2663, Task Status
// Notifications).
func taskIDs(list []byte, declared bool) ([]string, error) {
	if list == nil || string(list) == "null" {
		return nil, nil
	}
	spans, err := rawjson.Elements(list)
	if err != nil || len(spans) > maxTasksWatched {
		return nil, invalid("params.notifications.taskIds is no array of at most %d tasks", maxTasksWatched)
	}
	if len(spans) > 0 && !declared {
		return nil, bridge.TasksRequired()
	}
	ids := make([]string, len(spans))
	for i, s := range spans {
		var ok bool
		if ids[i], ok = rawjson.String(list, s); !ok {
			return nil, invalid("params.notifications.taskIds holds something that is no string")
		}
	}
	return ids, nil
}

// maxTasksWatched bounds the tasks of one listen: each is asked for.
const maxTasksWatched = 100
