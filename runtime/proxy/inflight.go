package proxy

import (
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
)

// Inflight is a client's request that a server has not answered yet.
type Inflight interface {
	// origin is who it comes from.
	origin() Origin
	// onEnd has f called when it has ended. The lock of what holds the request is
	// held: that of the connection, or of its pipe.
	onEnd(f func())
}

// Waiter is a request that a goroutine waits for.
type Waiter interface {
	Inflight
	// suspend stops the clock that would end the request, until resume.
	suspend() (resume func())
	// ended calls what onEnd was given.
	ended()
}

// Active are the requests that one client has in flight over a connection.
type Active struct {
	// from is who has made them: one inside which the client can be asked, where
	// there is one.
	from     Origin
	suspends []func() (resume func())
	refuses  []func(error)
}

// soleClient returns the requests in flight over the connection where all of them are
// one client's, nil where there are none. Where they are of several, it returns
// nil and true. Clients without a session are told apart by their requests.
//
// With ends, that function is called once all of these requests have ended.
func (c *Conn) soleClient(ends func()) (_ *Active, several bool) {
	var a *Active
	var who *Client
	left := new(atomic.Int64)
	end := func() {
		if left.Add(-1) == 0 {
			ends()
		}
	}
	join := func(e Inflight, suspend func() (resume func())) {
		if several {
			return
		}
		from := e.origin()
		if a == nil {
			a, who = &Active{from: from}, from.client
		} else if from.client == nil || from.client != who {
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
			if e, ok := r.(Inflight); ok { // else it has a goroutine, and was counted
				join(e, func() (resume func()) { return c.pipe.Suspend(id) })
			}
		})
	}
	if !several {
		c.mu.Lock()
		if a == nil && !c.shared.Load() {
			who = c.firstClient.Load() // nobody else has ever used the connection
		}
		several = c.abandonedByOthers(who)
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
func (a *Active) suspend() (resume func()) {
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
func (a *Active) refuse(err error) {
	for _, f := range a.refuses {
		f(err)
	}
}
