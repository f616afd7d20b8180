package upstream

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, one, two := &Conn{}, &Client{}, &Client{}
		says := func(who *Client) bool {
			c.calls.mu.Lock()
			defer c.calls.mu.Unlock()
			return c.calls.abandonedByOthers(who)
		}
		if says(one) || says(nil) {
			t.Error("late before anything was given up")
		}
		c.NoteAbandoned(one)
		if says(one) || !says(two) || !says(nil) {
			t.Errorf("given up by one: late of others for one %t, for two %t, for a stranger %t", says(one), says(two), says(nil))
		}
		time.Sleep(abandonedTime)
		if says(two) {
			t.Error("late for ever")
		}
		c.NoteAbandoned(nil)
		if !says(nil) {
			t.Error("a client without a session is nobody else's equal")
		}
		for range 2 * maxAbandoned {
			c.NoteAbandoned(one)
		}
		if len(c.calls.abandoned) > maxAbandoned {
			t.Errorf("%d are remembered", len(c.calls.abandoned))
		}
	})
}
