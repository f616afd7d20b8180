package upstream

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
)

// Audience is who sees the catalog, and through which view.
type Audience = client.Audience

// Caller is who a request comes from, and the way back to it while that is served.
type Caller struct {
	// Version is the client's revision, "" for unknown.
	Version string
	Audience
	// Capabilities are what the client can be asked, raw; nil for nothing.
	Capabilities json.RawMessage
	// Client is the client's session; nil where the request stands alone: one of
	// the modern era, or one over HTTP without a session.
	Client *Client
	// Emit sends a notification that belongs to the request. It must not wait.
	// Nil: there is no way.
	Emit func(method string, params []byte)
	// Ask puts a question of a server to the client and waits for the answer.
	// Nil: the client cannot be asked in the middle of a request.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// Stream is what carries these to the client; nil where it is always read.
	Stream Stream
	// Slot is the connection that the request concerns; nil: any that suits.
	Slot *Slot
	// Pause is told that the server has ended its stream in the middle of the request, to be
	// asked again after a while. It must not wait. Nil: nothing follows from that.
	Pause func(retry time.Duration)
	// Level is what a modern client wants to have of the server's log; that of
	// others is their session's.
	Level revision.Level
	// Refuse ends the request with an error of ours. Nil: nothing can.
	Refuse func(error)
	Peer   client.Peer // the way on which the request has come
}

// Stream is an event stream of one request.
type Stream interface {
	// Unread reports that the client has left the stream, and has not come back yet.
	Unread() bool
}

// askable reports whether a question would reach the client now.
func (o *Caller) askable() bool { return o.Ask != nil && (o.Stream == nil || !o.Stream.Unread()) }

// Modern reports whether the client's requests are self-contained.
func (o *Caller) Modern() bool { return revision.IsModern(o.Version) }

// sharing returns what of the request decides over its connection.
func (o *Caller) sharing() ShareRequest {
	return ShareRequest{Version: o.Version, Capabilities: o.Capabilities, InSession: o.Client != nil}
}

// Inflight is a client's request that a server has not answered yet.
type Inflight interface {
	// Caller returns who it comes from.
	Caller() Caller
	// OnEnd calls f when it has ended. The lock of what holds the request is
	// held: that of the connection's calls, or of its pipe.
	OnEnd(f func())
}

// Waiter is a request that a goroutine waits for.
type Waiter interface {
	Inflight
	// Suspend stops the clock that would end the request, until resume.
	Suspend() (resume func())
	// Ended calls what OnEnd was given.
	Ended()
}

// Active are the requests that one client has in flight over a connection.
type Active struct {
	// From is who has made them: one inside which the client can be asked now, where
	// there is one; otherwise one inside which it can be asked at all.
	From     Caller
	suspends []func() (resume func())
	refuses  []func(error)
}

// SoleClient returns the requests in flight over the connection where all of them
// are one client's, nil where there are none. Where they are of several, it returns
// nil and true. Clients without a session are told apart by their requests.
//
// begun leaves out the requests that the server cannot have known when it wrote what
// asks: those that have begun after as many ([Conn.BegunAtRead]).
//
// With ends, that function is called once all of these requests have ended.
func (c *Conn) SoleClient(begun uint64, ends func()) (_ *Active, several bool) {
	var a *Active
	var client *Client
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
		from := e.Caller()
		if a == nil {
			a, client = &Active{From: from}, from.Client
		} else if from.Client == nil || from.Client != client {
			several = true
		}
		if a.From.Ask == nil || !a.From.askable() && from.askable() {
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
	c.inFlight(begun, join)
	if !several {
		c.calls.mu.Lock()
		if a == nil && !c.Shared.Load() {
			client = c.FirstClient.Load() // nobody else has ever used the connection
		}
		several = c.calls.abandoned.ByOthers(client)
		c.calls.mu.Unlock()
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

// BegunAtRead returns how many requests had begun over the connection when what it is
// handing on was read from the server. Where the transport does not say, it is
// [jsonrpc.AnyTime].
func (c *Conn) BegunAtRead() uint64 {
	if c.Pipe == nil {
		return jsonrpc.AnyTime
	}
	return c.Pipe.BegunAtRead()
}

// inFlight goes through the requests in flight over the connection, each with what keeps
// its ceiling from ending it, but for those that have begun after as many. It holds locks
// meanwhile.
func (c *Conn) inFlight(begun uint64, each func(e Inflight, suspend func() (resume func()))) {
	c.calls.mu.Lock()
	for e, before := range c.calls.waiting {
		if before < begun {
			each(e, e.Suspend)
		}
	}
	c.calls.mu.Unlock()
	if c.Pipe != nil {
		c.Pipe.Each(func(id uint64, r jsonrpc.Receiver) {
			if e, ok := r.(Inflight); ok && id <= begun { // else it has a goroutine, and was counted
				each(e, func() (resume func()) { return c.Pipe.Suspend(id) })
			}
		})
	}
}

// refuse ends the requests in flight over the connection with an error of ours, where
// something can.
func (c *Conn) refuse(err error) {
	var all Active
	c.inFlight(jsonrpc.AnyTime, func(e Inflight, _ func() (resume func())) {
		if from := e.Caller(); from.Refuse != nil {
			all.refuses = append(all.refuses, from.Refuse)
		}
	})
	all.Refuse(err)
}
