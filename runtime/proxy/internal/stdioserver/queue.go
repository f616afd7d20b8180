package stdioserver

import (
	"bytes"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
)

// queue is the messages of a client that wants them handled one after another. Answers
// and cancellations do not stand in it: the request that is being handled may need them.
type queue struct {
	mu      sync.Mutex // guards what follows
	changed sync.Cond
	waiting []message
	size    int // bytes of those that wait
	closed  bool

	done chan struct{} // closed when all are handled
}

// message is one that waits; id is that of a request, raw.
type message struct {
	text, id []byte
}

func newQueue() *queue {
	q := &queue{done: make(chan struct{})}
	q.changed.L = &q.mu
	return q
}

// put adds a message. It waits while too much does.
func (q *queue) put(m message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (len(q.waiting) >= maxInFlight || q.size > maxHeld) {
		q.changed.Wait()
	}
	if !q.closed {
		q.waiting = append(q.waiting, m)
		q.size += len(m.text)
		q.changed.Broadcast()
	}
}

// take returns the next message and waits for it; nil: there will be none.
func (q *queue) take() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.waiting) == 0 {
		q.changed.Wait()
	}
	if len(q.waiting) == 0 {
		return nil
	}
	m := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.size -= len(m.text)
	q.changed.Broadcast()
	return m.text
}

// drop takes a request out, false where it does not wait.
func (q *queue) drop(id []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, m := range q.waiting {
		if m.id != nil && bytes.Equal(m.id, id) {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			q.size -= len(m.text)
			q.changed.Broadcast()
			return true
		}
	}
	return false
}

// close takes no more messages.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}

// clear is close, and drops the messages that wait. It returns the ids of those that
// are requests. A queue that is nil has none.
func (q *queue) clear() (ids [][]byte) {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.waiting {
		if m.id != nil {
			ids = append(ids, m.id)
		}
	}
	q.closed, q.waiting = true, nil
	q.changed.Broadcast()
	return ids
}

// waits puts a message into the queue, false for one that does not stand in it. A queue
// that is nil has none.
func (q *queue) waits(text []byte) bool {
	if q == nil {
		return false
	}
	var m rawjson.Message
	kind, _ := endpoint.Classify(text, &m)
	switch {
	case kind == endpoint.Answer:
		return false
	case kind == endpoint.Notification && string(m.Method.Of(text)) == `"`+revision.NotificationCancelled+`"`:
		return q.drop(m.RequestID.Of(text))
	}
	one := message{text: bytes.Clone(text)}
	if kind == endpoint.Request {
		one.id = m.ID.Of(one.text)
	}
	q.put(one)
	return true
}

// serve handles the messages of the queue, until it is closed.
func (q *queue) serve(f *server) {
	defer close(q.done)
	for text := q.take(); text != nil; text = q.take() {
		if conn := f.message(text, time.Now()); conn != nil {
			conn.Flush()
		}
		for f.load.inFlight.Load() > 0 {
			select {
			case <-f.load.idle:
			case <-f.lifetime.Done():
				return
			}
		}
	}
}
