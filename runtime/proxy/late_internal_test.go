package proxy

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, one, two := &connection{}, &peer{}, &peer{}
		says := func(who *peer) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.lateOfOthers(who)
		}
		if says(one) || says(nil) {
			t.Error("late before anything was given up")
		}
		c.gaveUp(one)
		if says(one) || !says(two) || !says(nil) {
			t.Errorf("given up by one: late of others for one %t, for two %t, for a stranger %t", says(one), says(two), says(nil))
		}
		time.Sleep(lateTime)
		if says(two) {
			t.Error("late for ever")
		}
		c.gaveUp(nil)
		if !says(nil) {
			t.Error("a client without a session is nobody else's equal")
		}
		for range 2 * maxLate {
			c.gaveUp(one)
		}
		if len(c.late) > maxLate {
			t.Errorf("%d are remembered", len(c.late))
		}
	})
}
