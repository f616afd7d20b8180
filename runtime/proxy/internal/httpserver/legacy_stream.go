package httpserver

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

const (
	// maxQueued bounds the messages of one stream that no connection has
	// taken. At the bound the oldest progress is dropped first (it says least), then
	// new log messages; questions and changes fail at twice the bound. The answer
	// always has room.
	maxQueued = 256
)

// priority decides what is dropped first where a client does not take its messages.
type priority uint8

const (
	light  priority = iota // progress
	middle                 // log messages
	heavy                  // questions, changes: somebody waits for what they lead to
	answering
	lacking // an answer to a request that a credential with more scopes could make
)

// queued is one message on its way to a client.
type queued struct {
	n        uint64 // its number in the stream, from 1 on
	data     []byte // framed
	priority priority
}

// queue is the messages of a stream, oldest first.
type queue struct {
	events []queued  // those before sent have been taken
	inline [1]queued // room for the one of a plain answer
	sent   int
	last   uint64 // number of the newest
	bytes  int    // of events[sent:], answers not counted
}

// stream is what one client gets on one event stream, in order: the messages
// of one POST, those outside requests on one GET, or all of an HTTP+SSE
// session. At most one connection at a time takes from it. Where the stream is
// kept, a connection that breaks can be followed by another one that resumes
// after the last message it knows of. It must be made by start.
type stream struct {
	wake chan struct{} // has room for one: there is news for the connection

	mu    sync.Mutex // guards what follows
	queue queue
	ended bool           // nothing more comes
	lost  bool           // nobody will ever take anything more
	over  chan struct{}  // closed with ended; nil: nobody waits for it
	pause *time.Duration // the connection is to end, to be followed by another after that

	holder chan struct{}   // the connection's; closed when another takes over
	name   string          // of a kept stream in its session
	replay *replayBuffer   // nil: what has been taken is forgotten
	unsent *limits.Counter // of what is in no replay buffer; nil: nobody counts
	quiet  time.Time       // since when no connection has it
}

// start makes a stream whose waiting messages, answers apart, are counted by unsent.
func (s *stream) start(unsent *limits.Counter) {
	s.wake = make(chan struct{}, 1)
	s.queue.events = s.queue.inline[:0]
	s.unsent = unsent
}

// count adds messages to the counter, or subtracts them. The caller holds the lock.
func (s *stream) count(events, size int, w priority) {
	if s.replay != nil {
		s.replay.count(events, size)
	} else if w < answering {
		s.unsent.Add(size)
	}
}

// let subtracts from unsent what it counts of the stream. The caller holds the lock.
func (s *stream) let() {
	if s.replay == nil && s.queue.bytes > 0 {
		s.unsent.Add(-s.queue.bytes)
	}
	s.queue.bytes = 0
}

var (
	errStreamEnded = errors.New("the client's request has ended")
	errStreamFull  = errors.New("the client does not take its messages")
	errClientGone  = errors.New("the client is gone")
)

// push queues a message.
func (s *stream) push(data []byte, w priority) error {
	s.mu.Lock()
	switch {
	case s.ended:
		s.mu.Unlock()
		return errStreamEnded
	case s.lost:
		s.mu.Unlock()
		return errClientGone
	case w < answering && !s.makeSpace(w, len(data)):
		s.mu.Unlock()
		return errStreamFull
	}
	s.add(data, w)
	k := s.replay
	s.mu.Unlock()
	s.signal()
	k.trim(s)
	return nil
}

// makeSpace makes room for one more message. The caller holds the lock.
func (s *stream) makeSpace(w priority, size int) bool {
	most := limits.MaxQueuedBytes
	if s.unsent.Full() {
		most = limits.FairShare
	}
	over := func() bool { return len(s.queue.events)-s.queue.sent >= maxQueued || s.queue.bytes+size > most }
	for over() {
		i := slices.IndexFunc(s.queue.events[s.queue.sent:], func(q queued) bool { return q.priority == light })
		if i < 0 || w == light {
			break
		}
		i += s.queue.sent
		size := len(s.queue.events[i].data)
		s.queue.bytes -= size
		s.count(-1, -size, light)
		s.queue.events = slices.Delete(s.queue.events, i, i+1)
	}
	return !over() || w == heavy && len(s.queue.events)-s.queue.sent < 2*maxQueued && s.queue.bytes+size <= 2*most
}

func (s *stream) add(data []byte, w priority) {
	s.queue.last++
	s.queue.events = append(s.queue.events, queued{s.queue.last, data, w})
	if w < answering {
		s.queue.bytes += len(data)
	}
	s.count(1, len(data), w)
}

func (s *stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// finish ends the stream with an answer, nil for none.
func (s *stream) finish(answer []byte) { s.finishAs(answering, answer) }

// finishAs is finish for an answer of either kind.
func (s *stream) finishAs(w priority, answer []byte) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	if answer != nil && !s.lost {
		s.add(answer, w)
	}
	if s.over != nil {
		close(s.over)
	}
	k, held := s.replay, s.holder != nil
	if !held && k != nil {
		s.quiet = time.Now()
	}
	s.mu.Unlock()
	s.signal()
	k.trim(s)
	if !held {
		k.watch()
	}
}

// until returns a channel that is closed when the stream ends.
func (s *stream) until() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = make(chan struct{})
		if s.ended {
			close(s.over)
		}
	}
	return s.over
}

// rest asks the stream's connection to end, so that the client returns after a while
// for what follows.
func (s *stream) rest(retry time.Duration) {
	s.mu.Lock()
	s.pause = &retry
	s.mu.Unlock()
	s.signal()
}

// news is what a connection is to send now.
type news struct {
	events []queued
	ended  bool           // and then nothing more
	pause  *time.Duration // and then end the connection, to be followed by another after that
	n      uint64         // with pause: number of the mark to end with
	open   bool           // nothing yet: the stream must be kept before it is taken from
	gone   bool           // nothing: another connection has taken over
}

// take returns what has come since the last time. Where a stream can be kept and
// is not, it returns a plain answer alone.
func (s *stream) take(holder chan struct{}, keeps bool) news {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case holder != s.holder:
		s.signal() // meant for the other one
		return news{gone: true}
	case keeps && s.name == "" && (s.pause != nil || len(s.queue.events) > 0 && s.queue.events[0].priority < answering):
		s.signal()
		return news{open: true}
	}
	out := news{events: s.queue.events[s.queue.sent:], ended: s.ended}
	s.let()
	if s.replay == nil {
		s.queue.events = nil
	} else {
		out.events, s.queue.sent = slices.Clone(out.events), len(s.queue.events)
	}
	if s.pause != nil && !s.ended && s.replay != nil {
		s.queue.last++
		out.pause, out.n = s.pause, s.queue.last
	}
	s.pause = nil
	return out
}

// attach makes a connection the one that takes from the stream, from after the
// message with the number n on. It returns nil where the stream is no longer kept.
func (s *stream) attach(n uint64) (holder chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pause = nil // it was meant for the connection before
	return s.attachLocked(n)
}

func (s *stream) attachLocked(n uint64) (holder chan struct{}) {
	if s.lost {
		return nil
	}
	if s.holder != nil {
		close(s.holder)
	}
	s.holder = make(chan struct{})
	s.queue.sent, s.queue.bytes = 0, 0
	for _, q := range s.queue.events {
		switch {
		case q.n <= n:
			s.queue.sent++
		case q.priority < answering:
			s.queue.bytes += len(q.data)
		}
	}
	s.signal()
	return s.holder
}

// detach notes that a connection is gone. A stream that is not kept is lost.
func (s *stream) detach(holder chan struct{}) {
	s.mu.Lock()
	if holder != s.holder {
		s.mu.Unlock()
		return
	}
	k := s.replay
	if k == nil {
		s.let()
		s.lost, s.queue.events = true, nil
	}
	s.holder = nil
	s.quiet = time.Now()
	s.mu.Unlock()
	k.watch()
}

// untake puts back what a connection has taken and not sent.
func (s *stream) untake(holder chan struct{}, events []queued) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replay == nil || holder != s.holder || len(events) == 0 {
		return
	}
	for s.queue.sent > 0 && s.queue.events[s.queue.sent-1].n >= events[0].n {
		s.queue.sent--
		if q := s.queue.events[s.queue.sent]; q.priority < answering {
			s.queue.bytes += len(q.data)
		}
	}
}

// reclaim removes and returns what no connection has taken, where none has the
// stream.
func (s *stream) reclaim() []queued {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder != nil {
		return nil
	}
	out := s.queue.events[s.queue.sent:]
	s.let()
	s.queue.events = s.queue.events[:s.queue.sent:s.queue.sent]
	for _, q := range out {
		s.replay.count(-1, -len(q.data))
	}
	return out
}

// forget drops the messages that have been taken.
func (s *stream) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(s.queue.sent)
}

// forgetLocked drops the n oldest messages. The caller holds the lock.
func (s *stream) forgetLocked(n int) {
	for _, q := range s.queue.events[:n] {
		s.replay.count(-1, -len(q.data))
	}
	s.queue.events, s.queue.sent = slices.Clone(s.queue.events[n:]), 0
}

// drop ends a kept stream for good.
func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(len(s.queue.events))
	s.replay.count(-1, 0)
	s.queue.bytes, s.lost, s.replay = 0, true, nil
}

// idle reports whether no connection has the stream, since when, and whether it has
// ended.
func (s *stream) idle() (idle, ended bool, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder == nil, s.ended, s.quiet
}

// Unread implements [upstream.Stream].
func (s *stream) Unread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder == nil && !s.quiet.IsZero()
}

// priorityOf returns the priority of a notification.
func priorityOf(method string) priority {
	switch method {
	case revision.NotificationProgress:
		return light
	case revision.NotificationMessage:
		return middle
	}
	return heavy
}

// line returns a message without its line end, as an event carries it.
func (q queued) line() []byte { return bytes.TrimRight(q.data, "\n") }
