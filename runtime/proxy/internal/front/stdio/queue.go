package stdio

import (
	"bytes"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/front"
	"github.com/mcpctl/mcpctl/runtime/revision"
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
	l := &queue{done: make(chan struct{})}
	l.changed.L = &l.mu
	return l
}

// put adds a message. It waits while too much does.
func (l *queue) put(m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && (len(l.waiting) >= maxInFlight || l.size > maxHeld) {
		l.changed.Wait()
	}
	if !l.closed {
		l.waiting = append(l.waiting, m)
		l.size += len(m.text)
		l.changed.Broadcast()
	}
}

// take returns the next message and waits for it; nil: there will be none.
func (l *queue) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && len(l.waiting) == 0 {
		l.changed.Wait()
	}
	if len(l.waiting) == 0 {
		return nil
	}
	m := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.size -= len(m.text)
	l.changed.Broadcast()
	return m.text
}

// drop takes a request out, false where it does not wait.
func (l *queue) drop(id []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, m := range l.waiting {
		if m.id != nil && bytes.Equal(m.id, id) {
			l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
			l.size -= len(m.text)
			l.changed.Broadcast()
			return true
		}
	}
	return false
}

// close takes no more messages, and with drop none of those that wait.
func (l *queue) close(drop bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed = true; drop {
		l.waiting = nil
	}
	l.changed.Broadcast()
}

// waits puts a message into the line, false for one that does not stand in it.
func (f *stdioFront) waits(text []byte) bool {
	if f.queue == nil {
		return false
	}
	var m rawjson.Message
	kind, _ := front.Classify(text, &m)
	switch {
	case kind == front.Answer:
		return false
	case kind == front.Notification && string(m.Method.Of(text)) == `"`+revision.NotificationCancelled+`"`:
		return f.queue.drop(m.RequestID.Of(text))
	}
	one := message{text: bytes.Clone(text)}
	if kind == front.Request {
		one.id = m.ID.Of(one.text)
	}
	f.queue.put(one)
	return true
}

// serve handles the messages of the line, until it is closed.
func (f *stdioFront) serve() {
	defer close(f.queue.done)
	for text := f.queue.take(); text != nil; text = f.queue.take() {
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
