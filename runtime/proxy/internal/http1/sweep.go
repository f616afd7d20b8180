package http1

import (
	"cmp"
	"context"
	"net"
	"time"
)

const (
	// tick is how often connections are looked at. What takes less costs neither a
	// deadline nor a watch for the client's end.
	tick = 25 * time.Millisecond
	// answerTime is how long a client may take for the rest of an answer.
	answerTime = time.Minute
	// lingerTime is how long a client that still sends may take to read an answer, and
	// lingerSilence how long it may send nothing. They are nginx' lingering_time and
	// lingering_timeout.
	lingerTime    = 30 * time.Second
	lingerSilence = 5 * time.Second
)

// phase is what a connection waits for.
type phase int

const (
	fresh     phase = iota // the first request
	idle                   // the next request
	arriving               // the rest of a head
	receiving              // the rest of a body
	serving                // the handler, while there is nothing of the request to come
	answering              // the client, to take the rest of an answer
	lingering              // the client, to see that the connection is closed
	leaving                // net/http
)

// state is what a connection's goroutine tells sweep, and what that has done.
type state struct {
	phase phase
	count uint64             // of phases so far
	abort context.CancelFunc // ends the context of the request

	seen  uint64    // the count when sweep last looked
	since time.Time // when sweep first saw it
	acted bool      // sweep has done what there is to do in this phase
	began time.Time // when the request was seen to begin, zero if its head came at once

	bounded  bool   // sweep has set a deadline
	ownRead  bool   // the handler has set one for reading, and sweep sets none
	ownWrite bool   // the handler has set one for writing
	watch    *watch // for the client's end; nil: nobody does
}

// watch is a read while the handler runs: it ends with the client, or with the
// beginning of another request.
type watch struct {
	done chan struct{} // closed when the rest is there
	n    int           // bytes read, at conn.buf[conn.w]
}

// wake starts the sweep of a connection. It is called after each change.
func (s *Server) wake() {
	if !s.sweeping.Load() && s.sweeping.CompareAndSwap(false, true) {
		go s.sweep() // ends when nothing changes any more, or with the last connection
	}
}

// sweep bounds what takes long, and watches for clients that go.
func (s *Server) sweep() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-s.over:
			return
		}
		if !s.sweepOnce() {
			continue
		}
		s.sweeping.Store(false)
		// What changed meanwhile has woken nobody.
		if s.sweepOnce() || !s.sweeping.CompareAndSwap(false, true) {
			return
		}
	}
}

// sweepOnce looks at each connection, and reports whether there is nothing more to do
// before one changes.
func (s *Server) sweepOnce() (done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done = true
	now := time.Now()
	for c := range s.conns {
		done = c.sweep(now) && done
	}
	return done
}

func (c *conn) sweep(now time.Time) (done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := &c.state
	switch {
	case st.seen != st.count:
		st.seen, st.since, st.acted = st.count, now, false
		if st.phase == fresh || st.phase == arriving {
			st.began = now
		}
		return false
	case st.acted:
		return true
	}
	st.acted = true
	switch rest := c.s.rest; st.phase {
	case idle:
		c.bound(c.rwc.SetReadDeadline, st.since, cmp.Or(rest.IdleTimeout, rest.ReadTimeout))
	case fresh, arriving:
		c.bound(c.rwc.SetReadDeadline, st.since, cmp.Or(rest.ReadHeaderTimeout, rest.ReadTimeout))
	case receiving:
		if !st.ownRead {
			c.bound(c.rwc.SetReadDeadline, cmp.Or(st.began, st.since), rest.ReadTimeout)
		}
	case serving:
		c.startWatch()
	case answering:
		c.bound(c.rwc.SetWriteDeadline, st.since, answerTime)
	case lingering, leaving: // linger and net/http have their own bounds
	}
	return true
}

// bound ends a phase that lasts too long; 0 is no bound. The caller holds the lock.
func (c *conn) bound(set func(time.Time) error, since time.Time, most time.Duration) {
	if most > 0 {
		_ = set(since.Add(most)) // it may be closed
		c.state.bounded = true
	}
}

// startWatch watches for the client's end. The caller holds the lock.
func (c *conn) startWatch() {
	if c.state.ownRead {
		_ = c.rwc.SetReadDeadline(time.Time{}) // the request has been read
	}
	w := &watch{done: make(chan struct{})}
	c.state.watch = w
	abort, free := c.state.abort, c.buf[c.w:]
	go func() { // ends by finish
		defer close(w.done)
		var err error
		if w.n, err = c.rwc.Read(free); err != nil {
			abort() // does nothing after finish
		}
	}()
}

// begin begins a request, whose context abort ends.
func (c *conn) begin(p phase, abort context.CancelFunc) {
	c.mu.Lock()
	c.state.abort = abort
	c.mu.Unlock()
	c.enter(p)
}

// enter begins a phase, without the deadline of the one before.
func (c *conn) enter(p phase) {
	c.mu.Lock()
	c.state.enter(c.rwc, p)
	c.mu.Unlock()
	c.s.wake()
}

// enter begins a phase. A head that goes on arriving has no more time than before.
func (st *state) enter(rwc net.Conn, p phase) {
	if p == arriving && st.phase != idle {
		st.phase = p
		return
	}
	switch {
	case st.bounded && st.phase == answering:
		_ = rwc.SetWriteDeadline(time.Time{}) // it may be closed
	case st.bounded:
		_ = rwc.SetReadDeadline(time.Time{}) // likewise
	}
	st.bounded = false
	if p == idle {
		st.began = time.Time{}
	}
	st.phase = p
	st.count++
}

// finish ends what belongs to a request after its handler. If the client was seen to
// go, the next read tells it again, after what the client sent before.
func (c *conn) finish(x *exchange) {
	c.mu.Lock()
	x.over.Store(true)
	st := &c.state
	w := st.watch
	st.watch = nil
	st.enter(c.rwc, answering)
	if st.ownRead {
		_ = c.rwc.SetReadDeadline(time.Time{}) // it may be closed, here and below
	}
	if st.ownWrite {
		_ = c.rwc.SetWriteDeadline(time.Time{})
	}
	st.ownRead, st.ownWrite = false, false
	c.mu.Unlock()
	if w == nil {
		return
	}
	_ = c.rwc.SetReadDeadline(time.Unix(1, 0)) // ends the read
	<-w.done
	_ = c.rwc.SetReadDeadline(time.Time{})
	c.w += w.n
}

// closeIdle closes the connection if no request is under way.
func (c *conn) closeIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.phase <= idle {
		c.close()
	}
}
