package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

// Conn is a connected server. What the server sends may come before what it is has
// been noted: Opened is closed then.
type Conn struct {
	Slot   *Slot
	Opened chan struct{}
	Client *runtime.Client
	// Offer is what the server was told that it can ask.
	Offer string
	// Version is the revision that is spoken over it.
	Version string
	shakes  bool      // the handshake was preferred
	since   time.Time // when it was connected
	// Pipe takes calls without waiting; nil where the transport cannot.
	Pipe *jsonrpc.Conn
	// PlainResults is how plain results of a server of the handshake era reach modern
	// clients, nil for another.
	PlainResults *revision.Plain
	// Implementation is who the server says it is, nil for nobody.
	Implementation json.RawMessage

	// FirstClient is the first client session that has used the connection; Shared
	// says that another client has, too.
	FirstClient atomic.Pointer[Client]
	Shared      atomic.Bool
	reserved    bool  // FirstClient goes on using it alone: the server has asked it; guarded by Pool.mu
	gone        error // why the connection has ended, nil while it lives; guarded by Pool.mu

	calls calls
}

// calls are those of clients that have a goroutine; the others are in the pipe.
type calls struct {
	mu      sync.Mutex        // guards all; held for memory work only
	waiting map[Waiter]uint64 // and how many calls the pipe had begun before
	begun   uint64            // ever
	closed  bool              // no call begins any more
	level   revision.Level    // the log level that the server was told
	// promised are the clients that are to hear of the end of an elicitation, by its
	// raw id.
	promised  PendingNotices[*Client]
	abandoned RecentlyCancelled[*Client] // nil for one without a session
}

// NewConn returns the connection of a slot before it has a client. offer is what
// the server is told that it can ask.
func NewConn(s *Slot, offer string) *Conn {
	return &Conn{
		Slot: s, Offer: offer, Opened: make(chan struct{}),
		calls: calls{waiting: map[Waiter]uint64{}, level: revision.LevelNone},
	}
}

// Modern reports whether requests over the connection are self-contained.
func (c *Conn) Modern() bool { return revision.IsModern(c.Version) }

// takesFastCalls reports whether calls of modern clients can go over the pipe, past
// the transport.
func (c *Conn) takesFastCalls() bool {
	_, resumes := c.Client.Transport().(ability.Resume)
	return resumes && c.Pipe != nil && c.PlainResults != nil
}

// TakesSubscriptions reports whether the server takes subscriptions.
func (c *Conn) TakesSubscriptions() bool {
	var offers struct {
		Resources struct {
			Subscribe bool `json:"subscribe"`
		} `json:"resources"`
	}
	return json.Unmarshal(c.Client.Info().Capabilities, &offers) == nil && offers.Resources.Subscribe
}

// IsOpened reports whether it is noted what the connection is.
func (c *Conn) IsOpened() bool {
	select {
	case <-c.Opened:
		return true
	default:
		return false
	}
}

// Resume goes on with a request that the connection has sent, and that the server
// has answered once: with a result, or an error.
func (c *Conn) Resume(ctx context.Context, build BuildRequest, first json.RawMessage, failure error) ([]byte, error) {
	req, w, err := build(c)
	if err != nil {
		return nil, err
	}
	c.calls.mu.Lock() // also where calls are closed: this one was sent before
	end := c.calls.add(c, w)
	c.calls.mu.Unlock()
	defer func() { end(ctx.Err() != nil) }()
	t, ok := c.Client.Transport().(ability.Resume)
	if !ok {
		return nil, fmt.Errorf("proxy: %T cannot resume a call", c.Client.Transport()) // such a connection takes no fast calls
	}
	return t.Resume(ctx, req, first, failure)
}

// RecordClient notes who uses the connection, nil for a client without a session.
func (c *Conn) RecordClient(client *Client) {
	if c.Shared.Load() || client != nil && (c.FirstClient.Load() == client || c.FirstClient.CompareAndSwap(nil, client)) {
		return
	}
	c.Shared.Store(true)
}

// isUsed reports whether a client has ever used the connection.
func (c *Conn) isUsed() bool { return c.Shared.Load() || c.FirstClient.Load() != nil }

// onlyClient returns the one client session that has used the connection, nil where
// it is not one.
func (c *Conn) onlyClient() *Client {
	if c.Shared.Load() {
		return nil
	}
	return c.FirstClient.Load()
}

// Owner returns whose the connection is, nil where it is no session's own.
func (c *Conn) Owner() *Client {
	if c.Slot.Owner != nil {
		return c.Slot.Owner
	}
	b := c.Slot.Backend
	if client := b.Set.SingleClient.Load(); client != nil {
		return client
	}
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	if c.reserved {
		return c.onlyClient()
	}
	return nil
}

// errIdleClosed is a connection that was closed, as unused, in the moment between
// its choice and its use: nothing of the call was sent.
var errIdleClosed = fmt.Errorf("%w: %w", runtime.ErrNotSent, runtime.ErrClosed)

// begin notes a call; end takes it back, and is told whether the call was given up.
// The error is errIdleClosed.
func (cs *calls) begin(c *Conn, w Waiter) (end func(abandoned bool), err error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return nil, errIdleClosed
	}
	return cs.add(c, w), nil
}

// add is begin for a caller that holds the lock.
func (cs *calls) add(c *Conn, w Waiter) (end func(abandoned bool)) {
	var before uint64
	if c.Pipe != nil {
		before = c.Pipe.Begun()
	}
	cs.waiting[w] = before
	cs.begun++
	return func(abandoned bool) {
		cs.mu.Lock()
		delete(cs.waiting, w)
		if abandoned {
			// A modern server says nothing without being told a level.
			if from := w.Caller(); !c.Modern() || !from.Modern() || from.Level < revision.LevelNone {
				cs.abandoned.Add(from.Client)
			}
		}
		cs.mu.Unlock()
		w.Ended()
	}
}

// isBusy reports whether a call of a client is in flight over the connection.
func (c *Conn) isBusy() bool {
	c.calls.mu.Lock()
	n := len(c.calls.waiting)
	c.calls.mu.Unlock()
	return n > 0 || c.Pipe != nil && c.Pipe.Busy()
}

// callsBegun returns how many calls the connection has ever been given.
func (c *Conn) callsBegun() uint64 {
	c.calls.mu.Lock()
	n := c.calls.begun
	c.calls.mu.Unlock()
	if c.Pipe != nil {
		n += c.Pipe.Begun()
	}
	return n
}

// CloseIfIdle takes the connection out of use for good, unless a call is in flight
// over it. No call can begin over it after that: those that have picked it find
// out before anything is sent, and take another.
func (c *Conn) CloseIfIdle() bool {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	if c.calls.closed || len(c.calls.waiting) > 0 || c.Pipe != nil && !c.Pipe.Shut() {
		return c.calls.closed
	}
	c.calls.closed = true
	return true
}

// drainPoll is how often a connection that was replaced is looked at, to be closed
// once the calls over it have ended.
const drainPoll = 250 * time.Millisecond

// drain closes a connection once nobody uses it.
func (c *Conn) drain(ctx context.Context) {
	t := time.NewTicker(drainPoll)
	defer t.Stop()
	for end := time.Now().Add(limits.RequestCeiling); ctx.Err() == nil && !c.CloseIfIdle() && time.Now().Before(end); {
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	_ = c.Client.Close()
}

// isSuspicious reports whether a call has failed because the server is no longer
// the one that was connected to. The bridge finds out where it has forgotten the
// session and does not start another like it, or does not speak the revision any
// more. A server with a handshake may also be another one that does not know a
// method of what it offers: it has not acted on the call then. A process cannot
// become another one while its streams are open.
func (c *Conn) isSuspicious(method string, err error) bool {
	if _, ok := errors.AsType[*negotiate.SessionError](err); ok {
		return true
	}
	rpc, ok := errors.AsType[*runtime.Error](err)
	if !ok || c.Modern() || rpc.Code != runtime.CodeMethodNotFound || !c.Client.Info().Has(revision.CapabilityOf(method)) {
		return false
	}
	t, ok := c.Client.Transport().(ability.Remote)
	return ok && t.Remote()
}

// Level returns the log level that the server was told.
func (c *Conn) Level() revision.Level {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	return c.calls.level
}

// LowerLevel notes that the server is told a log level, false where it has been
// told of that or a lower one. revert takes it back.
func (c *Conn) LowerLevel(to revision.Level) (revert func(), ok bool) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	before := c.calls.level
	if to >= before {
		return nil, false
	}
	c.calls.level = to
	return func() {
		c.calls.mu.Lock()
		defer c.calls.mu.Unlock()
		if c.calls.level == to {
			c.calls.level = before
		}
	}, true
}

// RecordCancelled notes that a call has ended without an answer, nil for a client without
// a session.
func (c *Conn) RecordCancelled(client *Client) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	c.calls.abandoned.Add(client)
}

// Promise notes which client is to hear of the end of an elicitation by URL
// (2025-11-25, Elicitation, Completion Notifications).
func (c *Conn) Promise(client *Client, method string, params json.RawMessage) {
	if client == nil || method != revision.MethodElicitationCreate {
		return
	}
	at, err := rawjson.Field(params, "elicitationId")
	if err != nil || !at.Present() {
		return
	}
	c.Slot.Backend.Pool.KeepForAnswers()
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	c.calls.promised.Add(string(at.Of(params)), client)
}

// completed passes on that an elicitation has ended, to the client that was asked
// and to nobody else.
func (c *Conn) completed(params json.RawMessage) {
	at, err := rawjson.Field(params, "elicitationId")
	if err != nil || !at.Present() {
		return
	}
	c.calls.mu.Lock()
	client := c.calls.promised.Take(string(at.Of(params)))
	c.calls.mu.Unlock()
	if client != nil && client.Revision() == "2025-11-25" { // no other has the message
		client.Tell(revision.NotificationElicitationComplete, params)
	}
}
