package deadline

import (
	"context"
	"sync"
	"time"
)

// Scope is a context that ends with its parent, or by End. Where those of the standard
// library make a channel, a table and closures for each level of a call, a Scope is one
// piece of memory, which may be part of another: a channel is made when somebody asks
// for it. [context.Cause] does not know why a Scope has ended; [Cause] does.
//
// All methods but Begin may be called concurrently.
type Scope struct {
	parent context.Context //nolint:containedctx // what the scope was made from
	up     Registration    // on the parent

	mu         sync.Mutex    // guards what follows
	done       chan struct{} // closed at the end; nil: nobody has asked for it
	err, cause error         // nil before the end
	detached   bool          // the end of the parent does not matter any more
	first      *Registration // those who are told of the end
}

var _ context.Context = (*Scope)(nil)

// NewScope returns a scope that has begun. It must be ended.
func NewScope(parent context.Context) *Scope {
	s := new(Scope)
	s.Start(parent)
	return s
}

// WithEnd is [context.WithCancel] with a scope, for a context of which many others are
// made.
func WithEnd(parent context.Context) (_ context.Context, end func()) {
	s := NewScope(parent)
	return s, func() { s.End(nil) }
}

// Start makes a zero Scope a context, once and before any other method.
func (s *Scope) Start(parent context.Context) {
	s.parent = parent
	s.up.Start(parent, (*follower)(s))
}

// follower ends a scope with its parent.
type follower Scope

func (f *follower) Tell() {
	s := (*Scope)(f)
	s.end(s.parent.Err(), Cause(s.parent))
}

// End ends the scope for a reason, nil for none. Only the first end counts.
func (s *Scope) End(why error) {
	if why == nil {
		why = context.Canceled
	}
	s.end(context.Canceled, why)
	s.up.Stop() // not in end: the watch tells, perhaps before Start has returned
}

func (s *Scope) end(err, cause error) {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	s.err, s.cause = err, cause
	if s.done != nil {
		close(s.done)
	}
	first := s.first
	s.first = nil
	for w := first; w != nil; w = w.next {
		w.linked = false
	}
	s.mu.Unlock()
	for first != nil {
		w := first
		first = w.next
		w.listener.Tell()
	}
}

// Detach has the scope outlive its parent.
func (s *Scope) Detach() {
	s.up.Stop()
	s.mu.Lock()
	s.detached = true
	s.mu.Unlock()
}

// Deadline implements [context.Context].
func (s *Scope) Deadline() (time.Time, bool) { return s.parent.Deadline() }

// Done implements [context.Context].
func (s *Scope) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		if s.err != nil {
			close(s.done)
		}
	}
	return s.done
}

// Err implements [context.Context]. A parent that has ended counts at once, also where
// the news is still on its way.
func (s *Scope) Err() error {
	s.mu.Lock()
	err, detached := s.err, s.detached
	s.mu.Unlock()
	if err == nil && !detached {
		return s.parent.Err()
	}
	return err
}

// Value implements [context.Context].
func (s *Scope) Value(name any) any {
	if name == (scopeKey{}) {
		return s
	}
	return s.parent.Value(name)
}

// AfterFunc is how package context follows a context that is not its own.
func (s *Scope) AfterFunc(f func()) (stop func() bool) {
	w := &funcWatch{f: f}
	if !w.link(s, w) {
		go f() // the caller may hold a lock that f needs, as package context does
	}
	return w.Stop
}

type funcWatch struct {
	Registration
	f func()
}

func (w *funcWatch) Tell() { w.f() }

func (s *Scope) scope() *Scope { return s }

// ended returns why the scope has ended by itself or been told to, nil while it lasts.
func (s *Scope) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

type scopeKey struct{}

// scopeOf returns the scope with which a context ends, nil for none.
func scopeOf(ctx context.Context) *Scope {
	if s, ok := ctx.(interface{ scope() *Scope }); ok {
		return s.scope()
	}
	if s, ok := ctx.Value(scopeKey{}).(*Scope); ok && s.Done() == ctx.Done() {
		return s
	}
	return nil
}

// WithValues returns outer, which was made of inner by adding values, such that contexts
// made of it need no goroutine where inner is a scope.
func WithValues(outer, inner context.Context) context.Context {
	if s := scopeOf(inner); s != nil {
		return valued{outer, s}
	}
	return outer
}

type valued struct {
	context.Context //nolint:containedctx // what it is
	s               *Scope
}

func (v valued) AfterFunc(f func()) (stop func() bool) { return v.s.AfterFunc(f) }

func (v valued) scope() *Scope { return v.s }

// Cause is [context.Cause] for contexts that are scopes, or made of scopes, too.
func Cause(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if s := scopeOf(ctx); s != nil {
		if cause := s.ended(); cause != nil {
			return cause
		}
		return Cause(s.parent) // the news is still on its way
	}
	cause := context.Cause(ctx)
	if cause != err { //nolint:errorlint // package context returns the very same where there is no other
		return cause
	}
	if s, ok := ctx.Value(scopeKey{}).(*Scope); ok && s.ended() != nil {
		return s.ended()
	}
	return cause
}

// Listener is told of the end of a context, by whoever ends it: it must not wait.
type Listener interface{ Tell() }

// Registration calls a listener at the end of a context. The zero value is ready; unlike
// [context.AfterFunc], it allocates nothing where the context is a scope.
type Registration struct {
	listener Listener
	stop     func() bool // of a context that is no scope
	of       *Scope

	next, prev *Registration // guarded by the scope's lock, as is linked
	linked     bool
}

// Start begins to watch a context. A watch that was stopped may be started again, one
// whose watcher was told may not.
func (w *Registration) Start(ctx context.Context, listener Listener) {
	s := scopeOf(ctx)
	switch {
	case s != nil:
		if !w.link(s, listener) {
			listener.Tell()
		}
	case ctx.Done() != nil:
		w.of, w.stop = nil, context.AfterFunc(ctx, listener.Tell)
	default:
		w.of, w.stop = nil, nil
	}
}

// link registers a listener for the end of a scope; false if it has ended.
func (w *Registration) link(s *Scope, listener Listener) bool {
	w.listener, w.stop, w.of = listener, nil, s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false
	}
	w.linked, w.prev, w.next = true, nil, s.first
	if s.first != nil {
		s.first.prev = w
	}
	s.first = w
	return true
}

// Stop ends the watch. False: the watcher was told, or is being told.
func (w *Registration) Stop() bool {
	if w.of == nil {
		return w.stop == nil || w.stop()
	}
	s := w.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.linked {
		return false
	}
	w.linked = false
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		s.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	return true
}
