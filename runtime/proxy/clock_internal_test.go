package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestClockSetBack: times from a clock that was ahead keep no connection open,
// and no catalogue from being looked at again.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Servers: Named("a")}, map[string]*runtimetest.Server{"a": runtimetest.New()})
		b := s.backend("a")
		ahead := time.Now().Add(1000 * time.Hour)
		b.Persisted.RestoreUsage(store.Usage{Count: 7, First: ahead, Last: ahead, Interval: time.Hour})
		b.Activity.Ends.Slow.Store(ahead.UnixNano())
		s.do(old(), "tools/call", echoCall)
		time.Sleep(30 * time.Second) // as time goes in the bubble
		s.do(old(), "tools/call", echoCall)
		called := time.Now()
		if u := b.Activity.Usage(); !u.Last.Equal(called) || u.Interval < 30*time.Second || u.Interval > time.Hour {
			t.Errorf("got %+v", u)
		}
		time.Sleep(50 * time.Second) // as time goes in the bubble
		if s.alive("a") != 1 {
			t.Errorf("closed %v after a call", time.Since(called))
		}
		time.Sleep(6 * time.Minute) // as time goes in the bubble
		if s.alive("a") != 0 {
			t.Error("it is never closed")
		}
		b.ConnectedOnce.Store(false)
		b.Persisted.Save(&inventory.Inventory{Verified: ahead})
		if !b.Outdated(time.Now()) {
			t.Error("what is stored counts as fresh for weeks")
		}
	})
}
