package proxy

import (
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
)

// inflight is a client's request that a server has not answered yet.
type inflight interface {
	// origin is who it comes from.
	origin() caller
	// onEnd has f called when it has ended. The lock of what holds the request is
	// held: that of the connection, or of its pipe.
	onEnd(f func())
}

// waiter is a request that a goroutine waits for.
type waiter interface {
	inflight
	// suspend stops the clock that would end the request, until resume.
	suspend() (resume func())
	// ended calls what onEnd was given.
	ended()
}

// active are the requests that one client has in flight over a connection.
type active struct {
	// from is who has made them: one inside which the client can be asked, where
	// there is one.
	from     caller
	suspends []func() (resume func())
	refuses  []func(error)
}

// only returns the requests in flight over the connection where all of them are
// one client's, nil where there are none. Where they are of several, it returns
// nil and true. Clients without a session are told apart by their requests.
//
// With ends, that function is called once all of these requests have ended.
func (c *connection) only(ends func()) (_ *active, several bool) {
	var a *active
	var who *peer
	left := new(atomic.Int64)
	end := func() {
		if left.Add(-1) == 0 {
			ends()
		}
	}
	join := func(e inflight, suspend func() (resume func())) {
		if several {
			return
		}
		from := e.origin()
		if a == nil {
			a, who = &active{from: from}, from.peer
		} else if from.peer == nil || from.peer != who {
			several = true
		}
		if a.from.ask == nil {
			a.from = from
		}
		a.suspends = append(a.suspends, suspend)
		if from.refuse != nil {
			a.refuses = append(a.refuses, from.refuse)
		}
		if ends != nil {
			e.onEnd(end)
		}
		left.Add(1)
	}
	left.Add(1) // until all are counted
	c.mu.Lock()
	for e := range c.calls {
		join(e, e.suspend)
	}
	c.mu.Unlock()
	if c.pipe != nil {
		c.pipe.Each(func(id uint64, r jsonrpc.Receiver) {
			if e, ok := r.(inflight); ok { // else it has a goroutine, and was counted
				join(e, func() (resume func()) { return c.pipe.Suspend(id) })
			}
		})
	}
	if !several {
		c.mu.Lock()
		if a == nil && !c.crowd.Load() {
			who = c.user.Load() // nobody else has ever used the connection
		}
		several = c.lateOfOthers(who)
		c.mu.Unlock()
	}
	if several || a == nil {
		return nil, several
	}
	if ends != nil {
		end()
	}
	return a, false
}

// suspend keeps the requests' ceiling from ending them, until resume.
func (a *active) suspend() (resume func()) {
	all := make([]func(), len(a.suspends))
	for i, suspend := range a.suspends {
		all[i] = suspend()
	}
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// refuse ends the requests with an error of ours.
func (a *active) refuse(err error) {
	for _, f := range a.refuses {
		f(err)
	}
}
