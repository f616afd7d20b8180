package upstream

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var a RecentlyCancelled[*int]
		one, two := new(int), new(int)
		if a.ByOthers(one) || a.ByOthers(nil) {
			t.Error("late before anything was given up")
		}
		a.Add(one)
		if a.ByOthers(one) || !a.ByOthers(two) || !a.ByOthers(nil) {
			t.Errorf("given up by one: late of others for one %t, for two %t, for a stranger %t", a.ByOthers(one), a.ByOthers(two), a.ByOthers(nil))
		}
		time.Sleep(abandonedTime)
		if a.ByOthers(two) {
			t.Error("late for ever")
		}
		a.Add(nil)
		if !a.ByOthers(nil) {
			t.Error("a client without a session is nobody else's equal")
		}
		for range 2 * maxAbandoned {
			a.Add(one)
		}
		if len(a.calls) > maxAbandoned {
			t.Errorf("%d are remembered", len(a.calls))
		}
	})
}

func TestPromises(t *testing.T) {
	t.Parallel()
	var p PendingNotices[string]
	if p.Take("1") != "" {
		t.Error("promised to somebody before anything was")
	}
	p.Add("1", "one")
	p.Add("2", "two")
	if p.Take("1") != "one" || p.Take("1") != "" || p.Take("2") != "two" {
		t.Error("promised to somebody else, or twice")
	}
	for i := range 2 * maxPendingNotices {
		p.Add(strconv.Itoa(i), "one")
	}
	if len(p.byID) != maxPendingNotices || p.Take(strconv.Itoa(2*maxPendingNotices-1)) != "one" {
		t.Errorf("%d are remembered", len(p.byID))
	}
}
