package http1

import (
	"context"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Server serves usual requests itself and leaves connections with others to an
// [http.Server], whose handler, timeouts and error log it shares. It serves no TLS,
// and calls no hooks of that server (BaseContext, ConnContext, ConnState) for what
// it serves itself. It is safe for concurrent use.
type Server struct {
	rest     *http.Server
	date     date
	sweeping atomic.Bool   // sweep runs
	over     chan struct{} // closed when there are no connections and will be none

	mu      sync.Mutex // guards what follows
	conns   map[*conn]struct{}
	closing atomic.Bool // no new ones, and those there are end after the request under way; may be read without the lock
}

// New returns a server beside another one.
func New(rest *http.Server) *Server {
	return &Server{rest: rest, over: make(chan struct{}), conns: map[*conn]struct{}{}}
}

// Serve serves the connections of a listener until Shutdown or Close, and returns
// what [http.Server.Serve] does.
func (s *Server) Serve(l net.Listener) error {
	q := &queue{Listener: l, ready: make(chan accepted), closed: make(chan struct{})}
	done := make(chan struct{})
	go func() { // ends with the listener, which rest closes
		defer close(done)
		for q.next(s) {
		}
	}()
	err := s.rest.Serve(q)
	<-done
	return err
}

// Shutdown closes listeners and connections without a request, and returns when the
// requests under way have been answered or ctx has ended, which is its error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.close((*conn).closeIdle)
	if err := s.rest.Shutdown(ctx); err != nil {
		return err
	}
	select {
	case <-s.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes listeners and connections. It does not wait for handlers, whose
// contexts end.
func (s *Server) Close() error {
	s.close((*conn).close)
	return s.rest.Close()
}

// close takes no more connections, and has those there are closed.
func (s *Server) close(one func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == 0 && !s.closing.Load() {
		close(s.over)
	}
	s.closing.Store(true)
	for c := range s.conns {
		one(c)
	}
}

// add takes a connection in, false where it comes too late.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) handler() http.Handler {
	if s.rest.Handler == nil {
		return http.DefaultServeMux
	}
	return s.rest.Handler
}

// logf logs where net/http does.
func (s *Server) logf(format string, a ...any) {
	if s.rest.ErrorLog == nil {
		log.Printf(format, a...) //nolint:forbidigo // the default of an http.Server
		return
	}
	s.rest.ErrorLog.Printf(format, a...)
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if len(s.conns) == 0 && s.closing.Load() {
		close(s.over)
	}
}

// queue is the listener of net/http: it gives the connections that are for it.
type queue struct {
	net.Listener
	ready  chan accepted
	closed chan struct{}
	once   sync.Once
}

// accepted is what Accept returns.
type accepted struct {
	c   net.Conn
	err error
}

// next accepts a connection. It reports false when the queue is closed.
func (q *queue) next(s *Server) bool {
	rwc, err := q.Listener.Accept()
	if err != nil {
		return q.put(accepted{err: err}) // net/http knows which are temporary, and takes the next later
	}
	c := newConn(s, rwc)
	if !s.add(c) {
		_ = rwc.Close()
		return true
	}
	go c.run(q) // ends with the connection, or when it is put here
	return true
}

// put returns when net/http has taken what was accepted, false where it never will.
func (q *queue) put(a accepted) bool {
	select {
	case q.ready <- a:
		return true
	case <-q.closed:
		return false
	}
}

// Accept implements [net.Listener].
func (q *queue) Accept() (net.Conn, error) {
	select {
	case a := <-q.ready:
		return a.c, a.err
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return q.Listener.Close()
}

// continued is a connection of which something has been read.
type continued struct {
	net.Conn
	ahead []byte
}

// Read implements [net.Conn].
func (c *continued) Read(p []byte) (int, error) {
	if len(c.ahead) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.ahead)
	if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
		c.ahead = nil
	}
	return n, nil
}
