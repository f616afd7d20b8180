package proxy

import (
	"bytes"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
)

// Bounds of what clients can make the proxy hold, all of them together; those of
// one client or one stream stand where they are kept. docs/serve.md, Limits, has
// them all.
const (
	// requestCeiling bounds a request, however much progress there is.
	requestCeiling = time.Hour
	// tellTime bounds how long a server may take to note a log level, changed roots
	// or a subscription.
	tellTime = 5 * time.Second
	// keepAlive is how often a quiet stream gets a comment.
	keepAlive = 15 * time.Second
	// lastWrite is how long a write to a client may take once its session has ended.
	lastWrite = time.Second
	// maxQueuedBytes bounds the messages that wait for one client's stream, in bytes;
	// the answer always has room.
	maxQueuedBytes = 8 << 20
	// maxServing bounds the requests over HTTP that are being answered, with
	// those whose clients have gone. Further ones are refused with status 503.
	maxServing = 8192
	// maxSessionServing does the same for one session, with status 429.
	maxSessionServing = 1024
	// maxBackendServing bounds the requests that one backend owes answers for,
	// over all its connections. Further ones are refused with an error.
	maxBackendServing = jsonrpc.MaxPending
	// maxBodies bounds the messages over HTTP that are being received or worked
	// on, in bytes; those of at most freeBody do not count. Where there is no
	// room a message is refused with status 503.
	maxBodies = 256 << 20
	freeBody  = 64 << 10
	// maxUnsent bounds the messages for clients that wait or are kept, in bytes;
	// answers that are not kept do not count. Beyond it each stream, session and listen has
	// fairShare alone, and what it does there at its own bound.
	maxUnsent = 256 << 20
	fairShare = 16 << 10
	// maxStreams bounds the streams of a front that belong to no request: those of
	// GET, of listens, of HTTP+SSE. Further ones are refused with status 503.
	maxStreams = 10_000
	// maxSessionStreams does the same for the GETs of one session, with status 429.
	maxSessionStreams = 16
)

// errBackendBusy refuses a request to a backend that owes too many answers.
var errBackendBusy = jsonrpc.ErrBusy

// budget is the memory that all clients of a proxy share. The zero value is ready.
type budget struct {
	bodies byteBudget // of clients' messages over HTTP
	unsent counter    // of messages for them
}

// byteBudget gives out bytes of memory up to a bound.
type byteBudget struct{ taken atomic.Int64 }

// take takes n bytes, false where they would be more than most in all.
func (a *byteBudget) take(n, most int64) bool {
	if a.taken.Add(n) > most {
		a.taken.Add(-n)
		return false
	}
	return true
}

func (a *byteBudget) give(n int64) { a.taken.Add(-n) }

// counter counts bytes that may be more than they should. A nil one is for what
// nobody counts.
type counter struct{ n atomic.Int64 }

func (t *counter) add(n int) {
	if t != nil {
		t.n.Add(int64(n))
	}
}

// full tells whether there are more than maxUnsent.
func (t *counter) full() bool { return t != nil && t.n.Load() > maxUnsent }

// errNoRoom refuses a message that memory is not to be spent on.
var errNoRoom = errors.New("too much is being sent at once: try again later")

// hold copies a message for a request that may outlast its client; free gives
// the memory back. It fails where too much is held already.
func (b *budget) hold(body []byte) (_ []byte, free func(), err error) {
	n := int64(len(body))
	if n <= freeBody {
		return bytes.Clone(body), func() {}, nil
	}
	if !b.bodies.take(n, maxBodies) {
		return nil, nil, errNoRoom
	}
	return bytes.Clone(body), func() { b.bodies.give(n) }, nil
}

// bound is something bounded; see proxy.BoundStatus.
type bound struct {
	Name      string
	Used, Max int
}

// bounds tells how much of the budget is in use.
func (b *budget) bounds() []bound {
	return []bound{{"bodyBytes", int(b.bodies.taken.Load()), maxBodies}, {"unsentBytes", int(b.unsent.n.Load()), maxUnsent}}
}
