package upstream

import (
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
)

// Inflight is a client's request that a server has not answered yet.
type Inflight interface {
	// Origin is who it comes from.
	Origin() Origin
	// OnEnd has f called when it has ended. The lock of what holds the request is
	// held: that of the connection, or of its pipe.
	OnEnd(f func())
}

// Waiter is a request that a goroutine waits for.
type Waiter interface {
	Inflight
	// Suspend stops the clock that would end the request, until resume.
	Suspend() (resume func())
	// Ended calls what onEnd was given.
	Ended()
}

// Active are the requests that one client has in flight over a connection.
type Active struct {
	// From is who has made them: one inside which the client can be asked, where
	// there is one.
	From     Origin
	suspends []func() (resume func())
	refuses  []func(error)
}

// SoleClient returns the requests in flight over the connection where all of them are
// one client's, nil where there are none. Where they are of several, it returns
// nil and true. Clients without a session are told apart by their requests.
//
// With ends, that function is called once all of these requests have ended.
func (c *Conn) SoleClient(ends func()) (_ *Active, several bool) {
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
		from := e.Origin()
		if a == nil {
			a, who = &Active{From: from}, from.Client
		} else if from.Client == nil || from.Client != who {
			several = true
		}
		if a.From.Ask == nil {
			a.From = from
		}
		a.suspends = append(a.suspends, suspend)
		if from.Refuse != nil {
			a.refuses = append(a.refuses, from.Refuse)
		}
		if ends != nil {
			e.OnEnd(end)
		}
		left.Add(1)
	}
	left.Add(1) // until all are counted
	c.Mu.Lock()
	for e := range c.Calls {
		join(e, e.Suspend)
	}
	c.Mu.Unlock()
	if c.Pipe != nil {
		c.Pipe.Each(func(id uint64, r jsonrpc.Receiver) {
			if e, ok := r.(Inflight); ok { // else it has a goroutine, and was counted
				join(e, func() (resume func()) { return c.Pipe.Suspend(id) })
			}
		})
	}
	if !several {
		c.Mu.Lock()
		if a == nil && !c.Shared.Load() {
			who = c.FirstClient.Load() // nobody else has ever used the connection
		}
		several = c.abandonedByOthers(who)
		c.Mu.Unlock()
	}
	if several || a == nil {
		return nil, several
	}
	if ends != nil {
		end()
	}
	return a, false
}

// Suspend keeps the requests' ceiling from ending them, until resume.
func (a *Active) Suspend() (resume func()) {
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

// Refuse ends the requests with an error of ours.
func (a *Active) Refuse(err error) {
	for _, f := range a.refuses {
		f(err)
	}
}
