package subscriptions

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const metaSubscription = "io.modelcontextprotocol/subscriptionId"

const (
	// MaxWatched bounds the URIs of one listen, or of one session.
	MaxWatched = 1000
	// maxTasksWatched bounds the tasks of one listen: each is asked for.
	maxTasksWatched = 100
	// maxWaiting bounds the notifications that wait for a client that does not read,
	// beside limits.MaxQueuedBytes: a server may report any number of parts of a
	// resource. Further ones are dropped.
	maxWaiting = 4 * MaxWatched
)

// Filter is what a client wants to be told of (2026-07-28, Subscriptions): the
// changes of lists, and of resources by the URIs that it knows them by.
type Filter struct {
	inventory.ListSet
	URIs  []string
	tasks []string // ids as clients know them
}

// ParseFilter reads params.notifications, which is required (2026-07-28,
// Subscriptions); tasks: the client has declared tasks. Unknown members are left
// out of the acknowledgement.
func ParseFilter(raw []byte, tasks bool) (Filter, error) {
	var f Filter
	if !rawjson.IsObject(raw) {
		return f, upstream.Invalid("params.notifications is missing or no object")
	}
	var at [5]rawjson.Span
	err := rawjson.Fields(raw, at[:], "toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds")
	if err != nil {
		return f, upstream.Invalid("params.notifications: %v", err)
	}
	f.tasks, err = texts(at[4].Of(raw), "taskIds", "tasks", maxTasksWatched)
	if len(f.tasks) > 0 && !tasks {
		return f, negotiate.TasksRequired()
	}
	if err != nil {
		return f, err
	}
	for i, wants := range []*bool{&f.Tools, &f.Prompts, &f.Resources} {
		switch v := string(at[i].Of(raw)); v {
		case "", "false", "null":
		case "true":
			*wants = true
		default:
			return f, upstream.Invalid("params.notifications: %s is neither true nor false", v)
		}
	}
	f.URIs, err = texts(at[3].Of(raw), "resourceSubscriptions", "URIs", MaxWatched)
	return f, err
}

// texts reads a member of params.notifications that is an array of strings.
func texts(list []byte, member, what string, most int) ([]string, error) {
	if list == nil || string(list) == "null" {
		return nil, nil
	}
	spans, err := rawjson.Elements(list)
	if err != nil || len(spans) > most {
		return nil, upstream.Invalid("params.notifications.%s is no array of at most %d %s", member, most, what)
	}
	out := make([]string, len(spans))
	for i, s := range spans {
		var ok bool
		if out[i], ok = rawjson.String(list, s); !ok {
			return out, upstream.Invalid("params.notifications.%s holds something that is no string", member)
		}
	}
	return out, nil
}

// acknowledged returns the params of the acknowledgement: what is honoured.
func acknowledged(id []byte, f *Filter) []byte {
	var members []string
	for _, k := range []inventory.Kind{inventory.Tools, inventory.Prompts, inventory.Resources} {
		if l := k.Listing(); f.Has(l.Changed) {
			members = append(members, `"`+l.Member+`ListChanged":true`)
		}
	}
	for i, values := range [][]string{f.URIs, f.tasks} {
		if values != nil {
			var quoted [][]byte
			for _, value := range values {
				quoted = append(quoted, rawjson.Quote(nil, value))
			}
			name := [...]string{"resourceSubscriptions", "taskIds"}[i]
			members = append(members, `"`+name+`":[`+string(bytes.Join(quoted, []byte(",")))+`]`)
		}
	}
	return []byte(`{"_meta":{"` + metaSubscription + `":` + string(id) + `},"notifications":{` + strings.Join(members, ",") + `}}`)
}

// listening is one listen of a client. It is keyed by nothing: clients that
// know nothing of each other give theirs the same id.
type listening struct {
	id     []byte // the client's own, raw
	wake   chan struct{}
	hidden chan struct{}   // has one where a resource may not be seen any more
	unsent *limits.Counter // counts what waits

	mu      sync.Mutex // guards what follows
	waiting [][]byte
	bytes   int            // of waiting
	waits   map[string]int // where in waiting it is, by what it says
	ended   bool
}

// Notify queues a notification. It replaces one that waits and says the same.
func (s *listening) Notify(method string, params []byte) {
	stamped, err := rawjson.SetNested(params, "_meta", []rawjson.Member{{Name: metaSubscription, Value: s.id}})
	if err != nil {
		return // no object: nothing that could be sent on
	}
	of := [2]rawjson.Span{}
	_ = rawjson.Fields(params, of[:], "uri", "taskId") // an object, as above
	key := method + string(of[0].Of(params)) + string(of[1].Of(params))
	frame := jsonrpc.AppendNotification(nil, method, stamped)
	most := limits.MaxQueuedBytes
	if s.unsent.Full() {
		most = limits.FairShare
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
	case len(s.waiting) < maxWaiting:
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

// count adds to the bytes that wait. The caller holds the lock.
func (s *listening) count(n int) {
	s.bytes += n
	s.unsent.Add(n)
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

// end drops what waits, and what comes later.
func (s *listening) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.take()
}

// Channel is the way to a client that listens.
type Channel struct {
	Send func(framed []byte)
	Idle func() // nothing has been sent for a while
	// End is closed where the endpoint ends. Where a listen ends on our side, what Farewell
	// returns is sent before the result; nil: nothing is.
	End      <-chan struct{}
	Farewell func(reason string) []byte
}

// Listen serves one subscriptions/listen: the acknowledgement, then what was asked
// for, until the channel ends, or ctx: the client has ended it and needs no answer.
func (h *Hub) Listen(ctx context.Context, id []byte, from *upstream.Caller, f Filter, to Channel) {
	s := &listening{id: id, wake: make(chan struct{}, 1), hidden: make(chan struct{}, 1), unsent: h.unsent, waits: map[string]int{}}
	defer s.end()
	for k := range inventory.Kinds {
		if f.Has(k.Listing().Changed) {
			h.catalog.Listeners.See(k)
		}
	}
	end := func(reason string) {
		if to.Farewell != nil {
			to.Send(to.Farewell(reason))
		}
		to.Send(jsonrpc.AppendResult(nil, id, append(append([]byte(`{"resultType":"complete","_meta":{"`+metaSubscription+`":`), id...), `}}`...)))
	}
	subscribing, subscribed := context.WithCancel(ctx)
	go func() { // ends with its context
		select {
		case <-to.End: // which waits for nobody, and subscribing does for servers
			subscribed()
		case <-subscribing.Done():
		}
	}()
	honoured, stop, err := h.Subscribe(subscribing, from, s, f) // nothing is missed, or sent, before the acknowledgement
	subscribed()
	if err != nil {
		if ctx.Err() == nil {
			end(ending)
		}
		return
	}
	defer stop()
	to.Send(jsonrpc.AppendNotification(nil, revision.NotificationListenAcknowledged, acknowledged(id, &honoured)))
	if f.ListSet != (inventory.ListSet{}) {
		h.set.Work.Go(func() { h.catalog.Discover(ctx, from.Audience, 0) }) // only a server that runs reports changes
	}
	ticker := time.NewTicker(limits.KeepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-s.wake:
			for _, framed := range s.take() {
				to.Send(framed)
			}
			ticker.Reset(limits.KeepAlive)
		case <-ticker.C:
			to.Idle()
		case <-ctx.Done():
			return
		case <-s.hidden:
			end("a resource is not available any more")
			return
		case <-to.End:
			end(ending)
			return
		}
	}
}

// ending is why listens end with their endpoint.
const ending = "mcpctl ends"

// EndHidden ends the listens that name a resource which their clients may not see any more.
// A client that listens again is told which resources are left, as if the others were not
// there. In the handshake era nothing ends a subscription: it falls silent, see
// [Hub.Updated], and the client hears that its list of resources is another.
func (h *Hub) EndHidden() {
	h.mu.Lock()
	var all []*Subscription
	var at []*upstream.Backend
	for l, resources := range h.slots {
		for _, w := range resources {
			for s := range w.subs {
				all, at = append(all, s), append(at, l.Backend)
			}
		}
	}
	h.mu.Unlock()
	for i, s := range all {
		l, ok := s.Listener.(*listening)
		if !ok || h.catalog.Shows(s.audience, at[i], s.Bare) {
			continue
		}
		select {
		case l.hidden <- struct{}{}:
		default: // it ends already
		}
	}
}
