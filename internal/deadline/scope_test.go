package deadline

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
)

var errGone = errors.New("the user has gone")

// TestScopeEnds: a scope ends with what it was made from and for the same cause, and so
// does what is made from it, by this package and by the standard library.
func TestScopeEnds(t *testing.T) {
	type name struct{}
	for _, tt := range []struct {
		name string
		make func(t *testing.T) (ctx context.Context, end func(error))
	}{
		{"a scope", func(t *testing.T) (context.Context, func(error)) {
			s := NewScope(t.Context())
			return s, s.End
		}},
		{"of a scope", func(t *testing.T) (context.Context, func(error)) {
			s := NewScope(t.Context())
			return NewScope(s), s.End
		}},
		{"of a cancelled context", func(t *testing.T) (context.Context, func(error)) {
			ctx, cancel := context.WithCancelCause(t.Context())
			return NewScope(ctx), cancel
		}},
		{"of values of a scope", func(t *testing.T) (context.Context, func(error)) {
			s := NewScope(t.Context())
			return NewScope(context.WithValue(s, name{}, 1)), s.End
		}},
		{"values of a scope", func(t *testing.T) (context.Context, func(error)) {
			s := NewScope(t.Context())
			return WithValues(context.WithValue(s, name{}, 1), s), s.End
		}},
		{"a clock of a scope", func(t *testing.T) (context.Context, func(error)) {
			s := NewScope(t.Context())
			ctx, _ := Start(s, time.Hour, time.Hour)
			return ctx, s.End
		}},
		{"a context of a scope", func(t *testing.T) (context.Context, func(error)) {
			s := NewScope(t.Context())
			ctx, cancel := context.WithCancel(s)
			t.Cleanup(cancel)
			return ctx, s.End
		}},
		{"of a context of a scope", func(t *testing.T) (context.Context, func(error)) {
			s := NewScope(t.Context())
			ctx, cancel := context.WithCancel(s)
			t.Cleanup(cancel)
			return NewScope(ctx), s.End
		}},
	} {
		for why, want := range map[error]error{errGone: errGone, nil: context.Canceled} {
			ctx, end := tt.make(t)
			below, cancel := context.WithTimeout(ctx, time.Hour)
			if ctx.Err() != nil || Cause(ctx) != nil {
				t.Fatalf("%s: %v at the start", tt.name, ctx.Err())
			}
			end(why)
			if ctx.Err() != context.Canceled || !errors.Is(Cause(ctx), want) {
				t.Errorf("%s: got %v for %v, want %v", tt.name, ctx.Err(), Cause(ctx), want)
			}
			for _, c := range []context.Context{ctx, below} {
				wait.For(t, tt.name+": the end", c.Done())
			}
			if !errors.Is(below.Err(), context.Canceled) || !errors.Is(Cause(below), want) {
				t.Errorf("%s: below: got %v for %v, want %v", tt.name, below.Err(), Cause(below), want)
			}
			end(errors.New("again"))
			if !errors.Is(Cause(ctx), want) {
				t.Errorf("%s: the second end counts: %v", tt.name, Cause(ctx))
			}
			cancel()
			overdue := NewScope(ctx)
			if overdue.Err() == nil || !errors.Is(Cause(overdue), want) {
				t.Errorf("%s: made later: %v for %v", tt.name, overdue.Err(), Cause(overdue))
			}
			std, stop := context.WithTimeout(ctx, time.Hour)
			wait.For(t, tt.name+": the end of a context that is made later", std.Done())
			stop()
		}
	}
}

// TestScopeAlone: what ends below a scope, or after it was detached, does not end it.
func TestScopeAlone(t *testing.T) {
	parent := NewScope(t.Context())
	s, below := NewScope(parent), NewScope(parent)
	ctx, cancel := context.WithCancelCause(s)
	cancel(errGone)
	below.End(errGone)
	if s.Err() != nil || parent.Err() != nil || !errors.Is(Cause(ctx), errGone) {
		t.Errorf("got %v, %v, %v", s.Err(), parent.Err(), Cause(ctx))
	}
	s.Detach()
	parent.End(errGone)
	if s.Err() != nil {
		t.Errorf("detached, and ended: %v", s.Err())
	}
	s.End(nil)
	if s.Err() == nil {
		t.Error("not ended")
	}
}

// TestScopeEndsAtOnce: the parent may end while a scope begins.
func TestScopeEndsAtOnce(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancelCause(t.Context())
		go cancel(errGone)
		s := NewScope(ctx)
		<-s.Done()
		s.End(nil)
		if !errors.Is(Cause(s), errGone) {
			t.Fatalf("got %v", Cause(s))
		}
	}
}

type counter struct{ atomic.Int32 }

func (c *counter) Tell() { c.Add(1) }

// TestWatch: a watcher is told once, or Stop reports that it will not be told, however
// both meet.
func TestWatch(t *testing.T) {
	for range 200 {
		s := NewScope(t.Context())
		var told [8]counter
		var stopped [8]bool
		var work sync.WaitGroup
		for i := range told {
			var w Registration
			for range 2 { // it can be used again
				w.Start(s, &told[i])
				if i%2 == 0 || !w.Stop() {
					break
				}
			}
			if i%2 == 1 {
				w.Start(s, &told[i])
			}
			work.Go(func() { stopped[i] = i%4 < 2 && w.Stop() })
		}
		work.Go(func() { s.End(nil) })
		work.Wait()
		if s.Err() == nil {
			t.Fatal("not ended")
		}
		for i := range told {
			if n := told[i].Load(); n > 1 || stopped[i] != (n == 0) {
				t.Fatalf("watcher %d: told %d times, stopped: %t", i, n, stopped[i])
			}
		}
	}
}

// TestScopeCosts: scopes of scopes, and who watches them, need no memory but their own;
// contexts made of them need no goroutine.
func TestScopeCosts(t *testing.T) {
	root := NewScope(t.Context())
	defer root.End(nil)
	var c counter
	var w Registration
	if n := testing.AllocsPerRun(100, func() {
		s := NewScope(root)
		w.Start(s, &c)
		w.Stop()
		s.End(nil)
	}); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		ctx, cancel := context.WithCancel(WithValues(context.WithValue(root, scopeKey{}, root), root))
		defer cancel()
		_ = ctx
	}
	if n := runtime.NumGoroutine() - before; n > 0 {
		t.Errorf("%d goroutines", n)
	}
}
